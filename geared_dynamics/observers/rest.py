"""Where an arm at rest is, from its motors' encoders: springs that hold the weight."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.balancers import balancer_forces
from geared_dynamics.dynamics.elastic.springs import structure_matrix
from geared_dynamics.dynamics.rigid import gravity_forces
from geared_dynamics.model import GearedModel

ROUNDS = 20


def at_rest(model: GearedModel, shown: Array) -> Array:
    """Coordinates x (N,) with A' x = shown - phi(0) and springs that hold the links.

    Where the encoders leave coordinates open (a passive joint, a shaft in a drive), the springs
    settle them too: the free ones minimise the energy.

    Args:
        model: Geared model with elastic joints.
        shown: What the motors' encoders show (m,) [rad].
    """
    n, own = model.n, model.elasticity
    A = structure_matrix(model).T
    goal = np.linalg.pinv(A) @ (shown - model.motor_zeros)
    _, s, vt = np.linalg.svd(A)
    rank = int(np.sum(s > 1e-12 * s[0])) if s.size else 0
    free = vt[rank:].T  # directions that the encoders do not see
    K = (own.stretch.T * own.stiffness) @ own.stretch
    rest = own.stretch.T @ (own.stiffness * own.rest)
    x = goal
    if not free.shape[1]:
        return np.asarray(x)
    solve = np.linalg.pinv(free.T @ K @ free)
    x = goal + free @ (solve @ (free.T @ (rest - K @ goal)))
    for _ in range(ROUNDS):
        weight = np.zeros(len(x))
        weight[:n] = gravity_forces(model, x[:n])
        if model.drivetrain.balancers:
            weight[:n] -= balancer_forces(model, x[:n])
        following = goal + free @ (solve @ (free.T @ (rest - weight - K @ goal)))
        change = float(np.max(np.abs(following - x)))
        x = following
        if change < 1e-12:
            break
    return np.asarray(x)
