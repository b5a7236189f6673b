"""One cycle inside the feedforward node's process: from a message to a message, without DDS.

``python -m geared_dynamics.nodes.benchmark.compute TASK.json --ros-args ...``
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.nodes.benchmark.driver import trajectory_message
from geared_dynamics.nodes.benchmark.motion import motion
from geared_dynamics.nodes.benchmark.slots import SECOND
from geared_dynamics.nodes.benchmark.task import DONE, Task, read_task
from geared_dynamics.nodes.feedforward.node import FeedforwardNode
from geared_dynamics.nodes.feedforward.outputs import Commands, Publishers

UNMEASURED = 6  # a sixth of the cycles, at the beginning


class Swallow(Publishers):
    """Takes the place of all publishers: what is published ends here."""

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


def measure(node: FeedforwardNode, task: Task) -> list[int]:
    """Return the time of each cycle [ns], joint states coming at their rate.

    Raises:
        GearedDynamicsError: The node computed no command.
    """
    sink = Swallow()
    if node.model is None:
        raise GearedDynamicsError("loop-benchmark", "the node has no model", "see its log")
    node.commands = Commands(sink, node.parameters.values, node.model)
    moving, times = motion(task.start), []
    origin = time.time_ns()
    # The callbacks of the node's subscriptions, as the executor calls them.
    node.on_joint_state(state(task.joints, origin, task.start, [0.0] * len(task.joints)))
    node.references.take(serialize_message(trajectory_message(task, moving, origin)))
    begin = time.monotonic_ns()
    for cycle in range(round(task.rate * task.duration)):
        due = begin + cycle * SECOND // task.rate
        stamp = time.time_ns()
        t = (stamp - origin) / SECOND
        message = state(
            task.joints, stamp, moving.positions(t).tolist(), moving.velocities(t).tolist()
        )
        time.sleep(max(due - time.monotonic_ns(), 0) / SECOND)
        start = time.perf_counter_ns()
        node.on_joint_state(message)
        times.append(time.perf_counter_ns() - start)
    if sink.last is None or not np.any(deserialize_message(sink.last, JointState).effort):
        raise GearedDynamicsError("loop-benchmark", "the node sent no torque", "see its log")
    return times


def main() -> int:
    """Run one task and write its times."""
    task = read_task(sys.argv[1])
    rclpy.init(args=sys.argv)
    node = FeedforwardNode()
    node.start()
    try:
        times = measure(node, task)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
    with Path(task.times).open("wb") as file:
        np.save(file, np.array(times[len(times) // UNMEASURED :], dtype=np.int64))
    print(DONE, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
