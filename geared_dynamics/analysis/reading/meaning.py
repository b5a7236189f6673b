"""What a recording's numbers mean, and how joint torques follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from geared_dynamics.analysis.reading.problems import RecordingError
from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.rigid import gravity_forces
from geared_dynamics.model import GearedModel

Effort = Literal["joint_torque", "gravity_compensated", "motor_current", "motor_torque"]
Side = Literal["joint", "motor"]


@dataclass(frozen=True)
class Meaning:
    """What positions and efforts are.

    Attributes:
        effort: ``joint_torque`` [N m or N]; ``gravity_compensated``, the same less gravity;
            ``motor_current`` [A], joint torque = A k i with the drive gains k; or
            ``motor_torque`` [N m], joint torque = A tau_m.
        position: ``joint``, or ``motor``: the motors' angles [rad], q = A'^-1 (phi - phi(0)).
        gains: Drive gains k by motor [N m/A] (m,), or by joint if the effort is no motor's;
            empty: 1, and the motors' torque constants for currents.
        zero: Added to the joint positions (n,) [rad or m]; empty: nothing.
    """

    effort: Effort = "joint_torque"
    position: Side = "joint"
    gains: tuple[float, ...] = ()
    zero: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is not one of the meanings."""
        if self.effort not in get_args(Effort):
            remedy = f"give one of {', '.join(get_args(Effort))}"
            raise RecordingError("effort", f"there is no meaning {self.effort!r}", remedy)

    @property
    def of_motors(self) -> bool:
        """Whether efforts are the motors'."""
        return self.effort.startswith("motor_")


def motor_columns(model: GearedModel) -> list[int]:
    """The joint whose column of a recording holds each motor's numbers (m,).

    It is the last joint that the motor moves; a motor of several joints is thus found where
    drives that pass one joint end.

    Raises:
        RecordingError: If two motors would share a column, or a joint has none.
    """
    columns = [int(np.flatnonzero(row)[-1]) for row in model.structure_matrix.T]
    if sorted(columns) == list(range(model.n)):
        return columns
    finding = f"{len(columns)} motors end at joints {sorted(columns)} of {model.n}"
    remedy = "efforts of motors need one motor for each joint; give joint torques"
    raise RecordingError(f"{model.drivetrain.source}, motors", finding, remedy)


def drive_gains(model: GearedModel, meaning: Meaning) -> Array:
    """Gains of the recording's columns (n,)."""
    columns = motor_columns(model) if meaning.of_motors else list(range(model.n))
    if meaning.gains:
        if len(meaning.gains) != len(columns):
            finding = f"{len(meaning.gains)} gains for {len(columns)} columns"
            raise RecordingError("gains", finding, f"give {len(columns)}")
        return np.array(meaning.gains, float)
    if meaning.effort != "motor_current":
        return np.ones(len(columns))
    constants = model.motors.torque_constant
    missing = [name for name, k in zip(model.motor_names, constants, strict=True) if np.isnan(k)]
    if missing:
        place = f"{model.drivetrain.source}, motors.{missing[0]}.torque_constant"
        remedy = "add it, or give the drive gains (--gains)"
        raise RecordingError(place, f"is not given for {', '.join(missing)}", remedy)
    return np.asarray(constants, float)


def joint_positions(model: GearedModel, meaning: Meaning, position: Array) -> Array:
    """Joint positions (k, n) from what was recorded."""
    q: Array = position
    if meaning.position == "motor":
        phi = position[:, motor_columns(model)] - model.motor_zeros
        q = np.asarray(np.linalg.solve(model.structure_matrix.T, phi.T).T, np.float64)
    return q + np.array(meaning.zero) if meaning.zero else q


def joint_velocities(model: GearedModel, meaning: Meaning, velocity: Array) -> Array:
    """Joint velocities (k, n) from what was recorded."""
    if meaning.position == "motor":
        rates = velocity[:, motor_columns(model)].T
        return np.asarray(np.linalg.solve(model.structure_matrix.T, rates).T, np.float64)
    return velocity


def joint_torques(model: GearedModel, meaning: Meaning, q: Array, effort: Array) -> Array:
    """Joint torques (k, n) from recorded efforts at positions q (k, n)."""
    gains = drive_gains(model, meaning)
    if meaning.of_motors:
        return np.asarray((effort[:, motor_columns(model)] * gains) @ model.structure_matrix.T)
    tau = effort * gains
    return tau + gravity_forces(model, q) if meaning.effort == "gravity_compensated" else tau
