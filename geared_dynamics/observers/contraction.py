r"""How fast the nonlinear observer's errors shrink along a motion, as numbers.

The observer copies the model and adds G (y - shown). The true state solves the observer's own
equations, so that where these contract, both meet: with F the derivative of a step of the model,
two solutions of z+ = (1 - G C) f(z), G as the observer in use has it, come closer in the norm
\|W e\| by the factor

    \| W+ (F - F G C) W^-1 \|_2       e before the correction, W+ of the step after

per step, to first order in e. The observer keeps G while the posture changes little; G here is
that of an observer that follows the motion, kept and renewed as it does. W may be any; with G'
the gain computed again at every step, ``pole_assignment`` makes F - F G' C similar to r F where
every joint is elastic, and F itself nearly keeps the arm's energy, so that a good one is

    W = E T(r F)^-1 T(F - F G' C),    E'E = diag(K + (w/2)^2 H, H)

with T the chains of either. What the factor has beyond r is the gain that was kept, the change
of posture between steps, Coriolis terms, gravity, rigid joints beside elastic ones, and the free
motion of the whole arm, which is no vibration.

F is that of the whole step, friction that slides, reverses and sticks included. While a rotor
stands its encoder shows nothing of its link, whose error then keeps its size or decays
by the spring's damping: the factor is near one, above it where standing begins or ends. T is then
that of the other coordinates; a standing rotor's error counts for itself, ten times, and that of
its link by the energy alone.

W. Lohmiller, J.-J. Slotine, On contraction analysis for non-linear systems, Automatica 34, 1998.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, BoolArray
from geared_dynamics.dynamics import elastic
from geared_dynamics.dynamics.arguments import finite_input, seconds
from geared_dynamics.dynamics.elastic.equations import spring_matrix
from geared_dynamics.dynamics.state import Measurement
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.health import parts
from geared_dynamics.observers.nonlinear import NonlinearGains, nonlinear_observer
from geared_dynamics.observers.pole_assignment import alone_root, chain, correction
from geared_dynamics.observers.readings import refuse_other
from geared_dynamics.observers.standing import derivative, gain_of, predicted, product

APART = 10.0  # weight of a standing rotor's error: it moves its link, and is not moved by it


def contraction(
    model: GearedModel,
    gains: NonlinearGains,
    states: ArrayLike,
    tau_m: ArrayLike,
    dt: float,
) -> Array:
    """Rates at which small errors of the nonlinear observer shrink along a motion (t - 2,) [1/s].

    Over the motion a small error shrinks at least by exp(-sum of rates dt), in the norm W; where
    a rate is negative it may grow for that step. This is a computation for this motion, these
    gains and this dt: what holds for other motions, or in a tube around this one, is to be
    computed there.

    Args:
        model: Geared model with elastic joints.
        gains: Tuning.
        states: q, theta, v, vtheta at successive instants (t, 2N), t >= 3.
        tau_m: Torque of the motors over the step after each (t, m) [N m].
        dt: Between instants [s].

    Raises:
        ArrayError: where the observer takes no step of this dt, or the states are no motion
            that it follows.
    """
    z, torque = along(model, gains, states, tau_m)
    dt = seconds("dt", dt)
    count = divided(dt, gains)
    maps: list[Array] = []
    norms: list[Array] = []
    for taken in steps(model, gains, z, torque, dt, count):
        norms.append(norm(model, gains, z[len(maps)], taken, dt))
        maps.append(with_gain(gains, taken.whole, taken.gain))
    rates = []
    for k, closed in enumerate(maps[:-1]):
        factor = np.linalg.norm(np.linalg.solve(norms[k].T, (norms[k + 1] @ closed).T), 2)
        rates.append(-np.log(factor) / dt)
    return np.array(rates)


def along(
    model: GearedModel, gains: NonlinearGains, states: ArrayLike, tau_m: ArrayLike
) -> tuple[Array, Array]:
    """Checked states (t, 2N) and torques (t, m) of a motion."""
    refuse_other(model, gains, NonlinearGains)
    sizes = gains.sizes
    z = finite_input("states", states, 2 * sizes.coordinates)
    torque = finite_input("tau_m", tau_m, sizes.motors)
    if z.ndim != 2 or len(z) < 3:
        finding = f"has shape {z.shape}"
        raise ArrayError("states", finding, "give at least three instants, one per row")
    if torque.shape != (len(z), sizes.motors):
        remedy = f"give shape {(len(z), sizes.motors)}, as many instants as states"
        raise ArrayError("tau_m", f"has shape {torque.shape}", remedy)
    return z, torque


def divided(dt: float, gains: NonlinearGains) -> int:
    """In how many parts the observer predicts a step; refused if it takes none of this length."""
    fault, count = parts(dt, gains.limits)
    if fault:
        remedy = f"give a time above zero, up to the observer's hold of {gains.limits.hold:g} s"
        raise ArrayError("dt", f"is {dt:g}", remedy)
    return count


class Taken(NamedTuple):
    """A step of the observer that follows a motion.

    Attributes:
        whole: F, its derivative by the state before (2N, 2N).
        gain: G in use (2N, c).
        fresh: G computed at this step (2N, c).
        apart: Which seen coordinates are corrected alone (c,).
        smooth: F without what multiplies the sign of a rate (2N, 2N).
    """

    whole: Array
    gain: Array
    fresh: Array
    apart: BoolArray
    smooth: Array


def steps(
    model: GearedModel, gains: NonlinearGains, z: Array, torque: Array, dt: float, count: int
) -> Iterator[Taken]:
    """Each step of the model, and the gain of the observer that follows it."""
    sizes, none = gains.sizes, np.zeros(gains.sizes.n)
    observer = nonlinear_observer(model, gains=gains)
    shown = z[:, : sizes.coordinates] @ gains.structure.T + gains.zeros
    follower = observer.start(Measurement(shown[0], torque[0]))
    for k, given in enumerate(torque[:-1]):
        mean, parts_of = z[k], []
        for _ in range(count):
            step = predicted(observer.arm, mean, given, none, dt / count, follower.stay)
            if step is None:
                raise ArrayError(f"states[{k}]", "diverges", "give a motion of the arm")
            mean = step.mean
            parts_of.append(step)
        apart = np.abs(mean[: sizes.coordinates] @ gains.structure.T + gains.zeros - shown[k + 1])
        seen_next = Measurement(shown[k + 1], given)
        follower = observer.step(follower._replace(mean=z[k]), seen_next, dt)
        if not follower.health.valid or np.any(apart > gains.limits.jump):
            finding = "is not one step from the state before: the observer does not follow"
            raise ArrayError(f"states[{k + 1}]", finding, "give a motion of the arm, and its dt")
        fresh, alone = gain_of(
            model, gains.seen, gains.structure, gains.rate, parts_of, follower.standing
        )
        yield Taken(
            product([derivative(model, step) for step in parts_of]),
            follower.gain,
            fresh,
            alone,
            product([step.whole for step in parts_of]),
        )


def after_correction(gains: NonlinearGains, F: Array, dt: float) -> Array:
    """F - F G' C (2N, 2N), with the gain computed at this step."""
    return with_gain(gains, F, correction(F, gains.seen, gains.rate, dt))


def with_gain(gains: NonlinearGains, F: Array, G: Array) -> Array:
    """F - F G C (2N, 2N), with a gain on the measured coordinates (2N, m)."""
    C = gains.seen.inverse @ gains.structure
    closed = F.copy()
    closed[:, : C.shape[1]] -= F @ G @ C
    return np.asarray(closed)


def norm(
    model: GearedModel, gains: NonlinearGains, state: Array, taken: Taken, dt: float
) -> Array:
    """W (2N, 2N)."""
    at, own, N = gains.seen, model.elasticity, gains.sizes.coordinates
    single = at.coordinates[taken.apart]
    links = own.joint[taken.apart[: len(at.elastic)]]
    rest = np.setdiff1d(np.arange(N), single)
    H = elastic.mass_matrix(model, state[: model.n])
    K = spring_matrix(model, own.stiffness)
    followed = np.ones(N)
    followed[links] = 0.0
    P = K + (0.5 * gains.rate) ** 2 * followed[:, None] * H * followed
    both = np.concatenate([rest, N + rest])
    E = np.zeros((len(both), len(both)))
    E[: len(rest), : len(rest)] = np.linalg.cholesky(P[np.ix_(rest, rest)]).T
    E[len(rest) :, len(rest) :] = np.linalg.cholesky(H[np.ix_(rest, rest)]).T
    closed = with_gain(gains, taken.smooth, taken.fresh)
    same, own_chain = (
        chains(model, gains, M, taken.apart, dt)[np.ix_(both, both)]
        for M in (exp(-gains.rate * dt) * taken.smooth, closed)
    )
    W = np.zeros((2 * N, 2 * N))
    W[np.ix_(both, both)] = E @ np.linalg.solve(same, own_chain)
    r = alone_root(gains.rate, dt)
    for i in single:  # in u and vtheta dt - (1 - r) u its step is r and a one beside the diagonal
        size = APART * np.sqrt(P[i, i])
        W[i, i], W[N + i, [i, N + i]] = size, 2.0 * size * np.array([-1.0, dt / (1.0 - r)])
    return W


def chains(
    model: GearedModel, gains: NonlinearGains, M: Array, apart: BoolArray, dt: float
) -> Array:
    """T (2N, 2N) of a step M: the chains of what is corrected together, else 1."""
    at, N = gains.seen, gains.sizes.coordinates
    if not apart.any():
        return chain(M, at, dt)[0]
    T, springs = np.eye(2 * N), len(at.elastic)
    out = np.concatenate([at.coordinates[apart], model.elasticity.joint[apart[:springs]]])
    rest = np.setdiff1d(np.arange(N), out)
    if rest.size:
        place = np.zeros(N, np.int64)
        place[rest] = np.arange(len(rest))
        both = np.concatenate([rest, N + rest])
        elastic_, rigid = at.elastic[~apart[:springs]], at.rigid[~apart[springs:]]
        part = at._replace(elastic=place[elastic_], rigid=place[rigid])
        T[np.ix_(both, both)] = chain(M[np.ix_(both, both)], part, dt)[0]
    return T
