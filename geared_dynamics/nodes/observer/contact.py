"""The contact at a frame as the node tells it: only what is known, NaN for all else."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.dynamics.kinematics import pose
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.model import GearedModel
from geared_dynamics.nodes.observer.values import Level, Output
from geared_dynamics.observers import KalmanState, contact_wrench

TOLD = (Level.GOOD, Level.DEGRADED)  # a wrench has no room for another word
ACROSS = 1e-9  # squared part of a unit vector that the joints may not feel


def wrench(model: GearedModel, output: Output, frame: str, *, moment: bool) -> Array:
    """Force [N] and moment [N m] of a contact at a frame's origin, in its axes (6,).

    NaN unless the estimate is good or degraded, and in each component that the joints do not
    determine in this posture; without a moment that is zero.

    Args:
        model: Geared model.
        output: Of a cycle.
        frame: Link at whose origin the contact is.
        moment: Whether it may pass one.
    """
    found, state = output.estimate, output.state
    if found is None or not isinstance(state, KalmanState) or output.level not in TOLD:
        return np.full(6, np.nan)
    first = len(state.mean) * 2 // 3
    rows = state.rows[:, first : first + model.n]
    try:
        contact = contact_wrench(
            model, found.q, found.external, frame, covariance=rows.T @ rows, moment=moment
        )
    except GearedDynamicsError:  # the covariance of a start may be singular
        return np.full(6, np.nan)
    turn = np.zeros((6, 6))
    turn[:3, :3] = turn[3:, 3:] = pose(model, found.q, frame)[:3, :3].T
    six = turn @ np.concatenate([contact.force, contact.moment])
    known = determined(turn @ contact.seen)
    if not moment:
        known[3:] = True
    return np.where(known, six, np.nan)


def determined(seen: Array) -> BoolArray:
    """Which components' unit vectors lie among the directions seen, orthonormal (k, rank)."""
    return np.asarray(1.0 - np.einsum("ij,ij->i", seen, seen) < ACROSS)
