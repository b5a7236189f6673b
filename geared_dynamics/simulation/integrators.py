"""Rosenbrock's method, and the longest step with which an arm can be simulated."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.elastic.equations import spring_matrix, structure_matrix
from geared_dynamics.dynamics.rigid import mass_matrix
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.joint_friction import friction_of

# -- Rosenbrock step of fourth order, stiffly accurate and L-stable -------------------------------
#
#     (1 / (gamma dt) - J) U_i = f(y + sum_j a_ij U_j) + sum_j c_ij U_j / dt
#     y(dt) = y + sum_j a_6j U_j + U_6
#
# with the Jacobian J = df/dy at the beginning of the step, and f without time: the inputs are
# held. Six linear systems with one matrix and no iteration, so that every step costs the same;
# fast vibrations that are damped die out at any dt.


GAMMA = 0.25
# E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), section
# VI.4, code RODAS, coefficients of its first method in transformed form.
FIFTH = [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950]
STAGES: tuple[list[float], ...] = (
    [],
    [1.544],
    [0.9466785280815826, 0.2557011698983284],
    [3.314825187068521, 2.896124015972201, 0.9986419139977817],
    FIFTH,
    [*FIFTH, 1.0],
)
SLOPES: tuple[list[float], ...] = (
    [],
    [-5.6688],
    [-2.430093356833875, -0.2063599157091915],
    [-0.1073529058151375, -9.594562251023355, -20.47028614809616],
    [7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160],
    [
        *(8.083246795921522, -7.981132988064893, -31.52159432874371),
        *(16.31930543123136, -6.058818238834054),
    ],
)


def rosenbrock_step(
    rates: Callable[[Array], Array], jacobian: Array, y: Array, dt: float
) -> tuple[Array, Array]:
    """State after dt, and what it is apart from the scheme's one of third order: its error.

    Args:
        rates: f(y), without time.
        jacobian: df/dy at y (N, N).
        y: State (N,).
        dt: Step [s].
    """
    inverse = np.linalg.inv(np.eye(len(y)) / (GAMMA * dt) - jacobian)
    U = np.zeros((len(STAGES), len(y)))
    for i, (a, c) in enumerate(zip(STAGES, SLOPES, strict=True)):
        U[i] = inverse @ (rates(y + a @ U[:i]) + c @ U[:i] / dt)
    return np.asarray(y + STAGES[-1] @ U[:-1] + U[-1]), U[-1]


# -- The longest step with which an arm can be simulated ------------------------------------------


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
    law = model.elasticity
    arm = model.with_springs() if law.stiffness.size else model
    B, size = structure_matrix(model), arm.n
    K, D = spring_matrix(model, law.stiffness), spring_matrix(model, law.damping)
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
