"""``<ros2_control>``: the transmissions of its blocks.

After component_parser.cpp of hardware_interface, which is strict about names, roles
and plugins and lets everything else pass: other children, attributes, parameters,
numbers that are none.
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
    number_in,
    parameter,
    ratio,
    tag,
)
from geared_dynamics.description.dialects.maps import COUNT, End, coefficients, kind_of, offsets
from geared_dynamics.description.dialects.roles import by_role, note_order
from geared_dynamics.description.dialects.ros2_checks import (
    IN_BLOCK,
    IN_TRANSMISSION,
    check_children,
    check_counts,
    check_declared,
    check_lone,
    note_ignored,
    type_of,
)
from geared_dynamics.description.dialects.strays import check_strays
from geared_dynamics.errors import DescriptionError, UnknownNameError

_DIALECT = "ros2_control"
_REDUCTION, _OFFSET, _INERTIA = "mechanical_reduction", "offset", "rotor_inertia"


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
            f'<param name="{_INERTIA}"> does not say which of two actuators it is of',
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
