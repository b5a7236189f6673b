"""Friction of joints and rotors as the plants count it, and impulses at the end of a step."""

from __future__ import annotations

import numpy as np

from geared_dynamics.actuation.driven_dynamics import refuse_losses
from geared_dynamics.actuation.friction_elements import FrictionTable, friction_table
from geared_dynamics.arrays import Array
from geared_dynamics.model import GearedModel
from geared_dynamics.model.drive_arrays import friction_laws


def friction_of(model: GearedModel, wanted: bool = True) -> FrictionTable:
    """Friction of a model for a plant, or none.

    Raises:
        ModelError: naming a loss that depends on the load.
    """
    if not wanted:
        none = friction_laws((), 0.0)
        return FrictionTable(none, model.n)
    refuse_losses(model, remedy="put the loss into coulomb friction for a plant")
    return friction_table(model)


# -- Impulses within bounds that bring rates to rest ----------------------------------------------


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
        low: Lower bounds (k,).
        high: Upper bounds (k,).
    """
    if len(rate) == 1:  # most often
        return np.asarray(np.minimum(np.maximum(-rate / W[0, 0], low), high))
    soft = softened(W)
    p: Array = np.asarray(np.linalg.solve(soft, -rate), np.float64)
    clipped = np.minimum(np.maximum(p, low), high)
    tolerance = SLACK * (np.abs(rate).max() + W.trace() * np.abs(clipped).max())
    for _ in range(ROUNDS):
        if (clipped == p).all():
            slope = rate + soft @ p
            wrong = ((p <= low) & (slope < -tolerance)) | ((p >= high) & (slope > tolerance))
            if not wrong.any():
                return p
            inside = ((p > low) & (p < high)) | wrong
        else:
            inside = (clipped > low) & (clipped < high)
        p = clipped.copy()
        free = inside.nonzero()[0]
        p[free] = 0.0
        if len(free):
            load = rate + soft @ p
            p[free] = np.linalg.solve(soft[free[:, None], free], -load[free])
        clipped = np.minimum(np.maximum(p, low), high)
    return descended(soft, rate, low, high, clipped)


def softened(W: Array) -> Array:
    """W with a little more on its diagonal."""
    soft = W.copy()
    soft.flat[:: len(W) + 1] += SLACK * W.trace()
    return soft


def soft_solve(W: Array, right: Array) -> Array:
    """W^-1 right of a matrix that may be singular (k, k)."""
    if len(W) == 1:
        return np.asarray(right / W[0, 0])
    return np.asarray(np.linalg.solve(softened(W), right))


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
