""":class:`RobotRecord` -> URDF text."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from xml.etree import ElementTree as ET

from geared_dynamics.description.drive_records import FrictionRecord
from geared_dynamics.description.geometry import rpy_from_rotation
from geared_dynamics.description.robot_records import (
    InertiaRecord,
    JointRecord,
    LimitRecord,
    LinkRecord,
    RobotRecord,
)
from geared_dynamics.errors import DescriptionError

# URDF demands limits of revolute and prismatic joints, and its readers do not
# all know 'inf': the largest float stands for no limit, also when read back.
_NO_LIMIT = sys.float_info.max

# Of a root that has none: a ball of 1 kg and 0.1 m, solid.
_NOMINAL = InertiaRecord(
    1.0, (0.0, 0.0, 0.0), ((4e-3, 0.0, 0.0), (0.0, 4e-3, 0.0), (0.0, 0.0, 4e-3))
)


def with_root_inertia(robot: RobotRecord) -> RobotRecord:
    """Return the robot with a nominal inertia of its root, where that has no mass.

    The conversion of URDF to SDF drops a link without mass unless it is called ``world``, and
    the joints below it then have no parent (sdformat, ``src/parser_urdf.cc``, ``CreateSDF``).

    Args:
        robot: The robot; its root is fixed, so that no joint feels the root's inertia.
    """
    children = {joint.child for joint in robot.joints}
    links = tuple(
        replace(link, inertia=_NOMINAL) if link.name not in children and _dropped(link) else link
        for link in robot.links
    )
    return replace(robot, links=links)


def _dropped(link: LinkRecord) -> bool:
    return link.name != "world" and (link.inertia is None or link.inertia.mass <= 0.0)


def write_urdf(robot: RobotRecord) -> str:
    """Return the robot as URDF text.

    Numbers are written with as many digits as it takes to read back the same
    float (17 at most). Inertial data stand in the axes of the link's frame, so
    ``<inertial>`` has no rpy. Rotations become roll, pitch, yaw that recompose
    them to rounding, in gimbal lock too.

    Args:
        robot: The robot; wheels are no part of a URDF.

    Returns:
        A document that ``read_urdf`` reads back as the same record: rotations
        to 1e-15, everything else to the last digit.

    Raises:
        DescriptionError: If a joint's friction is more than ``<dynamics>`` can say.
    """
    root = ET.Element("robot", name=robot.name)
    for link in robot.links:
        element = ET.SubElement(root, "link", name=link.name)
        if link.inertia is not None:
            element.append(_inertial(link.inertia))
    for joint in robot.joints:
        root.append(_joint(joint))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _number(value: float) -> str:
    return repr(float(value))


def _numbers(values: Iterable[float]) -> str:
    return " ".join(map(_number, values))


def _inertial(inertia: InertiaRecord) -> ET.Element:
    element = ET.Element("inertial")
    ET.SubElement(element, "origin", xyz=_numbers(inertia.com), rpy="0 0 0")
    ET.SubElement(element, "mass", value=_number(inertia.mass))
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = inertia.tensor
    tensor = {"ixx": ixx, "ixy": ixy, "ixz": ixz, "iyy": iyy, "iyz": iyz, "izz": izz}
    ET.SubElement(element, "inertia", {key: _number(value) for key, value in tensor.items()})
    return element


def _joint(joint: JointRecord) -> ET.Element:
    element = ET.Element("joint", name=joint.name, type=joint.kind)
    rpy = rpy_from_rotation(joint.rotation)
    ET.SubElement(element, "origin", xyz=_numbers(joint.position), rpy=_numbers(rpy))
    ET.SubElement(element, "parent", link=joint.parent)
    ET.SubElement(element, "child", link=joint.child)
    if joint.kind not in ("fixed", "floating"):
        ET.SubElement(element, "axis", xyz=_numbers(joint.axis))
    if joint.limit is not None or joint.kind in ("revolute", "prismatic"):
        element.append(_limit(joint.limit or LimitRecord()))
    if joint.friction is not None:
        element.append(_dynamics(joint.friction, joint.name))
    if joint.mimic is not None:
        mimic = joint.mimic
        ET.SubElement(
            element,
            "mimic",
            joint=mimic.leader,
            multiplier=_number(mimic.multiplier),
            offset=_number(mimic.offset),
        )
    return element


def _dynamics(friction: FrictionRecord, joint: str) -> ET.Element:
    both = friction.coulomb_negative in (None, friction.coulomb)
    law = replace(friction, coulomb_negative=None) if both else friction
    if law != FrictionRecord(friction.viscous, friction.coulomb):
        raise DescriptionError(
            f"joint {joint!r}",
            "a URDF's <dynamics> holds one viscous and one Coulomb coefficient, and its friction"
            " law says more",
            f"remove it here and describe it in the drivetrain file (joints.{joint}.friction)",
        )
    return ET.Element(
        "dynamics", damping=_number(friction.viscous), friction=_number(friction.coulomb)
    )


def _limit(limit: LimitRecord) -> ET.Element:
    values = {
        "lower": -_NO_LIMIT if limit.lower is None else limit.lower,
        "upper": _NO_LIMIT if limit.upper is None else limit.upper,
        "effort": _NO_LIMIT if limit.effort is None else limit.effort,
        "velocity": _NO_LIMIT if limit.velocity is None else limit.velocity,
    }
    return ET.Element("limit", {key: _number(value) for key, value in values.items()})
