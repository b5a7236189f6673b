"""What a URDF holds that urdf_parser_py drops or does not know."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args
from xml.etree import ElementTree as ET

from geared_dynamics.arrays import refuse_too_large
from geared_dynamics.description.robot_records import JointKind
from geared_dynamics.description.xml_input import XmlFile
from geared_dynamics.errors import DescriptionError, Note, UnknownNameError, lxml_etree, urdf_doubt
from geared_dynamics.files import place_in

# -- The elements of a URDF that dynamics needs, their attributes and children --------------------


# A limit that is not there, or as large as a float can be, is no limit.
NO_LIMIT = "inf"
WORD = 0


@dataclass(frozen=True)
class Element:
    """What to keep of an element: attribute -> how many numbers (0: a word).

    ``ignored`` names attributes and children that URDFs have and dynamics does not need.
    """

    attributes: Mapping[str, int] = field(default_factory=dict)
    children: Mapping[str, Element] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)
    infinite: bool = False
    ignored: tuple[str, ...] = ()


ORIGIN = Element({"xyz": 3, "rpy": 3})
_DIAGONAL, _PRODUCTS = ("ixx", "iyy", "izz"), ("ixy", "ixz", "iyz")
_INERTIA = Element(
    dict.fromkeys(_DIAGONAL + _PRODUCTS, 1),
    required=_DIAGONAL,
    defaults=dict.fromkeys(_PRODUCTS, "0"),
)
LINK = Element(
    {"name": WORD},
    {
        "inertial": Element(
            children={
                "origin": ORIGIN,
                "mass": Element({"value": 1}, required=("value",)),
                "inertia": _INERTIA,
            },
            required=("mass", "inertia"),
        )
    },
    ("name",),
    ignored=("type", "visual", "collision", "material", "gazebo", "sensor"),
)
_ENDS = {
    "parent": Element({"link": WORD}, required=("link",)),
    "child": Element({"link": WORD}, required=("link",)),
    "origin": ORIGIN,
}
_LIMIT = Element(
    dict.fromkeys(("lower", "upper", "effort", "velocity"), 1),
    defaults={"lower": "-inf", "upper": NO_LIMIT, "effort": NO_LIMIT, "velocity": NO_LIMIT},
    infinite=True,
)
_MOTION = {
    "axis": Element({"xyz": 3}, required=("xyz",)),
    "limit": _LIMIT,
    "dynamics": Element({"damping": 1, "friction": 1}),
    "mimic": Element({"joint": WORD, "multiplier": 1, "offset": 1}, required=("joint",)),
}
_NAME_AND_TYPE = {"name": WORD, "type": WORD}
_IGNORED = ("calibration", "safety_controller")
_REQUIRED = ("name", "type", "parent", "child")
MOVING = Element(_NAME_AND_TYPE, {**_ENDS, **_MOTION}, _REQUIRED, ignored=_IGNORED)
# A fixed or floating joint has no axis, limit, friction or leader, whatever is written.
AXISLESS = Element(_NAME_AND_TYPE, _ENDS, _REQUIRED, ignored=(*_MOTION, *_IGNORED))


# -- A URDF cut down to what dynamics needs, checked attribute by attribute -----------------------
#
# ``urdf_parser_py`` prints about, or fails on, much that real files hold: visuals
# without materials, plugins, sensors, ``ros2_control``, comments of vendors.
# None of it reaches the library. What does is checked here first, because here
# the place in the file is still known.


JOINT_KINDS: tuple[str, ...] = get_args(JointKind)
COUNT_LIMIT = 20_000  # links, and joints; the largest published robots have a few hundred

_BLANK = " \t\r\n"
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NOT_FINITE = ("inf", "+inf", "-inf", "nan")


class Copying(NamedTuple):
    """What is passed on while links and joints are copied.

    Attributes:
        namespace: Of the document.
        source: The file's name, for errors.
        misspelt: Finding of a name that has no effect -> where.
    """

    namespace: str | None
    source: str
    misspelt: dict[str, list[str]]


def prune(file: XmlFile) -> tuple[ET.Element, tuple[Note, ...]]:
    """Return the checked copy of a ``<robot>`` that holds only links and joints.

    Also a doubt for each misspelt name inside them, with its first place.

    Raises:
        DescriptionError: If an attribute or element is missing, given twice or
            not the number it should be.
        UnknownNameError: If a joint's type does not exist.
    """
    root, source = file.root, file.source
    context = Copying(lxml_etree().QName(root).namespace, source, {})
    robot = ET.Element("robot", name=_robot_name(root, source))
    counts = {"link": 0, "joint": 0}
    for node in root:
        tag = local_name(node, context.namespace)
        if tag not in counts:
            continue
        counts[tag] += 1
        if counts[tag] > COUNT_LIMIT:
            raise DescriptionError(
                source,
                f"more than {COUNT_LIMIT} {tag}s",
                "that is not the description of one robot",
            )
        name = (node.get("name") or "").strip()
        place = f"{tag} {name!r}" if name else f"{tag} number {counts[tag]}"
        element = LINK if tag == "link" else joint_element(node, source, place)
        robot.append(_copy(node, tag, element, place, context))
    notes = (
        urdf_doubt(place_in(source, where[0]), f"{finding}{_and_more(len(where) - 1)}")
        for finding, where in context.misspelt.items()
    )
    return robot, tuple(notes)


def _robot_name(root: Any, source: str) -> str:
    name = (root.get("name") or "").strip()
    if not name:
        raise DescriptionError(
            place_in(source, "robot"), "the robot has no name", 'write <robot name="...">'
        )
    version = (root.get("version") or "1").strip()
    if version.partition(".")[0] != "1":
        raise DescriptionError(
            place_in(source, "robot/version"),
            f"URDF version {version!r}",
            "only version 1 is known",
        )
    return name


def joint_element(node: Any, source: str, place: str) -> Element:
    """Return what a joint of its type has to say; refuse a type that does not exist."""
    kind = (node.get("type") or "").strip()
    if kind and kind not in JOINT_KINDS:
        raise UnknownNameError(place_in(source, place, "/type"), "joint type", kind, JOINT_KINDS)
    return AXISLESS if kind in ("fixed", "floating") else MOVING


def local_name(node: Any, namespace: str | None) -> str:
    """Return the local name of an element of the document's own namespace, else ''."""
    name = lxml_etree().QName(node)
    return str(name.localname) if name.namespace == namespace else ""


def _copy(node: Any, tag: str, element: Element, place: str, context: Copying) -> ET.Element:
    """Return the part of ``node`` that ``element`` describes; depth is bounded by it."""
    copy, source = ET.Element(tag), context.source
    for key, count in element.attributes.items():
        text = node.get(key)
        if text is None or not text.strip():
            text = element.defaults.get(key) if text is None or count == 1 else text
        if text is not None:
            _check_text(text, count, element.infinite, place_in(source, place, "/", key))
            copy.set(key, text.strip())
    _refuse_quaternion(node, element, place_in(source, place))
    _find_misspelt_attributes(node, tag, element, place, context)
    names = [local_name(child, context.namespace) for child in node]
    for name, child in zip(names, node, strict=True):
        if name not in element.children:
            if near := _nearest(name, tuple(element.children), element.ignored, names):
                finding = f"<{clip(name)}> inside <{tag}> is not read"
                context.misspelt.setdefault(f"{finding}; did you mean <{near}>?", []).append(place)
            continue
        below = f"{place}/{name}"
        if copy.find(name) is not None:
            raise DescriptionError(
                place_in(source, below), f"<{name}> is given twice", "keep one of them"
            )
        copy.append(_copy(child, name, element.children[name], below, context))
    _require(copy, element, source, place)
    return copy


def _require(copy: ET.Element, element: Element, source: str, place: str) -> None:
    for key in element.required:
        if key in element.children and copy.find(key) is None:
            raise DescriptionError(
                place_in(source, place), f"<{key}> is missing", f"write <{key} ...> inside it"
            )
        if key not in element.children and not copy.get(key):
            raise DescriptionError(
                place_in(source, place), f"the attribute {key!r} is missing", f'write {key}="..."'
            )


def _refuse_quaternion(node: Any, element: Element, place: str) -> None:
    """Refuse what would turn the frame if it were read and be lost if it were not."""
    if element is ORIGIN and node.get("quat_xyzw") is not None:
        raise DescriptionError(
            f"{place}/quat_xyzw", "quaternions are not read", "write the rotation as rpy"
        )


def _check_text(text: str, count: int, infinite: bool, place: str) -> None:
    """Refuse text that is not ``count`` finite numbers."""
    if "${" in text or "$(" in text:
        raise DescriptionError(
            place, f"unprocessed xacro expression {text!r}", "run it through xacro first"
        )
    if count == WORD:
        return
    words = re.split(f"[{_BLANK}]+", text.strip(_BLANK))
    expected = "a number" if count == 1 else f"{count} numbers"
    if len(words) != count:
        raise DescriptionError(
            place,
            f"expected {expected}, found {clip(text)!r}",
            f"write {expected} separated by spaces" if count > 1 else "write one number",
        )
    for word in words:
        value = number_or_none(word)
        if value is None:
            raise DescriptionError(
                place, f"expected {expected}, found {clip(text)!r}", f"correct {clip(word)!r}"
            )
        if math.isnan(value) or (math.isinf(value) and not infinite):
            raise DescriptionError(
                place, f"{clip(word)!r} is not a finite number", "write a finite number"
            )
        if not infinite:
            refuse_too_large(value, place)


def number_or_none(text: str) -> float | None:
    """Return the number that a text is, blanks around it, None if it is none.

    It may be infinite or not a number. Python would also read 1_000 and the digits
    of other scripts; no other URDF reader does.
    """
    word = text.strip(_BLANK)
    if _DECIMAL.fullmatch(word) or word.lower() in _NOT_FINITE:
        return float(word)
    return None


def clip(text: str) -> str:
    """Return a text short enough to be quoted."""
    return text if len(text) <= 60 else f"{text[:57]}..."


# -- Names in links and joints that have no effect and look like names that are read --------------
#
# XML lets anything stand anywhere, and readers pass over what they do not know: with
# ``<orgin xyz="0 0 0.3"/>`` the link is elsewhere, without an error. What resembles
# nothing is somebody's extension.


# Similarity by difflib: "xyy" and "xyz" have 0.67, "axes" and "axis" 0.75, "material" and
# "inertial" 0.63.
_ALIKE = 0.65


def _and_more(others: int) -> str:
    return f" (and at {others} more place{'s' if others > 1 else ''})" if others else ""


def _find_misspelt_attributes(
    node: Any, tag: str, element: Element, place: str, context: Copying
) -> None:
    for key in node.attrib:
        if not lxml_etree().QName(key).namespace and key not in element.attributes:
            if near := _nearest(key, tuple(element.attributes), element.ignored, node.attrib):
                finding = f"the attribute {clip(key)!r} of <{tag}> is not read"
                context.misspelt.setdefault(f"{finding}; did you mean {near!r}?", []).append(place)


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
