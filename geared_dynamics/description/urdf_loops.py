"""Elements of a URDF that close loops, tie joints together or put springs between links.

URDF is a tree, so each program has words of its own for what a tree cannot hold: ``<loop>``
and ``<coupling>`` (URDF+), ``<loop_joint>`` (Isaac Sim), ``<constraint>``, Drake's
``drake:ball_constraint``, ``drake:tendon_constraint``, ``drake:linear_bushing_rpy``,
``drake:linear_spring_damper`` and ``drake:joint``, and Gazebo's ``<joint>`` inside
``<gazebo>``. The model has none of them, and each is named in a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from geared_dynamics.description.dialects.elements import tag
from geared_dynamics.description.source import at
from geared_dynamics.description.urdf_prune import clip

_LOOP = (
    "closes a kinematic loop{ends}, which is not a part of the model: its links move as an open"
    " tree; let the joints that the loop moves <mimic> one of them (exact for parallelograms)"
)
_TIE = (
    "couples joints or links{ends}, which is not a part of the model: they move independently;"
    " write <mimic> in the joint that follows, or the motor's ratios in the drivetrain file"
)
_SPRING = (
    "is a spring or damper{ends}, which is not a part of the model: its force is"
    " left out; write it under 'balancers' in the drivetrain file"
)
_JOINT = (
    "is a joint{ends} of a kind that URDF does not have, and not a part of the model; write it"
    " as <joint>, a ball joint as three revolute ones"
)
# The words that an element's name is made of, the first that is found deciding.
_WORDS = {
    **dict.fromkeys(("bushing", "bushings", "spring", "springs", "damper", "dampers"), _SPRING),
    **dict.fromkeys(("coupling", "couplings", "coupler", "tendon", "tendons"), _TIE),
    **dict.fromkeys(("equality", "gear", "gears", "gearbox", "belt", "belts"), _TIE),
    **dict.fromkeys(("loop", "loops", "closure", "constraint", "constraints"), _LOOP),
}
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")
# Their content has words of its own, such as a controller's loop rate.
_CLOSED = ("ros2_control", "transmission", "material", "visual", "collision", "sensor", "inertial")
_SHOWN = 4  # ends that are named


def loop_notes(root: Any, source: str) -> tuple[str, ...]:
    """Return a line for each element that the tree leaves out: place, what it means, remedy.

    Args:
        root: The URDF's root element.
        source: The file's name.
    """
    links = {(node.get("name") or "").strip() for node in root if tag(node) == "link"}
    return tuple(
        f"{at(source, _place(node))}: <{tag(node)}> {text.format(ends=_ends(node))}"
        for node, text in _left_out(root, links)
    )


def _left_out(root: Any, links: set[str]) -> Iterator[tuple[Any, str]]:
    """Yield the elements below ``<robot>``, a link, a joint or ``<gazebo>``, and the finding."""
    for node in root:
        name = tag(node)
        if name == "gazebo":
            yield from ((joint, _LOOP) for joint in node if _joins(joint, links))
        elif name in ("link", "joint"):
            yield from ((child, text) for child in node if (text := _finding(tag(child))))
        elif name == "drake:joint":
            yield node, _JOINT
        elif text := _finding(name):
            yield node, text


def _finding(name: str) -> str:
    """Return what an element of this name means, empty where it is none of these."""
    if name in _CLOSED:
        return ""
    if name == "force_element":  # of older versions of Drake
        return _SPRING
    words = {word.lower() for word in _WORD.findall(name.rpartition(":")[2])}
    return next((text for word, text in _WORDS.items() if word in words), "")


def _joins(node: Any, links: set[str]) -> bool:
    """Whether a Gazebo joint connects two links of the robot; one to the world does not."""
    if tag(node) != "joint":
        return False
    ends = {tag(child): (child.text or "").strip() for child in node}
    return ends.get("parent") in links and ends.get("child") in links


def _place(node: Any) -> str:
    name = (node.get("name") or "").strip()
    words = f"{tag(node)} {clip(name)!r}" if name else tag(node)
    return f"{words}, line {node.sourceline}"


def _ends(node: Any) -> str:
    """Return the links, joints and frames that an element names, in words."""
    found: dict[str, None] = {}
    for child in node.iterdescendants():
        for key in ("link", "joint", "name"):
            found.setdefault((child.get(key) or "").strip())
        if not len(child) and not child.attrib and _is_name(child.text):
            found.setdefault(child.text.strip())
    found.pop("", None)
    names = [repr(clip(name)) for name in found]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f" ({', '.join(names[:_SHOWN])}{more})" if names else ""


def _is_name(text: str | None) -> bool:
    """Whether a text could be a link's name, and no number."""
    return re.fullmatch(r"\s*[A-Za-z_]\S*\s*", text or "") is not None
