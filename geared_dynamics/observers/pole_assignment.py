r"""Gain that quickens the decay of an elastic arm's observer, and how large its rate may be.

Measured: the coordinates that motors turn, theta of elastic joints and q of rigid ones. Over a
step the error of a copy of the model follows e+ = F e, F = exp(A dt) at the present state. With
D = (F - 1) / dt, a derivative, and C_e, C_r the rows of the measured theta and q,

    \zeta = (C_e, C_e D, C_e D^2, C_e D^3) e,    (C_r, C_r D) e

are the measured errors and their derivatives. They determine e, because a spring's twist shows in
the motor's acceleration: springs act on x by H^-1 P' with the complete H, S(q) included. With
alpha the last block rows of D in zeta, C D^d = sum alpha_k C D^k for a chain of depth d,

    \xi_i = \zeta_i - sum_(j<i) \alpha_(d-i+j) \zeta_j

brings the chain to D xi_i = xi_(i+1) + alpha_(d-i) xi_1. A correction L_i xi_1 in its rows can
give it any polynomial; here L_i = c_i + alpha_(d-i) with

    (D + a)^d - sum \alpha_k r^(d-k) (D + a)^k = D^d + c_1 D^(d-1) + ... + c_d,
    r = exp(-w dt),  a = (1 - r) / dt

which is the chain's own polynomial with all its roots multiplied by r: where every joint is
elastic F - L C has the eigenvalues of r F. Vibrations keep their frequency and decay by w more.
So it is whatever dt, the posture and the joints' frequencies are, and no gain is spent on slowing
down a stiff spring. Where rigid joints are beside elastic ones there are two kinds of chains,
and \alpha of one that the other enters is left as it is: there the eigenvalues are near those of
r F only (within 0.25 w on the arms of the tests).

Coordinates whose rotor stands in its friction are left out with the link behind them: the gain
is that of the other ones' part of F, and their own a second-order one on position and speed. What
is left out moves the rest and is moved by it, so that this is no assignment of the whole: the
eigenvalues are looked at, and where one is farther from zero than those of the arm by itself, no
coordinate's correction acts on the link side of its spring.
"""

from __future__ import annotations

from math import comb, exp
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel

# -- Gain that quickens the decay of the modes of an elastic arm's observer by a wanted rate ------


DEPTH = 4  # of an elastic joint: theta, its speed, the twist, the twist's speed
QUICK = 0.4  # decay in a step with which a standing rotor is followed, at least
GROWTH = 0.01  # part of 1 - r by which what is left out may make an eigenvalue grow


class MeasuredCoordinates(NamedTuple):
    """Coordinates x that the motors' encoders tell.

    Attributes:
        elastic: Those on the motor side of a spring: indices of theta in x.
        rigid: Those without: indices of q in x.
        inverse: (A_seen')^-1: x of both = inverse (phi - phi(0)).
    """

    elastic: IntArray
    rigid: IntArray
    inverse: Array

    @property
    def coordinates(self) -> IntArray:
        """All of them (c,), those with a spring first."""
        return np.concatenate([self.elastic, self.rigid])

    @property
    def chains(self) -> tuple[tuple[IntArray, int], tuple[IntArray, int]]:
        """Coordinates and depth of the two kinds of chains."""
        return (self.elastic, DEPTH), (self.rigid, 2)


def measured_coordinates(model: GearedModel) -> MeasuredCoordinates:
    """What the encoders tell.

    Raises:
        ModelError: where a spring has no motor of its own to be seen from.
    """
    motors, n, own = model.elastic_motor_map, model.n, model.elasticity
    driven = np.flatnonzero(np.any(motors.A != 0.0, axis=1))
    shafts = np.arange(n, n + own.count)
    rigid = driven[driven < n]
    place = f"{model.drivetrain_source}, joints"
    remedy = "use the Kalman filter, which takes any arm"
    if own.passive.size or len(own.stiffness) != own.count or not np.isin(shafts, driven).all():
        raise ModelError(place, "a spring is not driven directly by a motor", remedy)
    if len(driven) != motors.A.shape[1] or len(driven) != n:
        raise ModelError(place, "motors and joints do not match one to one", remedy)
    order = np.concatenate([shafts, rigid])
    if motors.rank < len(order):
        raise ModelError(place, "motors do not turn the joints independently", remedy)
    return MeasuredCoordinates(shafts, rigid, motors.inverse[:, order].T)


def chain(F: Array, at: MeasuredCoordinates, dt: float) -> tuple[Array, Array]:
    """Zeta by e (2N, 2N), chains one after the other by depth; and its last D (m, 2N)."""
    D, width = F.copy(), len(F)
    D[np.arange(width), np.arange(width)] -= 1.0
    D /= dt
    rows, last = [], []
    for coordinates, depth in at.chains:
        row = np.zeros((len(coordinates), width))
        row[np.arange(len(coordinates)), coordinates] = 1.0
        for _ in range(depth):
            rows.append(row)
            row = row @ D
        last.append(row)
    return np.concatenate(rows), np.concatenate(last)


def correction(F: Array, at: MeasuredCoordinates, rate: float, dt: float) -> Array:
    """Gain (2N, m) on the measured coordinates less their prediction, after a step F."""
    zeta, last = chain(F, at, dt)
    alpha: Array = np.asarray(np.linalg.solve(zeta.T, last.T).T, np.float64)
    r = exp(-rate * dt)
    T, L = zeta.copy(), np.zeros((len(F), len(last)))
    row, start = 0, 0
    for coordinates, depth in at.chains:
        m = len(coordinates)
        own = alpha[row : row + m, start : start + m * depth].reshape(m, depth, m)
        for i in range(depth):
            block = slice(start + i * m, start + (i + 1) * m)
            for j in range(i):
                T[block] -= own[:, depth - i + j] @ zeta[start + j * m : start + (j + 1) * m]
            wanted = polynomial(own, i + 1, r, (1.0 - r) / dt)
            L[block, row : row + m] = wanted + own[:, depth - i - 1]
        row, start = row + m, start + m * depth
    predictor = dt * np.linalg.solve(T, L)
    return np.asarray(np.linalg.solve(F, predictor))


def polynomial(alpha: Array, i: int, r: float, a: float) -> Array:
    """Coefficient c_i (m, m) of the wanted polynomial; alpha (m, depth, m)."""
    m, depth, _ = alpha.shape
    wanted = comb(depth, i) * a**i * np.eye(m)
    for k in range(depth - i, depth):
        wanted -= r ** (depth - k) * comb(k, depth - i) * a ** (k - depth + i) * alpha[:, k]
    return np.asarray(wanted)


def partial(
    F: Array, at: MeasuredCoordinates, alone: BoolArray, joints: IntArray, rate: float, dt: float
) -> Array:
    """Gain (2N, c) where some coordinates are corrected without what is behind them.

    Args:
        F: Derivative of a step (2N, 2N).
        at: What the encoders tell.
        alone: Which of its coordinates, c of them.
        joints: Indices in x of the links behind ``at.elastic``.
        rate: Decay of the others' error, w [1/s].
        dt: [s].
    """
    N, springs = len(F) // 2, len(at.elastic)
    single = at.coordinates[alone]
    out = np.concatenate([single, joints[alone[:springs]]])
    rest = np.setdiff1d(np.arange(N), out)
    both = np.concatenate([rest, N + rest])
    place = np.zeros(N, np.int64)
    place[rest] = np.arange(len(rest))
    G = np.zeros((2 * N, len(alone)))
    if not alone.all():
        elastic, rigid = at.elastic[~alone[:springs]], at.rigid[~alone[springs:]]
        part = MeasuredCoordinates(place[elastic], place[rigid], at.inverse)
        G[np.ix_(both, np.flatnonzero(~alone))] = correction(F[np.ix_(both, both)], part, rate, dt)
    r = alone_root(rate, dt)
    G[single, np.flatnonzero(alone)] = 1.0 - r * r
    G[N + single, np.flatnonzero(alone)] = (1.0 - r) ** 2 / dt
    return G


def alone_root(rate: float, dt: float) -> float:
    """Both roots of a coordinate that is corrected alone."""
    return exp(-max(rate * dt, QUICK))


def bounded(F: Array, closed: Array, rate: float, dt: float) -> bool:
    """Whether no eigenvalue of a closed step is farther from zero than F's, or 1, but a little."""
    if not np.all(np.isfinite(closed)):
        return False
    most = GROWTH * (1.0 - exp(-rate * dt))
    found = np.abs(np.linalg.eigvals(closed)).max()
    return bool(found <= 1.0 + most or found <= np.abs(np.linalg.eigvals(F)).max() + most)


# -- How fast the nonlinear observer's error decays -----------------------------------------------
#
# A gain that is linear in the error holds while the error is small, so the rate grows with the
# correction of a step. That correction has bounds, because far from the state the gain is that of
# another arm. A correction beyond them is not scaled: on the motor side the observer is a chain of
# four integrators, and such a loop is stable with its whole gain only. With a fifth of it the
# error swings, wider with each swing, until the arm is lost. The step is repeated with the gain
# of a lower rate instead, which is stable at any rate. By the rate w a correction of the link's
# position grows as w^3, one of its speed as w^4, so that w over^(-1/3) is enough for a part
# ``over`` of the bounds.


# So far off [rad or m, or that times w], by its correction, the linear gain is not enough.
LARGE = 0.1
# A faster rate falls back within so many of its decay times.
RETURN = 4.0
# By this power of the part of its bounds that a correction takes the rate changes.
POWER = 1.0 / 3.0
# Below the rate that just reaches the bounds, so that the next attempt is within them.
SPARE = 0.98
# Attempts at a correction within its bounds; what is left is scaled.
ATTEMPTS = 5


def sizes(change: Array) -> tuple[float, float]:
    """Largest correction of a position and of a rate, of (2N,)."""
    moved, sped = np.abs(change).reshape(2, -1).max(axis=1)
    return float(moved), float(sped)


def excess(moved: float, sped: float, dt: float) -> float:
    """Largest part of its bounds that a correction of ``sizes`` takes in a step of dt [s]."""
    return max(moved / LARGE, sped * dt / (QUICK * LARGE))


def slower(least: float, rate: float, over: float) -> float:
    """Rate [1/s], at least the tuning's, with which a correction beyond its bounds is within."""
    return float(max(least, SPARE * rate * over**-POWER))


def next_rate(least: float, rate: float, moved: float, sped: float, dt: float) -> float:
    """Rate of the next step [1/s] after one with all readings.

    Args:
        least: Of the tuning [1/s].
        rate: Of this step [1/s].
        moved: Its correction of a position, at most,
        sped: and of a rate.
        dt: [s].
    """
    size = max(moved, sped / rate) / (LARGE * rate * dt)
    if not size > 1.0:
        return calmer(least, rate, dt)
    faster = min(rate * min(2.0, size**0.5), QUICK / dt)
    return float(max(rate, min(faster, rate * excess(moved, sped, dt) ** -POWER)))


def calmer(least: float, rate: float, dt: float) -> float:
    """Rate of the next step [1/s] after one whose correction was small."""
    return max(least, rate * exp(-rate * dt / RETURN))
