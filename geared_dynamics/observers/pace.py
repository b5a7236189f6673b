r"""How fast the nonlinear observer's error decays: faster while its correction is large, bounded.

A gain that is linear in the error holds while the error is small, so the rate grows with the
correction of a step. That correction has bounds, because far from the state the gain is that of
another arm. A correction beyond them is not scaled: before a spring the observer is a chain of
four integrators, and such a loop is stable with its whole gain only. With a fifth of it the error
swings, wider with each swing, until the arm is lost. The step is repeated with the gain of a lower
rate instead, which is stable at any rate. By the rate w a correction of the link's position grows
as w^3, one of its speed as w^4, so that w over^(-1/3) is enough for a part ``over`` of the bounds.
"""

from __future__ import annotations

from math import exp

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.observers.assignment import QUICK

# So far off [rad or m, or that times w], by its correction, the linear gain is not enough.
LARGE = 0.1
# A faster rate falls back within so many of its decay times.
RETURN = 4.0
# By this power of the part of its bounds that a correction takes the rate changes.
POWER = 1.0 / 3.0
# Below the rate that just reaches the bounds, so that the next attempt is within them.
SPARE = 0.98
# Attempts at a correction within its bounds; what is left is scaled.
ATTEMPTS = 5


def sizes(change: Array) -> tuple[float, float]:
    """Largest correction of a position and of a rate, of (2N,)."""
    moved, sped = np.abs(change).reshape(2, -1).max(axis=1)
    return float(moved), float(sped)


def excess(moved: float, sped: float, dt: float) -> float:
    """Largest part of its bounds that a correction of ``sizes`` takes in a step of dt [s]."""
    return max(moved / LARGE, sped * dt / (QUICK * LARGE))


def slower(least: float, rate: float, over: float) -> float:
    """Rate [1/s], at least the tuning's, with which a correction beyond its bounds is within."""
    return float(max(least, SPARE * rate * over**-POWER))


def next_rate(least: float, rate: float, moved: float, sped: float, dt: float) -> float:
    """Rate of the next step [1/s] after one with all readings.

    Args:
        least: Of the tuning [1/s].
        rate: Of this step [1/s].
        moved: Its correction of a position, at most,
        sped: and of a rate.
        dt: [s].
    """
    size = max(moved, sped / rate) / (LARGE * rate * dt)
    if not size > 1.0:
        return calmer(least, rate, dt)
    faster = min(rate * min(2.0, size**0.5), QUICK / dt)
    return float(max(rate, min(faster, rate * excess(moved, sped, dt) ** -POWER)))


def calmer(least: float, rate: float, dt: float) -> float:
    """Rate of the next step [1/s] after one whose correction was small."""
    return max(least, rate * exp(-rate * dt / RETURN))
