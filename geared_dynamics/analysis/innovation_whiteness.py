r"""Whiteness of innovations against what noise of the encoders alone makes of them.

The filter expects forces up to its bandwidth. Where none act, noise of variance R passes through
the filter's own error e (k,), with F its transition, K its gain and C the encoders' rows:

    e' = F (1 - K C) e - F K noise,    innovation = C e + noise

so that the innovation has the autocovariance, with X = E e e' from that recursion,

    r_0 = C X C' + R,    r_l = C (F (1 - K C))^(l - 1) (F (1 - K C) X C' - F K R)

which is a little less than expected and a little anti-correlated, more so at a high bandwidth.
Where forces act as the filter expects them, innovations are white. An exact model gives a mixture,

    s (x r_l + (1 - x) S delta_l),    0 <= x <= 1

with S the expected variance and s the factor by which the variance of the noise is misstated. Each
correlation is compared with the nearest that such a mixture has. What it is beyond that is not
noise: the model is wrong, a force acts that is faster than the bandwidth, or the torques are late.

Rounding to steps d of an encoder is white where the noise sigma beside it smears it; its part that
goes with the position has at most the variance

    q = d^2 \sum_h exp(-(2 pi h sigma / d)^2) / (2 pi^2 h^2)

and no correlation up to q counts (B. Widrow, I. Kollar, Quantization Noise, 2008). Correlations of
k pairs scatter by Bartlett's formula (M. S. Bartlett, J. R. Stat. Soc. Suppl. 8, 1946). Each motor
is judged alone, and at each lag all m together: what is wrong colours most motors, and the sum of
their squares over their variances, chi squared with m degrees of freedom, shows it where none of
them does. The bounds hold for all motors, lags and both tests with the probability 1 - CHANCE.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.dynamics import elastic
from geared_dynamics.dynamics.drives import packed_drives
from geared_dynamics.dynamics.elastic.equations import packed_springs
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.model import GearedModel
from geared_dynamics.observers import KalmanGains, KalmanState

LAGS = 20
CHANCE = 1e-3  # part of the recordings of an exact model that are called coloured, at most
SHARE = 0.1  # of the variance: less colour does not count, the noise that fits is right within 5 %
TOGETHER = 0.5  # of that share, RMS of all motors: so much counts where all show it
PAIRS = 30  # of samples a lag apart; with fewer the lag is not judged
DOUBLINGS = 20  # of the recursion of X: a million steps
STEADY = 1.0 + 1e-9  # Eigenvalues of what nothing moves are 1: a shaft's force with motors alone.
HARMONICS = 30  # of the sum q
ITERATIONS, LEAST = 30, 1e-9  # of the factors s, and of the largest: none is zero


class Whiteness(NamedTuple):
    """Correlations of each motor's innovations, and what noise of its encoder explains of them.

    Attributes:
        first: Correlation of each innovation with the one before (m,).
        lag: Number of samples of the correlation that noise explains least (m,), from 1.
        largest: That correlation (m,).
        explained: The nearest to it that noise makes, of the encoder alone or with forces (m,).
        bound: Distance of both from which on it counts (m,); infinite where there are too few
            samples to judge.
        coloured: Whether it is beyond (m,).
        scale: Variance of the encoder's noise over the stated one, s (m,).
    """

    first: Array
    lag: IntArray
    largest: Array
    explained: Array
    bound: Array
    coloured: BoolArray
    scale: Array


def noise_alone(
    model: GearedModel, gains: KalmanGains, state: KalmanState, tau_m: Array
) -> Array | None:
    """Autocovariance of each innovation by each encoder's noise alone (LAGS + 1, m, m) by S.

    By motor of the innovation, then of the encoder. None where the filter's error does not settle,
    as while it loses the arm.

    Args:
        model: Geared model with elastic joints.
        gains: Tuning.
        state: After the readings of an instant.
        tau_m: Motors' torques then (m,) [N m].
    """
    k, m = gains.sizes.state, gains.sizes.motors
    F = transition(model, state.mean, tau_m, 1.0 / gains.rate)
    if F is None:
        return None
    C, noise = gains.rows[:m], gains.noise[:m] ** 2
    root = state.root.reshape(k, k)
    gain = F @ (root.T @ (root @ C.T) / noise)
    closed = F - gain @ C
    if not np.abs(np.linalg.eigvals(closed)).max() < STEADY:
        return None
    moved = gain * noise  # by each encoder (k, m)
    X, power = np.einsum("ai,bi->iab", moved, gain), closed
    for _ in range(DOUBLINGS):
        X = X + power @ X @ power.T
        power = power @ power
    own = np.eye(m)
    across = closed @ X @ C.T - np.einsum("ai,ij->iaj", moved, own)
    found = [np.einsum("ja,iab,jb->ji", C, X, C) + own * noise]
    for _ in range(LAGS):
        found.append(np.einsum("ja,iaj->ji", C, across))
        across = closed @ across
    alone = np.array(found) / state.deviation[:m, None] ** 2
    return alone if np.isfinite(alone).all() else None


def white(m: int) -> Array:
    """The same of white innovations as large as expected (LAGS + 1, m, m)."""
    return np.concatenate([np.eye(m)[None], np.zeros((LAGS, m, m))])


def transition(model: GearedModel, mean: Array, tau_m: Array, dt: float) -> Array | None:
    """Derivative of the state (k,) after dt by the state before (k, k); None if there is none."""
    N = len(mean) // 3
    arm, springs, drives = (
        packed(model.with_springs()),
        packed_springs(model),
        packed_drives(model),
    )
    inputs = np.concatenate([tau_m, np.zeros(model.n), [dt]])
    out = np.empty(4 * N + 8 * N * N)
    if kernels.observer_transition(arm, springs, drives, mean, inputs, out) != 0:
        return None
    phi, moved = out[4 * N :].reshape(2, 2 * N, 2 * N)
    H = elastic.mass_matrix(model, mean[: model.n])
    F = np.eye(3 * N)
    F[: 2 * N, : 2 * N] = moved
    F[: 2 * N, 2 * N :] = dt * np.linalg.solve(H.T, phi[:, N:].T).T
    return F


def whiteness(
    innovation: Array, deviation: Array, after: Array, alone: Array, noise: Array, steps: Array
) -> Whiteness:
    """Judge innovations.

    Args:
        innovation: (k, m) [rad]; NaN where a reading was left out.
        deviation: What the filter expects (k, m) [rad].
        after: Whether a row follows the one before at once (k,).
        alone: ``noise_alone`` (LAGS + 1, m, m).
        noise: Standard deviation of the encoders' readings as stated (m,) [rad].
        steps: The encoders' resolution (m,) [rad].
    """
    m = innovation.shape[1]
    covariance, pairs = autocovariance(innovation / deviation, after)
    some = pairs >= PAIRS
    rho = np.where(some, covariance / np.maximum(covariance[0], np.finfo(float).tiny), 0.0)
    stated = scales(alone[0], covariance[0])
    by_noise = alone @ stated
    model = by_noise / by_noise[0]
    # the share of the variance that acts as noise alone does, by least squares of the lags
    square = np.sum(model[1:] ** 2, axis=0)
    part = np.sum(rho[1:] * model[1:], axis=0) / np.maximum(square, np.finfo(float).tiny)
    part = np.clip(part, 0.0, 1.0)
    scale = stated * covariance[0] / (part * by_noise[0] + (1.0 - part) * stated)
    expected = np.clip(rho, np.minimum(model, 0.0), np.maximum(model, 0.0))
    scatter = np.array([np.maximum(1.0, bartlett(model[:, j])) for j in range(m)]).T
    scatter = np.sqrt(scatter / np.maximum(pairs[1:], 1))
    likely = 1.0 - 0.5 * CHANCE / LAGS  # half of the chance for each of the two tests
    chance = NormalDist().inv_cdf(1.0 - 0.5 * (1.0 - likely) / m) * scatter
    total = covariance[0] * np.mean(deviation**2, axis=0)
    beside = np.sqrt(np.maximum(0.0, scale * noise**2 - steps**2 / 12.0))
    rounding = rounded(beside, steps) / np.maximum(total, np.finfo(float).tiny)
    bound = np.maximum(chance, SHARE) + rounding
    bound = np.where(some[1:], bound, np.inf)
    apart = np.abs(rho - expected)[1:]
    beyond = np.where(some[1:], np.maximum(apart - rounding, 0.0), 0.0)
    least, common = together(beyond, scatter, likely)
    bound = np.where(common[:, None], np.minimum(bound, least + rounding), bound)
    worst = np.argmax(np.where(some[1:], apart - bound, -np.inf), axis=0)
    at = worst, np.arange(m)
    return Whiteness(
        first=rho[1],
        lag=worst + 1,
        largest=rho[1:][at],
        explained=expected[1:][at],
        bound=bound[at],
        coloured=apart[at] > bound[at],
        scale=scale,
    )


def together(beyond: Array, scatter: Array, likely: float) -> tuple[Array, BoolArray]:
    """Bounds of each motor where all are judged together (LAGS, m), and the lags beyond (LAGS,).

    At those the mean square of what is beyond, over its bounds, is above one.

    Args:
        beyond: How far correlations are from what noise explains, unsigned (LAGS, m).
        scatter: Their standard deviations by chance (LAGS, m).
        likely: Probability of less, of each lag.
    """
    m = beyond.shape[1]
    least = np.maximum(np.sqrt(chi_squared(likely, m) / m) * scatter, TOGETHER * SHARE)
    return least, np.mean((beyond / least) ** 2, axis=1) > 1.0


def chi_squared(likely: float, degrees: int) -> float:
    """What chi squared is below with a probability (Wilson and Hilferty 1931)."""
    part = 2.0 / (9.0 * degrees)
    spread = NormalDist().inv_cdf(likely) * part**0.5
    return float(degrees * (1.0 - part + spread) ** 3)


def scales(share: Array, variance: Array) -> Array:
    """Factors s (m,) of the encoders' variances with share s = variance (m,), none negative.

    share (m, m) is nearly diagonal: iterated as Gauss and Seidel do, each s no less than 0.
    """
    s = variance / np.diag(share)
    least = LEAST * max(float(np.max(s)), np.finfo(float).tiny)
    for _ in range(ITERATIONS):
        for j in range(len(s)):
            rest = variance[j] - share[j] @ s + share[j, j] * s[j]
            s[j] = max(least, rest / share[j, j])
    return np.asarray(s)


def autocovariance(x: Array, after: Array) -> tuple[Array, IntArray]:
    """Mean products of columns of x (k, m) with themselves 0 to LAGS rows before, and how many.

    Within stretches only (LAGS + 1, m); missing readings are left out.
    """
    breaks = np.cumsum(~after.astype(bool))
    covariance, pairs = np.zeros((2, LAGS + 1, x.shape[1]))
    for lag in range(min(LAGS + 1, len(x))):
        together = breaks[lag:] == breaks[: len(x) - lag]
        product = (x[lag:] * x[: len(x) - lag])[together]
        known = np.isfinite(product)
        pairs[lag] = np.count_nonzero(known, axis=0)
        covariance[lag] = np.sum(np.where(known, product, 0.0), axis=0) / np.maximum(
            pairs[lag], 1.0
        )
    return covariance, pairs.astype(np.int64)


def bartlett(rho: Array) -> Array:
    """Variance of correlations at lags 1 to LAGS, times pairs, of a process with rho (LAGS + 1,).

    sum_j rho_j^2 + rho_(j+l) rho_(j-l) - 4 rho_l rho_j rho_(j-l) + 2 rho_j^2 rho_l^2, over all j.
    """
    j = np.arange(-2 * LAGS, 2 * LAGS + 1)
    padded = np.concatenate([rho, np.zeros(3 * LAGS)])
    r = padded[np.abs(j)]
    variances = []
    for lag in range(1, LAGS + 1):
        later, earlier, own = padded[np.abs(j + lag)], padded[np.abs(j - lag)], rho[lag]
        terms = r**2 + later * earlier - 4.0 * own * r * earlier + 2.0 * r**2 * own**2
        variances.append(np.sum(terms))
    return np.array(variances)


def rounded(noise: Array, steps: Array) -> Array:
    """Largest variance of the rounding that goes with the position, q (m,) [rad^2]."""
    h = np.arange(1, HARMONICS + 1)[:, None]
    smeared = np.exp(-((2.0 * np.pi * h * noise / np.where(steps > 0.0, steps, 1.0)) ** 2))
    return np.asarray(steps**2 * np.sum(smeared / (2.0 * np.pi**2 * h**2), axis=0))
