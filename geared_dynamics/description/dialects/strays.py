"""Reductions, rotor inertias and offsets that stand where no reader looks for them.

XML lets them stand anywhere, as elements, attributes or ``<param>``, and readers pass
over what they do not know: the arm then moves without its gears and nobody says why.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from geared_dynamics.description._untyped import lxml_etree
from geared_dynamics.description.dialects.drive import Context
from geared_dynamics.description.dialects.elements import tag
from geared_dynamics.description.urdf_prune import number_or_none
from geared_dynamics.errors import DescriptionError

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

Path = tuple[str, ...]


@dataclass(frozen=True)
class Rules:
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
    node: Any, rules: Rules, place: str, context: Context, skip: str | None = None
) -> None:
    """Refuse numbers below an element that nobody reads although they would change the drive.

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
    for found in _quantities(node, (), place):
        if found.path in rules.read or found.kind not in rules.remedies:
            continue
        if found.path[0] == skip:
            continue
        neutral = number_or_none(found.text) == _NEUTRAL[found.kind]
        finding, remedy = rules.finding.format(what=found.what), rules.remedies[found.kind]
        if found.path[0] in rules.passed_on and found.path[-1].startswith("param:"):
            if neutral:
                continue
            finding = f"{found.what} is left to the hardware's driver and not read here"
        elif not neutral and not rules.tolerant:
            raise DescriptionError(f"{context.source}, {found.place}", finding, remedy)
        context.note(found.place, f"{finding}; {remedy}")


def note_misplaced(root: Any, context: Context) -> None:
    """Note ``<ros2_control>`` and ``<transmission>`` misspelt or where nobody looks for them.

    Args:
        root: The URDF's root element.
        context: Takes the notes.
    """
    for node in root.iter():
        right = _CONTAINERS.get(lxml_etree().QName(node).localname.replace("_", "").lower())
        if right is None or node is root:
            continue
        name, parent = tag(node), node.getparent()
        inside_block = right == "transmission" and tag(parent) == "ros2_control"
        if name != right or not (parent is root or inside_block):
            own = (node.get("name") or "").strip()
            context.note(
                f"{tag(parent)}/{name} {own!r}, line {node.sourceline}",
                f"is read by nobody; write <{right}> right inside"
                f" {'<robot>' if right == 'ros2_control' else '<ros2_control>'}",
            )


def meaning(name: str) -> str | None:
    """Return what the name of an element, attribute or parameter is about, if known."""
    word = name.rpartition(":")[2].replace("_", "").replace("-", "").lower()
    return _MEANINGS.get(word)


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
