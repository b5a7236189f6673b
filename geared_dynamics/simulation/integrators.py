"""Fixed steps of a motion given by its rates, the longest; a plant's friction and its impulses."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

import numpy as np

from geared_dynamics.actuation.driven_dynamics import refuse_losses
from geared_dynamics.actuation.friction_elements import FrictionTable, friction_table
from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.elastic.equations import spring_matrix, structure_matrix
from geared_dynamics.dynamics.rigid import mass_matrix
from geared_dynamics.model import GearedModel
from geared_dynamics.model.drive_arrays import friction_laws

# -- Runge-Kutta step of fourth order with an exact decay: Cox and Matthews (2002), ETDRK4 --------


SERIES = 1.0  # |x| below which the functions phi are summed as series
TERMS = 20


def exponential_step(rest: Callable[[Array], Array], x: Array, decay: Array, dt: float) -> Array:
    """State after dt of x' = decay x + rest(x); the classical step where the decay is 0.

    Args:
        rest: Rates without the decay.
        x: State (k,).
        decay: Rate of each entry on its own (k,) [1/s], zero or negative.
        dt: Step [s].

    References:
        S. M. Cox, P. C. Matthews, J. Comput. Phys. 176 (2002), eq. (26)-(29).
    """
    half, whole = np.swapaxes(phi(dt * np.stack([0.5 * decay, decay])), 0, 1)
    fade, step = np.exp(0.5 * dt * decay), 0.5 * dt * half[1]
    first = rest(x)
    a = fade * x + step * first
    second = rest(a)
    b = fade * x + step * second
    third = rest(b)
    c = fade * a + step * (2.0 * third - first)
    last = rest(c)
    _, one, two, three = whole
    return np.asarray(
        np.exp(dt * decay) * x
        + dt * (one - 3.0 * two + 4.0 * three) * first
        + dt * (2.0 * two - 4.0 * three) * (second + third)
        + dt * (4.0 * three - two) * last
    )


def phi(x: Array) -> Array:
    """phi_0 = exp, phi_k+1 = (phi_k - 1 / k!) / x for k = 0, 1, 2 (4, ...).

    Near zero phi_3 is summed, sum x^j / (j + 3)!, and the others follow from it.
    """
    small = np.abs(x) < SERIES
    whole = np.exp(x)
    far = np.where(small, -1.0, x)
    rows = [whole]
    for k in range(3):
        rows.append((rows[-1] - 1.0 / factorial(k)) / far)
    close = np.where(small, x, 0.0)
    last = np.zeros_like(x)
    for j in reversed(range(TERMS)):
        last = last * close + 1.0 / factorial(j + 3)
    second = close * last + 0.5
    near = [whole, close * second + 1.0, second, last]
    return np.where(small, near, rows)


# -- The classical Runge-Kutta step of a second-order equation ------------------------------------


def runge_kutta_step(
    acceleration: Callable[[Array, Array], Array], x: Array, v: Array, dt: float
) -> tuple[Array, Array]:
    """Position and velocity after dt of x'' = acceleration(x, x'), of fourth order.

    Args:
        acceleration: Of a position and a velocity (k,).
        x: Position (k,).
        v: Velocity (k,).
        dt: Step [s].
    """
    half = 0.5 * dt
    a1 = acceleration(x, v)
    v2 = v + half * a1
    a2 = acceleration(x + half * v, v2)
    v3 = v + half * a2
    a3 = acceleration(x + half * v2, v3)
    v4 = v + dt * a3
    a4 = acceleration(x + dt * v3, v4)
    position = x + dt / 6.0 * (v + 2.0 * (v2 + v3) + v4)
    return position, v + dt / 6.0 * (a1 + 2.0 * (a2 + a3) + a4)


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
    D = D + rows.T @ (friction.laws.viscous[:, None] * rows)
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


# -- Friction of joints and rotors as the plants count it -----------------------------------------


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
