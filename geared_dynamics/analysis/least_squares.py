"""Least squares over equations of several joints: weighted, robust, with instruments.

x minimises the sum over joints j of |Y_j x - tau_j|^2 / s_j^2, s_j the joint's own residual.
Robust: each equation's weight is lowered where its residual is beyond HUBER of s_j (Huber).
Instruments Z (regressors of another record of the same motion, free of this one's noise):
Z' W (tau - Y x) = 0, without the bias that noise in Y has on least squares.

Covariance: (H^-1) S (H^-T) with H = Z' W Y (robust: with the slope of the scores for W) and S the
covariance of the scores Z' W r, summed over neighbours in time as far as the residual remembers
(Newey and West 1987): filtered samples are not independent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray

HUBER = 1.345
ROUNDS = 30  # of reweighting, at most
SETTLED = 1e-6  # relative change of the joints' deviations at which it ends
LONGEST = 50  # neighbours in time that a score may remember


class LeastSquaresFit(NamedTuple):
    """A solution.

    Attributes:
        x: (b,).
        covariance: Of x (b, b).
        sigma: Residual of each joint (n,) [N m or N].
        condition: Condition number of the weighted columns, scaled to length one.
    """

    x: Array
    covariance: Array
    sigma: Array
    condition: float


def solve(
    Y: Array,
    tau: Array,
    used: BoolArray,
    *,
    robust: bool = False,
    instruments: Array | None = None,
    weighted: bool = True,
) -> LeastSquaresFit:
    """Solve Y x = tau over the equations that are used.

    Args:
        Y: (k, n, b).
        tau: (k, n).
        used: (k, n).
        robust: Lower the weight of outliers.
        instruments: (k, n, b) of another record; Y itself if not given.
        weighted: Whether joints are weighted by their residual.
    """
    _, n, b = Y.shape
    Z = Y if instruments is None else instruments
    weight = used / np.maximum(deviation(tau - tau.mean(axis=0), used), 1e-300)
    x, sigma, slope = np.zeros(b), np.ones(n), weight**2
    for _ in range(ROUNDS):
        x = estimate(Y, tau, Z if instruments is not None else None, weight)
        r = tau - Y @ x
        before, sigma = sigma, deviation(r, used)
        base = 1.0 / np.maximum(sigma, 1e-12 * max(float(sigma.max()), 1e-300))
        if not weighted:
            base = np.ones(n)
        if robust:
            weight, slope = huber(r, used)
        else:
            weight = used * base
            slope = weight**2
        if np.all(np.abs(sigma - before) <= SETTLED * sigma):
            break
    return LeastSquaresFit(x, *quality(Y, Z, tau - Y @ x, weight, slope, sigma))


def huber(r: Array, used: BoolArray) -> tuple[Array, Array]:
    """Weights (k, n) by Huber, and the slope of what they make of a residual.

    The score of an equation is psi(r) / s^2 = weight^2 r: r up to HUBER s, constant beyond. What
    it changes by with x is psi' / s^2, 1 / s^2 up to there and nothing beyond, not weight^2.
    """
    middle = [np.median(np.abs(r[use, j])) if use.any() else 1.0 for j, use in enumerate(used.T)]
    spread = np.maximum(1.4826 * np.array(middle), 1e-300)
    far = np.abs(r) / spread
    weight = used * np.sqrt(np.minimum(1.0, HUBER / np.maximum(far, HUBER))) / spread
    return weight, used * (far <= HUBER) / spread**2


def estimate(Y: Array, tau: Array, Z: Array | None, weight: Array) -> Array:
    """Weighted solution; columns are scaled, so that units do not matter."""
    W = (weight[..., None] * Y).reshape(-1, Y.shape[-1])
    right = (weight * tau).ravel()
    scale = np.maximum(np.linalg.norm(W, axis=0), 1e-300)
    if Z is None:
        return np.asarray(np.linalg.lstsq(W / scale, right, rcond=None)[0] / scale)
    V = (weight[..., None] * Z).reshape(-1, Y.shape[-1])
    side = np.maximum(np.linalg.norm(V, axis=0), 1e-300)
    return np.asarray(np.linalg.solve((V / side).T @ (W / scale), (V / side).T @ right) / scale)


def quality(
    Y: Array, Z: Array, r: Array, weight: Array, slope: Array, sigma: Array
) -> tuple[Array, Array, float]:
    """Covariance, deviations and condition of a solution.

    Args:
        Y: (k, n, b).
        Z: Instruments, or Y (k, n, b).
        r: Residuals (k, n).
        weight: Roots of the equations' weights (k, n).
        slope: What a score changes by with its residual (k, n).
        sigma: Residual of each joint (n,).
    """
    b = Y.shape[-1]
    scale = np.maximum(np.linalg.norm((weight[..., None] * Y).reshape(-1, b), axis=0), 1e-300)
    W, V = weight[..., None] * Y / scale, weight[..., None] * Z / scale
    H = (slope[..., None] * Z / scale).reshape(-1, b).T @ (Y / scale).reshape(-1, b)
    scores = np.einsum("kjb,kj->kb", V, weight * r)
    inverse = np.linalg.pinv(H, rcond=1e-14)
    count = int((weight > 0).sum())
    spread = count / max(count - b, 1)  # the residual of fitted equations is too small
    inside = np.count_nonzero(slope) / max(count, 1)  # of robust ones by more (Huber 1981, 7.6)
    spread *= (1.0 + b / max(count, 1) * (1.0 - inside) / max(inside, 1e-300)) ** 2
    S = long_run(scores) * spread
    covariance = inverse @ S @ inverse.T / np.outer(scale, scale)
    return covariance, sigma, float(np.linalg.cond(W.reshape(-1, b)))


def information_root(Y: Array, weight: Array, covariance: Array) -> Array:
    """R (b, b) with R'R about the inverse of the covariance, by the equations themselves.

    (W Y)' W Y is the inverse for independent samples; all of it is lowered by the mean factor
    by which the covariance is larger. The covariance's own inverse is worth nothing in
    directions in which few samples say something.

    Args:
        Y: (k, n, b).
        weight: Of each equation (k, n), one over its deviation; 0: not used.
        covariance: Of the solution (b, b).
    """
    W = (weight[..., None] * Y).reshape(-1, Y.shape[-1])
    scale = np.maximum(np.linalg.norm(W, axis=0), 1e-300)
    R = np.asarray(np.linalg.qr(W / scale, mode="r")) * scale
    factor = np.trace(R @ covariance @ R.T) / len(R)
    return np.asarray(R / np.sqrt(max(float(factor), 1e-300)))


def long_run(scores: Array) -> Array:
    """Covariance of the sum of correlated rows (k, b), Bartlett's weights."""
    lag = memory(scores)
    S = scores.T @ scores
    for i in range(1, lag + 1):
        C = scores[i:].T @ scores[:-i]
        S += (1.0 - i / (lag + 1.0)) * (C + C.T)
    return np.asarray(S)


def memory(scores: Array) -> int:
    """Rows that a row remembers: where the mean correlation falls below noise, thrice."""
    k = len(scores)
    power = np.maximum((scores**2).sum(axis=0), 1e-300)
    for lag in range(1, min(LONGEST, k // 4)):
        correlation = np.mean((scores[lag:] * scores[:-lag]).sum(axis=0) / power)
        if correlation < 2.0 / np.sqrt(k):
            return 3 * lag
    return min(LONGEST, k // 4)


def deviation(r: Array, used: BoolArray) -> Array:
    """RMS of each joint's residual (n,), over the equations that are used."""
    return np.asarray(np.sqrt((r**2 * used).sum(axis=0) / np.maximum(used.sum(axis=0), 1)))
