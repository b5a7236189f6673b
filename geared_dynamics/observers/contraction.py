r"""Proof of the nonlinear observer's convergence, as a number along a motion.

The observer copies the model and adds G (y - shown). The true state solves the observer's own
equations, so that where these contract, both meet: with F the derivative of a step of the model,
two solutions of z+ = (1 - G C) f(z), G as the observer computed it, come closer in the norm
\|W e\| by the factor

    \| W+ (F - F G C) W^-1 \|_2       e before the correction, W+ of the step after

per step. ``assignment`` makes F - F G C similar to r F, and F itself keeps the arm's energy, so

    W = E T(r F)^-1 T(F - F G C),    E'E = diag(K + (w/2)^2 H, H)

with T the chains of either. What the factor has beyond r is the change of posture between steps,
Coriolis terms, gravity, and the free motion of the whole arm, which is no vibration.
"""

from __future__ import annotations

from math import exp

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics import elastic
from geared_dynamics.dynamics.border import finite_input
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.assignment import chain, correction
from geared_dynamics.observers.nonlinear import NonlinearGains, predicted


def contraction(
    model: GearedModel,
    gains: NonlinearGains,
    states: ArrayLike,
    tau_m: ArrayLike,
    dt: float,
) -> Array:
    """Rates at which errors of the nonlinear observer shrink along a motion (t - 2,) [1/s].

    Where they stay above zero the observer converges from every start within the tube around
    the motion in which they do. Negative: not proven there.

    Args:
        model: Geared model with elastic joints.
        gains: Tuning.
        states: q, theta, v, vtheta at successive instants (t, 2N), t >= 3.
        tau_m: Torque of the motors over the step after each (t, m) [N m].
        dt: Between instants [s].
    """
    sizes = gains.sizes
    z = finite_input("states", states, 2 * sizes.coordinates)
    torque = finite_input("tau_m", tau_m, sizes.motors)
    if z.ndim != 2 or len(z) < 3 or len(torque) != len(z):
        raise ArrayError(
            "states", f"has shape {z.shape}", "give three instants or more, and tau_m"
        )
    none, norms, maps = np.zeros(sizes.n), [], []
    for state, given in zip(z[:-1], torque[:-1], strict=True):
        step = predicted(model, sizes, state, given, none, dt)
        if step is None:
            raise ArrayError("states", "leave all bounds", "give a motion of the arm")
        closed = after_correction(gains, step.whole, dt)
        maps.append(closed)
        norms.append(norm(model, gains, state, step.whole, closed, dt))
    rates = []
    for k, closed in enumerate(maps[:-1]):
        factor = np.linalg.norm(np.linalg.solve(norms[k].T, (norms[k + 1] @ closed).T), 2)
        rates.append(-np.log(factor) / dt)
    return np.array(rates)


def after_correction(gains: NonlinearGains, F: Array, dt: float) -> Array:
    """F - F G C (2N, 2N)."""
    G = correction(F, gains.seen, gains.rate, dt)
    C = gains.seen.inverse @ gains.structure
    closed = F.copy()
    closed[:, : C.shape[1]] -= F @ G @ C
    return np.asarray(closed)


def norm(
    model: GearedModel, gains: NonlinearGains, state: Array, F: Array, closed: Array, dt: float
) -> Array:
    """W (2N, 2N)."""
    N, own = gains.sizes.coordinates, model.elasticity
    H = elastic.mass_matrix(model, state[: model.n])
    K = (own.stretch.T * own.stiffness) @ own.stretch
    E = np.zeros((2 * N, 2 * N))
    E[:N, :N] = np.linalg.cholesky(K + (0.5 * gains.rate) ** 2 * H).T
    E[N:, N:] = np.linalg.cholesky(H).T
    same, _ = chain(exp(-gains.rate * dt) * F, gains.seen, dt)
    own_chain, _ = chain(closed, gains.seen, dt)
    return np.asarray(E @ np.linalg.solve(same, own_chain))
