"""Position errors, the short way round for continuous joints, and their integral."""

from __future__ import annotations

import math

import numpy as np

from geared_dynamics.arrays import Array, readonly
from geared_dynamics.control.gains import Gains
from geared_dynamics.model import GearedModel


def turns(model: GearedModel) -> Array | None:
    """1/(2 pi) for continuous joints and 0 for others (n,); None where none is continuous."""
    kinds = {joint.name: joint.kind for joint in model.robot.joints}
    endless = [kinds.get(name) == "continuous" for name in model.joint_names]
    return readonly(np.array(endless) / (2.0 * math.pi)) if any(endless) else None


def position_error(wanted: Array, measured: Array, per_turn: Array | None) -> Array:
    """Error e = wanted - measured (n,), of continuous joints within [-pi, pi].

    Args:
        wanted: Reference position (n,) [rad or m].
        measured: Joint position (n,).
        per_turn: As of ``turns``.
    """
    error: Array = wanted - measured
    if per_turn is not None:
        whole = np.rint(error * per_turn)
        error -= 2.0 * math.pi * whole
    return error


def integrate(
    integral: Array, error: Array, dt: float, gains: Gains, stuck: Array | None
) -> Array:
    """Integral of the error after dt (n,), kept from winding up.

    It stays within ``integral_limit`` / ki, and where the command is at its limit (``stuck``)
    it takes no error that would push further.

    Args:
        integral: Integral so far (n,) [rad s or m s].
        error: Position error (n,).
        dt: Time since the last cycle [s].
        gains: The gains.
        stuck: Sign of the limit at which the command is (n,), 0 within; None: unknown.
    """
    step = error * dt
    if stuck is not None:
        step[stuck * error > 0.0] = 0.0
    bound = np.divide(
        gains.integral_limit, gains.ki, out=np.zeros_like(step), where=gains.ki > 0.0
    )
    return np.clip(integral + step, -bound, bound)
