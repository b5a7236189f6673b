"""Quickest motions of one joint from rest to rest, as a list of phases.

All formulas are for one distance D ≥ 0. References: L. Biagiotti, C. Melchiorri, "Trajectory
Planning for Automatic Machines and Robots", sections 3.2 and 3.4.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array


class Phases(NamedTuple):
    """Phases of constant highest derivative.

    Attributes:
        lengths: Durations (k,) [s].
        rates: The highest derivative in each (k,): acceleration, or jerk.
        order: 2 for acceleration, 3 for jerk.
    """

    lengths: Array
    rates: Array
    order: int

    @property
    def duration(self) -> float:
        """Time of all phases [s]."""
        return float(self.lengths.sum())


def accelerated(distance: float, v: float, a: float) -> Phases:
    """Quickest with a limited speed v and acceleration a: up, along, down.

    The speed reached is w = min(v, √(a D)); the phases take w / a, D / w - w / a, w / a.
    """
    reached = math.sqrt(a) * math.sqrt(distance)
    w = min(v, reached)
    ramp = w / a
    along = max(distance / w - ramp, 0.0) if v < reached else 0.0
    return Phases(np.array([ramp, along, ramp]), np.array([a, 0.0, -a]), 2)


def jerked(distance: float, v: float, a: float, j: float) -> Phases:
    """Quickest with limited speed v, acceleration a and jerk j: seven phases, symmetric.

    To the speed w and back to rest, a joint that reaches the acceleration a takes the way
    w (w / a + a / j), one that does not 2 w √(w / j).
    """
    w = min(v, top_speed(distance, a, j))
    if w * j >= a * a:
        change, constant = a / j, max(w / a - a / j, 0.0)
    else:
        change, constant = math.sqrt(w / j), 0.0
    ramp = 2.0 * change + constant
    along = max(distance / w - ramp, 0.0) if w == v else 0.0
    lengths = np.array([change, constant, change, along, change, constant, change])
    return Phases(lengths, j * np.array([1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0]), 3)


def top_speed(distance: float, a: float, j: float) -> float:
    """Speed at which a joint must brake at once, with no limit of the speed."""
    if distance * (j / a) * (j / a) >= 2.0 * a:
        # Positive root of w² / a + w a / j = D, written so that nothing cancels.
        ramp = a / j
        return 2.0 * distance / (ramp + math.sqrt(ramp * ramp + 4.0 * distance / a))
    return float(np.cbrt(distance) ** 2 * np.cbrt(j / 4.0))


def stretched(phases: Phases, duration: float) -> Phases:
    """The same way in a longer time: each derivative of order i falls by (T / T')^i."""
    if phases.duration == 0.0:
        return phases
    factor = phases.duration / duration
    return Phases(phases.lengths / factor, phases.rates * factor**phases.order, phases.order)


def pieces(phases: Phases, begin: Array) -> Array:
    """Coefficients (k, order + 1) of the way, from rest at 0, with s from each phase's begin.

    Args:
        phases: Of one joint.
        begin: Times at which the pieces begin (k,), after the motion's start [s].
    """
    starts = np.concatenate([[0.0], np.cumsum(phases.lengths)])
    state = np.zeros(phases.order + 1)  # way, speed, ... as Taylor coefficients
    known = []
    for length, rate in zip(phases.lengths, phases.rates, strict=True):
        state[-1] = rate / math.factorial(phases.order)
        known.append(state.copy())
        state = shifted(state, length)
    at = np.clip(np.searchsorted(starts, begin, side="right") - 1, 0, len(known) - 1)
    rows = [shifted(known[i], t - starts[i]) for i, t in zip(at, begin, strict=True)]
    return np.array(rows).reshape(len(begin), phases.order + 1)


def shifted(coefficients: Array, x: float) -> Array:
    """Taylor coefficients at a time x later."""
    result = coefficients.copy()
    for i in range(len(result) - 1):
        for k in range(len(result) - 2, i - 1, -1):
            result[k] += x * result[k + 1]
    return result
