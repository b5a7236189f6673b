"""Roles of a transmission's joints and actuators; reductions written where no reader looks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from geared_dynamics.description.transmission_elements import (
    COUNT,
    Context,
    End,
    coefficients,
)
from geared_dynamics.description.urdf_checks import number_or_none
from geared_dynamics.description.xml_input import XmlFile, plain_word, tag
from geared_dynamics.errors import DescriptionError, UnknownNameError, lxml_etree

# -- Ends of a transmission put in the order of their roles ---------------------------------------
#
# ros2_control asks for roles and does not look at them: it gives the reductions in
# the order of the file to the joints and actuators in the order of the alphabet.


def by_role(ends: Sequence[End], word: str, place: str, context: Context) -> tuple[End, ...]:
    """Return the ends in the order of the roles ``joint1``, ``joint2`` or ``actuator1`` ...

    Raises:
        UnknownNameError: If a role is none of these.
        DescriptionError: If two ends have the same role.
    """
    if len(ends) == 1:
        _check_single(ends[0], word, place, context)
        return tuple(ends)
    roles = [f"{word}{number + 1}" for number in range(len(ends))]
    ordered: dict[str, End] = {}
    for end in ends:
        where = f"{context.source}, {place}/{word} {end.name!r}/role"
        if end.role not in roles:
            raise UnknownNameError(where, "role", end.role, roles)
        if end.role in ordered:
            raise DescriptionError(
                where,
                f"{end.name!r} and {ordered[end.role].name!r} have the same role {end.role!r}",
                f"give them {' and '.join(map(repr, roles))}",
            )
        ordered[end.role] = end
    return tuple(ordered[role] for role in roles)


def _check_single(end: End, word: str, place: str, context: Context) -> None:
    """Refuse the role of an end that has no other beside it, unless it is 1 or a number.

    ``joint2`` of a SimpleTransmission is noted and not refused: ros2_control's own
    example 8 numbers its roles through. The form of ROS 1 needs no role here.
    """
    only = f"{word}1"
    if end.role in ("", only):
        return
    where = f"{place}/{word} {end.name!r}/role"
    if not re.fullmatch(f"{word}[0-9]+", end.role):
        raise UnknownNameError(f"{context.source}, {where}", "role", end.role, [only])
    context.note(
        where, f"{end.role!r} is taken as {only!r}, which is all that a SimpleTransmission has"
    )


def note_order(
    kind: str, joints: Sequence[End], actuators: Sequence[End], place: str, context: Context
) -> None:
    """Note where roles disagree with the order that ros2_control goes by instead.

    Args:
        kind: Kind of the transmission.
        joints: The joints' ends in file order.
        actuators: The actuators' ends in file order.
        place: The transmission.
        context: Takes the note.
    """
    if COUNT[kind] == 1:
        return
    ours_joints = by_role(joints, "joint", place, context)
    ours_actuators = by_role(actuators, "actuator", place, context)
    in_order = (tuple(joints), tuple(actuators)) == (ours_joints, ours_actuators)
    ours = _as_read(kind, ours_joints, ours_actuators)
    theirs = _as_read(kind, _alphabetic(joints), _alphabetic(actuators))
    if in_order and ours == theirs:
        return
    order = "file" if not in_order else "alphabet"
    result = "gets the same" if ours == theirs else "gets another transmission"
    context.note(
        place,
        f"the roles disagree with the order of the {order}; joints and actuators are taken by"
        f" role. ros2_control uses the order only and {result}",
    )


def _alphabetic(ends: Sequence[End]) -> tuple[End, ...]:
    names = sorted(end.name for end in ends)
    return tuple(replace(end, name=name) for end, name in zip(ends, names, strict=True))


def _as_read(kind: str, joints: Sequence[End], actuators: Sequence[End]) -> object:
    """Return what a transmission does, independent of any order."""
    rows = coefficients(kind, joints, actuators)
    return (
        {end.name: dict(row) for end, row in zip(actuators, rows, strict=True)},
        {end.name: end.offset for end in joints},
    )


# -- Reductions, rotor inertias and offsets that stand where no reader looks for them -------------
#
# XML lets them stand anywhere, as elements, attributes or ``<param>``, and readers pass
# over what they do not know: the arm then moves without its gears, without an error.


REDUCTION, INERTIA, OFFSET = "reduction", "inertia", "offset"
# Spellings without case, '_' and '-'.
_MEANINGS = {
    "mechanicalreduction": REDUCTION,
    "reduction": REDUCTION,
    "reductionratio": REDUCTION,
    "gearratio": REDUCTION,
    "gearreduction": REDUCTION,
    "rotorinertia": INERTIA,
    "motorinertia": INERTIA,
    "armature": INERTIA,
    "offset": OFFSET,
}
# Values that change nothing wherever they stand.
_NEUTRAL = {REDUCTION: 1.0, INERTIA: 0.0, OFFSET: 0.0}

_CONTAINERS = {"ros2control": "ros2_control", "transmission": "transmission"}
# Plain words without one of which a URDF says nothing of drives.
DRIVE_WORDS = frozenset(_CONTAINERS) | {w for w, kind in _MEANINGS.items() if kind != OFFSET}

Path = tuple[str, ...]


@dataclass(frozen=True)
class DialectRules:
    """What a dialect reads, and what is said of the rest.

    Attributes:
        read: Paths below the element that are read; a ``<param name="x">`` is ``param:x``.
        finding: Of a stray, with ``{what}``.
        remedies: Meaning -> where it belongs; other meanings are not looked at.
        passed_on: First elements of paths whose ``<param>`` go to the hardware's driver,
            which may look at them.
        tolerant: Whether strays are noted only.
    """

    read: Collection[Path]
    finding: str
    remedies: Mapping[str, str]
    passed_on: Collection[str] = ()
    tolerant: bool = False


@dataclass(frozen=True)
class _Quantity:
    """A number with a meaning: where it stands, how it is spelt, its text."""

    path: Path
    place: str
    kind: str
    what: str
    text: str


def check_strays(
    node: Any, rules: DialectRules, place: str, context: Context, skip: str | None = None
) -> None:
    """Refuse numbers below an element without effect although they would change the drive.

    One that changes nothing (a reduction of 1) is noted, and so is one that the
    hardware's driver may read.

    Args:
        node: The element.
        rules: Of its dialect.
        place: What the element is called.
        context: Takes the notes.
        skip: Name of child elements that are looked at elsewhere.

    Raises:
        DescriptionError: If there is one.
    """
    for quantity in _quantities(node, (), place):
        if quantity.path in rules.read or quantity.kind not in rules.remedies:
            continue
        if quantity.path[0] == skip:
            continue
        neutral = number_or_none(quantity.text) == _NEUTRAL[quantity.kind]
        finding, remedy = rules.finding.format(what=quantity.what), rules.remedies[quantity.kind]
        if quantity.path[0] in rules.passed_on and quantity.path[-1].startswith("param:"):
            if neutral:
                continue
            finding = f"{quantity.what} is left to the hardware's driver and not read here"
        elif not neutral and not rules.tolerant:
            raise DescriptionError(f"{context.source}, {quantity.place}", finding, remedy)
        context.note(quantity.place, f"{finding}; {remedy}")


def note_misplaced(file: XmlFile, context: Context) -> None:
    """Note ``<ros2_control>`` and ``<transmission>`` misspelt or where they have no effect.

    Args:
        file: The URDF.
        context: Takes the notes.
    """
    for name, node in file.nodes:
        right, parent = _CONTAINERS.get(plain_word(name)), node.getparent()
        if right is None or parent is None:
            continue
        inside_block = right == "transmission" and tag(parent) == "ros2_control"
        if name != right or not (parent is file.root or inside_block):
            own = (node.get("name") or "").strip()
            context.note(
                f"{tag(parent)}/{name} {own!r}, line {node.sourceline}",
                f"has no effect; write <{right}> right inside"
                f" {'<robot>' if right == 'ros2_control' else '<ros2_control>'}",
            )


def meaning(name: str) -> str | None:
    """Return what the name of an element, attribute or parameter is about, if known."""
    return _MEANINGS.get(plain_word(name))


def _quantities(node: Any, path: Path, place: str) -> Iterator[_Quantity]:
    """Yield all that has a meaning, at and below an element."""
    for key, text in node.attrib.items():
        name = lxml_etree().QName(key).localname
        if kind := meaning(name):
            what = f"the attribute {name!r} of <{tag(node)}>"
            yield _Quantity((*path, f"@{name}"), place, kind, what, text)
    for child in node:
        name, own = tag(child), (child.get("name") or "").strip()
        if name == "param":
            if kind := meaning(own):
                what = f'<param name="{own}"> inside <{tag(node)}>'
                yield _Quantity((*path, f"param:{own}"), place, kind, what, child.text or "")
            continue
        if kind := meaning(name):
            text = child.text if (child.text or "").strip() else child.get("value") or ""
            what = f"<{name}> inside <{tag(node)}>"
            yield _Quantity((*path, name), place, kind, what, text)
        below = f"{place}/{name} {own!r}" if own else f"{place}/{name}"
        yield from _quantities(child, (*path, name), below)
