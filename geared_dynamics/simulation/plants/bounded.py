"""Impulses within bounds that bring rates to rest."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array

SLACK = 1e-10  # relative; a joint and its own rotor may rest together, W is then singular
ROUNDS = 60


def bounded_impulse(W: Array, rate: Array, low: Array, high: Array) -> Array:
    """Impulse p (k,) with low <= p <= high and rate + W p = 0 where p lies inside.

    At its lower bound a rate may stay below zero, at its upper above: the solution of a
    convex problem, min p' W p / 2 + rate' p within the bounds, by working sets; entries join and
    leave the bounds until none is wrong.

    Args:
        W: Rates per impulse, symmetric, positive semi-definite (k, k).
        rate: Rates before (k,).
        low, high: Bounds (k,).
    """
    size = float(np.trace(W))
    soft = W + SLACK * size * np.eye(len(rate))
    p = np.clip(np.linalg.solve(soft, -rate), low, high)
    free = (p > low) & (p < high)
    for _ in range(ROUNDS):
        new = np.where(free, 0.0, p)
        if free.any():
            load = rate + soft @ new
            new[free] = np.linalg.solve(soft[np.ix_(free, free)], -load[free])
        clipped = np.clip(new, low, high)
        slope = rate + soft @ clipped
        outside = free & (new != clipped)
        tolerance = SLACK * (np.abs(rate).max() + size * np.abs(p).max())
        wrong = ~free & (
            ((clipped <= low) & (slope < -tolerance)) | ((clipped >= high) & (slope > tolerance))
        )
        p = clipped
        if not (outside.any() or wrong.any()):
            return p
        free = (free & ~outside) | wrong
    return descended(soft, rate, low, high, p)


def descended(W: Array, rate: Array, low: Array, high: Array, p: Array) -> Array:
    """The same by descent along one entry after the other, which always converges."""
    p = p.copy()
    for _ in range(50 * len(p)):
        before = p.copy()
        for i in range(len(p)):
            slope = rate[i] + W[i] @ p
            p[i] = min(max(p[i] - slope / W[i, i], low[i]), high[i])
        if np.abs(p - before).max() <= SLACK * max(np.abs(p).max(), 1e-300):
            break
    return p
