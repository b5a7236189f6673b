"""The benchmark's reference as an action goal: sent, followed to the end of the measurement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.nodes.feedforward.action import MOST_POINTS, action_type

PLACE = "loop-benchmark"


class FollowedGoal:
    """A goal under way.

    Attributes:
        feedback: How many messages of it came.
    """

    def __init__(
        self, node: Node, action: str, trajectory: JointTrajectory, tick: Callable[[], None]
    ) -> None:
        """Send the goal and wait until it is accepted.

        Args:
            node: Whose client sends it.
            action: Name of the action.
            trajectory: The goal's.
            tick: Lets a moment pass, in which messages are handled and joint states sent.

        Raises:
            GearedDynamicsError: It is too long, or was rejected.
        """
        count = len(trajectory.points)
        if count > MOST_POINTS:
            finding = f"has {count} points, and a goal {MOST_POINTS} at most"
            raise GearedDynamicsError(PLACE, f"the goal {finding}", "give a shorter --duration")
        kind = action_type()
        self.feedback = 0
        self._ended: Any = None
        self._client = ActionClient(node, kind, action)
        while not self._client.server_is_ready():
            tick()
        answer = self._client.send_goal_async(kind.Goal(trajectory=trajectory), self._heard)
        while not answer.done():
            tick()
        handle = answer.result()
        if not handle.accepted:
            raise GearedDynamicsError(PLACE, "the goal was rejected", "see the node's log")
        handle.get_result_async().add_done_callback(self._end)

    def _heard(self, _message: Any) -> None:
        self.feedback += 1

    def _end(self, future: Any) -> None:
        self._ended = future.result()

    def refuse_ended(self) -> None:
        """Raise where the goal ended before the measurement did, or gave no feedback."""
        if self._ended is not None:
            text = self._ended.result.error_string
            raise GearedDynamicsError(PLACE, f"the goal ended too early: {text}", "see the log")
        if not self.feedback:
            raise GearedDynamicsError(PLACE, "the goal gave no feedback", "see the node's log")
