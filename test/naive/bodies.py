"""The explicit rigid bodies of a geared arm, read off the records.

Nothing is lumped: a link is a body, a wheel is another that turns in its carrier
by the angle its spin integrates to. Where a link's inertia already contains a
locked wheel, the wheel is taken out again as a body of negative mass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geared_dynamics.description.drive_records import DrivetrainRecord
from geared_dynamics.description.robot_records import JointRecord, RobotRecord

Array = NDArray[np.float64]
MOVABLE = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True)
class Body:
    """A rigid body on a link; ``spin`` is its own rate about ``axis`` per coordinate (n,).

    ``com`` and ``axis`` in the link's frame; ``tensor`` about the centre of mass,
    parallel to the link's frame when the body's own angle is zero.
    """

    name: str
    link: str
    mass: float
    com: Array
    tensor: Array
    axis: Array
    spin: Array


def coordinates(robot: RobotRecord) -> tuple[str, ...]:
    """Names of the joints that are coordinates, in file order."""
    return tuple(j.name for j in robot.joints if j.kind in MOVABLE and j.mimic is None)


def joint_row(robot: RobotRecord, joint: JointRecord) -> tuple[Array, float]:
    """Joint position = row @ q + offset, through any number of mimic joints."""
    names = coordinates(robot)
    multiplier, offset = 1.0, 0.0
    while joint.mimic is not None:
        offset += multiplier * joint.mimic.offset
        multiplier *= joint.mimic.multiplier
        leader = joint.mimic.leader
        joint = next(j for j in robot.joints if j.name == leader)
    row = np.zeros(len(names))
    if joint.kind in MOVABLE:
        row[names.index(joint.name)] = multiplier
    return row, offset


def wheel_tensor(axis: Array, axial: float, transverse: float) -> Array:
    """Tensor of an axisymmetric body (3, 3) [kg m^2]."""
    along = np.outer(axis, axis)
    return axial * along + transverse * (np.eye(3) - along)


def link_bodies(robot: RobotRecord) -> Iterator[Body]:
    """A body per link that has inertia."""
    still = np.zeros(len(coordinates(robot)))
    for link in robot.links:
        if link.inertia is not None:
            com, tensor = np.array(link.inertia.com), np.array(link.inertia.tensor)
            yield Body(link.name, link.name, link.inertia.mass, com, tensor, np.zeros(3), still)


def wheel_bodies(robot: RobotRecord, drive: DrivetrainRecord) -> Iterator[Body]:
    """A body per wheel, and one of negative mass where the link contains it locked."""
    joints = {joint.name: joint for joint in robot.joints}
    still = np.zeros(len(coordinates(robot)))
    for wheel in drive.wheels:
        spin = still.copy()
        for record in drive.spins:
            if record.wheel == wheel.name:
                for name, coefficient in record.coefficients:
                    spin += coefficient * joint_row(robot, joints[name])[0]
        axis, com = np.array(wheel.axis), np.array(wheel.position)
        tensor = wheel_tensor(axis, wheel.axial, wheel.transverse)
        yield Body(wheel.name, wheel.carrier, wheel.mass, com, tensor, axis, spin)
        if wheel.included_in_link:
            hole = f"hole for {wheel.name}"
            yield Body(hole, wheel.carrier, -wheel.mass, com, -tensor, axis, still)


def locked_parameters(robot: RobotRecord, drive: DrivetrainRecord, link: str) -> Array:
    """The ten parameters of a link with its wheels locked (10,), without fixed children.

    m, m c (3), Ixx Ixy Ixz Iyy Iyz Izz about the origin of the link's frame.
    """
    mass, moment, tensor = 0.0, np.zeros(3), np.zeros((3, 3))
    for body in [*link_bodies(robot), *wheel_bodies(robot, drive)]:
        if body.link == link:
            square = body.com @ body.com * np.eye(3) - np.outer(body.com, body.com)
            mass += body.mass
            moment += body.mass * body.com
            tensor += body.tensor + body.mass * square
    return np.array([mass, *moment, *tensor[np.triu_indices(3)]])
