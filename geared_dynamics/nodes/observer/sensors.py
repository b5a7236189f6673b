"""From what a robot shows to what the observer reads; NaN stays with what depends on it."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, Frozen, readonly
from geared_dynamics.dynamics.balancers import balancer_forces
from geared_dynamics.dynamics.rigid import gravity_forces
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel
from geared_dynamics.nodes.common.encoders import Feedback, motor_side


@dataclass(frozen=True, eq=False)
class Affine(Frozen):
    """An affine map y = T x + t that keeps NaN where it belongs.

    Attributes:
        turn: T (k, l).
        shift: t (k,).
        touched: Which y need which x (k, l).
    """

    turn: Array
    shift: Array
    touched: Array

    def __call__(self, x: Array) -> Array:
        """Return y (k,); NaN where one of the x (l,) that it needs is not finite."""
        if finite(x):
            return np.asarray(self.turn.dot(x) + self.shift)
        gone = ~np.isfinite(x)
        y = self.turn @ np.where(gone, 0.0, x) + self.shift
        return np.where(self.touched @ gone > 0.0, np.nan, y)


def finite(x: Array) -> bool:
    """Whether all x (k,) are finite; the sum of their squares tells it in a third of the time."""
    return isfinite(x.dot(x)) or bool(np.isfinite(x).all())


def affine(turn: Array, shift: Array) -> Affine:
    """Make the map."""
    return Affine(readonly(turn), readonly(shift), readonly((turn != 0.0).astype(float)))


def motor_angles(
    model: GearedModel, feedback: Feedback, offsets: ArrayLike, signs: ArrayLike
) -> Affine:
    """The motors' angles phi (m,) [rad] of what joint states show, see ``common.encoders``."""
    return affine(*motor_side(model, feedback, offsets, signs))


def motor_torques(model: GearedModel, kind: str, signs: ArrayLike) -> Affine:
    """The motors' torques tau_m (m,) [N m] of commands or of measured efforts.

    Args:
        model: Geared model.
        kind: ``joint_torque``, tau = A tau_m (n,); ``motor_torque``; ``motor_current``, k_t i.
        signs: Of the motors (m,), for the motor-side kinds.

    Raises:
        ModelError: where a torque constant is missing.
    """
    m, sign = len(model.motor_names), np.asarray(signs, np.float64)
    if kind == "joint_torque":
        turn = np.linalg.pinv(model.structure_matrix)
        return affine(np.where(np.abs(turn) > 1e-12 * np.abs(turn).max(), turn, 0.0), np.zeros(m))
    if kind == "motor_torque":
        return affine(np.diag(sign), np.zeros(m))
    constants = model.motors.torque_constant
    missing = [name for name, k in zip(model.motor_names, constants, strict=True) if np.isnan(k)]
    if missing:
        place = f"{model.drivetrain.source}, motors.{missing[0]}.torque_constant"
        remedy = "add it, or set torque_kind to motor_torque"
        raise ModelError(place, f"is not given for {', '.join(missing)}", remedy)
    return affine(np.diag(sign * constants), np.zeros(m))


def weight(model: GearedModel, q: Array) -> Array:
    """Forces on the joints (n,) that the motors hold at rest, balancers help."""
    found = gravity_forces(model, q)
    if model.drivetrain.balancers:
        found = found - balancer_forces(model, q)
    return found


def resting_torque(model: GearedModel) -> Affine:
    """The motors' torques (m,) that hold forces on the joints (n,) through drives at rest."""
    return motor_torques(model, "joint_torque", np.ones(len(model.motor_names)))
