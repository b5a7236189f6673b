"""The longest step with which an arm can be simulated."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics import elastic
from geared_dynamics.dynamics.elastic.extended import extended
from geared_dynamics.dynamics.rigid import mass_matrix
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.plants.friction import friction_of

POSTURES = 8
# |lambda| h up to which a Runge-Kutta step of fourth order is stable on both axes, less a margin.
REACH = 2.2


def longest_step(model: GearedModel, *, electric: bool) -> float:
    """Longest stable step [s] of the classical Runge-Kutta scheme.

    Without springs and damping there is none. The fastest of the arm's modes counts, springs,
    viscous friction and (``electric``) the motors' back-EMF included, over a few postures.

    Args:
        model: Geared model.
        electric: Whether voltages are the command.
    """
    springy = bool(model.elasticity.stiffness.size)
    arm = extended(model) if springy else model
    B = elastic.structure_matrix(model) if springy else model.structure_matrix
    law, size = model.elasticity, arm.n
    K = (
        law.stretch.T @ (law.stiffness[:, None] * law.stretch)
        if springy
        else np.zeros((size,) * 2)
    )
    D = law.stretch.T @ (law.damping[:, None] * law.stretch) if springy else np.zeros((size,) * 2)
    friction = friction_of(model)
    rows = friction.rows(B)
    D = D + rows.T @ (friction.viscous[:, None] * rows)
    if electric:
        motors = model.motors
        D = D + (B * (motors.torque_constant * motors.back_emf_constant / motors.resistance)) @ B.T
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (POSTURES, size))
    q[0] = 0.0
    return REACH / max(fastest(mass_matrix(arm, x), K, D) for x in q)


def fastest(M: Array, K: Array, D: Array) -> float:
    """Magnitude of the fastest eigenvalue of M x'' + D x' + K x = 0 [1/s], above zero."""
    size = len(M)
    first = np.linalg.solve(M, np.hstack([-K, -D]))
    whole = np.vstack([np.hstack([np.zeros((size, size)), np.eye(size)]), first])
    return max(float(np.abs(np.linalg.eigvals(whole)).max()), 1e-12)
