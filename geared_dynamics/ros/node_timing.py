"""One cycle inside a node's process, from a message to a message, without DDS.

``python -m geared_dynamics.ros.node_timing TASK.json --ros-args ...``: of the feedforward node,
or, where the task has torques, of the observer node and of its observer's own step by turns. With
``STEPS.npy`` for the task it runs the observer node, with a clock about its observer's step, and
writes the times of all steps [ns] when it ends.
"""

from __future__ import annotations

import sys
import time
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from geared_dynamics.dynamics.state import Measurement
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.observers import KalmanObserver, KalmanState, ObserverState
from geared_dynamics.ros.elastic_observer import ElasticObserverNode
from geared_dynamics.ros.feedforward import FeedforwardNode
from geared_dynamics.ros.feedforward_topics import Commands, Publishers
from geared_dynamics.ros.latency_driver import LEAD, FollowedGoal, trajectory_of_task
from geared_dynamics.ros.process import make_executor, run, run_task
from geared_dynamics.runtime.observer_estimates import Level
from geared_dynamics.runtime.process_tasks import (
    DONE,
    SECOND,
    LatencyTask,
    TorqueTable,
    motion,
    read_latency_task,
)

MESSAGES = 20  # that may have come meanwhile
UNMEASURED = 6  # a sixth of the cycles, at the beginning

AnyNode = TypeVar("AnyNode", FeedforwardNode, ElasticObserverNode)


def main() -> int:
    """Run one task."""
    if sys.argv[1].endswith(".npy"):
        return run_timed(sys.argv[1], [sys.argv[0], *sys.argv[2:]])
    task = read_latency_task(sys.argv[1])
    if task.efforts:
        return run_task(
            lambda: save_times(task, ElasticObserverNode(), cycle_and_step_times), sys.argv
        )
    return run_task(lambda: save_times(task, FeedforwardNode(), cycle_times), sys.argv)


def save_times(
    task: LatencyTask,
    node: AnyNode,
    measure: Callable[[AnyNode, LatencyTask], list[int] | tuple[list[int], list[int]]],
) -> None:
    """Measure the node of this process and write its times."""
    node.start()
    try:
        times = np.array(measure(node, task), dtype=np.int64)
    finally:
        node.destroy_node()
    with Path(task.times).open("wb") as file:
        np.save(file, times[..., times.shape[-1] // UNMEASURED :])
    print(DONE, flush=True)


def joint_state(
    names: list[str],
    stamp: int,
    position: list[float],
    velocity: list[float],
    effort: Sequence[float] = (),
) -> bytes:
    """Return a joint state as it comes from the wire."""
    message = JointState(name=names, position=position, velocity=velocity, effort=effort)
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, SECOND)
    return bytes(serialize_message(message))


# -- The feedforward node -------------------------------------------------------------------------


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
        self._node.on_joint_state(
            joint_state(task.joints, time.time_ns(), task.start, self._still)
        )
        self._executor.spin_once(timeout_sec=0.005)

    def refuse_ended(self) -> None:
        """Raise where the node does not follow the goal any more, or gave no feedback."""
        for _ in range(MESSAGES):
            self._executor.spin_once(timeout_sec=0.0)
        self._goal.refuse_ended()


def cycle_times(node: FeedforwardNode, task: LatencyTask) -> list[int]:
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
    node.on_joint_state(joint_state(task.joints, origin, task.start, [0.0] * len(task.joints)))
    asked = None
    if task.goal:
        origin += round(LEAD * SECOND)
        asked = Asked(node, task, trajectory_of_task(task, moving, origin))
    else:
        node.references.take(serialize_message(trajectory_of_task(task, moving, origin)))
    begin = time.monotonic_ns()
    for cycle in range(round(task.rate * task.duration)):
        due = begin + cycle * SECOND // task.rate
        stamp = time.time_ns()
        t = max((stamp - origin) / SECOND, 0.0)
        message = joint_state(
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


# -- The observer node, and its observer's own step -----------------------------------------------


class Alone:
    """The observer's step on what the node reads, without the node."""

    def __init__(self, node: ElasticObserverNode) -> None:
        """Begin before the first reading."""
        assert node.loop is not None  # the caller has seen to it
        self._given = node.loop.setup
        self._state: ObserverState | None = None

    def step(self, positions: list[float], efforts: list[float], dt: float) -> int:
        """Go on by a joint state; the step's time [ns]."""
        given = self._given
        angles = given.angles(np.array(positions))
        reading = Measurement(angles, given.torques(np.array(efforts)))
        begin = time.perf_counter_ns()
        if self._state is None:
            self._state = given.observer.start(reading)
        else:
            self._state = given.observer.step(self._state, reading, dt)
        return time.perf_counter_ns() - begin


def cycle_and_step_times(
    node: ElasticObserverNode, task: LatencyTask
) -> tuple[list[int], list[int]]:
    """Return the times of the node's cycles and of the observer's steps [ns].

    Each has half a period of its own, so that both find the caches as cold.

    Raises:
        GearedDynamicsError: The node has no model, or no estimate in the end.
    """
    if node.loop is None:
        raise GearedDynamicsError("loop-benchmark", "the node has no model", "see its log")
    moving, table, alone = (
        motion(task.start),
        TorqueTable(task.efforts, len(task.joints)),
        Alone(node),
    )
    whole, steps, origin, begin = [], [], time.time_ns(), time.monotonic_ns()
    for cycle in range(round(task.rate * task.duration)):
        node.outputs._wanted["link_state"] = True  # there is no subscriber in this process
        t = cycle / task.rate
        position, effort = moving.positions(t).tolist(), table.at(t).tolist()
        data = joint_state(task.joints, origin + round(SECOND * t), position, position, effort)
        due = begin + cycle * SECOND // task.rate
        time.sleep(max(due - time.monotonic_ns(), 0) / SECOND)
        start = time.perf_counter_ns()
        node._on_joint_state(data)  # as the executor calls it
        whole.append(time.perf_counter_ns() - start)
        half = due + SECOND // (2 * task.rate)
        time.sleep(max(half - time.monotonic_ns(), 0) / SECOND)
        steps.append(alone.step(position, effort, 1.0 / task.rate))
    if node.loop.output.level is Level.INVALID:
        why = node.loop.output.why
        raise GearedDynamicsError(
            "loop-benchmark", f"the node has no estimate: {why}", "see its log"
        )
    return whole, steps


# -- The node with a clock about its observer's step ----------------------------------------------


def run_timed(path: str, argv: list[str]) -> int:
    """Run the node until it is interrupted, and write the times of its steps."""
    times, step = array("q"), KalmanObserver.step

    def timed(*given: Any) -> KalmanState:
        begin = time.perf_counter_ns()
        found = step(*given)
        times.append(time.perf_counter_ns() - begin)
        return found

    setattr(KalmanObserver, "step", timed)  # noqa: B010 - mypy refuses the plain form
    try:
        return run(argv, "timed_observer", ElasticObserverNode)
    finally:
        with Path(path).open("wb") as file:
            np.save(file, np.array(times, dtype=np.int64))


if __name__ == "__main__":
    sys.exit(main())
