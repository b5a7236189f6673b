"""URDF (and SRDF) -> robot and drives, and back: ``read_robot`` and ``write_urdf``.

``read_robot`` puts all kinds of transmissions together.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from xml.etree import ElementTree as ET

from geared_dynamics.description.drive_records import (
    DrivetrainRecord,
    FrictionRecord,
    MotorRecord,
    SpinRecord,
    WheelRecord,
)
from geared_dynamics.description.geometry import ZERO3, rpy_from_rotation
from geared_dynamics.description.other_transmissions import (
    read_transmission,
    with_armature,
    with_joint_params,
    with_rotor_params,
)
from geared_dynamics.description.robot_records import (
    InertiaRecord,
    JointRecord,
    LimitRecord,
    LinkRecord,
    RobotRecord,
)
from geared_dynamics.description.ros2_control import read_block
from geared_dynamics.description.transmission_elements import Context, Drive, notes_of
from geared_dynamics.description.transmission_roles import (
    DRIVE_WORDS,
    INERTIA,
    REDUCTION,
    DialectRules,
    check_strays,
    note_misplaced,
)
from geared_dynamics.description.urdf_reader import loop_notes, robot_of
from geared_dynamics.description.xml_input import XmlFile, read_xml
from geared_dynamics.errors import DescriptionError, Note, urdf_doubt
from geared_dynamics.files import Source

# -- A robot together with the drives that its URDF states ----------------------------------------


def read_robot(source: Source, srdf: Source | None = None) -> tuple[RobotRecord, UrdfDrives]:
    """Read a robot and the drives that its URDF states, the file opened once.

    The drives' notes begin with what a tree cannot hold and the URDF's misspelt names.

    Args:
        source: The URDF, as in ``read_urdf``.
        srdf: An SRDF with Pinocchio's ``<rotor_params>``: a path or its text.

    Raises:
        DescriptionError: If a file cannot be read or says something impossible.
        UnknownNameError: If it names a link, joint or role that is not there.
    """
    file = read_xml(source)
    robot, misspelt = robot_of(file)
    drives = read_drives(file, robot, None if srdf is None else read_xml(srdf, "SRDF"))
    return robot, replace(drives, notes=loop_notes(file) + misspelt + drives.notes)


def read_urdf_drives(source: Source, srdf: Source | None = None) -> UrdfDrives:
    """Read what a URDF, and an SRDF, say of the drives; see :func:`read_robot`."""
    return read_robot(source, srdf)[1]


# -- All dialects together: a URDF's and an SRDF's drives as one drivetrain -----------------------


# URDF itself has no such thing; some programs look for it there, so it is only noted.
_IN_JOINT = DialectRules(
    read=(("dynamics", "@armature"),),
    finding="{what} is not read",
    remedies=dict.fromkeys((REDUCTION, INERTIA), "write a <transmission> inside <ros2_control>"),
    tolerant=True,
)


@dataclass(frozen=True)
class UrdfDrives:
    """What a URDF and its SRDF say of the drives.

    Attributes:
        drivetrain: A wheel per actuator, or per joint where none is named. Its carrier
            is not known: it is taken to be the root link, which does not turn, so that
            only the ratio and J n^2 count (the armature), and included in its inertial.
        notes: What some reader would ignore, misorder or read otherwise.
        remarks: What is left out without any effect on the model.
    """

    drivetrain: DrivetrainRecord
    notes: tuple[Note, ...] = ()
    remarks: tuple[Note, ...] = ()


def read_drives(file: XmlFile, robot: RobotRecord, srdf: XmlFile | None = None) -> UrdfDrives:
    """Return the drives of a parsed URDF.

    Args:
        file: The URDF.
        robot: The robot that it describes.
        srdf: An SRDF with ``<rotor_params>``.

    Raises:
        DescriptionError: If a number is none, a reduction zero, a name missing.
        UnknownNameError: If a joint or role is not there.
    """
    if srdf is None and not file.mentions(DRIVE_WORDS):
        return UrdfDrives(DrivetrainRecord())
    context = Context.of(robot, robot.source)
    contexts = [context]
    drives = with_joint_params(file, _transmissions(file, context), context)
    if srdf is not None:
        contexts.append(Context.of(robot, srdf.source))
        drives = with_rotor_params(srdf, drives, contexts[-1])
    drives = with_armature(file, drives, context)
    note_misplaced(file, context)
    for node in file.children("joint"):
        check_strays(node, _IN_JOINT, f"joint {(node.get('name') or '').strip()!r}", context)
    named = _named(drives, context)
    source = robot.source if srdf is None else f"{robot.source} and {srdf.source}"
    record = DrivetrainRecord(
        source=source if named else DrivetrainRecord().source,
        wheels=tuple(_wheel(name, drive, robot) for name, drive in named),
        spins=tuple(SpinRecord(name, drive.coefficients, drive.place) for name, drive in named),
        motors=tuple(_motor(name, drive) for name, drive in named if drive.motor),
    )
    return UrdfDrives(
        record,
        tuple(note for c in contexts for note in notes_of(c.source, c.notes, urdf_doubt)),
        tuple(note for c in contexts for note in notes_of(c.source, c.remarks, Note)),
    )


def _transmissions(file: XmlFile, context: Context) -> list[Drive]:
    """Return the drives of both kinds of transmissions; ros2_control's win."""
    drives: list[Drive] = []
    for block in file.children("ros2_control"):
        more = read_block(block, context)
        _note_two_blocks(drives, more, context)
        drives += more
    taken = {joint for drive in drives for joint in drive.joints}
    for node in file.children("transmission"):
        more = read_transmission(node, context)
        twice = sorted({joint for drive in more for joint in drive.joints} & taken)
        if twice:
            names = ", ".join(map(repr, twice))
            context.note(more[0].place, f"left out: <ros2_control> has transmissions of {names}")
            continue
        drives += more
        if any(abs(c) != 1.0 for drive in more for _, c in drive.coefficients):
            context.note(
                more[0].place,
                "the reduction is read here; ros2_control, Gazebo and Pinocchio ignore a"
                " <transmission> outside of <ros2_control>",
            )
    return drives


def _note_two_blocks(drives: Sequence[Drive], more: Sequence[Drive], context: Context) -> None:
    """Note joints that another block has transmissions of: one for the simulator, mostly."""
    place_of = {joint: drive.place for drive in drives for joint in drive.joints}
    seen: set[str] = set()
    for drive in more:
        for joint in drive.joints:
            if joint in place_of and joint not in seen:
                context.note(
                    f"{drive.place}/joint {joint!r}",
                    f"another <ros2_control> also has a transmission of this joint"
                    f" ({place_of[joint]}), and both are added; remove one if they are one drive",
                )
            seen.add(joint)


def _named(drives: Sequence[Drive], context: Context) -> list[tuple[str, Drive]]:
    """Return the drives with their wheels' names: the actuator's, unless it is taken."""
    result: list[tuple[str, Drive]] = []
    wheels: set[str] = set()
    motors: set[str] = set()
    for drive in drives:
        own, number = drive.name, 1
        while own in motors:
            number += 1
            own = f"{drive.name}_{number}"
        name = own if own not in context.links | wheels else f"{own}_rotor"
        if (own, name) != (drive.name, drive.name):
            context.note(
                drive.place,
                f"the name {drive.name!r} is that of another actuator or of a link;"
                f" the motor is called {own!r}, its wheel {name!r}",
            )
        motors.add(own)
        wheels.add(name)
        result.append((name, replace(drive, name=own)))
    return result


def _wheel(name: str, drive: Drive, robot: RobotRecord) -> WheelRecord:
    children_of = {joint.child for joint in robot.joints}
    root = next(link.name for link in robot.links if link.name not in children_of)
    axial = drive.inertia or 0.0
    return WheelRecord(
        name=name,
        carrier=root,
        axis=(0.0, 0.0, 1.0),
        position=ZERO3,
        mass=0.0,
        axial=axial,
        transverse=axial / 2.0,
        included_in_link=True,
        urdf_origin=f"{_origin(drive)}, armature only",
    )


def _motor(wheel: str, drive: Drive) -> MotorRecord:
    return MotorRecord(drive.name, wheel, offsets=drive.offsets, urdf_origin=_origin(drive))


def _origin(drive: Drive) -> str:
    return f"{drive.place} of {drive.source} ({drive.dialect})"


# -- A robot as URDF text -------------------------------------------------------------------------


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
