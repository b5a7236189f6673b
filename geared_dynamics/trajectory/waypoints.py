"""Waypoints and rules of a trajectory, and what it may be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, BoolArray, Frozen
from geared_dynamics.errors import GearedDynamicsError, shown, suggestion

# -- A joint trajectory as a user gives it: plain values, checked by ``checked`` ------------------
#
# The same fields as ``trajectory_msgs/JointTrajectory`` has; nothing here knows ROS.


class Point(NamedTuple):
    """One waypoint, in the order of the trajectory's joint names.

    Attributes:
        time: After the trajectory's start [s].
        positions: (m,) [rad or m]; a field that is None or empty counts as not given.
        velocities: (m,) [rad/s or m/s].
        accelerations: (m,) [rad/s² or m/s²].
        effort: Feedforward (m,) [Nm or N].
    """

    time: float
    positions: ArrayLike | None = None
    velocities: ArrayLike | None = None
    accelerations: ArrayLike | None = None
    effort: ArrayLike | None = None


class PointArrays(NamedTuple):
    """The points of a long trajectory as arrays, read much faster than one by one.

    Attributes:
        times: After the trajectory's start (p,) [s].
        values: Positions, velocities, accelerations, effort (4, p, m), in the units of
            ``Point``; zero where not given.
        given: Which of them each point gives (4, p).
    """

    times: Array
    values: Array
    given: BoolArray


class JointTrajectory(NamedTuple):
    """Waypoints of some joints.

    Attributes:
        joint_names: m joints, in any order.
        points: With rising times.
        start: When it starts [s], the header's stamp; None or 0 is now.
    """

    joint_names: Sequence[str]
    points: Sequence[Point] | PointArrays
    start: float | None = None


# -- Why a trajectory is refused, with the result codes of ``control_msgs/FollowJointTrajectory``


INVALID_GOAL = -1
INVALID_JOINTS = -2
OLD_HEADER_TIMESTAMP = -3


class TrajectoryError(GearedDynamicsError):
    """A trajectory, or the rules for it, cannot be followed.

    Attributes:
        code: INVALID_GOAL (-1), INVALID_JOINTS (-2) or OLD_HEADER_TIMESTAMP (-3).
    """

    def __init__(self, place: str, finding: str, remedy: str, code: int = INVALID_GOAL) -> None:
        """Keep the three parts and the code."""
        super().__init__(place, finding, remedy)
        self.code = code


# -- What a trajectory may be, and how it is followed ---------------------------------------------


METHODS = ("splines", "none")


@dataclass(frozen=True)
class Rules:
    """Rules under the parameter names of ros2_controllers' joint trajectory controller (JTC).

    Attributes:
        joints: All joints, in the order of every array (n,).
        continuous: Names of those that turn without end: they start by the shorter way.
        interpolation_method: "splines", or "none" for the next waypoint as it is.
        allow_partial_joints_goal: Whether joints may be missing; they then hold.
        allow_nonzero_velocity_at_trajectory_end: Whether it may end in motion.
        allow_integration_in_goal_trajectories: Whether positions may be missing where there are
            velocities or accelerations to integrate.
        command_interfaces: Effort is refused where "effort" is not among them.
        rest_after_end: Not JTC's: velocity and acceleration are zero after the end. JTC repeats
            those of the last point for ever; a torque from a model would then push for ever.
    """

    joints: tuple[str, ...]
    continuous: tuple[str, ...] = ()
    interpolation_method: str = "splines"
    allow_partial_joints_goal: bool = False
    allow_nonzero_velocity_at_trajectory_end: bool = False
    allow_integration_in_goal_trajectories: bool = False
    command_interfaces: tuple[str, ...] = ("effort",)
    rest_after_end: bool = False

    def __post_init__(self) -> None:
        """Check the names."""
        for field in ("joints", "continuous", "command_interfaces"):
            object.__setattr__(self, field, _names(field, getattr(self, field)))
        if not self.joints:
            raise TrajectoryError(
                "joints", "the list is empty", "name at least one joint", INVALID_JOINTS
            )
        for name in self.continuous:
            if name not in self.joints:
                finding = f"names {name!r}, which is not among the joints"
                remedy = suggestion(name, self.joints)
                raise TrajectoryError("continuous", finding, remedy, INVALID_JOINTS)
        if self.interpolation_method not in METHODS:
            finding = f"is {shown(self.interpolation_method)}"
            remedy = suggestion(self.interpolation_method, METHODS)
            raise TrajectoryError("interpolation_method", finding, remedy)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    @cached_property
    def turning(self) -> BoolArray:
        """Whether each joint is continuous (n,)."""
        found = np.array([name in self.continuous for name in self.joints])
        found.setflags(write=False)
        return found


def _names(field: str, value: Iterable[str]) -> tuple[str, ...]:
    """Check that names are different texts."""
    try:
        names = (value,) if isinstance(value, str) else tuple(value)
    except TypeError:
        names = (None,)  # type: ignore[assignment]
    if isinstance(value, str) or not all(isinstance(name, str) for name in names):
        raise TrajectoryError(field, f"is {shown(value)}", "give a list of names", INVALID_JOINTS)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise TrajectoryError(
            field, f"has {twice[0]!r} twice", "name each joint once", INVALID_JOINTS
        )
    return names


# -- A trajectory that has been checked, as arrays in the order of the rules' joints --------------


FIELDS = ("positions", "velocities", "accelerations", "effort")


@dataclass(frozen=True, eq=False)
class Waypoints(Frozen):
    """Waypoints of all n joints; made by ``checked``, taken by ``follow``.

    Values that are not given are zero, and ``has_...`` says so.

    Attributes:
        joint_names: The rules' joints (n,).
        start: Time of departure [s], None for now.
        times: After the start (p,) [s], rising.
        positions: (p, n) [rad or m].
        velocities: (p, n) [rad/s or m/s].
        accelerations: (p, n) [rad/s² or m/s²].
        effort: (p, n) [Nm or N].
        has_positions: Whether each point gives them (p,).
        has_velocities: Whether each point gives velocities (p,).
        has_accelerations: Whether each point gives accelerations (p,).
        has_effort: Whether each point gives effort (p,).
        held: Joints that the trajectory does not name (n,): they stay where they are.
    """

    joint_names: tuple[str, ...]
    start: float | None
    times: Array
    positions: Array
    velocities: Array
    accelerations: Array
    effort: Array
    has_positions: BoolArray
    has_velocities: BoolArray
    has_accelerations: BoolArray
    has_effort: BoolArray
    held: BoolArray

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joint_names)

    @property
    def duration(self) -> float:
        """Time of the last point after the start [s]."""
        return float(self.times[-1])

    @property
    def independent(self) -> bool:
        """Whether all but the way to the first waypoint, and held joints, is known without it.

        Not so where positions or the first velocity are integrated from the state before.
        """
        rate = self.has_velocities[0] or not self.has_accelerations[0]
        return bool(self.has_positions.all() and rate)

    @property
    def first(self) -> Waypoints:
        """The first waypoint alone."""
        names = ("times", *FIELDS, *(f"has_{field}" for field in FIELDS))
        return replace(self, **{name: getattr(self, name)[:1] for name in names})

    def refuse_other(self, rules: Rules) -> None:
        """Raise if they were checked by rules for other joints."""
        if rules.joints != self.joint_names:
            finding = f"are for {', '.join(rules.joints)}"
            remedy = (
                f"give those that the waypoints were checked by: {', '.join(self.joint_names)}"
            )
            raise TrajectoryError("rules", finding, remedy, INVALID_JOINTS)


# -- Joints that turn without end: angles that differ by whole turns are one posture --------------


TURN = 2.0 * np.pi
OPPOSITE = 1e-9  # [rad] so near half a turn JTC goes the way the numbers go


def shortest_way(start: Array, goal: Array, turning: BoolArray) -> Array:
    """Difference goal - start (..., n), of continuous joints within (-π, π] [rad].

    Also the tracking error as JTC takes it, with the measured position as start. Of a continuous
    joint it is NaN where an angle is not finite.

    Args:
        start: Angles (..., n).
        goal: Angles (..., n).
        turning: Which joints are continuous (n,).
    """
    with np.errstate(invalid="ignore"):  # an encoder may report infinity
        way = np.asarray(goal - start)
        short = np.pi - np.mod(np.pi - way, TURN)
    return np.where(turning, short, way)


def nearest_turn(start: Array, goal: Array, turning: BoolArray) -> Array:
    """The start (n,) in that turn of continuous joints from which the way to the goal is short.

    Half a turn is both ways alike; the numbers then say which.
    """
    short = shortest_way(start, goal, turning)
    tie = turning & (np.abs(np.abs(short) - np.pi) < OPPOSITE)
    short = np.where(tie, np.where(goal > start, np.abs(short), -np.abs(short)), short)
    return np.where(turning, goal - short, start)
