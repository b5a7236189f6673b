"""What else could explain the torques that were fitted: another zero position, more mass.

The links are taken as the files say, friction and rotor inertias are free; E is the mean square of
the joints' residuals over their torques. A hypothesis is accepted if it explains most of E:

- another zero position of one joint after the other, in steps of 45 degrees, then of 5. The
  identified parameters alone would not show it: the first moments of a link turn with it. Where
  the base parameters are fitted at that zero position, they must not fit worse;
- a mass with its centre at the last link, least squares of (m, mc) beside friction and rotors.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.identification import Identified
from geared_dynamics.analysis.least_squares import solve
from geared_dynamics.analysis.parameter_columns import columns, prior
from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.dynamics.packing import columns_of
from geared_dynamics.model import GearedModel

ROWS = 300  # equations that are enough to compare hypotheses
COARSE, FINE = np.deg2rad(45.0), np.deg2rad(5.0)
ACCEPTED = 0.4  # share of E that an accepted hypothesis leaves, at most
SAME = 1.1  # times E with which a zero position is as good as another
RIGHT, NEARLY = 2.0, np.deg2rad(16.0)  # the same of a right angle that is so near
NO_WORSE = 1.2  # times E of the fit, at another zero position
EXPLAINS = 0.5  # RMS of the residuals over the torques that an accepted hypothesis leaves, at most
SURE = 3.0  # deviations
STATES = 300  # random ones, over which a torque's uncertainty is averaged


class Explained(NamedTuple):
    """What would explain the torques better than the files do.

    Attributes:
        zero: What to add to the recorded position of each joint (n,) [rad]; 0: nothing.
        mass: What the last link carries beside its own mass [kg]; 0: nothing.
        sigma: Standard deviation of that mass [kg].
        before: RMS residual over the torque with the files' links.
        after: The same with what is said here.
    """

    zero: Array
    mass: float
    sigma: float
    before: float
    after: float


class _Rows(NamedTuple):
    """Some of the equations that were fitted (k, ...), and the files' parameters (p,)."""

    q: Array
    v: Array
    a: Array
    tau: Array
    used: BoolArray
    files: Array


def fitted(result: Identified) -> BoolArray:
    """Which equations were fitted (k, n): all that count, but what was held out of them."""
    found = result.equations
    own = result.held is found
    return found.used & ~found.held[:, None] if own else found.used


def explained(result: Identified) -> Explained:
    """Look for a zero position or a mass at the last link that explains the torques.

    Args:
        result: What was identified.
    """
    model, rows, none = result.model, _some(result), np.zeros(result.model.n)
    bodies = columns_of(model).bodies
    free, first = _without_links(bodies, len(rows.files)), bodies[-1]
    loaded = [*free, *range(first, first + 4)]
    zero = _other_zero(result, rows, loaded, none)
    # The last link, where it is free, turns in its joint's place: that zero needs the files' link.
    other = _other_zero(result, rows, free, zero)
    as_good = NO_WORSE * _files_error(result, rows, zero, loaded)[0]
    if _files_error(result, rows, other, free)[0] < as_good:
        zero = other
    before, least = (_files_error(result, rows, at, free)[0] for at in (none, zero))
    error, values, deviations = _files_error(result, rows, zero, loaded)
    mass, sigma = float(values[-4] - rows.files[first]), float(deviations[-4])
    if error < ACCEPTED * least and error < EXPLAINS**2 and abs(mass) > SURE * sigma:
        least = error
    else:
        mass = sigma = 0.0
    return Explained(_one_turn(zero), mass, sigma, float(np.sqrt(before)), float(np.sqrt(least)))


def _other_zero(result: Identified, rows: _Rows, free: list[int], start: Array) -> Array:
    """Zero position that explains most of E with free columns (n,) [rad]; or the start."""
    zero, least = start, _files_error(result, rows, start, free)[0]
    for _ in range(result.model.n):
        tried = [
            zero + step * COARSE * way for way in _ways(result.model) for step in range(-3, 5)
        ]
        errors = [_files_error(result, rows, at, free)[0] for at in tried]
        best = int(np.argmin(errors))
        if not errors[best] < ACCEPTED * least:
            break
        zero, least = _refined(result, rows, tried[best], free)
    usual = _fit_error(result, rows, start)
    holds = least < EXPLAINS**2 and _fit_error(result, rows, zero) < NO_WORSE * usual
    return zero if holds else start


def _ways(model: GearedModel) -> list[Array]:
    """Joints that turn, one by one, and each with its next turned back by as much."""
    units = [np.eye(model.n)[j] for j in np.flatnonzero(~model.prismatic)]
    return [*units, *(one - other for one, other in pairwise(units))]


def _one_turn(zero: Array) -> Array:
    """Angles within half a turn to either side."""
    return np.asarray(np.pi - (np.pi - zero) % (2.0 * np.pi))


def _refined(result: Identified, rows: _Rows, zero: Array, free: list[int]) -> tuple[Array, float]:
    """Best zero position near one, in steps of FINE (n,), and its E.

    Right angles are preferred where they are as good, and zero where it is: the zero position of
    an upright axis does not matter.
    """
    ways = [way for way in _ways(result.model) if not way[zero == 0.0].any()]
    for way in [*ways, *ways]:
        tried = [zero + step * FINE * way for step in range(-9, 10)]
        errors = [_files_error(result, rows, at, free)[0] for at in tried]
        zero = tried[int(np.argmin(errors))]
    least = _files_error(result, rows, zero, free)[0]
    for j in np.flatnonzero(zero):
        right = 0.5 * np.pi * np.rint(zero[j] / (0.5 * np.pi))
        near = abs(right - zero[j]) < NEARLY
        for angle, times in ((0.0, SAME), (right, RIGHT if near else SAME)):
            other = np.where(np.arange(len(zero)) == j, angle, zero)
            if _files_error(result, rows, other, free)[0] <= times * least:
                zero = other
                break
    return zero, _files_error(result, rows, zero, free)[0]


def _some(result: Identified) -> _Rows:
    """A few of the equations, spread over all that were fitted."""
    found, used = result.equations, fitted(result)
    there = np.flatnonzero(used.any(axis=1))
    some = there[:: max(1, len(there) // ROWS)]
    motion = found.q[some], found.v[some], found.a[some]
    return _Rows(*motion, found.tau[some], used[some], prior(result.model))


def _without_links(bodies: Sequence[int], count: int) -> list[int]:
    """Which of all columns are free where the links, which begin at some, are the files'."""
    links = {first + k for first in bodies for k in range(10)}
    return [k for k in range(count) if k not in links]


def _files_error(
    result: Identified, rows: _Rows, zero: Array, free: list[int]
) -> tuple[float, Array, Array]:
    """E with the links of the files and free columns: values and deviations of these."""
    Y = columns(result.model, rows.q + zero, rows.v, rows.a)
    outside = np.setdiff1d(np.arange(len(rows.files)), free)
    return _error(Y[..., free], rows.tau - Y[..., outside] @ rows.files[outside], rows)


def _fit_error(result: Identified, rows: _Rows, zero: Array) -> float:
    """E of the base parameters, fitted at another zero position."""
    Y = columns(result.model, rows.q + zero, rows.v, rows.a)
    return _error(Y[..., list(result.base.selection)], rows.tau, rows)[0]


def _error(Y: Array, tau: Array, rows: _Rows) -> tuple[float, Array, Array]:
    """Least squares of torques (k, n), each joint over its own RMS: E, values, deviations."""
    count = np.maximum(rows.used.sum(axis=0), 1)
    rms = np.sqrt((rows.tau**2 * rows.used).sum(axis=0) / count)
    weight = rows.used / np.maximum(rms, 1e-12 * max(float(rms.max()), 1e-300))
    weight = weight / np.sqrt(count)  # every joint counts as much as another
    W = (weight[..., None] * Y).reshape(-1, Y.shape[-1])
    scale = np.maximum(np.linalg.norm(W, axis=0), 1e-300)
    right = (weight * tau).ravel()
    left, size, turn = np.linalg.svd(W / scale, full_matrices=False)
    kept = size > 1e-8 * size.max(initial=1e-300)
    inverse = (turn[kept].T / size[kept]) / scale[:, None]
    values = inverse @ (left.T @ right)[kept]
    error = float(np.sum((right - W @ values) ** 2))
    spread = error / max(int(rows.used.sum()) - int(kept.sum()), 1)
    deviations = np.sqrt(spread * np.sum(inverse**2, axis=1))
    return error / Y.shape[1], values, deviations


class Scale(NamedTuple):
    """A joint's torque that looks too large or too small for what the other joints show.

    Attributes:
        joint: Its number.
        change: By how much, over the torque.
        sigma: Standard deviation of that.
    """

    joint: int
    change: float
    sigma: float


def other_scale(result: Identified) -> Scale:
    """The joint whose torque fits that of the others least, if it were scaled.

    Each joint in turn has one more column, what the fit expects of its torque. Joints share the
    links' parameters, so that the scale of one is determined by the others.

    Args:
        result: What was identified.
    """
    found, used = result.equations, fitted(result)
    Y = found.Y[..., list(result.base.selection)]
    expected, scales = Y @ result.x, []
    for j in range(result.model.n):
        own = expected * np.eye(result.model.n)[j]
        fit = solve(np.concatenate([Y, own[..., None]], axis=-1), expected + _left(result), used)
        deviation = float(np.sqrt(max(fit.covariance[-1, -1], 0.0)))
        scales.append(Scale(j, float(fit.x[-1]), max(deviation, 1e-300)))
    return max(scales, key=lambda scale: abs(scale.change) / scale.sigma)


def _left(result: Identified) -> Array:
    """Torque that the fit leaves (k, n)."""
    found = result.equations
    return np.asarray(found.tau - result.expected(found))


def elsewhere(result: Identified, seed: int = 0) -> Array:
    """Uncertainty of the torques in other motions, over these torques (n,): RMS over states.

    Positions are random within the limits, or within what was recorded where there are none;
    velocities and accelerations are recorded ones, each joint's in an order of its own.

    Args:
        result: What was identified.
        seed: Of the random numbers.
    """
    model, found, random = result.model, result.equations, np.random.default_rng(seed)
    given = model.limits
    turning = np.where(model.continuous, np.pi, 0.0)
    low = np.where(given.bounded, given.lower, found.q.min(axis=0) - turning)
    high = np.where(given.bounded, given.upper, found.q.max(axis=0) + turning)
    low = np.maximum(low, found.q.min(axis=0) - np.pi)  # limits of several turns say nothing
    high = np.minimum(high, found.q.max(axis=0) + np.pi)
    some = random.permuted(np.tile(np.arange(len(found.q)), (model.n, 1)), axis=1).T[:STATES]
    joints = np.arange(model.n)
    q = random.uniform(low, high, (len(some), model.n))
    Y = columns(model, q, found.v[some, joints], found.a[some, joints])
    Y = Y[..., list(result.base.selection)]
    variance = np.einsum("kjb,bc,kjc->j", Y, result.solution.covariance, Y) / len(some)
    rms = np.sqrt(np.mean((Y @ result.x) ** 2, axis=0))
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)) / np.maximum(rms, 1e-300))
