"""What the benchmark's processes are asked to do, as a JSON file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

MEASURING, DONE = "measuring", "done"  # what they say on standard output


class Task(NamedTuple):
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


def write_task(task: Task, path: Path) -> None:
    """Write a task."""
    path.write_text(json.dumps(task._asdict()), encoding="utf-8")


def read_task(path: str) -> Task:
    """Read a task."""
    return Task(**json.loads(Path(path).read_text(encoding="utf-8")))
