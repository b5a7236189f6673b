"""A run of the benchmark: starts the processes, measures, returns the figures.

Knows no ROS: the nodes are processes of their own.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import geared_dynamics as gd
from geared_dynamics.apps.processes import Child, Children, own_domain
from geared_dynamics.arrays import Array
from geared_dynamics.errors import GearedDynamicsError, MissingPackageError
from geared_dynamics.model import GearedModel
from geared_dynamics.runtime.latency_figures import (
    Result,
    StepAllowance,
    Subject,
    Usage,
    default_files,
    round_trip,
    sample,
    usage,
)
from geared_dynamics.runtime.process_tasks import (
    DONE,
    MEASURING,
    RATE,
    SPARE,
    LatencyTask,
    motion,
    plan,
    save,
    write_latency_task,
)

# -- A run of the benchmark: starts the processes, measures, returns the figures ------------------


PLACE = "loop-benchmark"
HERE = "geared_dynamics.ros"
COMPUTE_TIME = 3.0  # [s] for the cycle inside the process, at most as long as over DDS
STEPS = "steps.npy"


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
        parameters: Its parameters.
        compute: Module that measures a cycle inside its process, empty for none.
        efforts: Torques that the joint states show, as of ``torques``; None for zeros.
        steps: Whether its first argument is a file for the times of its steps.
        goal: Its action, below its namespace, to which the reference is sent as a goal; empty
            for the trajectory's topic.
    """

    name: str
    arguments: Sequence[str]
    commands: str
    trajectory: str
    parameters: Mapping[str, object]
    compute: str
    efforts: Array | None = None
    steps: bool = False
    goal: str = ""


def echo() -> Measured:
    """Return the bare node as the one to measure: its ratio to itself shows the noise."""
    return Measured("echo", ["-m", f"{HERE}.echo"], "echo/joint_command", "", {}, "")


def feedforward(
    urdf: Path, drivetrain: Path | None, mode: str, rate: int, *, goal: bool = False
) -> Measured:
    """Return the feedforward node for a robot; ``goal``: it follows an action goal."""
    values = {
        "mode": mode,
        "urdf_path": str(urdf.resolve()),
        "drivetrain": "" if drivetrain is None else str(drivetrain.resolve()),
        "update_rate": rate,
        "publish_commands": False,
        "publish_joint_commands": True,  # stamped, and of the type that the bare node sends
        "safety.state_timeout": min(max(0.05, 5.0 / rate), 10.0),
    }
    arguments = ["-m", "geared_dynamics.ros.feedforward_node"]
    node = "feedforward_node"
    topics = f"{node}/joint_commands", f"{node}/joint_trajectory"
    action = f"{node}/follow_joint_trajectory" if goal else ""
    if goal:  # a machine that stalls for longer than joint states may be old would end it
        values["safety.state_timeout"] = 1.0
    return Measured(node, arguments, *topics, values, f"{HERE}.node_timing", goal=action)


def measure(measured: Measured, options: Options) -> Result:
    """Run both nodes and the driver, and return the figures.

    Args:
        measured: The node to compare with the bare one.
        options: Rate, duration and joints.

    Raises:
        GearedDynamicsError: A process ended early, or a node did not answer.
    """
    if os.name != "posix":
        remedy = "run it on Linux or macOS"
        raise GearedDynamicsError(PLACE, "needs signals and process groups", remedy)
    if importlib.util.find_spec("rclpy") is None:
        raise MissingPackageError(PLACE, "rclpy", "ros")
    if measured.goal and importlib.util.find_spec("control_msgs") is None:
        remedy = "install ros-<distro>-control-msgs, which PyPI does not have"
        raise GearedDynamicsError(PLACE, "--goal needs control_msgs", remedy)
    given = options.domain
    with (
        own_domain() if given is None else contextlib.nullcontext(given) as domain,
        tempfile.TemporaryDirectory(prefix="loop_benchmark_") as name,
    ):
        folder = Path(name)
        env = environment(domain, folder)
        compute, inside = None, 0.0
        if measured.compute:
            with Children(env, folder) as children:
                compute, inside = _compute(children, folder, measured, options)
        with Children(env, folder) as children:
            result = _measure(children, folder, measured, options)
        step = _steps(folder / STEPS, result.subject.trip.cycles) if measured.steps else None
        return result._replace(compute=compute, inside=inside, step=step)


def _steps(path: Path, cycles: int) -> StepAllowance:
    """Return the time of a node's steps while it was measured, the last ones in its file."""
    with path.open("rb") as file:
        steps = np.load(file)[-cycles:] / 1e3
    if not steps.size:
        raise GearedDynamicsError(
            PLACE, "the observer made no step", "check that it receives motor torques"
        )
    return StepAllowance(*np.quantile(steps, (0.5, 0.99)).tolist())


def _compute(
    children: Children, folder: Path, measured: Measured, options: Options
) -> tuple[float, float]:
    """Return the median times of a cycle inside a process of its own, and of its step [us]."""
    brief = min(COMPUTE_TIME, options.duration)
    task = new_task(options, folder, "", measured)._replace(duration=brief)
    write_latency_task(task, folder / "compute.json")
    words = ["-m", measured.compute, str(folder / "compute.json")]
    child = children.start("compute", *words, *ros_arguments(folder, "compute", measured))
    child.wait_for_line(DONE)
    with Path(task.times).open("rb") as file:
        times = np.load(file) / 1e3
    if times.ndim == 1:
        return float(np.median(times)), 0.0
    cycle, step = np.median(times, axis=1).tolist()
    return cycle, step


def _measure(children: Children, folder: Path, measured: Measured, options: Options) -> Result:
    """Measure over DDS with processes that end afterwards."""
    space = f"/loop_benchmark_{os.getpid()}"
    nodes = []
    for role, node in (("measured", measured), ("bare", echo())):
        ros = ros_arguments(folder, role, node, f"{space}/{role}")
        own = [str(folder / STEPS)] if node.steps else []
        nodes.append(children.start(node.name, *node.arguments, *own, *ros))
    task = new_task(options, folder, space, measured)
    write_latency_task(task, folder / "task.json")
    driver = children.start("driver", "-m", f"{HERE}.latency_driver", str(folder / "task.json"))
    used = _watch(driver, nodes)
    with np.load(task.times) as file:
        times = [file[key] for key in ("arr_0", "arr_1", "arr_2", "arr_3")]
        executor = str(file["executor"])
    period = plan(options.rate, options.duration).period
    trips = (round_trip(times[0], times[1], period), round_trip(times[2], times[3], period))
    subject, bare = (
        Subject(*figures) for figures in zip((measured.name, "echo"), trips, used, strict=True)
    )
    return Result(options.rate, options.duration, subject, bare, None, executor)


def new_task(options: Options, folder: Path, space: str, measured: Measured) -> LatencyTask:
    """Return what the driver has to do; topics lie in a namespace."""
    efforts = "" if measured.efforts is None else save(measured.efforts, folder / "efforts.npy")
    return LatencyTask(
        joints=list(options.joints),
        start=[float(q) for q in options.start],
        rate=options.rate,
        duration=options.duration,
        warmup=options.warmup,
        states=[f"{space}/measured/joint_states", f"{space}/bare/joint_states"],
        commands=[f"{space}/measured/{measured.commands}", f"{space}/bare/{echo().commands}"],
        trajectory=f"{space}/measured/{measured.trajectory}" if measured.trajectory else "",
        times=str(folder / "times.npz"),
        efforts=efforts,
        goal=f"{space}/measured/{measured.goal}" if measured.goal else "",
    )


def ros_arguments(folder: Path, role: str, node: Measured, space: str = "/") -> list[str]:
    """Return the arguments that give a node its namespace and its parameters."""
    parameters = folder / f"{role}.yaml"
    parameters.write_text(parameter_file(node.parameters), encoding="utf-8")
    return ["--ros-args", "-r", f"__ns:={space}", "--params-file", str(parameters)]


def _watch(driver: Child, nodes: Sequence[Child]) -> list[Usage]:
    """Wait for the end of the measurement and return what each node used during it."""
    driver.wait_for_line(MEASURING, nodes)
    first = [sample(node.popen.pid) for node in nodes]
    driver.wait_for_line(DONE, nodes)
    last = [sample(node.popen.pid) for node in nodes]
    for node in nodes:
        node.check()
    if driver.popen.wait():
        raise driver.failure()
    return [usage(before, after) for before, after in zip(first, last, strict=True)]


def parameter_file(values: Mapping[str, object]) -> str:
    """Return a parameter file for any node; JSON is YAML too."""
    return json.dumps({"/**": {"ros__parameters": dict(values)}})


def environment(domain: int, logs: Path) -> dict[str, str]:
    """Return the variables that keep the run on this machine and in a domain."""
    return {
        "ROS_DOMAIN_ID": str(domain),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_LOG_DIR": str(logs),
        "PYTHONUNBUFFERED": "1",
    }


# -- The observer node as the one to measure ------------------------------------------------------


SPRINGS = (15000.0, 15000.0, 10000.0, 2000.0, 2000.0, 2000.0)  # of the PUMA 560's joints [N m/rad]
DAMPING = 2.0  # [N m s/rad]
SLOWEST = 5  # [1/s], for joint states that the node's longest ``max_extrapolation`` can bridge
PAUSE = 0.5  # [s] that the driver is silent at most, between warm-up and measurement


def elastic_puma() -> tuple[Path, str]:
    """Return URDF and drivetrain text of the PUMA 560 with a spring in each joint."""
    urdf, drivetrain = default_files()
    lines = [
        f"  {name}: {{stiffness: {stiffness}, damping: {DAMPING}}}"
        for name, stiffness in zip(
            gd.load_model(urdf, drivetrain).joint_names, SPRINGS, strict=True
        )
    ]
    text = drivetrain.read_text(encoding="utf-8")  # it says nothing of its joints
    return urdf, "\n".join([text, "joints:", *lines, ""])


def observer(
    model: GearedModel, urdf: Path, drivetrain: Path | str | None, options: Options
) -> Measured:
    """Return the observer node for an elastic robot.

    Args:
        model: The robot's.
        urdf: Its URDF.
        drivetrain: Path of its drivetrain file, or the text of one.
        options: Of the run.

    Raises:
        GearedDynamicsError: The robot has no springs, or the rate is too low for the node.
    """
    if not model.elasticity.count:
        remedy = "give joints.<joint>.stiffness in the drivetrain file"
        raise GearedDynamicsError(PLACE, f"{model.name} has no elastic joints", remedy)
    if options.rate < SLOWEST:
        finding = f"{options.rate} joint states a second are too few for the observer"
        raise GearedDynamicsError(f"{PLACE}, --rate", finding, f"give at least {SLOWEST}")
    given = str(drivetrain.resolve()) if isinstance(drivetrain, Path) else drivetrain or ""
    values = {
        "urdf_path": str(urdf.resolve()),
        "drivetrain": given,
        "feedback": "joint",
        "torque_source": "effort",
        "torque_kind": "joint_torque",
        "update_rate": float(options.rate),
        "max_extrapolation": min(max(PAUSE, 5.0 / options.rate), 1.0),
    }
    node = "elastic_observer_node"
    return Measured(
        name=node,
        arguments=["-m", f"{HERE}.node_timing"],
        commands=f"{node}/link_state",
        trajectory="",
        parameters=values,
        compute=f"{HERE}.node_timing",
        efforts=efforts(model, options),
        steps=True,
    )


def efforts(model: GearedModel, options: Options) -> Array:
    """Torques of the motors along the driver's motion, by joint (k, n), RATE rows a second."""
    moving = motion(options.start)
    times = np.arange(0.0, options.warmup + options.duration + SPARE, 1.0 / RATE)
    q, v, a = (
        np.array([part(t) for t in times])
        for part in (moving.positions, moving.velocities, moving.accelerations)
    )
    torque = gd.motor_commands(model, q, v, a).torque  # rotors' friction among it
    return np.asarray(torque @ model.structure_matrix.T)
