"""A drivetrain file to fill in: a rotor for every joint, with the words of data sheets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from geared_dynamics.description.geometry import Vector3, apply
from geared_dynamics.description.robot_records import JointRecord, RobotRecord
from geared_dynamics.description.yaml_files import scalar
from geared_dynamics.errors import UnknownNameError

FILL_IN = "FILL IN"  # marks a number that is not known yet
NEGLIGIBLE = 1e-12  # components of axes and positions that are rounding

HEAD = """\
# yaml-language-server: $schema={schema}
# Drives of {robot}. SI units, numbers of rotors and motors on the motor side of the gears.
# Lines marked "guess" were derived from the URDF, lines marked "{mark}" are not known yet.
# `geared-dynamics describe ROBOT.urdf THIS.yaml` shows what the model makes of it and what is
# missing; docs/drivetrain.md and docs/motors.md explain every key (meshes, gear sets, belts).
version: 1

# A rotor and all that turns with it: motor shaft, brake, encoder disc, the gear's input side.
#   carrier   the link that its housing is screwed to: often the one before the joint, in wrists
#             an earlier one
#   axis      of its spin, in the carrier's frame; its direction is that of positive motor angle
#   axial     "rotor inertia", "moment of inertia", J_M; 1 g cm^2 = 1e-7, 1 kg cm^2 = 1e-4 kg m^2
#   included_in_link: true means that the URDF's mass of the carrier contains the rotor; else
#             give its mass [kg]
wheels:
"""
SPINS = """
# Spin of the rotor relative to its carrier per joint rate: the gear ratio, negative where they
# turn against each other. In its place for a screw lead: 0.005 [m per turn], for a rack
# pinion_radius: 0.02 [m]. A joint that feels several motors has coefficients:
# {joint_5: 80, joint_6: -80} in place of joint and ratio.
spins:
"""
MOTORS = """
# From the data sheet, where they are known:
#   torque_constant: 0.1     # "torque constant" k_t [N m/A]; 1 mN m/A = 1e-3
#   resistance: 0.5          # "terminal resistance" [ohm]
#   inductance: 5.0e-4       # "terminal inductance" [H]; 1 mH = 1e-3
#   friction: {viscous: 1.0e-5, coulomb: 0.01}        # at the rotor [N m s/rad, N m]
#   limits: {voltage: 48, current: 10, torque: 1.0, speed: 300}   # peak values [V, A, N m, rad/s]
#   efficiency: 0.85         # of the gear
motors:
"""
JOINTS = """
# Friction of the joints (it replaces the URDF's <dynamics>), and springs of elastic drives:
# joints:
"""


def drivetrain_skeleton(
    robot: RobotRecord,
    *,
    ratios: Mapping[str, float] | None = None,
    inertias: Mapping[str, float] | None = None,
    schema: str,
) -> str:
    """Write a drivetrain file with one rotor and one motor for each joint of a robot.

    The carrier is guessed as the joint's parent link, the axis as the joint's, the place as the
    joint's origin. A rotor is taken to be part of the carrier's inertial where it has a mass.

    Args:
        robot: The robot, as its URDF states it.
        ratios: Gear ratio by joint [1, or rad/m]; 1, marked as not known, for the others.
        inertias: Rotor inertia about its axis by joint [kg m^2]; 0, marked, for the others.
        schema: Path or address of the JSON schema, for editors.

    Raises:
        UnknownNameError: A number is for a joint that the robot does not have.
    """
    joints = [j for j in robot.joints if j.kind != "fixed" and j.mimic is None]
    names = [joint.name for joint in joints]
    for place, given in (("--ratio", ratios or {}), ("--rotor-inertia", inertias or {})):
        for name in given:
            if name not in names:
                raise UnknownNameError(place, "driven joint", name, names)
    rotors = rotor_names(robot, names)
    head = HEAD.format(schema=schema, robot=scalar(robot.name), mark=FILL_IN)
    parts: list[tuple[str, Callable[[JointRecord], Iterator[str]]]] = [
        (head, lambda j: wheel_lines(robot, j, rotors[j.name], (inertias or {}).get(j.name))),
        (SPINS, lambda j: spin_lines(j, rotors[j.name], (ratios or {}).get(j.name))),
        (MOTORS, lambda j: motor_lines(j, rotors[j.name])),
        (JOINTS, joint_lines),
    ]
    return "".join(
        text + "".join(f"{line}\n" for joint in joints for line in lines(joint))
        for text, lines in parts
    )


def wheel_lines(
    robot: RobotRecord, joint: JointRecord, rotor: str, inertia: float | None
) -> Iterator[str]:
    """The rotor of a joint."""
    carrier = next(link for link in robot.links if link.name == joint.parent)
    is_root = joint.parent not in {other.child for other in robot.joints}
    heavy = is_root or (carrier.inertia is not None and carrier.inertia.mass > 0.0)
    yield f"  {scalar(rotor)}:"
    yield f"    carrier: {scalar(joint.parent)}  # guess: the link before {scalar(joint.name)}"
    yield f"    axis: {vector(apply(joint.rotation, joint.axis))}  # guess: the joint's"
    yield f"    position: {vector(joint.position)}  # guess: the joint's origin [m]"
    yield f"    inertia: {{axial: {number(inertia, 0.0)}}}  # [kg m^2]{mark(inertia)}"
    if heavy:
        yield "    included_in_link: true  # guess"
    else:
        yield f"    mass: 0.0  # [kg] {FILL_IN}: the URDF gives the carrier no mass"


def spin_lines(joint: JointRecord, rotor: str, ratio: float | None) -> Iterator[str]:
    """The ratio of a joint."""
    unit = "[rad/m]" if joint.kind == "prismatic" else ""
    note = f"{unit}{mark(ratio)}".strip()
    names = f"wheel: {scalar(rotor)}, joint: {scalar(joint.name)}"
    yield f"  - {{{names}, ratio: {number(ratio, 1.0)}}}{f'  # {note}' if note else ''}"


def motor_lines(joint: JointRecord, rotor: str) -> Iterator[str]:
    """The motor of a joint."""
    yield f"  {scalar(f'motor_{joint.name}')}: {{wheel: {scalar(rotor)}}}"


def joint_lines(joint: JointRecord) -> Iterator[str]:
    """What may be said of a joint, as a comment."""
    slides = joint.kind == "prismatic"
    stiffness, friction = ("N/m", "N s/m, N") if slides else ("N m/rad", "N m s/rad, N m")
    yield f"#   {scalar(joint.name)}:"
    yield f"#     friction: {{viscous: 0.5, coulomb: 1.0}}  # [{friction}]"
    yield f"#     stiffness: 1.0e4  # [{stiffness}] of an elastic drive"


def rotor_names(robot: RobotRecord, joints: Sequence[str]) -> dict[str, str]:
    """Name of each joint's rotor; links and wheels share one space of names."""
    taken = {link.name for link in robot.links}
    names: dict[str, str] = {}
    for joint in joints:
        tries = (f"rotor_{joint}", *(f"rotor_{joint}_{k}" for k in range(2, len(taken) + 3)))
        names[joint] = next(name for name in tries if name not in taken)
        taken.add(names[joint])
    return names


def number(value: float | None, otherwise: float) -> str:
    """A number that is given, or what stands for it."""
    return scalar(float(otherwise if value is None else value))


def mark(value: float | None) -> str:
    """Say of a number that it is not known."""
    return f" {FILL_IN}" if value is None else ""


def vector(values: Vector3) -> str:
    """Three numbers, without rounding next to zero."""
    return f"[{', '.join(scalar(0.0 if abs(x) < NEGLIGIBLE else float(x)) for x in values)}]"
