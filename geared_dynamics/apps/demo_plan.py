"""The plan of a demo: robot, engine, gains, and the parameters of each node, before it starts."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.actuation.command_type import CommandType
from geared_dynamics.apps.demo_motion import DemoMotion, demanding, effort_of_motion
from geared_dynamics.arrays import Array
from geared_dynamics.control import controller, elastic_controller
from geared_dynamics.control.gains import Gains, driven
from geared_dynamics.control.terms import Terms
from geared_dynamics.dynamics.rigid import mass_matrix
from geared_dynamics.errors import (
    GearedDynamicsError,
    GearedDynamicsWarning,
    MissingPackageError,
    ModelError,
)
from geared_dynamics.files import RobotFiles
from geared_dynamics.load import load_model
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.plant import Engine, Plant
from geared_dynamics.simulation.plant_settings import PlantSettings

# -- The three ways to control the arm ------------------------------------------------------------


BANDWIDTH = 30.0  # of each joint's loop [rad/s], critically damped
FASTEST = 430.0  # mean rate of the fastest of them together [1/s]: 2.5 ms of delay are one radian


class Way(NamedTuple):
    """One way to control the arm.

    Attributes:
        name: On the graph and in the recording.
        label: For people.
        terms: What is fed forward.
        springs: Whether the springs count; None: the arm has none.
    """

    name: str
    label: str
    terms: Terms
    springs: bool | None = None


NOTHING = Terms(**dict.fromkeys((field.name for field in fields(Terms)), False))
WAYS = (
    Way("no_feedforward", "no feedforward", NOTHING),
    Way("armature", "armature model", Terms(use_rotor_coupling=False)),
    Way("complete", "complete model", Terms()),
)
ELASTIC_WAYS = (
    Way("no_feedforward", "no feedforward", NOTHING, springs=False),
    Way("rigid", "rigid model", Terms(), springs=False),
    Way("springs", "model with springs", Terms(), springs=True),
)


def ways_of(model: GearedModel) -> tuple[Way, Way, Way]:
    """The ways to compare on an arm."""
    return ELASTIC_WAYS if model.elasticity.count else WAYS


def gains(model: GearedModel, q: Array, *, springs: bool | None = None) -> dict[str, float]:
    """Parameters ``gains.<joint>.p``, ``.d``: k = w^2 m_ii, d = 2 w m_ii, m_ii the largest.

    Where motions of several joints together have little inertia, as at coaxial axes of an arm with
    light rotors, their loops are faster than w by the largest eigenvalue of m^-1 diag(m_ii):
    w is lowered so that delays do not make them oscillate.

    m = M of the joints; where the feedback is of driven coordinates x_d = E_d q, as with
    springs, m = E_d^-T M E_d^-1, which for springs behind the gears is the same.

    Args:
        model: Geared model.
        q: Positions of the motion (k, n).
        springs: As of ``Way``.
    """
    inertia = mass_matrix(model, q)
    if springs:
        back = driven(model).inverse
        inertia = back.T @ inertia @ back
    largest = np.diagonal(inertia, axis1=-2, axis2=-1).max(axis=0)
    fastest = np.linalg.eigvals(np.linalg.solve(inertia, np.diag(largest))).real.max(axis=-1)
    bandwidth = min(BANDWIDTH, FASTEST / (2.0 * float(fastest.mean())))
    found = {}
    for name, value in zip(model.joint_names, largest, strict=True):
        found[f"gains.{name}.p"] = float(bandwidth**2 * value)
        found[f"gains.{name}.d"] = float(2.0 * bandwidth * value)
    return found


def bandwidth_of(found: Mapping[str, float], joint: str) -> float:
    """Bandwidth [rad/s] of a joint's loop of what ``gains`` gives."""
    return 2.0 * found[f"gains.{joint}.p"] / found[f"gains.{joint}.d"]


def switches(way: Way) -> dict[str, Any]:
    """The node's parameters for a way, but for its gains."""
    terms = {field.name: getattr(way.terms, field.name) for field in fields(Terms)}
    return terms if way.springs is None else terms | {"use_elasticity": way.springs}


# -- All that a demo needs to know before anything runs -------------------------------------------


NEEDED = {"rclpy": "ros"}
# What there is not without a package that ROS's distributions do not have.
WITHOUT = {
    "mujoco": "our own equations move the arm",
    "plotly": "there is no report.html, its table is the one above",
    "rosbags": "the recording is SQLite (.db3), not MCAP",
}
RATE = 1000.0  # joint states and commands per second
ENCODER, LATENCY = 65536, 1e-3  # counts per turn; [s] until a command acts
COMMAND_TYPE: CommandType = "motor_torque"  # before the gears: the rotors rub there
LATE = 10.0  # [s] that joint states and time may be late where time is simulated
REHEARSED = 3


class DemoPlan(NamedTuple):
    """What will run.

    Attributes:
        files: The robot's.
        model: The robot.
        motion: What it is to follow.
        gains: The node's parameters for feedback, the same in all runs.
        engine: What moves the bodies.
        notes: Lines for the user.
    """

    files: RobotFiles
    model: GearedModel
    motion: DemoMotion
    gains: dict[str, float]
    engine: Engine
    notes: tuple[str, ...]


def refuse_missing() -> None:
    """Say which package is missing or of no use, before anything starts."""
    for package, extra in NEEDED.items():
        if importlib.util.find_spec(package) is None:
            raise MissingPackageError("demo", package, extra)
        try:  # ROS of another Python is found and cannot be imported
            importlib.import_module(package)
        except ImportError as error:
            finding = f"the package {package!r} cannot be imported ({error!s:.200})"
            remedy = "use the Python that it was built for, or make a fresh one: make install"
            raise GearedDynamicsError("demo", finding, remedy) from None


def missing() -> list[str]:
    """Return the packages that cannot be imported and can be done without."""
    found = []
    for name in WITHOUT:
        try:
            importlib.import_module(name)
        except ImportError:
            found.append(name)
    return found


def left_out(packages: Sequence[str], engine: Engine | None) -> tuple[str, ...]:
    """Return a line for the user about what there is not without some packages, if anything."""
    shown = [name for name in packages if name != "mujoco" or engine is None]
    if not shown:
        return ()
    remedy = f"pip install {' '.join(shown)} brings them"
    parts = "; ".join(WITHOUT[name] for name in shown)
    return (f"without {', '.join(shown)} ({remedy}): {parts}",)


def make_plan(files: RobotFiles, engine: Engine | None) -> DemoPlan:
    """Load the robot and plan its motion.

    Args:
        files: The robot's.
        engine: What moves the bodies; None: MuJoCo where it is installed and takes the robot.

    Raises:
        GearedDynamicsError: if the robot cannot be simulated.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GearedDynamicsWarning)  # they are the model's notes
        model = load_model(files.urdf, files.drivetrain)
    refuse_motorless(model)
    motion = demanding(model)
    work = effort_of_motion(model, *motion[1:])
    if work > 1.0:
        finding = f"cannot support its own weight: even a slow motion needs {work:.0%} of a limit"
        raise ModelError(model.source, finding, "check the motor and joint limits")
    absent = missing()
    chosen, notes = chosen_engine(model, engine, motion)
    notes = (*left_out(absent, engine), *notes)
    found = dict(gains(model, motion.q))
    return DemoPlan(files, model, motion, found, chosen, notes)


def refuse_motorless(model: GearedModel) -> None:
    """Refuse an arm that nothing moves."""
    if not model.motor_names:
        finding = "no motors are described, and nothing moves this arm"
        remedy = "write a drivetrain file (docs/drivetrain.md), or run the demo without ROBOT"
        raise ModelError(model.source, finding, remedy)


def chosen_engine(
    model: GearedModel, wanted: Engine | None, motion: DemoMotion
) -> tuple[Engine, tuple[str, ...]]:
    """The engine to use, with a line for the user where it is not MuJoCo."""
    if wanted is not None:
        rehearse(model, wanted, motion)
        return wanted, ()
    try:
        rehearse(model, "mujoco", motion)
    except MissingPackageError:  # ``left_out`` says it
        rehearse(model, "equations", motion)
        return "equations", ()
    except ModelError as error:
        rehearse(model, "equations", motion)
        return "equations", (f"our own equations move the arm, not MuJoCo: {error}",)
    return "mujoco", ()


def rehearse(model: GearedModel, engine: Engine, motion: DemoMotion) -> None:
    """Build and move a plant and controllers once: kernels compile, and errors come early."""
    plant = Plant(model, command="motor_torque", engine=engine, settings=plant_settings())
    plant.reset(motion.q[0])
    still = np.zeros(len(model.motor_names))
    for _ in range(REHEARSED):
        plant.step(still, 1.0 / RATE)
    weak = Gains(1.0, 1.0, kind="torque")
    for way in ways_of(model):
        if way.springs:
            elastic_controller(model, gains=weak, terms=way.terms, command_type=COMMAND_TYPE)
        else:
            controller(model, "pd_plus_feedforward", gains=weak,
                       terms=way.terms, command_type=COMMAND_TYPE)  # fmt: skip


def plant_settings() -> PlantSettings:
    """The plant's, as ``plant_parameters`` says it to the node."""
    return PlantSettings(encoder_counts=ENCODER, command_latency=LATENCY)


def plant_parameters(plan: DemoPlan, lock_step: bool) -> dict[str, Any]:
    """Parameters of the plant node."""
    names = plan.model.joint_names
    begin = {f"initial.{name}": float(q) for name, q in zip(names, plan.motion.q[0], strict=True)}
    return robot_parameters(plan) | begin | {
        "command": COMMAND_TYPE,
        "engine": plan.engine,
        "pace": "lock_step" if lock_step else "real_time",
        "rate": RATE,
        "encoder_counts": ENCODER,
        "command_latency": LATENCY,
        "paused": True,
    }  # fmt: skip


def node_parameters(plan: DemoPlan, lock_step: bool) -> dict[str, Any]:
    """Parameters of the feedforward node that all runs have in common."""
    # What is compared follows badly on purpose: without feedforward, with gains that are low.
    free = {name.replace("gains.", "constraints.").rpartition(".")[0] + ".trajectory": 0.0
            for name in plan.gains}  # fmt: skip
    return robot_parameters(plan) | plan.gains | patience(lock_step) | free | {
        "autostart": False,
        "use_sim_time": lock_step,
        "mode": "computed_torque",
        "law": "pd_plus_feedforward",
        "output": COMMAND_TYPE,
        "update_rate": round(RATE),
        "publish_commands": False,
        "publish_joint_commands": True,
        "state_publish_rate": 50.0,
        "diagnostics_rate": 10.0,
        "feedback": "motor" if plan.model.elasticity.count else "joint",
    }  # fmt: skip


def patience(lock_step: bool) -> dict[str, float]:
    """Parameters of the feedforward node: in lock step no time passes while a process is slow."""
    names = ("safety.state_timeout", "safety.clock_timeout") if lock_step else ()
    return dict.fromkeys(names, LATE)


def robot_parameters(plan: DemoPlan) -> dict[str, Any]:
    """Where the robot is described."""
    drivetrain = plan.files.drivetrain
    return {
        "urdf_path": str(plan.files.urdf.resolve()),
        "drivetrain": "" if drivetrain is None else str(drivetrain.resolve()),
    }
