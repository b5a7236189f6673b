"""A client of ``control_msgs/action/FollowJointTrajectory``, for test/ros."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from feedforward_rig import JOINTS, Rig, duration, trajectory
from ros_harness import Graph

SUCCEEDED, CANCELED, ABORTED = 4, 5, 6  # action_msgs/GoalStatus


class Goal:
    """A goal that was sent, and all that came back.

    Attributes:
        accepted: None while there is no answer.
        feedback: Messages, oldest first.
        answer: Status and result; None while there is none.
    """

    def __init__(self) -> None:
        self.accepted: bool | None = None
        self.feedback: list[Any] = []
        self.answer: Any = None
        self.handle: Any = None

    def on_answer(self, future: Any) -> None:
        self.handle = future.result()
        self.accepted = self.handle.accepted
        if self.accepted:
            self.handle.get_result_async().add_done_callback(self.on_result)

    def on_result(self, future: Any) -> None:
        self.answer = future.result()

    @property
    def end(self) -> tuple[int, int]:
        """Status and error code."""
        assert self.answer is not None
        return self.answer.status, self.answer.result.error_code

    @property
    def text(self) -> str:
        """What the result says."""
        return str(self.answer.result.error_string)


def ended(rig: Rig, goal: Goal) -> tuple[int, int]:
    """Feed joint states until a goal ends; its status and error code."""
    rig.feed_until(lambda: goal.answer or goal.accepted is False, "the end of the goal")
    assert goal.accepted, rig.processes.report()
    return goal.end


class GoalClient:
    """Sends goals to one action."""

    def __init__(self, graph: Graph, name: str) -> None:
        from control_msgs.action import FollowJointTrajectory
        from rclpy.action import ActionClient

        self.graph, self.kind = graph, FollowJointTrajectory
        self.client = ActionClient(graph.node, FollowJointTrajectory, name)

    def wait(self) -> None:
        """Wait until somebody offers the action."""
        self.graph.until(self.client.server_is_ready, "the action")

    def message(
        self,
        points: Sequence[tuple[Any, ...]],
        path: Any = (),
        end: Any = (),
        time: float = 0.0,
        joints: Sequence[str] = JOINTS,
        start: int = 0,
    ) -> Any:
        """A goal; tolerances are pairs of a joint and its position, or all three numbers."""
        return self.kind.Goal(
            trajectory=trajectory(joints, points, start),
            path_tolerance=[tolerance(*one) for one in path],
            goal_tolerance=[tolerance(*one) for one in end],
            goal_time_tolerance=duration(time),
        )

    def send(self, points: Sequence[tuple[Any, ...]], **options: Any) -> Goal:
        """Send a goal."""
        goal = Goal()
        future = self.client.send_goal_async(
            self.message(points, **options), lambda said: goal.feedback.append(said.feedback)
        )
        future.add_done_callback(goal.on_answer)
        return goal


def tolerance(name: str, position: float, velocity: float = 0.0, acceleration: float = 0.0) -> Any:
    """A ``JointTolerance``."""
    from control_msgs.msg import JointTolerance

    return JointTolerance(
        name=name,
        position=float(position),
        velocity=float(velocity),
        acceleration=float(acceleration),
    )
