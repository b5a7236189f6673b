"""Waypoints without positions: JTC integrates them by Heun's method (trapezoids)."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array, BoolArray, IntArray


def degrees(has: BoolArray) -> IntArray:
    """Degree of each segment, by what both of its ends give.

    Args:
        has: Whether the points give positions, velocities, accelerations (3, p).
    """
    velocity, acceleration = has[1, :-1] & has[1, 1:], has[2, :-1] & has[2, 1:]
    return np.asarray(1 + 2 * velocity + 2 * (velocity & acceleration), dtype=np.int64)


def integrated(times: Array, rows: Array, has: BoolArray) -> IntArray:
    """Fill in positions that are missing, and return the degrees of the segments (p - 1,).

    v_2 = v_1 + (a_1 + a_2) T / 2 where velocities are missing, q_2 = q_1 + (v_1 + v_2) T / 2.
    A point before that lacks a velocity (acceleration) has it zero, for this segment and not
    for the one that leads to it: JTC fills it in when it comes there.

    Args:
        times: (p,) [s].
        rows: q, v, a (3, p, n), zero where not given; changed.
        has: Which are given (3, p); changed.
    """
    if has[0].all():
        return degrees(has)
    found = np.empty(len(times) - 1, dtype=np.int64)
    for k, span in enumerate(np.diff(times)):
        if not has[0, k + 1]:
            has[1, k] = True
            if not has[1, k + 1]:
                has[2, k] = has[1, k + 1] = True
                rows[1, k + 1] = rows[1, k] + 0.5 * span * (rows[2, k] + rows[2, k + 1])
            has[0, k + 1] = True
            rows[0, k + 1] = rows[0, k] + 0.5 * span * (rows[1, k] + rows[1, k + 1])
        found[k] = degrees(has[:, k : k + 2])[0]
    return found
