"""``<transmission>`` right below ``<robot>``: the form of ROS 1, PR2, FROST and Drake.

The reduction stands inside ``<actuator>`` as ``<mechanicalReduction>``, FROST's
``<motorInertia>`` beside it; Drake writes ``<drake:gear_ratio value="...">`` and
``<drake:rotor_inertia value="...">`` there. PR2's form has the type as an attribute
and the reduction below the transmission.
"""

from __future__ import annotations

from typing import Any

from geared_dynamics.description.dialects.drive import Context, Drive
from geared_dynamics.description.dialects.elements import (
    children,
    inertia,
    movable,
    name_of,
    number,
    number_in,
    ratio,
    tag,
)
from geared_dynamics.description.dialects.maps import COUNT, End, coefficients, kind_of
from geared_dynamics.description.dialects.roles import by_role
from geared_dynamics.errors import DescriptionError

Offset = tuple[str, float, str]

_REDUCTION, _INERTIA = "mechanicalReduction", "motorInertia"
_DRAKE_RATIO, _DRAKE_INERTIA = "drake:gear_ratio", "drake:rotor_inertia"
_PACKAGES = ("pr2_mechanism_model/",)


def read_transmission(node: Any, context: Context) -> tuple[list[Drive], list[Offset]]:
    """Return the drives of a top-level ``<transmission>``, and its joints' offsets.

    Args:
        node: The element.
        context: The robot; takes the notes.

    Raises:
        DescriptionError: If a number is none, a reduction zero, a role missing.
        UnknownNameError: If a role is not there.
    """
    name = (node.get("name") or "").strip()
    place = f"transmission {name!r}" if name else f"transmission, line {node.sourceline}"
    kind = _kind(node, place, context)
    if kind is None:
        return [], []
    joints = [_joint(child, kind, place, context) for child in children(node, "joint")]
    actuators = [_actuator(child, place, context) for child in children(node, "actuator")]
    for word, ends in (("joint", joints), ("actuator", actuators)):
        if len(ends) != COUNT[kind]:
            context.note(place, f"left out, because a {kind} has {COUNT[kind]} <{word}>")
            return [], []
    # Excerpts of larger robots keep such transmissions, which ROS 2 does not look at.
    gone = [joint.name for joint in joints if joint.name not in context.kinds]
    if gone:
        context.note(f"{place}/joint {gone[0]!r}", "left out, because there is no such joint")
        return [], []
    if not all([movable(joint.name, place, context) for joint in joints]):
        return [], []
    actuators = _with_outer_reduction(node, kind, actuators, place, context)
    ordered = by_role(actuators, "actuator", place, context)
    rows = coefficients(kind, by_role(joints, "joint", place, context), ordered)
    drives = [
        Drive(end.name, row, place, context.source, "ROS 1", end.inertia)
        for end, row in zip(ordered, rows, strict=True)
    ]
    return drives, [(joint.name, joint.offset, place) for joint in joints]


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


def _joint(node: Any, kind: str, place: str, context: Context) -> End:
    name = name_of(node, place, context)
    where = f"{place}/joint {name!r}"
    given = number_in(node, _REDUCTION, where, context)
    if kind == "SimpleTransmission" and given is not None:
        ratio(given, where, context)
        if given != 1.0:
            context.note(
                where,
                f"<{_REDUCTION}> {given:g} is not used, as in ROS 1: a SimpleTransmission of"
                " this form has it inside <actuator>",
            )
        given = None
    return End(
        name=name,
        reduction=ratio(given, where, context),
        offset=number_in(node, "offset", where, context) or 0.0,
        role=_role(node),
    )


def _actuator(node: Any, place: str, context: Context) -> End:
    name = name_of(node, place, context)
    where = f"{place}/actuator {name!r}"
    for child in node:
        if tag(child) in ("mechanical_reduction", "rotor_inertia"):
            right = _REDUCTION if tag(child) == "mechanical_reduction" else _INERTIA
            raise DescriptionError(
                f"{context.source}, {where}",
                f"<{tag(child)}> belongs into <ros2_control>; outside of it nobody reads it",
                f"write <{right}>, or move the transmission into <ros2_control>",
            )
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
    found = children(node, name)
    return number(found[0].get("value"), f"{place}/{name}", context) if found else None


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
