"""References that end a motion: each joint to rest at a constant deceleration, and standing."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array, readonly
from geared_dynamics.trajectory.reference import Reference
from geared_dynamics.trajectory.segments import TERMS, tables

STAND = 1e-3  # [s], the length of a stop from rest: a reference has one piece at least


def decelerating(q: Array, v: Array, deceleration: Array, now: float) -> Reference:
    """Bring each joint to rest at its own deceleration, as JTC does on cancel.

    With d the deceleration and s the sign of v a joint rests after t_s = |v|/d, at
    q + v |v|/(2 d); until then it is at q + v t - s d t²/2.

    Args:
        q: Position now (n,) [rad or m].
        v: Velocity now (n,).
        deceleration: Above zero where v is not zero (n,) [rad/s² or m/s²].
        now: Time [s].
    """
    moving = np.abs(v) > 0.0
    rate = np.where(moving, deceleration, 1.0)
    ends = np.where(moving, np.abs(v) / rate, 0.0)
    goal = q + 0.5 * v * ends
    knots = np.unique(np.append(ends, 0.0 if moving.any() else (0.0, STAND)))
    coefficients = np.zeros((len(knots) - 1, TERMS, len(q)))
    brake = -np.sign(v) * rate
    for k, begin in enumerate(knots[:-1]):
        going = ends > begin
        at = q + v * begin + 0.5 * brake * begin**2
        coefficients[k, 0] = np.where(going, at, goal)
        coefficients[k, 1] = np.where(going, v + brake * begin, 0.0)
        coefficients[k, 2] = np.where(going, 0.5 * brake, 0.0)
    none = np.zeros((len(coefficients), len(q)))
    last = np.array([goal, *np.zeros((3, len(q)))])
    made = readonly(tables(coefficients, none, none))
    return Reference(now, readonly(knots), made, readonly(last))
