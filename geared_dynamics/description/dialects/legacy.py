"""``<transmission>`` right below ``<robot>``: the form of ROS 1, PR2, FROST and Drake.

The reduction stands inside ``<actuator>`` as ``<mechanicalReduction>``, FROST's
``<motorInertia>`` beside it; Drake writes ``<drake:gear_ratio value="...">`` and
``<drake:rotor_inertia value="...">`` there. PR2's form has the type as an attribute
and the reduction below the transmission.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from geared_dynamics.description.dialects.drive import Context, Drive
from geared_dynamics.description.dialects.elements import (
    children,
    inertia,
    movable,
    name_of,
    number,
    number_in,
    only,
    ratio,
)
from geared_dynamics.description.dialects.maps import COUNT, End, coefficients, kind_of, offsets
from geared_dynamics.description.dialects.roles import by_role
from geared_dynamics.description.dialects.strays import (
    INERTIA,
    OFFSET,
    REDUCTION,
    Rules,
    check_strays,
)
from geared_dynamics.errors import DescriptionError

_REDUCTION, _INERTIA = "mechanicalReduction", "motorInertia"
_DRAKE_RATIO, _DRAKE_INERTIA = "drake:gear_ratio", "drake:rotor_inertia"
_PACKAGES = ("pr2_mechanism_model/",)
_OR_MOVE = "or move the transmission into <ros2_control>"
_RULES = Rules(
    read=(
        (_REDUCTION,),
        ("joint", _REDUCTION),
        ("joint", "offset"),
        ("actuator", _REDUCTION),
        ("actuator", _INERTIA),
        ("actuator", _DRAKE_RATIO),
        ("actuator", _DRAKE_INERTIA),
    ),
    finding="{what} is read by nobody outside of <ros2_control>",
    remedies={
        REDUCTION: f"write <{_REDUCTION}> inside <actuator>, {_OR_MOVE}",
        INERTIA: f"write <{_INERTIA}> inside <actuator>, {_OR_MOVE}",
        OFFSET: f"write <offset> inside <joint>, {_OR_MOVE}",
    },
)


def read_transmission(node: Any, context: Context) -> list[Drive]:
    """Return the drives of a top-level ``<transmission>``.

    Args:
        node: The element.
        context: The robot; takes the notes.

    Raises:
        DescriptionError: If a number is none, a reduction zero, a role missing, or
            a number stands where nobody reads it.
        UnknownNameError: If a role is not there.
    """
    name = (node.get("name") or "").strip()
    place = f"transmission {name!r}" if name else f"transmission, line {node.sourceline}"
    kind = _kind(node, place, context)
    if kind is None:
        return []
    check_strays(node, _RULES, place, context)
    joints = [_joint(child, place, context) for child in children(node, "joint")]
    actuators = [_actuator(child, place, context) for child in children(node, "actuator")]
    for word, ends in (("joint", joints), ("actuator", actuators)):
        if len(ends) != COUNT[kind]:
            context.note(place, f"left out, because a {kind} has {COUNT[kind]} <{word}>")
            return []
    # Excerpts of larger robots keep such transmissions, which ROS 2 does not look at.
    gone = [joint.name for joint in joints if joint.name not in context.kinds]
    if gone:
        context.note(f"{place}/joint {gone[0]!r}", "left out, because there is no such joint")
        return []
    if not all([movable(joint.name, place, context) for joint in joints]):
        return []
    actuators = _with_outer_reduction(node, kind, actuators, place, context)
    if kind == "SimpleTransmission":
        joints = [_without_reduction(joints[0], actuators[0], place, context)]
    ordered = by_role(actuators, "actuator", place, context)
    rows = coefficients(kind, by_role(joints, "joint", place, context), ordered)
    return [
        Drive(end.name, row, place, context.source, "ROS 1", end.inertia, True, zeros)
        for end, row, zeros in zip(ordered, rows, offsets(rows, joints), strict=True)
    ]


def _kind(node: Any, place: str, context: Context) -> str | None:
    found = children(node, "type")
    text = (found[0].text if found else node.get("type")) or ""
    kind = kind_of(text)
    for package in _PACKAGES:
        kind = kind.removeprefix(package)
    if kind not in COUNT:
        what = f"{text.strip()!r} is not known here" if text.strip() else "it has no <type>"
        context.note(place, f"left out, because {what} (known: {', '.join(COUNT)})")
        return None
    return kind


def _role(node: Any) -> str:
    found = children(node, "role")
    return ((found[0].text if found else node.get("role")) or "").strip()


def _joint(node: Any, place: str, context: Context) -> End:
    name = name_of(node, place, context)
    where = f"{place}/joint {name!r}"
    return End(
        name=name,
        reduction=ratio(number_in(node, _REDUCTION, where, context), where, context),
        offset=number_in(node, "offset", where, context) or 0.0,
        role=_role(node),
    )


def _without_reduction(joint: End, actuator: End, place: str, context: Context) -> End:
    """Return the joint of a SimpleTransmission, whose own reduction ROS 1 does not look at.

    Raises:
        DescriptionError: If the actuator has none instead: the joint's was meant.
    """
    if joint.reduction == 1.0:
        return joint
    where = f"{place}/joint {joint.name!r}"
    finding = f"<{_REDUCTION}> {joint.reduction:g} is not used, as in ROS 1"
    remedy = f"a SimpleTransmission of this form has it inside <actuator>, {_OR_MOVE}"
    if actuator.reduction == 1.0:
        raise DescriptionError(f"{context.source}, {where}", finding, remedy)
    context.note(where, f"{finding}; {remedy}")
    return replace(joint, reduction=1.0)


def _actuator(node: Any, place: str, context: Context) -> End:
    name = name_of(node, place, context)
    where = f"{place}/actuator {name!r}"
    plain = number_in(node, _REDUCTION, where, context)
    drake = _drake(node, _DRAKE_RATIO, where, context)
    if plain is not None and drake is not None and plain != drake:
        context.note(where, f"<{_DRAKE_RATIO}> {drake:g} is taken, not <{_REDUCTION}> {plain:g}")
    own = number_in(node, _INERTIA, where, context)
    drake_inertia = _drake(node, _DRAKE_INERTIA, where, context)
    if own is not None and drake_inertia is not None and own != drake_inertia:
        context.note(
            where, f"<{_DRAKE_INERTIA}> {drake_inertia:g} is taken, not <{_INERTIA}> {own:g}"
        )
    return End(
        name=name,
        reduction=ratio(plain if drake is None else drake, where, context),
        role=_role(node),
        inertia=inertia(own if drake_inertia is None else drake_inertia, where, context),
    )


def _drake(node: Any, name: str, place: str, context: Context) -> float | None:
    found = only(children(node, name), name, place, context)
    return None if found is None else number(found.get("value"), f"{place}/{name}", context)


def _with_outer_reduction(
    node: Any, kind: str, actuators: list[End], place: str, context: Context
) -> list[End]:
    """Return the actuators of PR2's form, whose reduction stands below the transmission."""
    outer = number_in(node, _REDUCTION, place, context)
    if outer is None:
        return actuators
    if COUNT[kind] > 1 or actuators[0].reduction not in (1.0, outer):
        context.note(place, f"<{_REDUCTION}> {outer:g} below <transmission> is not used")
        return actuators
    end = actuators[0]
    return [End(end.name, ratio(outer, place, context), end.offset, end.role, end.inertia)]
