"""Checks that a robot's links and joints form one tree, without recursion."""

from __future__ import annotations

from collections.abc import Mapping

from geared_dynamics.description.records import JointRecord, RobotRecord
from geared_dynamics.description.source import at
from geared_dynamics.errors import DescriptionError, UnknownNameError

LEADING_KINDS = ("revolute", "continuous", "prismatic")


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
                    at(robot.source, f"{kind} {name!r}"),
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
        place = at(robot.source, f"joint {joint.name!r}")
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
        at(source, f"joint {walk[start].name!r}"),
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
        if joint.mimic is not None and joint.kind not in LEADING_KINDS:
            raise DescriptionError(
                at(robot.source, f"joint {joint.name!r}/mimic"),
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
            current = _leader(robot.source, current, current.mimic.leader, joints)
        settled.update(walk)


def _leader(
    source: str, joint: JointRecord, name: str, joints: Mapping[str, JointRecord]
) -> JointRecord:
    place = at(source, f"joint {joint.name!r}/mimic/joint")
    if name not in joints:
        valid = [other.name for other in joints.values() if other.kind in LEADING_KINDS]
        raise UnknownNameError(place, "joint", name, valid)
    leader = joints[name]
    if leader.kind not in LEADING_KINDS:
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
        at(source, f"joint {names[0]!r}/mimic/joint"), finding, "name a joint that leads"
    )
