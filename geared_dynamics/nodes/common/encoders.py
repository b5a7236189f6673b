"""From what the encoders show to joint coordinates: signs, offsets, motor or joint side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, Frozen, readonly
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel

Feedback = Literal["joint", "motor"]


@dataclass(frozen=True, eq=False)
class Encoders(Frozen):
    """An affine map from what is measured to the joints: q = T x + t, v = T x'.

    Attributes:
        names: What the measured values are called (k,): joints or motors.
        turn: T (n, k).
        shift: t (n,) [rad or m].
        plain: Whether it changes nothing.
    """

    names: tuple[str, ...]
    turn: Array
    shift: Array
    plain: bool

    def joints(self, x: Array, rate: Array) -> tuple[Array, Array]:
        """Joint positions and velocities (n,) of what was measured."""
        if self.plain:
            return x, rate
        return self.turn @ x + self.shift, self.turn @ rate


def encoders(
    model: GearedModel, feedback: Feedback, offsets: ArrayLike, signs: ArrayLike
) -> Encoders:
    """Prepare the map.

    A motor's angle is phi = sign * (shown - offset). Shown is, on the motor side, what the
    encoder says; on the joint side, where the driver has already turned encoders into joints
    by ``phi = A' q + zeros``, what that would be. With the stored zeros of the model

        motor side:  A' q + zeros = S (x - offset)
        joint side:  A' q + zeros = S (A' x + zeros - offset)

    Args:
        model: Geared model.
        feedback: What the joint states hold: joints, or motors by their names.
        offsets: Of each motor's encoder (m,) [rad].
        signs: +1 or -1 for each (m,).
    """
    offset, sign = np.asarray(offsets, np.float64), np.asarray(signs, np.float64)
    changed = bool(offset.any() or (sign != 1.0).any())
    if feedback == "joint" and not changed:
        n = model.n
        return Encoders(model.joint_names, readonly(np.eye(n)), readonly(np.zeros(n)), True)
    shares = model.structure_matrix  # A (n, m)
    if np.linalg.matrix_rank(shares) < model.n:
        finding = "the motors' angles do not tell every joint's position"
        remedy = "set feedback to joint, without encoder offsets and signs"
        raise ModelError("encoders", finding, remedy)
    back = np.linalg.pinv(shares.T)  # (n, m)
    turn, shift = motor_side(model, feedback, offset, sign)
    names = model.motor_names if feedback == "motor" else model.joint_names
    shift = back @ (shift - model.motor_zeros)
    return Encoders(names, readonly(back @ turn), readonly(shift), False)


def motor_side(
    model: GearedModel, feedback: Feedback, offsets: ArrayLike, signs: ArrayLike
) -> tuple[Array, Array]:
    """S and s of the motors' angles phi = S x + s (m,) [rad] from what joint states show x (k,).

    See ``encoders`` for the arguments.
    """
    offset, sign = np.asarray(offsets, np.float64), np.asarray(signs, np.float64)
    if feedback == "motor":
        return np.diag(sign), -sign * offset
    return sign[:, None] * model.structure_matrix.T, sign * (model.motor_zeros - offset)
