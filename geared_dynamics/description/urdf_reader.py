"""URDF -> :class:`RobotRecord`, by way of ``urdf_parser_py``."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast
from xml.etree import ElementTree as ET

from geared_dynamics.description.drive_records import FrictionRecord
from geared_dynamics.description.geometry import (
    ZERO3,
    Matrix3,
    Vector3,
    norm,
    rotation_from_rpy,
    turn_tensor,
    unit,
)
from geared_dynamics.description.robot_records import (
    InertiaRecord,
    JointKind,
    JointRecord,
    LimitRecord,
    LinkRecord,
    MimicRecord,
    RobotRecord,
    VisualRecord,
)
from geared_dynamics.description.robot_tree import check_robot
from geared_dynamics.description.urdf_checks import clip, number_or_none, prune
from geared_dynamics.description.xml_input import XmlFile, read_xml, tag
from geared_dynamics.errors import DescriptionError, Note, urdf_doubt, urdf_parser
from geared_dynamics.files import Source, place_in

# -- URDF -> :class:`RobotRecord`, by way of ``urdf_parser_py`` -----------------------------------


_SHORTEST_AXIS = 1e-9
# Computer-aided design exports zeros such as -5e-20; a negative sign there is no claim.
_ROUNDING = 1e-18  # kg m^2


def read_urdf(source: Source) -> RobotRecord:
    """Read a robot from a URDF.

    Placements are evaluated from xyz and rpy, R = Rz(yaw) Ry(pitch) Rx(roll);
    inertia tensors are turned into the axes of their link's frame; joint axes
    are normalised. Links and joints keep the file's order. Anything but links'
    inertials, visuals and joints is ignored.

    Args:
        source: A path, or the URDF's text (``str`` or ``bytes``); a ``str`` whose
            first visible character is ``<`` is text.

    Returns:
        The checked robot: unique names, one root, no loops, mimic joints that
        lead somewhere. Floating and planar joints are kept.

    Raises:
        DescriptionError: If the file cannot be read or says something impossible.
        UnknownNameError: If it names a link, joint or joint type that is not there.
    """
    return robot_of(read_xml(source))[0]


def robot_of(file: XmlFile) -> tuple[RobotRecord, tuple[Note, ...]]:
    """Return the robot of a parsed URDF, see :func:`read_urdf`, and doubts of misspelt names."""
    place, (pruned, misspelt) = file.source, prune(file)
    parsed, drawn = _parse(pruned, place), _visuals(file)
    record = RobotRecord(
        name=str(parsed.name),
        source=place,
        links=tuple(
            replace(_link(link, place), visuals=drawn.get(str(link.name), ()))
            for link in parsed.links
        ),
        joints=tuple(_joint(joint, place) for joint in parsed.joints),
    )
    check_robot(record)
    return record, misspelt


def _parse(robot: ET.Element, place: str) -> Any:
    text = ET.tostring(robot, encoding="unicode")
    try:
        return urdf_parser().URDF.from_xml_string(text)
    except Exception as error:  # the library raises bare Exception and AssertionError
        finding = " ".join(str(error).split())
        raise DescriptionError(place, f"urdf_parser_py: {finding}", "correct the URDF") from error


def _link(link: Any, source: str) -> LinkRecord:
    name = str(link.name)
    if link.inertial is None:
        return LinkRecord(name)
    inertial, place = link.inertial, place_in(source, f"link {name!r}/inertial")
    mass, inertia = float(inertial.mass), inertial.inertia
    if mass < 0.0:
        raise DescriptionError(
            f"{place}/mass/value", f"the mass is negative ({mass:g} kg)", "write a mass >= 0"
        )
    diagonal = {key: float(getattr(inertia, key)) for key in ("ixx", "iyy", "izz")}
    for key, value in diagonal.items():
        if value < -_ROUNDING:
            raise DescriptionError(
                f"{place}/inertia/{key}",
                f"a moment of inertia is negative ({value:g} kg m^2)",
                "write moments of inertia >= 0",
            )
    rotation, com = _placement(inertial.origin)
    tensor = cast("Matrix3", tuple(tuple(map(float, row)) for row in inertia.to_matrix()))
    return LinkRecord(name, InertiaRecord(mass, com, turn_tensor(rotation, tensor)))


def _placement(origin: Any) -> tuple[Matrix3, Vector3]:
    """Return rotation and position of an ``<origin>``; absent means identity."""
    rpy = origin.rpy if origin is not None and origin.rpy is not None else ZERO3
    xyz = origin.xyz if origin is not None and origin.xyz is not None else ZERO3
    return rotation_from_rpy(*rpy), _vector(xyz)


def _vector(values: Any) -> Vector3:
    x, y, z = values
    return (float(x), float(y), float(z))


def _joint(joint: Any, source: str) -> JointRecord:
    name = str(joint.name)
    place = place_in(source, f"joint {name!r}")
    rotation, position = _placement(joint.origin)
    return JointRecord(
        name=name,
        kind=cast("JointKind", joint.type),
        parent=str(joint.parent),
        child=str(joint.child),
        rotation=rotation,
        position=position,
        axis=_axis(joint.axis, place),
        mimic=_mimic(joint.mimic),
        limit=_limit(joint.limit, place),
        friction=_friction(joint.dynamics, place),
    )


def _axis(axis: Any, place: str) -> Vector3:
    if axis is None:
        return (1.0, 0.0, 0.0)
    vector = _vector(axis)
    if norm(vector) < _SHORTEST_AXIS:
        raise DescriptionError(
            f"{place}/axis/xyz",
            f"the axis ({vector[0]:g} {vector[1]:g} {vector[2]:g}) has no direction",
            "write a vector of unit length",
        )
    return unit(vector)


def _mimic(mimic: Any) -> MimicRecord | None:
    if mimic is None:
        return None
    multiplier = 1.0 if mimic.multiplier is None else float(mimic.multiplier)
    offset = 0.0 if mimic.offset is None else float(mimic.offset)
    return MimicRecord(str(mimic.joint), multiplier, offset)


def _limit(limit: Any, place: str) -> LimitRecord | None:
    if limit is None:
        return None
    lower, upper, effort, velocity = (
        value if abs(value) < sys.float_info.max else None
        for value in (limit.lower, limit.upper, limit.effort, limit.velocity)
    )
    if lower is not None and upper is not None and lower > upper:
        raise DescriptionError(
            f"{place}/limit", f"lower {lower:g} is above upper {upper:g}", "exchange them"
        )
    for key, value in (("effort", effort), ("velocity", velocity)):
        if value is not None and value < 0.0:
            raise DescriptionError(
                f"{place}/limit/{key}", f"the limit is negative ({value:g})", "write it >= 0"
            )
    record = LimitRecord(lower, upper, effort, velocity)
    return None if record == LimitRecord() else record


def _friction(dynamics: Any, place: str) -> FrictionRecord | None:
    if dynamics is None:
        return None
    viscous, coulomb = float(dynamics.damping or 0.0), float(dynamics.friction or 0.0)
    for key, value in (("damping", viscous), ("friction", coulomb)):
        if value < 0.0:
            raise DescriptionError(
                f"{place}/dynamics/{key}", f"{key} is negative ({value:g})", "write it >= 0"
            )
    return FrictionRecord(viscous, coulomb)


# -- What a URDF draws of its links: boxes, cylinders, spheres and names of mesh files ------------


_MOST = 200  # shapes of one link; more are not drawn
# Attributes that give the size of each kind, and how many numbers each holds.
_SIZES: dict[str, tuple[tuple[str, int], ...]] = {
    "box": (("size", 3),),
    "cylinder": (("radius", 1), ("length", 1)),
    "sphere": (("radius", 1),),
    "mesh": (("scale", 3),),
}


def _visuals(file: XmlFile) -> dict[str, tuple[VisualRecord, ...]]:
    """Return the shapes of each link that has any.

    They are decoration: what is not a shape with sizes above zero (a mesh's scale may be
    negative) at a finite place is left out, and is no error of the robot.

    Args:
        file: The URDF.
    """
    found = {
        (link.get("name") or "").strip(): tuple(_shapes(link))[:_MOST]
        for link in file.children("link")
    }
    return {name: shapes for name, shapes in found.items() if shapes}


def _shapes(link: Any) -> Iterator[VisualRecord]:
    """Yield the shapes of one link."""
    for visual in link:
        if tag(visual) != "visual":
            continue
        parts = {tag(child): child for child in visual}
        origin, geometry = parts.get("origin"), parts.get("geometry")
        shape = next(iter(geometry), None) if geometry is not None else None
        xyz = _numbers(origin, "xyz", 3, "0 0 0")
        rpy = _numbers(origin, "rpy", 3, "0 0 0")
        size = None if shape is None else _visual_size(shape)
        if shape is None or size is None or xyz is None or rpy is None:
            continue
        file = (shape.get("filename") or "").strip()
        if tag(shape) == "mesh" and not file:
            continue
        yield VisualRecord(tag(shape), size, rotation_from_rpy(*rpy), _vector(xyz), file)  # type: ignore[arg-type]


def _visual_size(shape: Any) -> Vector3 | None:
    """Return the sizes of a shape, None if it is none of ours."""
    kind, values = tag(shape), list[float]()
    for key, count in _SIZES.get(kind, ()):
        part = _numbers(shape, key, count, "1 1 1" if kind == "mesh" else "")
        if part is None or (kind != "mesh" and min(part) <= 0.0):
            return None
        values += part
    return _vector((*values, 0.0, 0.0)[:3]) if values else None


def _numbers(node: Any, key: str, count: int, default: str) -> list[float] | None:
    """Return the finite numbers of an attribute; None if they are not as many."""
    text = default if node is None else node.get(key, default)
    found = [number_or_none(word) for word in text.split()]
    numbers = [x for x in found if x is not None and math.isfinite(x)]
    return numbers if len(numbers) == len(found) == count else None


# -- Elements of a URDF that close loops, tie joints together or put springs between links --------
#
# URDF is a tree, so each program has words of its own for what a tree cannot hold: ``<loop>``
# and ``<coupling>`` (URDF+), ``<loop_joint>`` (Isaac Sim), ``<constraint>``, Drake's
# ``drake:ball_constraint``, ``drake:tendon_constraint``, ``drake:linear_bushing_rpy``,
# ``drake:linear_spring_damper`` and ``drake:joint``, and Gazebo's ``<joint>`` inside
# ``<gazebo>``. The model has none of them, and each is named in a note.


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


def loop_notes(file: XmlFile) -> tuple[Note, ...]:
    """Return a doubt for each element that the tree leaves out: what it means, what to do."""
    return tuple(
        urdf_doubt(
            place_in(file.source, _place(node)), f"<{name}> {text.format(ends=_ends(node))}"
        )
        for name, node, text in _left_out(file)
    )


def _left_out(file: XmlFile) -> Iterator[tuple[str, Any, str]]:
    """Yield the elements below ``<robot>``, a link, a joint or ``<gazebo>``, and the finding."""
    findings = {name: _finding(name) for name in {name for name, _ in file.nodes}}
    findings |= {"drake:joint": _JOINT, "joint": _LOOP}
    links = {(node.get("name") or "").strip() for node in file.children("link")}
    for name, node in file.nodes:
        text, parent = findings[name], node.getparent()
        if not text or parent is None:
            continue
        if parent is file.root:
            if name != "joint":
                yield name, node, text
        elif parent.getparent() is file.root:
            owner = tag(parent)
            if owner in ("link", "joint") and name not in ("joint", "drake:joint"):
                yield name, node, text
            elif owner == "gazebo" and name == "joint" and _joins(node, links):
                yield name, node, text


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
