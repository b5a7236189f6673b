"""The action ``~/follow_joint_trajectory``, and its feedback."""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from typing import Any

from builtin_interfaces.msg import Duration
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.serialization import serialize_message

from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.ros.joint_state_wire import SECOND, doubles, seconds
from geared_dynamics.ros.model_node import FeedforwardBase
from geared_dynamics.ros.relay import Relay
from geared_dynamics.ros.trajectory_wire import read_trajectory, trajectory_of
from geared_dynamics.runtime.annotation import refusal
from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
from geared_dynamics.runtime.goals import Ending, Goals, Progress
from geared_dynamics.trajectory import JointTolerance, TrajectoryError

# -- The feedback of a goal: one message, made once and filled at a rate --------------------------


EARLY = 0.02  # part of a period by which feedback may come early: cycles come in steps
FIELDS = {
    "desired": ("positions", "velocities", "accelerations"),
    "actual": ("positions", "velocities"),
    "error": ("positions", "velocities"),
}


class Feedback:
    """Fills ``control_msgs/action/FollowJointTrajectory``'s feedback.

    Attributes:
        due: From when on the next one is to be sent [s], steady.
    """

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
        self._indexed = hasattr(self._message, "index")  # from control_msgs 6.3 on
        self._period = (1.0 - EARLY) / rate
        self.due = 0.0

    def filled(self, loop: FeedforwardLoop, progress: Progress, stamp: int, now: float) -> Any:
        """The message of a cycle, which then counts as sent.

        Args:
            loop: What was wanted and measured.
            progress: Where the arm is on its trajectory.
            stamp: ROS time [ns].
            now: Steady time [s].
        """
        self.due = now + self._period
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
        if self._indexed:
            message.index = progress.point
        return message


# -- The action ``~/follow_joint_trajectory`` -----------------------------------------------------
#
# ``control_msgs`` is not always installed: without it there is no action, and all else works.


ACTION = "~/follow_joint_trajectory"
KEPT = 10  # [s] for which a result can be asked for after a goal's end, as rclcpp's default
MOST_POINTS = 2000  # read and checked within a cycle: longer than state_timeout if there are more
FLUSH = 10  # events that are handled so that clients learn of the end of the node


def action_type() -> Any:
    """``control_msgs/action/FollowJointTrajectory``, None where it is not installed."""
    try:
        from control_msgs.action import FollowJointTrajectory
    except ImportError:
        return None
    return FollowJointTrajectory


class Server(ActionServer):  # type: ignore[misc]  # rclpy has no types
    """rclpy's server for goals that somebody else ends.

    rclpy wants a callback that runs as long as the goal; one that waits keeps the
    EventsExecutor busy all the time.
    """

    def notify_execute(self, goal_handle: Any, execute_callback: Any) -> None:
        """Nothing runs from acceptance on; ``end`` gives the callback that ends the goal."""
        if execute_callback is not None:
            super().notify_execute(goal_handle, execute_callback)

    def end(self, goal_handle: Any, ending: Ending, result: Any) -> None:
        """End a goal with a result.

        Args:
            goal_handle: The goal's.
            ending: Its status counts.
            result: What the client gets.
        """
        super().notify_execute(goal_handle, functools.partial(ended, ending, result))


def ended(ending: Ending, result: Any, goal_handle: Any) -> Any:
    """Give a goal its last status and return its result."""
    terminal = {"succeeded": "succeed", "aborted": "abort", "canceled": "canceled"}
    getattr(goal_handle, terminal[ending.status])()
    return result


class TrajectoryAction:
    """The action of a node.

    Attributes:
        goals: Of the loop in use; None before the first activation.
    """

    def __init__(self, node: FeedforwardBase) -> None:
        """Offer nothing yet."""
        self.goals: Goals | None = None
        self._node = node
        self._kind: Any = None
        self._server: Server | None = None
        self._relay: Relay | None = None
        self._handles: dict[object, Any] = {}
        self._new: Any = None  # a goal that was accepted and has no handle yet
        self._feedback: Feedback | None = None

    def offer(self) -> None:
        """Offer the action, once; say so where that is not possible."""
        if self._server is not None:
            return
        node = self._node
        self._kind = action_type()
        if self._kind is None:
            node.get_logger().info(
                f"control_msgs is not installed: no action {ACTION}, which MoveIt needs; "
                "trajectories on ~/joint_trajectory work without"
            )
            return
        self._server = Server(
            node,
            self._kind,
            ACTION,
            execute_callback=ended,  # never called so: see Server
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
            result_timeout=KEPT,
        )

    def begin(self, loop: FeedforwardLoop) -> None:
        """Judge the goals of a loop from here on."""
        self.goals = Goals(loop)
        rate = self._node.parameters.action_monitor_rate
        joints = loop.setup.rules.joints
        self._feedback = None if self._kind is None else Feedback(self._kind, joints, rate)
        if self._node.annotating and self._kind is not None and self._relay is None:
            self._relay = Relay(self._node, self._kind, self._finish)

    # -- from the loop -----------------------------------------------------------------------

    def judge(self, now: float, clock: float) -> None:
        """After a cycle, or where there was none: judge, tell the client, end.

        Args:
            now: Steady time [s].
            clock: ROS time, counted as the loop does [s].
        """
        goals = self.goals
        if goals is None or not goals.judging:
            return
        if self._new is not None:  # rclpy did not take the goal: no client could cancel it
            goals.cancel(self._new, clock)
            self._new = None
        feedback = self._feedback
        if goals.judge(clock) and feedback is not None and now >= feedback.due:
            handle = self._handles.get(goals.active.key)  # type: ignore[union-attr]  # as it says
            if handle is not None:
                told = goals.progress(), self._ros_time(), now
                handle.publish_feedback(feedback.filled(goals.loop, *told))
        if goals.ended or goals.notes:
            self._deliver()

    def watch(self) -> None:
        """Between joint states: end the goals of a controller that is gone."""
        if self._relay is not None:
            self._relay.watch()

    def abort(self, ending: Ending) -> None:
        """End all goals.

        Args:
            ending: How; a controller that follows them is asked to stop.
        """
        if self._relay is not None:
            self._relay.abort(ending)
        if self.goals is not None:
            self.goals.abort(ending)
            self._deliver()

    def flush(self) -> None:
        """Let clients learn of what has just ended; nothing else will spin any more."""
        executor = self._node.executor
        if self._server is None or executor is None:
            return
        for _ in range(FLUSH):
            executor.spin_once(timeout_sec=0.0)

    # -- from the client ---------------------------------------------------------------------

    def _on_goal(self, goal: Any) -> Any:
        """Accept a goal, or say in the log why not."""
        node = self._node
        try:
            if not node.active or node.loop is None or self.goals is None:
                raise TrajectoryError("node", f"is {node.state_label}", "activate it first")
            refuse_long(goal.trajectory)
            clock = node.clock_time()
            if node.annotating:
                self._new = self._annotated(goal)
            else:
                self._new = self._followed(goal, clock)
            node.references.drop()  # what came before is replaced
        except GearedDynamicsError as error:
            if node.loop is not None:
                node.loop.counters.refused += 1
            node.get_logger().error(refusal(error))
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _followed(self, goal: Any, clock: float) -> object:
        """Follow a goal; what it is known by."""
        node, goals = self._node, self.goals
        assert goals is not None  # looked at before
        key = object()
        goals.accept(
            key,
            trajectory_of(read_trajectory(serialize_message(goal.trajectory)), node.zero),
            joint_tolerances(goal.path_tolerance),
            joint_tolerances(goal.goal_tolerance),
            seconds(goal.goal_time_tolerance),
            time.monotonic(),
            clock,
        )
        return key

    def _annotated(self, goal: Any) -> Any:
        """The goal that a controller is to follow in place of this one."""
        node, relay = self._node, self._relay
        assert relay is not None  # made at activation
        relay.refuse_absent()
        made = node.references.annotation(goal.trajectory)
        return relay.goal(goal, made)

    def _on_accepted(self, handle: Any) -> None:
        new, self._new = self._new, None
        handle.execute()
        if self._node.annotating:
            assert self._relay is not None
            self._relay.send(handle, new)
            return
        self._handles[new] = handle
        self._deliver()

    def _on_cancel(self, handle: Any) -> Any:
        """Stop what is followed for this goal."""
        node = self._node
        if self._relay is not None and self._relay.cancel(handle):
            return CancelResponse.ACCEPT
        keys = [key for key, held in self._handles.items() if held == handle]
        clock = node.clock_time()
        if self.goals is None or not keys or not self.goals.cancel(keys[0], clock):
            return CancelResponse.REJECT
        self._deliver()
        return CancelResponse.ACCEPT

    # -- to the client -----------------------------------------------------------------------

    def _deliver(self) -> None:
        """Send what has ended since, and log what there is to say."""
        goals = self.goals
        assert goals is not None  # who else has ended something
        endings, notes = goals.take()
        for note in notes:
            self._node.get_logger().error(note)
        for key, ending in endings:
            handle = self._handles.pop(key, None)
            if handle is not None:
                self._finish(handle, ending)

    def _finish(self, handle: Any, ending: Ending, result: Any = None) -> None:
        """End a goal.

        Args:
            handle: The goal's.
            ending: How.
            result: A controller's own; None: made from the ending.
        """
        assert self._server is not None  # it has accepted the goal
        if result is None:
            result = self._kind.Result(error_code=ending.code, error_string=ending.text)
        self._server.end(handle, ending, result)
        if ending.status == "aborted":
            self._node.get_logger().warning(f"goal aborted ({result.error_code}): {ending.text}")

    def _ros_time(self) -> int:
        return int(self._node.ros_time.now())


def refuse_long(trajectory: Any) -> None:
    """Raise for a goal that would stop the loop for too long."""
    count = len(trajectory.points)
    if count > MOST_POINTS:
        remedy = f"give at most {MOST_POINTS}, or send it on ~/joint_trajectory"
        raise TrajectoryError("goal", f"has {count} points", remedy)


def joint_tolerances(messages: Sequence[Any]) -> list[JointTolerance]:
    """``control_msgs/JointTolerance`` as values."""
    return [
        JointTolerance(one.name, one.position, one.velocity, one.acceleration) for one in messages
    ]
