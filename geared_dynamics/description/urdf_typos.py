"""Names in links and joints that nobody reads and that look like names that are read.

XML lets anything stand anywhere, and readers pass over what they do not know: with
``<orgin xyz="0 0 0.3"/>`` the link sits elsewhere, and nobody says why. What resembles
nothing is somebody's extension.
"""

from __future__ import annotations

import difflib
from collections.abc import Container, Iterator
from typing import Any

from geared_dynamics.description._untyped import lxml_etree
from geared_dynamics.description.source import at
from geared_dynamics.description.urdf_elements import LINK, Element
from geared_dynamics.description.urdf_prune import clip, joint_element, local_name

# Similarity by difflib: "xyy" and "xyz" have 0.67, "axes" and "axis" 0.75, "material" and
# "inertial" 0.63.
_ALIKE = 0.65


def typo_notes(root: Any, source: str) -> tuple[str, ...]:
    """Return a line for each misspelt name inside a link or joint, with its first place.

    Args:
        root: The URDF's root element, as ``prune`` has accepted it.
        source: The file's name.
    """
    namespace = lxml_etree().QName(root).namespace
    places: dict[str, list[str]] = {}
    for node in root:
        tag = local_name(node, namespace)
        if tag not in ("link", "joint"):
            continue
        place = f"{tag} {(node.get('name') or '').strip()!r}"
        element = LINK if tag == "link" else joint_element(node, source, place)
        for where, finding in _typos(node, element, namespace, place):
            places.setdefault(finding, []).append(where)
    return tuple(
        f"{at(source, where[0])}: {finding}{_and_more(len(where) - 1)}"
        for finding, where in places.items()
    )


def _and_more(others: int) -> str:
    return f" (and at {others} more place{'s' if others > 1 else ''})" if others else ""


def _typos(
    node: Any, element: Element, namespace: str | None, place: str
) -> Iterator[tuple[str, str]]:
    """Yield place and finding of what an element and those below it have misspelt."""
    tag = local_name(node, namespace)
    for key in node.attrib:
        if not lxml_etree().QName(key).namespace and key not in element.attributes:
            if near := _nearest(key, tuple(element.attributes), element.ignored, node.attrib):
                finding = f"the attribute {clip(key)!r} of <{tag}> is not read"
                yield place, f"{finding}; did you mean {near!r}?"
    names = [local_name(child, namespace) for child in node]
    for name, child in zip(names, node, strict=True):
        if name in element.children:
            yield from _typos(child, element.children[name], namespace, f"{place}/{name}")
        elif near := _nearest(name, tuple(element.children), element.ignored, names):
            finding = f"<{clip(name)}> inside <{tag}> is not read"
            yield place, f"{finding}; did you mean <{near}>?"


def _nearest(
    name: str, known: tuple[str, ...], ignored: tuple[str, ...], given: Container[str]
) -> str | None:
    """Return the known name that a name resembles, None if there is none or it is ignored.

    Beside a known name one that contains it means something else: gear_velocity, velocity.
    """
    word = name.lower()
    near = difflib.get_close_matches(word, [*known, *ignored], n=1, cutoff=_ALIKE)
    if not near or near[0] not in known or (near[0] in given and near[0] in word):
        return None
    return near[0]
