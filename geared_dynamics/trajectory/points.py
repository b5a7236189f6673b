"""A joint trajectory as a user gives it: plain values, checked by ``checked``.

The same fields as ``trajectory_msgs/JointTrajectory`` has; nothing here knows ROS.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from geared_dynamics.arrays import Array, ArrayLike, BoolArray


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
