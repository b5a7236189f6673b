"""Rosenbrock step of fourth order, stiffly accurate and L-stable: RODAS of Hairer and Wanner.

    (1 / (gamma dt) - J) U_i = f(y + sum_j a_ij U_j) + sum_j c_ij U_j / dt
    y(dt) = y + sum_j a_6j U_j + U_6

with the Jacobian J = df/dy at the beginning of the step, and f without time: the inputs are
held. Six linear systems with one matrix and no iteration, so that every step costs the same;
fast vibrations that are damped die out at any dt.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from geared_dynamics.arrays import Array

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
