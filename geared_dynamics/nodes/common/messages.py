"""Messages to values and back. Those of the loop are made once and written in place."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory as TrajectoryMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from geared_dynamics.arrays import Array

SECOND = 1_000_000_000  # [ns]


def seconds(stamp: Time | Duration) -> float:
    """A stamp or duration in seconds."""
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)


def nanoseconds(stamp: Time | Duration) -> int:
    """A stamp or duration in nanoseconds, exactly."""
    return int(stamp.sec) * SECOND + int(stamp.nanosec)


def doubles(message: Any, field: str, count: int) -> Array:
    """Give a message's field so many zeros and return its memory, to write to.

    Whether a message keeps the array that it is given or copies it depends on its checking of
    fields (ROS_PYTHON_CHECK_FIELDS): the memory is that of what it holds afterwards.
    """
    setattr(message, field, array("d", bytes(8 * count)))
    return np.frombuffer(getattr(message, field))


class NamedState:
    """``JointState`` with names; only the fields asked for are filled."""

    def __init__(self, names: Sequence[str], fields: Sequence[str] = ("effort",)) -> None:
        """Make the message for these joints."""
        self.message = JointState(name=list(names))
        self.values = {field: doubles(self.message, field, len(names)) for field in fields}

    def stamp(self, now: int) -> None:
        """Write the time [ns]."""
        stamp = self.message.header.stamp
        stamp.sec, stamp.nanosec = divmod(now, SECOND)


def trajectory_message(
    header: Any, names: Sequence[str], times: Array, rows: Sequence[Array]
) -> TrajectoryMessage:
    """A trajectory from arrays.

    Args:
        header: That of the trajectory it was made from.
        names: Joints (n,).
        times: From the start (k,) [s].
        rows: Positions, velocities, accelerations, effort (k, n) each.
    """
    message = TrajectoryMessage(header=header, joint_names=list(names))
    stamps = np.round(times * SECOND).astype(np.int64).tolist()
    for stamp, q, v, a, effort in zip(stamps, *rows, strict=True):
        point = JointTrajectoryPoint()
        point.positions, point.velocities = array("d", q.tobytes()), array("d", v.tobytes())
        point.accelerations, point.effort = array("d", a.tobytes()), array("d", effort.tobytes())
        point.time_from_start = Duration(sec=stamp // SECOND, nanosec=stamp % SECOND)
        message.points.append(point)
    return message
