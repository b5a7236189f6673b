"""The robot's place in the benchmark: joint states out, commands in, its reference as a goal.

``python -m geared_dynamics.ros.latency_driver TASK.json``; it says on standard output
when it begins to measure and when it has ended, and leaves its times in an ``.npz`` file.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.action import ActionClient
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory

from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.ros import joint_state_wire
from geared_dynamics.ros.action import MOST_POINTS, action_type
from geared_dynamics.ros.process import make_executor, run_task
from geared_dynamics.runtime.latency_figures import NEVER
from geared_dynamics.runtime.process_tasks import (
    DONE,
    MEASURING,
    SECOND,
    SPARE,
    LatencyMotion,
    LatencyTask,
    SlotPlan,
    TorqueTable,
    motion,
    plan,
    read_latency_task,
    waypoints,
)

# -- The benchmark's reference as an action goal --------------------------------------------------


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


# -- The robot's place in the benchmark: sends joint states, receives the commands ----------------


LEAD = 0.5  # [s] from the trajectory's arrival to its start
NOT_KNOWN = "invalid"  # what an observer calls a message without an estimate
PATIENCE = 180.0  # [s] to wait for both nodes; kernels may have to be compiled first
LAST_REPLIES = 0.2  # [s] to wait for them


class LatencyLine:
    """The way to one node and back: states out, commands in, and when."""

    def __init__(self, node: Node, task: LatencyTask, subject: int) -> None:
        """Create the endpoints; messages are prepared and written in place."""
        state_qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
        self.publisher = node.create_publisher(JointState, task.states[subject], state_qos)
        node.create_subscription(
            JointState, task.commands[subject], self.receive, qos_profile_sensor_data
        )
        zeros = [0.0] * len(task.joints)
        self.state = JointState(name=task.joints, position=zeros, velocity=zeros, effort=zeros)
        # array.array and NumPy share the memory: nothing is allocated per message.
        self._position = np.frombuffer(self.state.position)
        self._velocity = np.frombuffer(self.state.velocity)
        self._effort = np.frombuffer(self.state.effort)
        self._efforts = TorqueTable(task.efforts, len(zeros))
        self.open: dict[int, int] = {}  # stamp -> cycle
        self.replies = 0
        self.sent = np.zeros(0, dtype=np.int64)
        self.received = np.zeros(0, dtype=np.int64)

    def prepare(self, cycles: int) -> None:
        """Make room for a run's times."""
        self.open.clear()
        self.replies = 0
        self.sent = np.zeros(cycles, dtype=np.int64)
        self.received = np.full(cycles, NEVER, dtype=np.int64)

    def send(self, cycle: int, moving: LatencyMotion, origin: int) -> None:
        """Publish the state of this moment; its stamp says later which one is answered."""
        stamp = time.time_ns()
        self.state.header.stamp.sec, self.state.header.stamp.nanosec = divmod(stamp, SECOND)
        t = max((stamp - origin) / SECOND, 0.0)
        self._position[:] = moving.positions(t)
        self._velocity[:] = moving.velocities(t)
        self._effort[:] = self._efforts.at(t)
        self.open[stamp] = cycle
        self.sent[cycle] = time.monotonic_ns()
        self.publisher.publish(self.state)

    def receive(self, command: JointState) -> None:
        """Note when the answer to which state has come."""
        now = time.monotonic_ns()
        stamp = command.header.stamp
        cycle = self.open.pop(stamp.sec * SECOND + stamp.nanosec, None)
        if cycle is not None:
            self.replies += 1
            if command.header.frame_id != NOT_KNOWN:  # a message without content is no answer
                self.received[cycle] = now


class Driver:
    """Both lines, spun by one executor in one thread."""

    def __init__(self, task: LatencyTask) -> None:
        """Join the graph."""
        self.task = task
        self.node = Node("loop_benchmark_driver", enable_rosout=False)
        self.lines = [LatencyLine(self.node, task, subject) for subject in (0, 1)]
        self.executor: Executor = make_executor()
        self.executor.add_node(self.node)
        self.motion = motion(task.start)
        self.origin = time.time_ns()

    def run(self) -> None:
        """Meet both nodes, warm up, measure, write the times."""
        self.meet()
        self.origin = time.time_ns()
        goal = None
        if self.task.goal:
            goal = self.send_goal()
        elif self.task.trajectory:
            self.send_trajectory()
        self.exchange(plan(self.task.rate, self.task.warmup))
        gc.collect()
        gc.freeze()
        print(MEASURING, flush=True)
        self.exchange(plan(self.task.rate, self.task.duration))
        print(DONE, flush=True)
        if goal is not None:
            goal.refuse_ended()
        line, bare = self.lines
        times = (line.sent, line.received, bare.sent, bare.received)
        np.savez(self.task.times, *times, executor=np.array(type(self.executor).__name__))

    def meet(self) -> None:
        """Send states until both nodes have answered."""
        deadline = time.monotonic() + PATIENCE
        for line in self.lines:
            line.prepare(1)
        while not all(line.replies for line in self.lines):
            if time.monotonic() > deadline:
                silent = [
                    topic
                    for topic, line in zip(self.task.commands, self.lines, strict=True)
                    if not line.replies
                ]
                raise SystemExit(f"no answer on {', '.join(silent)} within {PATIENCE:g} s")
            self.tick()

    def tick(self) -> None:
        """Send a state at rest to both nodes and handle what comes for a moment."""
        for line in self.lines:
            line.send(0, self.motion, time.time_ns())
        self.executor.spin_once(timeout_sec=0.01)

    def send_goal(self) -> FollowedGoal:
        """Ask the first node's action to follow the motion that the states will show."""
        self.origin = time.time_ns() + round(LEAD * SECOND)
        message = trajectory_of_task(self.task, self.motion, self.origin)
        return FollowedGoal(self.node, self.task.goal, message, self.tick)

    def send_trajectory(self) -> None:
        """Ask the first node to follow the motion that the states will show."""
        publisher = self.node.create_publisher(JointTrajectory, self.task.trajectory, 1)
        while not publisher.get_subscription_count():
            self.executor.spin_once(timeout_sec=0.01)
        self.origin = time.time_ns() + round(LEAD * SECOND)
        publisher.publish(trajectory_of_task(self.task, self.motion, self.origin))

    def exchange(self, planned: SlotPlan) -> None:
        """Send on an absolute schedule, receive in between."""
        for line in self.lines:
            line.prepare(planned.cycles)
        begin = time.monotonic_ns() + planned.period
        for number in range(planned.slots):
            slot = planned.slot(number)
            self.receive_until(begin + slot.due)
            self.lines[slot.subject].send(slot.cycle, self.motion, self.origin)
        end = time.monotonic_ns() + round(LAST_REPLIES * SECOND)
        while any(line.open for line in self.lines) and time.monotonic_ns() < end:
            self.executor.spin_once(timeout_sec=0.001)

    def receive_until(self, due: int) -> None:
        """Handle what comes until a moment of the monotonic clock [ns]."""
        while (left := due - time.monotonic_ns()) > 0:
            self.executor.spin_once(timeout_sec=left / SECOND)


def trajectory_of_task(task: LatencyTask, moving: LatencyMotion, origin: int) -> JointTrajectory:
    """Return the trajectory along a motion that begins at a ROS time [ns]."""
    header = Header(stamp=Time(sec=origin // SECOND, nanosec=origin % SECOND))
    points = waypoints(moving, task.warmup + task.duration + SPARE)
    times, *rows = (np.array(column) for column in zip(*points, strict=True))
    return joint_state_wire.trajectory_message(header, task.joints, times, rows)


def main() -> int:
    """Run one task."""
    task = read_latency_task(sys.argv[1])
    return run_task(lambda: Driver(task).run())


if __name__ == "__main__":
    sys.exit(main())
