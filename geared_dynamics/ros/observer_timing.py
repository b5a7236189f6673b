"""One cycle inside the observer node's process, and the observer's own step, by turns.

``python -m geared_dynamics.ros.observer_timing TASK.json --ros-args ...``; with ``STEPS.npy`` for
the task it runs the node, with a clock about its observer's step, and writes the times of all
steps [ns] when it ends.
"""

from __future__ import annotations

import sys
import time
from array import array
from pathlib import Path
from typing import Any

import numpy as np
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from geared_dynamics.dynamics.state import Measurement
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.observers import KalmanObserver, KalmanState, ObserverState
from geared_dynamics.ros.elastic_observer import ElasticObserverNode
from geared_dynamics.ros.process import run, run_task
from geared_dynamics.runtime.observer_estimates import Level
from geared_dynamics.runtime.tasks import (
    DONE,
    SECOND,
    LatencyTask,
    TorqueTable,
    motion,
    read_latency_task,
)

UNMEASURED = 6  # a sixth of the cycles, at the beginning


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


def state(names: list[str], stamp: int, positions: list[float], efforts: list[float]) -> bytes:
    """Return a joint state as it comes from the wire."""
    message = JointState(name=names, position=positions, velocity=positions, effort=efforts)
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, SECOND)
    return bytes(serialize_message(message))


def measure(node: ElasticObserverNode, task: LatencyTask) -> tuple[list[int], list[int]]:
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
        data = state(task.joints, origin + round(SECOND * t), position, effort)
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


def save_times(task: LatencyTask) -> None:
    """Measure the node of this process and write its times."""
    node = ElasticObserverNode()
    node.start()
    try:
        times = np.array(measure(node, task), dtype=np.int64)
    finally:
        node.destroy_node()
    with Path(task.times).open("wb") as file:
        np.save(file, times[:, times.shape[1] // UNMEASURED :])
    print(DONE, flush=True)


def main() -> int:
    """Run one task."""
    if sys.argv[1].endswith(".npy"):
        return run_timed(sys.argv[1], [sys.argv[0], *sys.argv[2:]])
    task = read_latency_task(sys.argv[1])
    return run_task(lambda: save_times(task), sys.argv)


if __name__ == "__main__":
    sys.exit(main())
