"""The mode annotate: a goal goes to a controller with effort, and its answers come back."""

from __future__ import annotations

import functools
import time
from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.exceptions import InvalidServiceNameException
from rclpy.validate_topic_name import validate_topic_name

from geared_dynamics.ros.joint_state_wire import seconds
from geared_dynamics.ros.model_node import FeedforwardBase
from geared_dynamics.runtime.goals import Ending, Status
from geared_dynamics.runtime.parameters import ParameterError
from geared_dynamics.trajectory import INVALID_GOAL, TrajectoryError

SIBLING = "follow_joint_trajectory"
ANSWER_TIMEOUT = 3.0  # [s] within which a controller accepts or rejects a goal
STATUS: dict[int, Status] = {
    GoalStatus.STATUS_SUCCEEDED: "succeeded",
    GoalStatus.STATUS_CANCELED: "canceled",
}


class Relayed:
    """A goal that a controller follows.

    Attributes:
        handle: Of our client's goal.
        goal: What the controller was sent.
        times: Of the points that our client has given [s].
        theirs: Handle of the controller's goal; None until it has answered.
        cancelled: Whether it is to be cancelled.
        sent: When it went to the controller [s], steady.
        servers: Who offered the action then, as ``Relay.servers``.
    """

    def __init__(self, handle: Any, goal: Any, times: list[float], servers: set[bytes]) -> None:
        """Begin without an answer."""
        self.handle, self.goal, self.times = handle, goal, times
        self.theirs: Any = None
        self.cancelled = False
        self.sent, self.servers = time.monotonic(), servers


class Relay:
    """A client of the controller's own action."""

    def __init__(
        self, node: FeedforwardBase, kind: Any, finish: Callable[[Any, Ending, Any], None]
    ) -> None:
        """Look for the controller.

        Args:
            node: The node.
            kind: The action.
            finish: Ends a client's goal: its handle, the ending, the controller's result.
        """
        self.name = controllers_action(node)
        self._node, self._kind, self._finish = node, kind, finish
        self._client = ActionClient(node, kind, self.name) if self.name else None
        self._under_way: list[Relayed] = []

    def refuse_absent(self) -> None:
        """Raise where there is no controller."""
        if self._client is None:
            remedy = f"give annotate.action, such as /arm_controller/{SIBLING}, and start again"
            raise ParameterError("annotate.action", "is not known", remedy)
        if not self._client.server_is_ready():
            raise TrajectoryError(self.name, "is not there", "start and activate the controller")

    def goal(self, goal: Any, trajectory: Any) -> tuple[Any, list[float]]:
        """What the controller is to be sent, and the times of the points of the goal itself [s].

        Args:
            goal: Our client's.
            trajectory: The same with effort.
        """
        times = [seconds(point.time_from_start) for point in goal.trajectory.points]
        fields = {name: getattr(goal, name) for name in goal.get_fields_and_field_types()}
        return self._kind.Goal(**fields | {"trajectory": trajectory}), times

    def send(self, handle: Any, made: tuple[Any, list[float]]) -> None:
        """Send a goal on.

        Args:
            handle: Of our client's goal.
            made: From ``goal``.
        """
        assert self._client is not None  # refuse_absent
        entry = Relayed(handle, *made, self.servers())
        self._under_way.append(entry)
        told = functools.partial(self._on_feedback, entry)
        future = self._client.send_goal_async(entry.goal, feedback_callback=told)
        future.add_done_callback(functools.partial(self._on_answer, entry))

    def cancel(self, handle: Any) -> bool:
        """Ask the controller to cancel; whether it follows this goal.

        Args:
            handle: Of our client's goal.
        """
        for entry in self._under_way:
            if entry.handle == handle:
                self._cancel(entry)
                return True
        return False

    def abort(self, ending: Ending) -> None:
        """End all goals, and ask the controller to cancel them."""
        for entry in list(self._under_way):
            self._cancel(entry)
            self._end(entry, ending)

    def servers(self) -> set[bytes]:
        """Who offers the action, by its feedback: one that starts again is another."""
        found = self._node.get_publishers_info_by_topic(f"{self.name}/_action/feedback")
        return {bytes(one.endpoint_gid) for one in found}

    def watch(self) -> None:
        """End the goals of a controller that is gone, started again or silent."""
        if not self._under_way or self._client is None:
            return
        present, now = self.servers(), time.monotonic()
        ready = self._client.server_is_ready()
        for entry in list(self._under_way):
            entry.servers = entry.servers or present
            if not ready or not entry.servers & present:
                self._give_up(entry, "is gone")
            elif entry.theirs is None and now - entry.sent > ANSWER_TIMEOUT:
                self._give_up(entry, f"has not answered for {ANSWER_TIMEOUT:g} s; is it active?")

    def _give_up(self, entry: Relayed, finding: str) -> None:
        """End a goal; should its controller answer later, it is asked to cancel."""
        self._cancel(entry)
        text = f"Aborted: the controller's {self.name} {finding}"
        self._end(entry, Ending("aborted", INVALID_GOAL, text))

    # -- what the controller says ------------------------------------------------------------

    def _cancel(self, entry: Relayed) -> None:
        entry.cancelled = True
        if entry.theirs is not None:
            entry.theirs.cancel_goal_async()

    def _on_answer(self, entry: Relayed, future: Any) -> None:
        """The controller has accepted the goal, or not."""
        theirs = future.result()
        if not theirs.accepted:
            text = f"Aborted: {self.name} has rejected the goal; its log says why"
            self._end(entry, Ending("aborted", INVALID_GOAL, text))
            return
        entry.theirs = theirs
        if entry.cancelled:
            theirs.cancel_goal_async()
        result = theirs.get_result_async()
        result.add_done_callback(functools.partial(self._on_result, entry))

    def _on_feedback(self, entry: Relayed, message: Any) -> None:
        """Pass feedback on; its index is that of our client's points."""
        if entry not in self._under_way:
            return
        feedback = message.feedback
        if hasattr(feedback, "index"):  # from control_msgs 6.3 on
            time = seconds(feedback.desired.time_from_start)
            feedback.index = bisect_left(entry.times, time)
        entry.handle.publish_feedback(feedback)

    def _on_result(self, entry: Relayed, future: Any) -> None:
        """Pass status and result on."""
        answer = future.result()
        if answer.status == GoalStatus.STATUS_UNKNOWN:
            # A controller that has started again answers for the one before, with an empty result.
            self._give_up(entry, "is gone: the one in its place does not know the goal")
            return
        status = STATUS.get(answer.status, "aborted")
        found = answer.result
        if status == "canceled" and not entry.cancelled:
            # Somebody else has cancelled it, and a goal is canceled only where its client asks.
            status = "aborted"
        self._end(entry, Ending(status, found.error_code, found.error_string), found)

    def _end(self, entry: Relayed, ending: Ending, result: Any = None) -> None:
        if entry in self._under_way:
            self._under_way.remove(entry)
            self._finish(entry.handle, ending, result)


def controllers_action(node: FeedforwardBase) -> str:
    """Name of the controller's action, empty where nothing says it.

    Raises:
        ParameterError: for one that is no name.
    """
    annotate = node.parameters.annotate
    given = annotate.action
    if given:
        try:
            validate_topic_name(given, is_service=True)
        except InvalidServiceNameException:
            remedy = f"give a name, such as /arm_controller/{SIBLING}, and restart the node"
            raise ParameterError("annotate.action", f"is {given!r}", remedy) from None
        return str(node.resolve_service_name(given))
    topic = str(node.resolve_topic_name(annotate.topic))
    place, _, last = topic.rpartition("/")
    return f"{place}/{SIBLING}" if last == "joint_trajectory" else ""
