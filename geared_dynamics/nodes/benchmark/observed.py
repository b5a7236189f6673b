"""The observer node as the one to measure: its robot, its parameters, the torques it is shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.model import GearedModel
from geared_dynamics.nodes.benchmark.motion import motion
from geared_dynamics.nodes.benchmark.robot import default_files
from geared_dynamics.nodes.benchmark.run import HERE, PLACE, Measured, Options
from geared_dynamics.nodes.benchmark.torques import RATE, SPARE

SPRINGS = (15000.0, 15000.0, 10000.0, 2000.0, 2000.0, 2000.0)  # of the PUMA 560's joints [N m/rad]
DAMPING = 2.0  # [N m s/rad]
SLOWEST = 5  # [1/s], for joint states that the node's longest ``hold`` can bridge
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
        "hold": min(max(PAUSE, 5.0 / options.rate), 1.0),
    }
    node = "elastic_observer_node"
    return Measured(
        name=node,
        arguments=["-m", f"{HERE}.timed_observer"],
        commands=f"{node}/link_state",
        trajectory="",
        parameters=values,
        compute=f"{HERE}.compute_observer",
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
