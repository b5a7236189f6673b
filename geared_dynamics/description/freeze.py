"""A robot with some of its joints held still: they become fixed joints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from geared_dynamics.arrays import real
from geared_dynamics.description.geometry import add, apply, multiply, rotation_about
from geared_dynamics.description.magnitude import refuse_too_large
from geared_dynamics.description.records import JointRecord, RobotRecord
from geared_dynamics.description.tree_check import LEADING_KINDS, check_robot
from geared_dynamics.errors import DescriptionError, UnknownNameError


def freeze(
    robot: RobotRecord,
    joints: Iterable[str] | None = None,
    lock: Mapping[str, float] | None = None,
) -> RobotRecord:
    """Return the robot with all but some joints fixed where they stand.

    A frozen revolute joint keeps R(0) Rot(axis, q), a prismatic one is shifted
    by q along its axis, a floating or planar one stays at its identity. A joint
    that mimics a frozen leader is frozen at multiplier * q + offset.

    Args:
        robot: The robot.
        joints: Names of the joints that stay movable; None: all but the locked.
            Joints that mimic one of these move along, named or not.
        lock: Position [rad or m] of frozen joints; those not named stand at 0.

    Returns:
        A record with the same links and joints, the frozen ones of kind ``fixed``.

    Raises:
        UnknownNameError: If a name is not that of a joint.
        DescriptionError: If a joint is both kept and locked, cannot be locked,
            mimics another, or a position is not finite.
    """
    check_robot(robot)
    by_name = {joint.name: joint for joint in robot.joints}
    kept = None if joints is None else _kept(joints, by_name)
    locked = _locked({} if lock is None else lock, by_name)
    for name in kept or ():
        if name in locked:
            raise DescriptionError(
                f"lock[{name!r}]",
                "the joint is also among those that stay movable",
                "name it in 'joints' or in 'lock'",
            )
    frozen = tuple(
        _fixed(joint, _standing(joint, by_name, locked))
        if _is_frozen(_leader(joint, by_name), kept, locked)
        else joint
        for joint in robot.joints
    )
    return replace(robot, joints=frozen)


def _movable(by_name: Mapping[str, JointRecord]) -> list[str]:
    return [joint.name for joint in by_name.values() if joint.kind != "fixed"]


def _known(name: object, place: str, by_name: Mapping[str, JointRecord]) -> JointRecord:
    """Return the movable joint of that name."""
    if not isinstance(name, str) or name not in by_name:
        raise UnknownNameError(place, "joint", name, _movable(by_name))
    if by_name[name].kind == "fixed":
        raise DescriptionError(place, f"joint {name!r} is fixed already", "leave it out")
    return by_name[name]


def _leader(joint: JointRecord, by_name: Mapping[str, JointRecord]) -> JointRecord:
    """Return the joint whose coordinate moves this one: its last leader, or itself."""
    while joint.mimic is not None:
        joint = by_name[joint.mimic.leader]
    return joint


def _kept(joints: Iterable[str], by_name: Mapping[str, JointRecord]) -> set[str]:
    if isinstance(joints, (str, bytes)):
        raise DescriptionError(
            "joints", f"expected a list of names, found the text {joints!r}", f"write [{joints!r}]"
        )
    try:
        names = list(joints)
    except TypeError:
        raise DescriptionError(
            "joints",
            f"expected a list of names, found {type(joints).__name__}",
            "write ['joint', ...], or None to keep all",
        ) from None
    for name in names:
        leader = _leader(_known(name, "joints", by_name), by_name)
        if leader.name not in names:
            raise DescriptionError(
                "joints",
                f"{name!r} mimics {leader.name!r}, which would be frozen",
                f"name {leader.name!r} as well",
            )
    return set(names)


def _locked(lock: Mapping[str, float], by_name: Mapping[str, JointRecord]) -> dict[str, float]:
    if not isinstance(lock, Mapping):
        raise DescriptionError(
            "lock",
            f"expected positions by joint name, found {type(lock).__name__}",
            "write {'joint': position, ...}",
        )
    locked: dict[str, float] = {}
    for name, value in lock.items():
        place = f"lock[{name!r}]"
        joint = _known(name, "lock", by_name)
        if joint.mimic is not None:
            leader = _leader(joint, by_name).name
            raise DescriptionError(
                place,
                f"the joint mimics {leader!r} and stands where that puts it",
                f"lock {leader!r} instead",
            )
        if joint.kind not in LEADING_KINDS:
            raise DescriptionError(
                place,
                f"a {joint.kind} joint has no single position",
                "leave it out of 'lock' and 'joints'; it is then frozen at its identity",
            )
        locked[name] = _position(value, place)
    return locked


def _position(value: object, place: str) -> float:
    try:
        number = real(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise DescriptionError(
            place, f"expected a finite position, found {value!r}", "write it in rad or m"
        )
    refuse_too_large(number, place)
    return number


def _is_frozen(leader: JointRecord, kept: set[str] | None, locked: Mapping[str, float]) -> bool:
    if leader.kind == "fixed":
        return False
    return leader.name in locked or (kept is not None and leader.name not in kept)


def _standing(
    joint: JointRecord, by_name: Mapping[str, JointRecord], locked: Mapping[str, float]
) -> float:
    """Return the position at which a frozen joint stands, through all its leaders."""
    chain = [joint]
    while (mimic := chain[-1].mimic) is not None:
        chain.append(by_name[mimic.leader])
    value = locked.get(chain[-1].name, 0.0)
    for follower in reversed(chain[:-1]):
        if follower.mimic is not None:
            value = follower.mimic.multiplier * value + follower.mimic.offset
    return value


def _fixed(joint: JointRecord, q: float) -> JointRecord:
    rotation, position = joint.rotation, joint.position
    if q and joint.kind == "prismatic":
        position = add(position, apply(rotation, joint.axis), q)
    elif q and joint.kind in LEADING_KINDS:
        rotation = multiply(rotation, rotation_about(joint.axis, q))
    return replace(
        joint,
        kind="fixed",
        rotation=rotation,
        position=position,
        mimic=None,
        limit=None,
        friction=None,
    )
