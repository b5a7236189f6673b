"""What demo and benchmark ask of their ROS processes: as files, with slots, motion and torques."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike

# -- What the demo asks its reference process for, as a file between the two. No ROS here ---------


MARK = "step: "  # begins a line about how far the demo is


class Run(NamedTuple):
    """One way to control the arm.

    Attributes:
        name: Of the run; the recording's topics begin with it.
        parameters: Of the feedforward node that differ from run to run.
    """

    name: str
    parameters: Mapping[str, Any]


class DemoTask(NamedTuple):
    """All runs of a demo.

    Attributes:
        joints: Their names in the order of the rows.
        times: Of the waypoints [s], from 0.
        q: Positions (k, n) [rad or m].
        v: Velocities (k, n).
        a: Accelerations (k, n).
        lock_step: Whether time is simulated; else it is the wall clock's.
        runs: One after the other.
        bag: Folder to write, which does not exist yet.
        springs: Whether the arm has some: its links are then elsewhere than its motors show.
    """

    joints: Sequence[str]
    times: Sequence[float]
    q: Sequence[Sequence[float]]
    v: Sequence[Sequence[float]]
    a: Sequence[Sequence[float]]
    lock_step: bool
    runs: Sequence[Run]
    bag: str
    springs: bool = False


def step_line(step: str, part: float) -> str:
    """A line about how far the demo is, for standard output."""
    return MARK + json.dumps([step, round(part, 3)])


def read_step(line: str) -> tuple[str, float] | None:
    """Read what ``step_line`` has written; None for other lines, as DDS prints some."""
    if not line.startswith(MARK):
        return None
    step, part = json.loads(line.removeprefix(MARK))
    return step, part


def write_demo_task(task: DemoTask, path: Path) -> None:
    """Write a task."""
    path.write_text(json.dumps(task._asdict()), encoding="utf-8")


def read_demo_task(path: Path) -> DemoTask:
    """Read what ``write_demo_task`` has written."""
    values = json.loads(path.read_text(encoding="utf-8"))
    return DemoTask(**{**values, "runs": [Run(*run) for run in values["runs"]]})


# -- What the benchmark's processes are asked to do, as a JSON file -------------------------------


MEASURING, DONE = "measuring", "done"  # what they say on standard output


class LatencyTask(NamedTuple):
    """One measurement.

    Attributes:
        joints: Names.
        start: Posture about which they move [rad].
        rate: Joint states per second.
        duration: Time measured [s].
        warmup: Time before that, with the same traffic [s].
        states: Topic of each node's joint states.
        commands: Topic of each node's commands.
        trajectory: Topic of the first node's reference, empty for none.
        times: File to write.
        efforts: File with the torques that the joint states show, empty for zeros.
        goal: Action to which the reference is sent as a goal, empty for none.
    """

    joints: list[str]
    start: list[float]
    rate: int
    duration: float
    warmup: float
    states: list[str]
    commands: list[str]
    trajectory: str
    times: str
    efforts: str = ""
    goal: str = ""


def write_latency_task(task: LatencyTask, path: Path) -> None:
    """Write a task."""
    path.write_text(json.dumps(task._asdict()), encoding="utf-8")


def read_latency_task(path: str) -> LatencyTask:
    """Read a task."""
    return LatencyTask(**json.loads(Path(path).read_text(encoding="utf-8")))


# -- When which node gets its message: two nodes in one run, each at the full rate ----------------
#
# Each period has two halves, one per node. Both nodes so live through the same machine at
# the same time, each asked at the full rate, and neither is idle while the other is
# measured: blocks of a second each would let a node's joint states go stale. Who comes first
# changes every second, so that what one node still does after its answer falls on both.


SECOND = 1_000_000_000  # [ns]


class Slot(NamedTuple):
    """One message."""

    subject: int  # 0 or 1, the node that gets it
    cycle: int  # its number for that node
    due: int  # [ns] after the start


class SlotPlan(NamedTuple):
    """All messages of a run.

    Attributes:
        rate: Messages per second for each node.
        cycles: Messages for each node.
    """

    rate: int
    cycles: int

    @property
    def period(self) -> int:
        """Time between two messages for the same node [ns]."""
        return SECOND // self.rate

    @property
    def slots(self) -> int:
        """Messages for both nodes."""
        return 2 * self.cycles

    def slot(self, number: int) -> Slot:
        """Return one message's node and time."""
        cycle, half = divmod(number, 2)
        swapped = (cycle // self.rate) % 2
        return Slot(half ^ swapped, cycle, number * SECOND // (2 * self.rate))


def plan(rate: int, duration: float) -> SlotPlan:
    """Plan a run of a duration [s]; both nodes come first equally often in whole 2 s."""
    return SlotPlan(rate, max(round(rate * duration), 1))


# -- The motion that the driver's joints make, and the trajectory that asks for it ----------------


STEP = 0.04  # [s] between the trajectory's points


class LatencyMotion(NamedTuple):
    """Joint j at time t: q0_j + A (1 - cos w_j t), from rest at t = 0.

    Attributes:
        start: q0 (n,) [rad].
        amplitude: A [rad].
        pulsation: w (n,) [rad/s]; different, so that the joints do not move in step.
    """

    start: Array
    amplitude: float
    pulsation: Array

    def positions(self, t: float) -> Array:
        """Return q (n,) [rad]."""
        return self.start + self.amplitude * (1.0 - np.cos(self.pulsation * t))

    def velocities(self, t: float) -> Array:
        """Return dq/dt (n,) [rad/s]."""
        return self.amplitude * self.pulsation * np.sin(self.pulsation * t)

    def accelerations(self, t: float) -> Array:
        """Return the second derivative (n,) [rad/s^2]."""
        return self.amplitude * self.pulsation**2 * np.cos(self.pulsation * t)


def motion(start: ArrayLike) -> LatencyMotion:
    """Return a motion of a fifth of a radian from a posture, slow enough for any arm."""
    begin = np.asarray(start, dtype=np.float64)
    frequency = 0.2 + 0.05 * np.arange(begin.size, dtype=np.float64)
    return LatencyMotion(begin, 0.1, np.multiply(2.0 * math.pi, frequency))


def waypoints(moving: LatencyMotion, duration: float) -> list[tuple[float, Array, Array, Array]]:
    """Return time, position, velocity and acceleration of points that lead along a motion.

    The last point rests, as the joint trajectory controller wants it: let the duration
    reach beyond what is measured.
    """
    times = [STEP * k for k in range(math.ceil(duration / STEP) + 1)]
    points = [
        (t, moving.positions(t), moving.velocities(t), moving.accelerations(t)) for t in times
    ]
    end, position, velocity, _ = points[-1]
    points[-1] = (end, position, np.zeros_like(velocity), np.zeros_like(velocity))
    return points


# -- A table of torques over time, which the driver shows in its joint states ---------------------


RATE = 100  # rows per second
SPARE = 10.0  # [s] by which tables and trajectories are longer than the run


def save(table: Array, path: Path) -> str:
    """Write a table (k, n); return its path."""
    np.save(path, table)
    return str(path)


class TorqueTable:
    """Torques by time, between rows by a straight line."""

    def __init__(self, path: str, width: int) -> None:
        """Read a table; without a path all are zero."""
        self._rows = np.load(path) if path else np.zeros((2, width))

    def at(self, t: float) -> Array:
        """Return the torques (n,) at a time [s]; beyond the ends those of the ends."""
        place = min(max(t * RATE, 0.0), len(self._rows) - 1.000001)
        k = int(place)
        part = place - k
        return np.asarray((1.0 - part) * self._rows[k] + part * self._rows[k + 1])
