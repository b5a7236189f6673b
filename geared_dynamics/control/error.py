"""Position errors, the short way round for continuous joints, and their integral."""

from __future__ import annotations

import math

import numpy as np

from geared_dynamics.arrays import Array, readonly
from geared_dynamics.control.gains import Gains
from geared_dynamics.model import GearedModel

LARGEST = 1e100  # [rad s or m s]: beyond any integral of an error


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


def integral_bound(gains: Gains) -> Array:
    """Largest integral (n,) [rad s or m s], so that its term keeps to ``integral_limit``.

    It is finite even where that is not: an infinite integral would never come back.
    """
    limit, ki = gains.integral_limit, gains.ki
    bound = np.divide(limit, ki, out=np.zeros(ki.shape), where=ki > 0.0)
    return readonly(np.minimum(bound, LARGEST))


def integrate(
    integral: Array, error: Array, dt: float, bound: Array, torque: Array, effort: Array
) -> Array:
    """Integral of the error after dt (n,), kept from winding up.

    It stays within its bound, which is finite, and a joint whose force is at its limit takes no
    error that would push further.

    Args:
        integral: Integral so far (n,) [rad s or m s].
        error: Position error (n,).
        dt: Time since the last cycle [s].
        bound: As of ``integral_bound`` (n,).
        torque: Joint force asked for in this cycle (n,) [N m or N].
        effort: Its limit (n,), inf for none.
    """
    step: Array = error * dt
    stuck = np.abs(torque) >= effort
    if np.count_nonzero(stuck):
        step[stuck & (torque * error > 0.0)] = 0.0
    step += integral
    np.minimum(step, bound, out=step)
    return np.maximum(step, -bound, out=step)
