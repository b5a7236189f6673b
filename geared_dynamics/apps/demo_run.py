"""The processes of a demo: plant, feedforward node, reference publisher, from start to end."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from geared_dynamics.apps.demo_plan import (
    DemoPlan,
    gains,
    node_parameters,
    plant_parameters,
    switches,
    ways_of,
)
from geared_dynamics.apps.latency_run import environment
from geared_dynamics.apps.processes import Child, Children
from geared_dynamics.files import folder, write_text
from geared_dynamics.runtime.tasks import DemoTask, Run, write_demo_task

NODES = "geared_dynamics.ros"
PLANT, NODE = "plant_node", "feedforward_node"
Progress = Callable[[str, float], None]


def record(plan: DemoPlan, bag: Path, *, lock_step: bool, progress: Progress) -> list[str]:
    """Run the arm in all three ways and record it.

    Args:
        plan: What to run.
        bag: Folder for the recording, which does not exist yet.
        lock_step: Whether time is simulated.
        progress: Called with the name of a step and the part of it that is done.

    Returns:
        What the feedforward node complained of.

    Raises:
        GearedDynamicsError: A process failed.
    """
    with tempfile.TemporaryDirectory(prefix="geared_dynamics_demo_") as name:
        place = Path(name)
        with Children(graph(place), place) as children:
            return _record(children, place, task_of(plan, bag, lock_step), plan, progress)


def _record(
    children: Children, place: Path, task: DemoTask, plan: DemoPlan, progress: Progress
) -> list[str]:
    write_demo_task(task, place / "task.json")
    parameters = {
        PLANT: plant_parameters(plan, task.lock_step),
        NODE: node_parameters(plan, task.lock_step),
    }
    for name, values in parameters.items():
        write_parameters(place / f"{name}.yaml", name, values)
    plant = children.start(
        PLANT, "-m", f"{NODES}.plant_node", "--ros-args",
        "--params-file", str(place / f"{PLANT}.yaml"),
        "-r", f"~/joint_commands:=/{NODE}/joint_commands",
    )  # fmt: skip
    # A robot with springs has encoders at its motors: there is nothing else to feed back.
    heard = ("-r", "joint_states:=motor_states") if task.springs else ()
    node = children.start(
        NODE, "-m", f"{NODES}.feedforward_node", "--ros-args",
        "--params-file", str(place / f"{NODE}.yaml"), *heard,
    )  # fmt: skip
    reference = children.start(
        "reference publisher", "-m", f"{NODES}.demo_conductor", str(place / "task.json")
    )
    follow(reference, (plant, node), progress)
    return complaints(place)


def follow(reference: Child, others: tuple[Child, ...], progress: Progress) -> None:
    """Pass on how far the reference publisher is, until it has ended."""
    while (line := reference.next_line(others)) is not None:
        step, part = json.loads(line)
        progress(step, part)
    if reference.popen.wait():
        for child in others:
            child.check()  # what made it fail
        raise reference.failure()


def task_of(plan: DemoPlan, bag: Path, lock_step: bool) -> DemoTask:
    """What the reference publisher has to do."""
    motion, model = plan.motion, plan.model
    runs = [
        Run(way.name, switches(way) | gains(model, motion.q, springs=way.springs))
        for way in ways_of(model)
    ]
    return DemoTask(
        joints=list(model.joint_names),
        times=motion.times.tolist(),
        q=motion.q.tolist(),
        v=motion.v.tolist(),
        a=motion.a.tolist(),
        lock_step=lock_step,
        runs=runs,
        bag=str(bag.resolve()),
        springs=bool(model.elasticity.count),
    )


def write_parameters(path: Path, node: str, values: dict[str, Any]) -> None:
    """Write a parameter file; JSON is YAML."""
    text = json.dumps({node: {"ros__parameters": values}}, indent=1)
    write_text(path, text)


def graph(logs: Path) -> dict[str, str]:
    """Environment variables: a graph of our own on this machine, found quickly."""
    profile = str(folder("config") / "fastdds_fast_discovery.xml")
    prefixes = [sys.prefix, *os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)]
    return environment(None, logs) | {
        "FASTRTPS_DEFAULT_PROFILES_FILE": profile,  # Jazzy
        "FASTDDS_DEFAULT_PROFILES_FILE": profile,  # Kilted
        "AMENT_PREFIX_PATH": os.pathsep.join(filter(None, prefixes)),
        "RCUTILS_COLORIZED_OUTPUT": "0",
    }


def complaints(logs: Path) -> list[str]:
    """Errors and warnings that nodes have logged."""
    lines = [
        line
        for path in sorted(logs.glob("*.log"))
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
    ]
    loud = [line for line in lines if line.startswith(("[ERROR]", "[WARN]"))]
    return [line.partition("]: ")[2] for line in loud]
