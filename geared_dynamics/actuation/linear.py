"""Actuators with a linear model of their own, whatever they are made of.

    x' = C x + f M + d u,   |u| <= u_max       one actuator, M the torque it gives
    phi = angle x, phi' = speed x              its shaft, relative to what carries it

The shaft turns a motor's wheel of the model. The actuator holds the inertia of that
wheel's own spin, J = -1 / (speed f); the arm keeps its coupling to the carrier:

    A M = (M_arm - A J A') a + h,   a from phi'' = A' a

Paper 004, eq. (20.74)-(20.82), with a transmission and D_hat = D + F (E - HTF)^-1 H T D.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from geared_dynamics.actuation.batch import real_number
from geared_dynamics.arrays import Array, ArrayLike, Frozen, readonly
from geared_dynamics.dynamics.border import as_numbers, check_finite
from geared_dynamics.errors import ArrayError

ROUNDING = 1e-9  # relative


@dataclass(frozen=True, eq=False)
class LinearActuator(Frozen):
    """x' = C x + f M + d u with k states, one input and a shaft.

    Attributes:
        C: (k, k).
        f: Effect of the load torque M [N m] (k,).
        d: Effect of the input u (k,).
        angle: Shaft angle phi = angle x (k,) [rad], motor side.
        speed: Shaft speed phi' = speed x (k,) [rad/s]; follows from C and ``angle``, and
            both must agree.
        limit: Largest |u|, infinite where there is none.
    """

    C: Array
    f: Array
    d: Array
    angle: Array
    speed: Array
    limit: float = float("inf")

    def __post_init__(self) -> None:
        """Copy the arrays read-only and check that they describe a shaft."""
        matrix = readonly(finite_numbers("C", self.C))
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ArrayError("C", f"has shape {matrix.shape}", "give a square matrix")
        object.__setattr__(self, "C", matrix)
        for name in ("f", "d", "angle", "speed"):
            row = readonly(finite_numbers(name, getattr(self, name)))
            if row.shape != (self.order,):
                raise ArrayError(name, f"has shape {row.shape}", f"give {self.order} numbers")
            object.__setattr__(self, name, row)
        limit = real_number("limit", self.limit, "give the largest |u|, above 0", lambda x: x > 0)
        object.__setattr__(self, "limit", limit)
        self._check_shaft()

    @property
    def order(self) -> int:
        """Number of states k."""
        return len(self.C)

    @property
    def inertia(self) -> float:
        """J = -1 / (speed f) [kg m^2]: what the load torque accelerates."""
        return float(-1.0 / (self.speed @ self.f))

    def _check_shaft(self) -> None:
        """Refuse a speed that is not the angle's rate, and a shaft without inertia."""
        rate, size = self.angle @ self.C, np.abs(self.angle) @ np.abs(self.C)
        wrong = np.abs(rate - self.speed) > ROUNDING * (size + np.abs(self.speed))
        effects = np.stack([self.f, self.d], axis=1)
        kicks, terms = self.angle @ effects, np.abs(self.angle) @ np.abs(effects)
        if np.any(wrong) or np.any(np.abs(kicks) > ROUNDING * terms):
            finding = "is not the rate of the angle, angle (C x + f M + d u)"
            raise ArrayError("speed", finding, "give angle C, with angle f = angle d = 0")
        if not float(self.speed @ self.f) < 0.0:
            finding = "gives the shaft no inertia: speed f is not below 0"
            raise ArrayError("f", finding, "give -1/J in the row of the shaft's speed")


def finite_numbers(name: str, value: ArrayLike) -> Array:
    """Convert to finite float64."""
    array = as_numbers(name, value, "give real numbers")
    check_finite(name, array)
    return array


def shaft_motor(
    inertia: float, damping: float, torque: ArrayLike, drag: ArrayLike, decay: ArrayLike
) -> tuple[Array, Array, Array, Array]:
    """C, f, angle and speed of a shaft with k further states z.

    phi'' = (torque z - damping phi' - M) / J,   z' = -drag phi' + decay z

    Args:
        inertia: J [kg m^2].
        damping: Viscous friction [N m s/rad].
        torque: Torque per z (k,).
        drag: What the speed takes from z' (k,).
        decay: (k, k).
    """
    pull, back = np.atleast_1d(np.asarray(torque, float)), np.atleast_1d(np.asarray(drag, float))
    k = len(pull)
    C, f = np.zeros((2 + k, 2 + k)), np.zeros(2 + k)
    C[0, 1] = 1.0
    C[1, 1], C[1, 2:] = -damping / inertia, pull / inertia
    C[2:, 1], C[2:, 2:] = -back, np.reshape(decay, (k, k))
    f[1] = -1.0 / inertia
    angle, speed = np.eye(2 + k)[:2]
    return C, f, angle, speed
