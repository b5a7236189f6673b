"""The feedback of a goal: one message, made once and filled at a rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from builtin_interfaces.msg import Duration

from geared_dynamics.nodes.common.messages import SECOND, doubles
from geared_dynamics.nodes.feedforward.goals import Progress
from geared_dynamics.nodes.feedforward.loop import Loop

EARLY = 0.02  # part of a period by which feedback may come early: cycles come in steps
FIELDS = {
    "desired": ("positions", "velocities", "accelerations"),
    "actual": ("positions", "velocities"),
    "error": ("positions", "velocities"),
}


class Feedback:
    """Fills ``control_msgs/action/FollowJointTrajectory``'s feedback."""

    def __init__(self, kind: Any, joints: Sequence[str], rate: float) -> None:
        """Make the message.

        Args:
            kind: The action.
            joints: Names (n,).
            rate: At most so often [1/s].
        """
        self._message = kind.Feedback(joint_names=list(joints))
        self._rows = {
            (part, field): doubles(getattr(self._message, part), field, len(joints))
            for part, fields in FIELDS.items()
            for field in fields
        }
        self._period = (1.0 - EARLY) / rate
        self._last = 0.0

    def due(self, now: float) -> bool:
        """Whether it is time for the next one; it then counts as sent.

        Args:
            now: Steady time [s].
        """
        if now - self._last < self._period:
            return False
        self._last = now
        return True

    def filled(self, loop: Loop, progress: Progress, stamp: int) -> Any:
        """The message of a cycle.

        Args:
            loop: What was wanted and measured.
            progress: Where the arm is on its trajectory.
            stamp: ROS time [ns].
        """
        message, rows, wanted = self._message, self._rows, loop.present
        rows["desired", "positions"][:] = wanted.q
        rows["desired", "velocities"][:] = wanted.v
        rows["desired", "accelerations"][:] = wanted.a
        rows["actual", "positions"][:] = loop.q
        rows["actual", "velocities"][:] = loop.v
        rows["error", "positions"][:], rows["error", "velocities"][:] = progress.error
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, SECOND)
        whole, part = divmod(round(progress.time * SECOND), SECOND)
        for point in (message.desired, message.actual):
            point.time_from_start = Duration(sec=whole, nanosec=part)
        message.index = progress.point
        return message
