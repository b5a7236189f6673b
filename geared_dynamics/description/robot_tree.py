"""Links and joints must form one tree (``check_robot``); joints held still (``freeze``)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from geared_dynamics.arrays import real, refuse_too_large
from geared_dynamics.description.geometry import add, apply, multiply, rotation_about
from geared_dynamics.description.robot_records import MOVABLE_KINDS, JointRecord, RobotRecord
from geared_dynamics.errors import DescriptionError, UnknownNameError
from geared_dynamics.files import place_in

# -- Checks that a robot's links and joints form one tree, without recursion ----------------------


def check_robot(robot: RobotRecord) -> None:
    """Refuse duplicate or unknown names, several or no roots, loops, lost mimics.

    Raises:
        DescriptionError: With the names that are in the way.
        UnknownNameError: If a joint refers to a link or joint that is not there.
    """
    _check_unique(robot)
    parents = _parent_joints(robot)
    _check_loops(robot, parents)
    _check_root(robot, parents)
    _check_mimics(robot)


def _check_unique(robot: RobotRecord) -> None:
    if not robot.links:
        raise DescriptionError(robot.source, "the robot has no links", "describe at least one")
    links = [link.name for link in robot.links]
    joints = [joint.name for joint in robot.joints]
    for kind, names in (("link", links), ("joint", joints)):
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise DescriptionError(
                    place_in(robot.source, f"{kind} {name!r}"),
                    f"two {kind}s have this name",
                    "rename one of them",
                )
            seen.add(name)


def _parent_joints(robot: RobotRecord) -> dict[str, JointRecord]:
    """Return child link -> the joint above it."""
    links = [link.name for link in robot.links]
    known = set(links)
    parents: dict[str, JointRecord] = {}
    for joint in robot.joints:
        place = place_in(robot.source, f"joint {joint.name!r}")
        for end, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in known:
                raise UnknownNameError(f"{place}/{end}/link", "link", link, links)
        other = parents.setdefault(joint.child, joint)
        if other is not joint:
            raise DescriptionError(
                f"{place}/child/link",
                f"link {joint.child!r} has two parents: joint {other.name!r} from"
                f" {other.parent!r} and joint {joint.name!r} from {joint.parent!r}",
                "a robot is a tree; remove one of the joints",
            )
    return parents


def _check_loops(robot: RobotRecord, parents: Mapping[str, JointRecord]) -> None:
    reaches_root: set[str] = set()
    for link in robot.links:
        walk: dict[str, JointRecord] = {}
        name = link.name
        while name in parents and name not in reaches_root:
            if name in walk:
                _refuse_loop(robot.source, name, walk)
            walk[name] = parents[name]
            name = parents[name].parent
        reaches_root.update(walk)


def _refuse_loop(source: str, start: str, walk: Mapping[str, JointRecord]) -> None:
    loop = [walk[start].name]
    name = walk[start].parent
    while name != start:
        loop.append(walk[name].name)
        name = walk[name].parent
    shown = ", ".join(repr(joint) for joint in reversed(loop[:12]))
    raise DescriptionError(
        place_in(source, f"joint {walk[start].name!r}"),
        f"the joints {shown} form a loop",
        "a robot is a tree; cut the loop by removing one of them",
    )


def _check_root(robot: RobotRecord, parents: Mapping[str, JointRecord]) -> None:
    roots = [link.name for link in robot.links if link.name not in parents]
    if len(roots) > 1:
        shown = ", ".join(repr(name) for name in roots[:12])
        raise DescriptionError(
            robot.source,
            f"{len(roots)} links have no parent: {shown}",
            "join them to one tree, by fixed joints where nothing moves",
        )


def _check_mimics(robot: RobotRecord) -> None:
    joints = {joint.name: joint for joint in robot.joints}
    settled: set[str] = set()
    for joint in robot.joints:
        if joint.mimic is not None and joint.kind not in MOVABLE_KINDS:
            raise DescriptionError(
                place_in(robot.source, f"joint {joint.name!r}/mimic"),
                f"a {joint.kind} joint cannot mimic another",
                "remove <mimic>",
            )
        walk: dict[str, None] = {}  # ordered, and quick to search
        current = joint
        while current.mimic is not None and current.name not in settled:
            if current.name in walk:
                names = list(walk)
                _refuse_mimic_loop(robot.source, names[names.index(current.name) :])
            walk[current.name] = None
            current = _tree_leader(robot.source, current, current.mimic.leader, joints)
        settled.update(walk)


def _tree_leader(
    source: str, joint: JointRecord, name: str, joints: Mapping[str, JointRecord]
) -> JointRecord:
    place = place_in(source, f"joint {joint.name!r}/mimic/joint")
    if name not in joints:
        valid = [other.name for other in joints.values() if other.kind in MOVABLE_KINDS]
        raise UnknownNameError(place, "joint", name, valid)
    leader = joints[name]
    if leader.kind not in MOVABLE_KINDS:
        raise DescriptionError(
            place,
            f"it mimics {name!r}, which is {leader.kind}",
            "a leader is revolute, continuous or prismatic; name such a joint or remove <mimic>",
        )
    return leader


def _refuse_mimic_loop(source: str, names: list[str]) -> None:
    finding = (
        "the joint mimics itself"
        if len(names) == 1
        else f"the joints {', '.join(repr(name) for name in names[:12])} mimic each other"
    )
    raise DescriptionError(
        place_in(source, f"joint {names[0]!r}/mimic/joint"), finding, "name a joint that leads"
    )


# -- A robot with some of its joints held still: they become fixed joints -------------------------


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
    check_robot(robot)  # a record of the user's own; one of ``read_robot`` has been checked
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


def movable(robot: RobotRecord) -> list[str]:
    """Names of the joints that move, floating and planar ones among them."""
    return _movable(robot.joints)


def _movable(joints: Iterable[JointRecord]) -> list[str]:
    return [joint.name for joint in joints if joint.kind != "fixed"]


def _known(name: object, place: str, by_name: Mapping[str, JointRecord]) -> JointRecord:
    """Return the movable joint of that name."""
    if not isinstance(name, str) or name not in by_name:
        raise UnknownNameError(place, "joint", name, _movable(by_name.values()))
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
                f"the joint mimics {leader!r}, which determines its position",
                f"lock {leader!r} instead",
            )
        if joint.kind not in MOVABLE_KINDS:
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
    elif q and joint.kind in MOVABLE_KINDS:
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
