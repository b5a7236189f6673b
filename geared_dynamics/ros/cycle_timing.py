"""One cycle inside the feedforward node's process: from a message to a message, without DDS.

``python -m geared_dynamics.ros.cycle_timing TASK.json --ros-args ...``
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.ros.feedforward import FeedforwardNode
from geared_dynamics.ros.feedforward_topics import Commands, Publishers
from geared_dynamics.ros.latency_driver import LEAD, FollowedGoal, trajectory_message
from geared_dynamics.ros.process import make_executor, run_task
from geared_dynamics.runtime.tasks import DONE, SECOND, LatencyTask, motion, read_latency_task

MESSAGES = 20  # that may have come meanwhile
UNMEASURED = 6  # a sixth of the cycles, at the beginning


class Swallow(Publishers):
    """Takes the place of all publishers: what is published ends here."""

    topic_name = "swallowed"

    def get_subscription_count(self) -> int:
        """Return one: somebody takes it."""
        return 1

    def __init__(self) -> None:
        """Begin with nothing; no node is needed."""
        self.last: Any = None

    def get(self, topic: str, kind: Any) -> Swallow:
        """Return itself as the publisher of any topic."""
        return self

    def publish(self, message: Any) -> None:
        """Keep the message."""
        self.last = message


def state(names: list[str], stamp: int, position: list[float], velocity: list[float]) -> bytes:
    """Return a joint state as it comes from the wire."""
    message = JointState(name=names, position=position, velocity=velocity)
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, SECOND)
    return bytes(serialize_message(message))


class Asked:
    """A goal of a client in the same process; nothing is spun while cycles are measured."""

    def __init__(
        self, node: FeedforwardNode, task: LatencyTask, trajectory: JointTrajectory
    ) -> None:
        """Send the goal and wait until the node follows it.

        Args:
            node: The node.
            task: With the names of the joints and where they are.
            trajectory: The goal's.
        """
        self._still = [0.0] * len(task.joints)
        self._node, self._task = node, task
        client = Node("loop_benchmark_client", enable_rosout=False)
        self._executor = make_executor()
        self._executor.add_node(client)
        self._executor.add_node(node)
        action = f"{node.get_fully_qualified_name()}/follow_joint_trajectory"
        self._goal = FollowedGoal(client, action, trajectory, self._tick)

    def _tick(self) -> None:
        task = self._task
        self._node.on_joint_state(state(task.joints, time.time_ns(), task.start, self._still))
        self._executor.spin_once(timeout_sec=0.005)

    def refuse_ended(self) -> None:
        """Raise where the node does not follow the goal any more, or gave no feedback."""
        for _ in range(MESSAGES):
            self._executor.spin_once(timeout_sec=0.0)
        self._goal.refuse_ended()


def measure(node: FeedforwardNode, task: LatencyTask) -> list[int]:
    """Return the time of each cycle [ns], joint states coming at their rate.

    Raises:
        GearedDynamicsError: The node computed no command.
    """
    sink = Swallow()
    if node.model is None:
        raise GearedDynamicsError("loop-benchmark", "the node has no model", "see its log")
    node.commands = Commands(sink, node.parameters, node.model)
    moving, times = motion(task.start), []
    origin = time.time_ns()
    # The callbacks of the node's subscriptions, as the executor calls them.
    node.on_joint_state(state(task.joints, origin, task.start, [0.0] * len(task.joints)))
    asked = None
    if task.goal:
        origin += round(LEAD * SECOND)
        asked = Asked(node, task, trajectory_message(task, moving, origin))
    else:
        node.references.take(serialize_message(trajectory_message(task, moving, origin)))
    begin = time.monotonic_ns()
    for cycle in range(round(task.rate * task.duration)):
        due = begin + cycle * SECOND // task.rate
        stamp = time.time_ns()
        t = max((stamp - origin) / SECOND, 0.0)
        message = state(
            task.joints, stamp, moving.positions(t).tolist(), moving.velocities(t).tolist()
        )
        time.sleep(max(due - time.monotonic_ns(), 0) / SECOND)
        start = time.perf_counter_ns()
        node.on_joint_state(message)
        times.append(time.perf_counter_ns() - start)
    if asked is not None:
        asked.refuse_ended()
    if sink.last is None or not np.any(deserialize_message(sink.last, JointState).effort):
        raise GearedDynamicsError("loop-benchmark", "the node sent no torque", "see its log")
    return times


def save_times(task: LatencyTask) -> None:
    """Measure the node of this process and write its times."""
    node = FeedforwardNode()
    node.start()
    try:
        times = measure(node, task)
    finally:
        node.destroy_node()
    with Path(task.times).open("wb") as file:
        np.save(file, np.array(times[len(times) // UNMEASURED :], dtype=np.int64))
    print(DONE, flush=True)


def main() -> int:
    """Run one task."""
    task = read_latency_task(sys.argv[1])
    return run_task(lambda: save_times(task), sys.argv)


if __name__ == "__main__":
    sys.exit(main())
