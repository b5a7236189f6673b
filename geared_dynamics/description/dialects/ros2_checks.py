"""What ros2_control refuses, and what it passes over although it is meant to count."""

from __future__ import annotations

from typing import Any

from geared_dynamics.description.dialects.drive import Context
from geared_dynamics.description.dialects.elements import name_of, tag
from geared_dynamics.description.dialects.maps import COUNT, End
from geared_dynamics.description.dialects.strays import INERTIA, OFFSET, REDUCTION, Rules, meaning
from geared_dynamics.errors import DescriptionError, UnknownNameError

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
IN_TRANSMISSION = Rules(
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
IN_BLOCK = Rules(
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
    """Refuse children that are misspelt, note others that nobody reads.

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
        context.note(place, f"<{name}> inside <{element}> is read by nobody")


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
                f"joint {joint.name!r} is no <joint> of this <ros2_control>, which refuses that",
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
                remedy = "a SimpleTransmission has it inside <joint>: move it there"
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
