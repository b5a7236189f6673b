"""Facts of an arm: how joints become coordinates and bodies; bodies, wheels, joints' limits."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from geared_dynamics.arrays import (
    Array,
    ArrayLike,
    BoolArray,
    Frozen,
    IntArray,
    readonly,
    refuse_too_large,
)
from geared_dynamics.description.robot_records import (
    MOVABLE_KINDS,
    JointRecord,
    LimitRecord,
    RobotRecord,
)
from geared_dynamics.errors import ModelError

# Of a coordinate; ``shaft``: motor side of a spring, which no joint follows.
JointType = Literal["revolute", "continuous", "prismatic", "shaft"]

# -- Limits of joints -----------------------------------------------------------------------------


# A limit of this size or more stands for none: writers of URDFs put 1e6, 1e9 or 1e16 where
# they have no value and the format demands one.
NO_LIMIT = 1e6


@dataclass(frozen=True, eq=False)
class JointLimits(Frozen):
    """Limits of k joints, infinite where there is none.

    One rule says what is no limit: one that is absent, a velocity or an effort of zero, any
    magnitude of ``NO_LIMIT`` or more, and every position of a continuous joint.

    Attributes:
        lower: Lowest position (k,) [rad or m].
        upper: Highest position (k,).
        velocity: Largest speed (k,) [rad/s or m/s].
        effort: Largest force on the joint (k,) [N m or N].
    """

    lower: Array
    upper: Array
    velocity: Array
    effort: Array

    @property
    def bounded(self) -> BoolArray:
        """Whether positions have a range: both limits, with room between them (k,)."""
        return np.isfinite(self.lower) & np.isfinite(self.upper) & (self.lower < self.upper)

    def rows(self, index: ArrayLike) -> JointLimits:
        """Limits of the joints with these indices (k,); of index -1 none."""
        chosen = np.asarray(index, np.int64)
        return JointLimits(
            lower=readonly(np.append(self.lower, -np.inf)[chosen]),
            upper=readonly(np.append(self.upper, np.inf)[chosen]),
            velocity=readonly(np.append(self.velocity, np.inf)[chosen]),
            effort=readonly(np.append(self.effort, np.inf)[chosen]),
        )


def joint_limits(joints: Sequence[JointRecord]) -> JointLimits:
    """Limits of joints as their records state them."""
    given = [joint.limit or LimitRecord() for joint in joints]
    turning = np.array([joint.kind == "continuous" for joint in joints], bool)
    lower = magnitudes([limit.lower for limit in given])
    upper = magnitudes([limit.upper for limit in given])
    velocity = magnitudes([limit.velocity or None for limit in given])
    effort = magnitudes([limit.effort or None for limit in given])
    return JointLimits(
        lower=readonly(np.where(turning | np.isinf(lower), -np.inf, lower)),
        upper=readonly(np.where(turning, np.inf, upper)),
        velocity=readonly(velocity),
        effort=readonly(effort),
    )


def magnitudes(values: Sequence[float | None]) -> Array:
    """Values (k,), infinite where there is none or one so large that it stands for none."""
    found = np.array([np.inf if value is None else value for value in values], float)
    return np.where(np.abs(found) < NO_LIMIT, found, np.inf)


# -- Bodies and wheels ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Tree(Frozen):
    """Movable bodies (links with what is fixed to them), parents before children.

    A body's frame is the frame of the URDF link that its joint moves. Index -1
    is the root. Body b moves by ``multiplier[b] * q[dof[b]] + offset[b]``.

    Attributes:
        names: Link names, nb of them.
        parent: Parent body (nb,), -1 for the root.
        dof: Coordinate that drives the body (nb,); a mimic joint has its leader's.
        multiplier: Ratio of the body's joint to its coordinate (nb,), 1 without mimic.
        offset: Joint position at q = 0 (nb,) [rad or m], 0 without mimic.
        prismatic: True where the joint slides (nb,).
        rotation: Body frame in the parent body's frame at joint position 0 (nb, 3, 3).
        position: Its origin there (nb, 3) [m].
        axis: Joint axis in the body frame, unit vectors (nb, 3).
        joints: Name of the joint that moves each body, nb of them.
        joint_types: Its type, nb of them.
        limits: Its limits (nb,), those of mimic joints included.
        parameters: Ten parameters of the body with its wheels locked, (nb, 10):
            m, m c (3), Ixx Ixy Ixz Iyy Iyz Izz about the frame's origin.
    """

    names: tuple[str, ...]
    parent: IntArray
    dof: IntArray
    multiplier: Array
    offset: Array
    prismatic: IntArray
    rotation: Array
    position: Array
    axis: Array
    joints: tuple[str, ...]
    joint_types: tuple[JointType, ...]
    limits: JointLimits
    parameters: Array


@dataclass(frozen=True, eq=False)
class SingleWheels(Frozen):
    """Wheels each by itself, where ``Wheels`` counts planets as part of what carries them.

    Attributes:
        holder: The wheel that carries each (w,), -1: a link.
        position: Own centre of mass in the carrier body's frame (w, 3) [m].
        mass: Own mass (w,) [kg], 0 where no file gives it.
        inertia: Own axial moment of inertia (w,) [kg m^2].
        transverse: Across the axis (w,) [kg m^2].
    """

    holder: IntArray
    position: Array
    mass: Array
    inertia: Array
    transverse: Array


@dataclass(frozen=True, eq=False)
class Wheels(Frozen):
    """Axisymmetric bodies that spin in their carriers, w of them.

    Attributes:
        names: Wheel names.
        carrier: Body that holds the bearings (w,), -1 for the root.
        axis: Spin axis, unit vectors in the carrier body's frame (w, 3).
        position: Centre of mass in the carrier body's frame (w, 3) [m].
        inertia: J, axial moment of inertia (w,) [kg m^2].
        spin: Gamma (w, n): spin relative to the carrier = Gamma v [1 or rad/m].
        links: The link that carries each, w of them: the carrier or one that is fixed to it.
        mass: With the mass that orbits with it (w,) [kg].
        transverse: Moment of inertia across the axis (w,) [kg m^2].
        included: Whether the link's own inertial contains it (w,).
        alone: The wheels without what orbits with them.
    """

    names: tuple[str, ...]
    carrier: IntArray
    axis: Array
    position: Array
    inertia: Array
    spin: Array
    links: tuple[str, ...]
    mass: Array
    transverse: Array
    included: BoolArray
    alone: SingleWheels


@dataclass(frozen=True, eq=False)
class Frame(Frozen):
    """A link or wheel: fixed in a body (-1: root), or spinning with a wheel's axis.

    ``rotation`` and ``position`` place it in the body's frame; ``wheel`` is the
    wheel's index, -1 for a link. A wheel's frame is drawn with the wheel locked.
    """

    body: int
    rotation: Array
    position: Array
    wheel: int = -1


# -- From joints to coordinates and bodies: order, mimics, what is fixed to what ------------------


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
    return tuple(j.name for j in robot.joints if j.kind in MOVABLE_KINDS and j.mimic is None)


def following(robot: RobotRecord) -> dict[str, Follow]:
    """How each movable joint follows a coordinate; chains of mimics multiplied out."""
    index = {name: d for d, name in enumerate(coordinates(robot))}
    joints = {joint.name: joint for joint in robot.joints}
    result = {}
    for joint in robot.joints:
        if joint.kind not in MOVABLE_KINDS:
            continue
        multiplier, offset, leader = 1.0, 0.0, joint
        while leader.mimic is not None:
            offset += multiplier * leader.mimic.offset
            multiplier *= leader.mimic.multiplier
            leader = joints[leader.mimic.leader]
        if leader.kind not in MOVABLE_KINDS:
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
                if joint.kind in MOVABLE_KINDS:
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
