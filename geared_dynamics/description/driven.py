"""Which joints a drivetrain file's motors turn, before its gear trains are solved."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from geared_dynamics.description.drivetrain_check import wheel_names
from geared_dynamics.description.records import (
    DrivetrainRecord,
    MeshRecord,
    PlanetaryRecord,
    RobotRecord,
)


@dataclass(frozen=True)
class _Train:
    """Wheels that turn together, and the joints that turn with them."""

    wheels: frozenset[str]
    joints: frozenset[str]


def driven_joints(
    file: DrivetrainRecord, theirs: Collection[str], robot: RobotRecord | None
) -> frozenset[str]:
    """Return the joints of all trains on which a motor acts.

    A train is what spins, meshes and gear sets with wheels in common hold together.

    Args:
        file: The drivetrain file's record.
        theirs: Wheels of the URDF; a motor on one of them is no drive of the file's own.
        robot: Tells which joint a mesh with a link turns.
    """
    motored = {motor.wheel for motor in file.motors} - set(theirs)
    result: frozenset[str] = frozenset()
    for train in _joined(_parts(file, theirs, robot)):
        if train.wheels & motored:
            result |= train.joints
    return result


def _parts(
    file: DrivetrainRecord, theirs: Collection[str], robot: RobotRecord | None
) -> list[_Train]:
    """Return each spin, mesh and set as a train of its own."""
    wheels = {*wheel_names(file), *theirs}
    parts = [
        _Train(frozenset({spin.wheel}), frozenset(joint for joint, _ in spin.coefficients))
        for spin in file.spins
    ]
    parts += [
        _Train(frozenset(mesh.members) & wheels, _meshed(mesh, wheels, robot))
        for mesh in file.meshes
    ]
    parts += [
        _Train(_members(item), frozenset({item.joint} if item.joint else ()))
        for item in file.planetary
    ]
    return parts + [
        _Train(frozenset({item.wave_generator.name}), frozenset({item.joint}))
        for item in file.harmonic
    ]


def _members(item: PlanetaryRecord) -> frozenset[str]:
    """Return the wheels of a planetary set, also those declared elsewhere."""
    elsewhere = {given for _, given in item.members if isinstance(given, str)}
    return frozenset(wheel_names(DrivetrainRecord(planetary=(item,)))) | elsewhere


def _meshed(
    mesh: MeshRecord, wheels: Collection[str], robot: RobotRecord | None
) -> frozenset[str]:
    """Return the joints that a mesh with a link turns: those between link and arm."""
    joints = () if robot is None else robot.joints
    result: set[str] = set()
    for member in mesh.members:
        if member not in wheels:
            between = [j.name for j in joints if {j.parent, j.child} == {member, mesh.arm}]
            result.update(between or [j.name for j in joints if j.child == member])
    return frozenset(result)


def _joined(parts: list[_Train]) -> list[_Train]:
    """Return the trains with those that have a wheel in common made one."""
    result: list[_Train] = []
    for part in parts:
        touching = [train for train in result if train.wheels & part.wheels]
        result = [train for train in result if train not in touching]
        wheels, joints = part.wheels, part.joints
        for train in touching:
            wheels, joints = wheels | train.wheels, joints | train.joints
        result.append(_Train(wheels, joints))
    return result
