"""What the demo asks its reference process for, as a file between the two. No ROS here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Run(NamedTuple):
    """One way to control the arm.

    Attributes:
        name: Of the run; the recording's topics begin with it.
        parameters: Of the feedforward node that differ from run to run.
    """

    name: str
    parameters: Mapping[str, Any]


class Task(NamedTuple):
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
    """

    joints: Sequence[str]
    times: Sequence[float]
    q: Sequence[Sequence[float]]
    v: Sequence[Sequence[float]]
    a: Sequence[Sequence[float]]
    lock_step: bool
    runs: Sequence[Run]
    bag: str


def write_task(task: Task, path: Path) -> None:
    """Write a task."""
    path.write_text(json.dumps(task._asdict()), encoding="utf-8")


def read_task(path: Path) -> Task:
    """Read what ``write_task`` has written."""
    values = json.loads(path.read_text(encoding="utf-8"))
    return Task(**{**values, "runs": [Run(*run) for run in values["runs"]]})
