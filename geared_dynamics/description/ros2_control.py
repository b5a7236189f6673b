"""Transmissions inside ``<ros2_control>``, with the checks that ros2_control makes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from geared_dynamics.description.transmission_elements import (
    COUNT,
    Context,
    Drive,
    End,
    children,
    coefficients,
    inertia,
    kind_of,
    movable,
    name_of,
    number_in,
    offsets,
    parameter,
    ratio,
)
from geared_dynamics.description.transmission_roles import (
    INERTIA,
    OFFSET,
    REDUCTION,
    DialectRules,
    by_role,
    check_strays,
    meaning,
    note_order,
)
from geared_dynamics.description.xml_input import tag
from geared_dynamics.errors import DescriptionError, UnknownNameError

# -- What ros2_control refuses, and what it passes over although it is meant to count -------------


_REDUCTION, _OFFSET, _INERTIA = "mechanical_reduction", "offset", "rotor_inertia"
_TYPES = ("system", "actuator", "sensor")
_INTERFACES = ("state_interface", "command_interface")
# Child elements that mean something; <rotor_inertia> to us only.
_KNOWN = {
    "transmission": ("plugin", "joint", "actuator", "param"),
    "joint": (_REDUCTION, _OFFSET, *_INTERFACES),
    "actuator": (_REDUCTION, _OFFSET, _INERTIA, *_INTERFACES),
}
_FINDING = "ros2_control silently ignores {what}"
IN_TRANSMISSION = DialectRules(
    read=(
        ("joint", _REDUCTION),
        ("joint", _OFFSET),
        ("actuator", _REDUCTION),
        ("actuator", _OFFSET),
        ("actuator", _INERTIA),
        (f"param:{_INERTIA}",),
    ),
    finding=_FINDING,
    remedies={
        REDUCTION: f"write <{_REDUCTION}> inside the <joint> of the <transmission>",
        INERTIA: f"write <{_INERTIA}> inside the <actuator> of the <transmission>",
        OFFSET: f"write <{_OFFSET}> inside the <joint> of the <transmission>",
    },
)
IN_BLOCK = DialectRules(
    read=(("joint", f"param:{_REDUCTION}"), ("joint", f"param:{_INERTIA}")),
    finding=_FINDING,
    remedies={
        REDUCTION: f"write a <transmission> with <{_REDUCTION}> inside its <joint>",
        INERTIA: f"write a <transmission> with <{_INERTIA}> inside its <actuator>",
    },
    passed_on=("hardware", "joint", "gpio", "sensor"),
)


def type_of(block: Any, context: Context) -> str:
    """Return a block's type; ros2_control asks for it and for a name.

    Raises:
        DescriptionError: If type or name is missing.
        UnknownNameError: If the type is none of those there are.
    """
    name = name_of(block, f"ros2_control, line {block.sourceline}", context)
    place = f"ros2_control {name!r}"
    kind = name_of(block, place, context, "type")
    if kind not in _TYPES:
        raise UnknownNameError(f"{context.source}, {place}/type", "type", kind, _TYPES)
    return kind


def check_children(node: Any, element: str, place: str, context: Context) -> None:
    """Refuse children that are misspelt, note others that have no effect.

    Those with the meaning of a reduction, inertia or offset are left to ``check_strays``.
    """
    for child in node:
        name = tag(child)
        if name in _KNOWN[element] or meaning(name):
            continue
        where = f"{context.source}, {place}"
        if name == "type":
            raise DescriptionError(where, _FINDING.format(what="<type>"), "write <plugin>")
        if name.replace("_", "").lower() in [key.replace("_", "") for key in _KNOWN[element]]:
            raise UnknownNameError(where, "element", name, _KNOWN[element])
        context.note(place, f"<{name}> inside <{element}> has no effect")


def check_counts(
    kind: str, joints: list[End], actuators: list[End], place: str, context: Context
) -> None:
    """Refuse more or fewer joints and actuators than the kind has, and the same one twice."""
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


def check_lone(joints: list[End], place: str, context: Context) -> None:
    """Refuse what ros2_control refuses in a block of type ``actuator``."""
    if len(joints) != 1:
        raise DescriptionError(
            f"{context.source}, {place}",
            f'a transmission of a <ros2_control type="actuator"> has 1 joint, found {len(joints)}',
            'name 1 joint, or write type="system"',
        )


def check_declared(joints: list[End], declared: list[str], place: str, context: Context) -> None:
    """Refuse joints that the block does not declare, as ros2_control does."""
    for joint in joints:
        if joint.name not in declared:
            raise DescriptionError(
                f"{context.source}, {place}",
                f"joint {joint.name!r} is missing in this <ros2_control>, and ros2_control rejects"
                " that",
                f'write <joint name="{joint.name}"> beside the <transmission>',
            )


def note_ignored(
    kind: str, joints: list[End], actuators: list[End], place: str, context: Context
) -> None:
    """Note numbers that ros2_control reads and does not use.

    Raises:
        DescriptionError: If a SimpleTransmission's actuator has a reduction and its joint
            none: the joint's was meant.
    """
    for actuator in actuators:
        if kind == "SimpleTransmission" and actuator.reduction != 1.0:
            finding = (
                f"the {_REDUCTION} {actuator.reduction:g} of actuator {actuator.name!r} is not"
                " used, as in ros2_control"
            )
            if joints[0].reduction == 1.0:
                remedy = "move it into <joint>, where a SimpleTransmission has it"
                raise DescriptionError(f"{context.source}, {place}", finding, remedy)
            context.note(
                place, f"{finding}: a SimpleTransmission has its reduction inside <joint>"
            )
        if actuator.offset != 0.0:
            context.note(
                place,
                f"the {_OFFSET} {actuator.offset:g} of actuator {actuator.name!r} is not used,"
                " as in ros2_control: offsets stand inside <joint>",
            )


# -- ``<ros2_control>``: the transmissions of its blocks ------------------------------------------
#
# After component_parser.cpp of hardware_interface, which is strict about names, roles
# and plugins and lets everything else pass: other children, attributes, parameters,
# numbers that are none.


_DIALECT = "ros2_control"


def read_block(block: Any, context: Context) -> list[Drive]:
    """Return the drives of the transmissions of a ``<ros2_control>`` block.

    Args:
        block: The element.
        context: The robot; takes the notes.

    Raises:
        DescriptionError: For what ros2_control refuses, and for what it ignores
            although it changes the transmission.
        UnknownNameError: If a joint or role is not there.
    """
    implied = type_of(block, context) == "actuator"
    place = place_of(block)
    declared = [name_of(joint, place, context) for joint in children(block, "joint")]
    for joint in declared:
        if joint not in context.kinds:
            raise UnknownNameError(f"{context.source}, {place}", "joint", joint, context.kinds)
    check_strays(block, IN_BLOCK, place, context, skip="transmission")
    drives: list[Drive] = []
    for node in children(block, "transmission"):
        name = name_of(node, place, context)
        drives += _read(node, f"transmission {name!r}", declared, implied, context)
    return drives


def place_of(block: Any) -> str:
    """Return what a block is called in notes and errors."""
    return f"ros2_control {(block.get('name') or '').strip()!r}"


def _read(
    node: Any, place: str, declared: list[str], implied: bool, context: Context
) -> list[Drive]:
    """Return the drives of a transmission; ``implied``: its one actuator goes without saying."""
    kind = _kind(node, place, context)
    if kind is None:
        return []
    joints = [_end(child, place, context) for child in children(node, "joint")]
    actuators = [_end(child, place, context) for child in children(node, "actuator")]
    check_strays(node, IN_TRANSMISSION, place, context)
    if implied:
        check_lone(joints, place, context)
        actuators = actuators or [End(f"{node.get('name').strip()}_actuator1", role="actuator1")]
    check_counts(kind, joints, actuators, place, context)
    actuators = _with_parameter(node, actuators, place, context)
    movables = [movable(joint.name, place, context) for joint in joints]
    check_declared(joints, declared, place, context)
    if not all(movables):
        return []
    note_ignored(kind, joints, actuators, place, context)
    note_order(kind, joints, actuators, place, context)
    return _drives(kind, joints, actuators, place, context)


def _kind(node: Any, place: str, context: Context) -> str | None:
    """Return the kind; None, with a note, for one that is not known here."""
    check_children(node, "transmission", place, context)
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


def _end(node: Any, place: str, context: Context) -> End:
    word = tag(node)
    name = name_of(node, place, context)
    role = name_of(node, f"{place}/{word} {name!r}", context, "role")
    where = f"{place}/{word} {name!r}"
    check_children(node, word, where, context)
    return End(
        name=name,
        reduction=ratio(number_in(node, _REDUCTION, where, context), where, context),
        offset=number_in(node, _OFFSET, where, context) or 0.0,
        role=role,
        inertia=inertia(number_in(node, _INERTIA, where, context), where, context)
        if word == "actuator"
        else None,
    )


def _with_parameter(node: Any, actuators: list[End], place: str, context: Context) -> list[End]:
    """Return the actuators with the inertia of ``<param name="rotor_inertia">``.

    A ``<param>`` of the transmission is where ros2_control itself keeps data that it
    does not know; it is said of the one actuator there is.
    """
    given = inertia(parameter(node, _INERTIA, place, context), place, context)
    if given is None:
        return actuators
    if len(actuators) > 1:
        raise DescriptionError(
            f"{context.source}, {place}",
            f'<param name="{_INERTIA}"> does not name the actuator that it belongs to',
            f"write <{_INERTIA}> inside each <actuator>",
        )
    (end,) = actuators
    if end.inertia is not None and end.inertia != given:
        context.note(place, f"<{_INERTIA}> {end.inertia:g} is taken, not <param> {given:g}")
    return [replace(end, inertia=given if end.inertia is None else end.inertia)]


def _drives(
    kind: str, joints: list[End], actuators: list[End], place: str, context: Context
) -> list[Drive]:
    ordered = by_role(actuators, "actuator", place, context)
    # A SimpleTransmission knows the joint's reduction only.
    used = ordered if COUNT[kind] > 1 else (End(ordered[0].name),)
    rows = coefficients(kind, by_role(joints, "joint", place, context), used)
    return [
        Drive(end.name, row, place, context.source, _DIALECT, end.inertia, True, zeros)
        for end, row, zeros in zip(ordered, rows, offsets(rows, joints), strict=True)
    ]
