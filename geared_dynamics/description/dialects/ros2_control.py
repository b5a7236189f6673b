"""``<ros2_control>``: the transmissions of its blocks.

After component_parser.cpp of hardware_interface, which is strict about names, roles
and plugins and lets everything else pass: other children, numbers that are none.
"""

from __future__ import annotations

from typing import Any

from geared_dynamics.description.dialects.drive import Context, Drive
from geared_dynamics.description.dialects.elements import (
    children,
    inertia,
    movable,
    name_of,
    number_in,
    ratio,
    tag,
)
from geared_dynamics.description.dialects.maps import COUNT, End, coefficients, kind_of
from geared_dynamics.description.dialects.roles import by_role, note_order
from geared_dynamics.errors import DescriptionError, UnknownNameError

_DIALECT = "ros2_control"
_REDUCTION, _OFFSET, _INERTIA = "mechanical_reduction", "offset", "rotor_inertia"
_INTERFACES = ("state_interface", "command_interface")
# Child elements that mean something; <rotor_inertia> to us only.
_KNOWN = {
    "transmission": ("plugin", "joint", "actuator", "param"),
    "joint": (_REDUCTION, _OFFSET, *_INTERFACES),
    "actuator": (_REDUCTION, _OFFSET, _INERTIA, *_INTERFACES),
}
# What ROS 1 and other readers write instead.
_SPELLINGS = {
    "mechanicalReduction": _REDUCTION,
    "motorInertia": _INERTIA,
    "drake:rotor_inertia": _INERTIA,
    "drake:gear_ratio": _REDUCTION,
    "type": "plugin",
}

# A misspelt reduction of 1 changes nothing: it is the default.
_ONE = ("1", "1.0", "1.", "1.00", "1.000")

Offset = tuple[str, float, str]


def read_block(block: Any, context: Context) -> tuple[list[Drive], list[Offset]]:
    """Return the drives of a ``<ros2_control>`` block, and its joints' offsets.

    Args:
        block: The element.
        context: The robot; takes the notes.

    Raises:
        DescriptionError: For what ros2_control refuses, and for what it ignores
            although it changes the transmission.
        UnknownNameError: If a joint or role is not there.
    """
    drives: list[Drive] = []
    offsets: list[Offset] = []
    declared = {(joint.get("name") or "").strip() for joint in children(block, "joint")}
    implied = (block.get("type") or "").strip() == "actuator"
    for node in children(block, "transmission"):
        name = name_of(node, f"ros2_control {block.get('name') or ''!r}", context)
        place = f"transmission {name!r}"
        kind = _kind(node, place, context)
        if kind is None:
            continue
        joints = [_end(child, place, context) for child in children(node, "joint")]
        actuators = [_end(child, place, context) for child in children(node, "actuator")]
        if implied and not actuators:
            actuators = [End(f"{name}_actuator1", role="actuator1")]
        _check_counts(kind, joints, actuators, place, context)
        if not all([movable(joint.name, place, context) for joint in joints]):
            continue
        _note_ignored(kind, joints, actuators, declared, place, context)
        note_order(kind, joints, actuators, place, context)
        found = _drives(kind, joints, actuators, place, context)
        drives += found
        offsets += [(joint.name, joint.offset, place) for joint in joints]
    return drives, offsets


def _kind(node: Any, place: str, context: Context) -> str | None:
    """Return the kind; None, with a note, for one that is not known here."""
    _check_children(node, "transmission", place, context)
    plugins = children(node, "plugin")
    if not plugins or not (plugins[0].text or "").strip():
        raise DescriptionError(
            f"{context.source}, {place}",
            "<plugin> is missing",
            "write <plugin>transmission_interface/SimpleTransmission</plugin> or another",
        )
    kind = kind_of(plugins[0].text)
    if kind not in COUNT:
        context.note(
            place,
            f"left out, because {plugins[0].text.strip()!r} is not known here"
            f" (known: {', '.join(COUNT)}); state it in the drivetrain file",
        )
        return None
    return kind


def _check_children(node: Any, element: str, place: str, context: Context) -> None:
    """Refuse children that ros2_control passes over although they are meant to count."""
    for child in node:
        name = tag(child)
        if name in _KNOWN[element]:
            continue
        where = f"{context.source}, {place}"
        right = _SPELLINGS.get(name)
        if right in _KNOWN[element] or right == _REDUCTION:
            finding = f"ros2_control silently ignores <{name}> inside <ros2_control>"
            inside = "" if right in _KNOWN[element] else " inside <joint>"
            if right == _REDUCTION and (child.text or "").strip() in _ONE:
                context.note(place, f"{finding}; write <{right}>{inside}")
                continue
            raise DescriptionError(where, finding, f"write <{right}>{inside}")
        if name.replace("_", "").lower() in [key.replace("_", "") for key in _KNOWN[element]]:
            raise UnknownNameError(where, "element", name, _KNOWN[element])
        context.note(place, f"<{name}> inside <{element}> is read by nobody")


def _end(node: Any, place: str, context: Context) -> End:
    word = tag(node)
    name = name_of(node, place, context)
    role = name_of(node, f"{place}/{word} {name!r}", context, "role")
    where = f"{place}/{word} {name!r}"
    _check_children(node, word, where, context)
    return End(
        name=name,
        reduction=ratio(number_in(node, _REDUCTION, where, context), where, context),
        offset=number_in(node, _OFFSET, where, context) or 0.0,
        role=role,
        inertia=inertia(number_in(node, _INERTIA, where, context), where, context)
        if word == "actuator"
        else None,
    )


def _check_counts(
    kind: str, joints: list[End], actuators: list[End], place: str, context: Context
) -> None:
    count = COUNT[kind]
    for word, ends in (("joint", joints), ("actuator", actuators)):
        names = {end.name for end in ends}
        if len(ends) != count or len(names) != count:
            found = ", ".join(repr(end.name) for end in ends) or "none"
            raise DescriptionError(
                f"{context.source}, {place}",
                f"a {kind} has {count} {word}{'s' * (count > 1)}, found {found}",
                f"name {count} {word}{'s' * (count > 1)}",
            )


def _note_ignored(
    kind: str,
    joints: list[End],
    actuators: list[End],
    declared: set[str],
    place: str,
    context: Context,
) -> None:
    """Note numbers that ros2_control reads and does not use."""
    for actuator in actuators:
        if kind == "SimpleTransmission" and actuator.reduction != 1.0:
            context.note(
                place,
                f"the {_REDUCTION} {actuator.reduction:g} of actuator {actuator.name!r} is not"
                " used, as in ros2_control: a SimpleTransmission has its reduction inside"
                " <joint>",
            )
        if actuator.offset != 0.0:
            context.note(
                place,
                f"the {_OFFSET} {actuator.offset:g} of actuator {actuator.name!r} is not used,"
                " as in ros2_control: offsets stand inside <joint>",
            )
    for joint in joints:
        if joint.name not in declared:
            context.note(
                place,
                f"joint {joint.name!r} is no <joint> of this block; ros2_control refuses that",
            )


def _drives(
    kind: str, joints: list[End], actuators: list[End], place: str, context: Context
) -> list[Drive]:
    ordered = by_role(actuators, "actuator", place, context)
    # A SimpleTransmission knows the joint's reduction only.
    used = ordered if COUNT[kind] > 1 else (End(ordered[0].name),)
    rows = coefficients(kind, by_role(joints, "joint", place, context), used)
    return [
        Drive(end.name, row, place, context.source, _DIALECT, end.inertia)
        for end, row in zip(ordered, rows, strict=True)
    ]
