"""From joints to coordinates and bodies: order, mimics, what is fixed to what."""

import heapq
from dataclasses import dataclass

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.checks import refuse_too_large
from geared_dynamics.description.robot_records import JointRecord, RobotRecord
from geared_dynamics.errors import ModelError

MOVABLE = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True)
class Follow:
    """Joint position = multiplier * q[dof] + offset."""

    dof: int
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class Placement:
    """A link in the body it is fixed to (-1: the root)."""

    body: int
    rotation: Array
    position: Array


def refuse_free_joints(robot: RobotRecord) -> None:
    """Raise for joints with more than one degree of freedom."""
    for joint in robot.joints:
        if joint.kind in ("floating", "planar"):
            raise ModelError(
                f"{robot.source}, joint {joint.name!r}",
                f"is {joint.kind}; the base must be fixed",
                "make it a fixed joint, or freeze it by naming the joints to keep (joints=[...])",
            )


def coordinates(robot: RobotRecord) -> tuple[str, ...]:
    """Movable joints that follow no other, in file order."""
    return tuple(j.name for j in robot.joints if j.kind in MOVABLE and j.mimic is None)


def following(robot: RobotRecord) -> dict[str, Follow]:
    """How each movable joint follows a coordinate; chains of mimics multiplied out."""
    index = {name: d for d, name in enumerate(coordinates(robot))}
    joints = {joint.name: joint for joint in robot.joints}
    result = {}
    for joint in robot.joints:
        if joint.kind not in MOVABLE:
            continue
        multiplier, offset, leader = 1.0, 0.0, joint
        while leader.mimic is not None:
            offset += multiplier * leader.mimic.offset
            multiplier *= leader.mimic.multiplier
            leader = joints[leader.mimic.leader]
        if leader.kind not in MOVABLE:
            raise ModelError(
                f"{robot.source}, joint {joint.name!r}/mimic",
                f"follows {leader.name!r}, which does not move",
                "freeze both, or let it follow a movable joint",
            )
        place = f"{robot.source}, joint {joint.name!r}/mimic"
        for product in (multiplier, offset):  # of a chain of leaders
            refuse_too_large(product, place)
        result[joint.name] = Follow(index[leader.name], multiplier, offset)
    return result


def body_order(robot: RobotRecord) -> tuple[JointRecord, ...]:
    """Movable joints, one per body: file order wherever parents then precede children."""
    below: dict[str, list[tuple[int, JointRecord]]] = {}
    for k, joint in enumerate(robot.joints):
        below.setdefault(joint.parent, []).append((k, joint))
    order = []
    ready: list[tuple[int, JointRecord]] = []

    def open_link(link: str) -> None:
        """Queue the movable joints reached from a link through fixed ones."""
        stack = [link]
        while stack:
            for k, joint in below.get(stack.pop(), []):
                if joint.kind in MOVABLE:
                    heapq.heappush(ready, (k, joint))
                else:
                    stack.append(joint.child)

    open_link(root_link(robot))
    while ready:
        _, joint = heapq.heappop(ready)
        order.append(joint)
        open_link(joint.child)
    return tuple(order)


def root_link(robot: RobotRecord) -> str:
    """The link that is no joint's child."""
    children = {joint.child for joint in robot.joints}
    return next(link.name for link in robot.links if link.name not in children)


def placements(robot: RobotRecord, bodies: tuple[JointRecord, ...]) -> dict[str, Placement]:
    """Where every link sits: a moved link at its body's origin, fixed ones beside it."""
    index = {joint.child: b for b, joint in enumerate(bodies)}
    incoming = {joint.child: joint for joint in robot.joints}
    result = {root_link(robot): Placement(-1, np.eye(3), np.zeros(3))}
    for link in robot.links:
        chain = []
        name = link.name
        while name not in result:
            chain.append(name)
            name = incoming[name].parent
        for name in reversed(chain):
            joint = incoming[name]
            if name in index:
                result[name] = Placement(index[name], np.eye(3), np.zeros(3))
            else:
                result[name] = placed(result[joint.parent], joint)
    return result


def placed(parent: Placement, joint: JointRecord) -> Placement:
    """Place the child of a joint at position zero in the body of its parent."""
    rotation = parent.rotation @ np.array(joint.rotation)
    position = parent.position + parent.rotation @ np.array(joint.position)
    return Placement(parent.body, rotation, position)
