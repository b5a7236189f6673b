"""A run of the benchmark: starts the processes, measures, returns the figures.

Knows no ROS: the nodes are processes of their own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from geared_dynamics.errors import MissingPackageError
from geared_dynamics.nodes.benchmark.children import Child, Children
from geared_dynamics.nodes.benchmark.figures import Result, Subject, Usage, round_trip
from geared_dynamics.nodes.benchmark.resources import sample, usage
from geared_dynamics.nodes.benchmark.slots import plan

PLACE = "loop-benchmark"
HERE = "geared_dynamics.nodes.benchmark"
DOMAINS = 101  # ids from 1 that leave Linux's own ports alone; 0 is where a robot may be


class Options(NamedTuple):
    """What to run.

    Attributes:
        joints: Names of the robot's joints.
        start: Posture around which they move [rad].
        rate: Joint states per second, for each node.
        duration: Time measured [s].
        warmup: Time before that with the same traffic [s].
        domain: ROS domain, None for one of the run's own.
    """

    joints: Sequence[str]
    start: Sequence[float]
    rate: int
    duration: float
    warmup: float
    domain: int | None


class Measured(NamedTuple):
    """The node that is compared with the bare one.

    Attributes:
        name: How the report calls it.
        arguments: What follows ``python`` to start it in a namespace.
        commands: Topic of its commands, below its namespace.
        trajectory: Topic of its reference, below its namespace; empty for none.
    """

    name: str
    arguments: Sequence[str]
    commands: str
    trajectory: str


def echo() -> Measured:
    """Return the bare node as the one to measure: its ratio to itself shows the noise."""
    return Measured("echo", ["-m", f"{HERE}.echo"], "echo/joint_command", "")


def measure(measured: Measured, options: Options, compute: float | None = None) -> Result:
    """Run both nodes and the driver, and return the figures.

    Args:
        measured: The node to compare with the bare one.
        options: Rate, duration and joints.
        compute: Time of one cycle inside the process [us], passed on to the result.

    Raises:
        GearedDynamicsError: A process ended early, or a node did not answer.
    """
    if importlib.util.find_spec("rclpy") is None:
        raise MissingPackageError(PLACE, "rclpy", "ros")
    with tempfile.TemporaryDirectory(prefix="loop_benchmark_") as name:
        folder = Path(name)
        with Children(environment(options.domain, folder), folder) as children:
            return _measure(children, folder, measured, options, compute)


def _measure(
    children: Children,
    folder: Path,
    measured: Measured,
    options: Options,
    compute: float | None,
) -> Result:
    """Do the work of ``measure`` with a folder and processes that end afterwards."""
    space = f"/loop_benchmark_{os.getpid()}"
    nodes = [
        children.start(node.name, *node.arguments, *namespace(f"{space}/{role}"))
        for role, node in (("measured", measured), ("bare", echo()))
    ]
    task = {
        "joints": list(options.joints),
        "start": [float(q) for q in options.start],
        "rate": options.rate,
        "duration": options.duration,
        "warmup": options.warmup,
        "states": [f"{space}/measured/joint_states", f"{space}/bare/joint_states"],
        "commands": [f"{space}/measured/{measured.commands}", f"{space}/bare/{echo().commands}"],
        "trajectory": f"{space}/measured/{measured.trajectory}" if measured.trajectory else "",
        "times": str(folder / "times.npz"),
    }
    (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
    driver = children.start("driver", "-m", f"{HERE}.driver", str(folder / "task.json"))
    used = _watch(driver, nodes)
    with np.load(folder / "times.npz") as file:
        times = [file[key] for key in ("arr_0", "arr_1", "arr_2", "arr_3")]
        executor = str(file["executor"])
    period = plan(options.rate, options.duration).period
    trips = (round_trip(times[0], times[1], period), round_trip(times[2], times[3], period))
    subject, bare = (
        Subject(*figures) for figures in zip((measured.name, "echo"), trips, used, strict=True)
    )
    return Result(options.rate, options.duration, subject, bare, compute, executor)


def _watch(driver: Child, nodes: Sequence[Child]) -> list[Usage]:
    """Wait for the end of the measurement and return what each node used during it."""
    driver.wait_for_line("measuring")
    first = [sample(node.popen.pid) for node in nodes]
    driver.wait_for_line("done")
    last = [sample(node.popen.pid) for node in nodes]
    for node in nodes:
        node.check()
    if driver.popen.wait():
        raise driver.failure()
    return [usage(before, after) for before, after in zip(first, last, strict=True)]


def namespace(name: str) -> list[str]:
    """Return the arguments that put a node into a namespace."""
    return ["--ros-args", "-r", f"__ns:={name}"]


def environment(domain: int | None, logs: Path) -> dict[str, str]:
    """Return the variables that keep the run on this machine and in its own domain."""
    own = 1 + os.getpid() % DOMAINS
    return {
        "ROS_DOMAIN_ID": str(own if domain is None else domain),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_LOG_DIR": str(logs),
        "PYTHONUNBUFFERED": "1",
    }
