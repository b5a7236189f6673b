"""Looking at a reference: one time in a control loop, many times at once."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.trajectory.checks import as_order, as_time, finite_array, positive_time
from geared_dynamics.trajectory.errors import TrajectoryError
from geared_dynamics.trajectory.reference import Reference
from geared_dynamics.trajectory.sample import Sample, SampleBuffer
from geared_dynamics.trajectory.segments import TERMS

MOST = 1_000_000  # samples of ``resample``


def sample_into(reference: Reference, t: float, out: SampleBuffer) -> None:
    """Write what is wanted at a time into ``out``, without allocation.

    JTC commands what is wanted one period after the present cycle, and compares the measured
    state with what is wanted now: give t + period for the one and t for the other.

    Args:
        reference: From ``follow``.
        t: Time, on the clock of ``follow``'s ``now`` [s]. Count it from a time near by: seconds
            since 1970 resolve only 0.24 µs in float64.
        out: Made for as many joints.

    Raises:
        TrajectoryError: if the time is not a number, or the buffer is for other joints.
    """
    s = (t if type(t) is float else as_time("t", t)) - reference.begin
    times = reference.times
    if out.values.shape != reference.last.shape:
        finding = f"is for {out.values.shape[1]} joints, the reference has {reference.n}"
        raise TrajectoryError("out", finding, f"make SampleBuffer({reference.n})")
    if s < times[-1]:
        if s < 0.0:
            s = 0.0
        k = bisect_right(times, s) - 1
        x = s - times[k]
        powers = out.powers
        powers[1] = x
        powers[2] = y = x * x
        powers[3] = y * x
        powers[4] = y * y
        powers[5] = y * y * x
        np.dot(powers, reference.rows[k], out=out.flat)
        out.finished = False
    elif s >= times[-1]:
        out.values[:] = reference.last
        out.finished = True
    else:
        raise TrajectoryError("t", f"is {t!r}", "give finite seconds")


def sample(reference: Reference, t: float) -> Sample:
    """What is wanted at a time [s]; see ``sample_into``."""
    out = SampleBuffer(reference.n)
    sample_into(reference, float(finite_array("t", t, 0)), out)
    return Sample(out.q, out.v, out.a, out.effort, out.finished)


def derivatives(reference: Reference, t: ArrayLike, order: int) -> Array:
    """Position and its time derivatives, piece by piece, for motors that need more than q, v, a.

    They jump at waypoints: by JTC's rules linear pieces join with continuous positions, cubic
    ones with velocities, quintic ones with accelerations. Elastic joints want four continuous
    derivatives: see ``through``. After the end, rows above the acceleration are zero.

    Args:
        reference: From ``follow``.
        t: Times (...) [s].
        order: Highest derivative k.

    Returns:
        Rows q, v, a, jerk and on (..., k+1, n).
    """
    highest = as_order("order", order)
    times = finite_array("t", t)
    values, _ = _look(reference, times.reshape(-1), max(highest, 2))
    return values[:, : highest + 1].reshape(*times.shape, highest + 1, reference.n)


class Dense(NamedTuple):
    """A reference as a table, ready to become a trajectory again.

    Attributes:
        times: After ``begin`` (k,) [s], the first 0.
        q: Position (k, n).
        v: Velocity (k, n).
        a: Acceleration (k, n).
        effort: (k, n).
        begin: Time of the first row [s].
    """

    times: Array
    q: Array
    v: Array
    a: Array
    effort: Array
    begin: float


def resample(reference: Reference, period: float, begin: float | None = None) -> Dense:
    """Sample all waypoints, and between them so densely that no step exceeds the period.

    The segments are divided evenly. Where positions, velocities and accelerations are all
    given, JTC interpolates between the rows to the polynomials that the rows were taken from.

    Args:
        reference: From ``follow``.
        period: Largest step [s].
        begin: Time of the first row [s]; by default the reference's.
    """
    step = positive_time("period", period)
    first = reference.begin if begin is None else float(finite_array("begin", begin, 0))
    offset = max(first - reference.begin, 0.0)
    ends = np.append(offset, reference.knots[reference.knots > offset])
    # A step that exceeds the period by rounding alone is none too many.
    counts = np.maximum(np.ceil(np.diff(ends) / step - 1e-9), 1.0)
    if counts.sum() >= MOST:
        finding = f"is {step:g} s, which makes {counts.sum():.3g} points"
        raise TrajectoryError("period", finding, f"take a longer one: at most {MOST} points")
    pieces = [
        a + (b - a) * np.arange(count) / count
        for a, b, count in zip(ends[:-1], ends[1:], counts.astype(int), strict=True)
    ]
    times = np.concatenate([*pieces, ends[-1:]])
    values, effort = _look(reference, times, 2, relative=True)
    q, v, a = values.swapaxes(0, 1)
    return Dense(times - offset, q, v, a, effort, reference.begin + offset)


def _look(
    reference: Reference, t: Array, order: int, *, relative: bool = False
) -> tuple[Array, Array]:
    """Derivatives (k, order + 1, n), at least to the second, and effort (k, n) at times (k,)."""
    s = np.maximum(t if relative else t - reference.begin, 0.0)
    values, effort = np.zeros((len(s), order + 1, reference.n)), np.zeros((len(s), reference.n))
    over = s >= reference.knots[-1]
    values[over, :3], effort[over] = reference.last[:3], reference.last[3]
    going = np.flatnonzero(~over)
    if going.size:
        at = np.searchsorted(reference.knots, s[going], side="right") - 1
        table = reference.tables[at].reshape(going.size, TERMS, 4, reference.n)
        x = s[going] - reference.knots[at]
        known = np.einsum("kp,kprn->krn", x[:, None] ** np.arange(TERMS), table)
        values[going, :3], effort[going] = known[:, :3], known[:, 3]
        for row in range(3, min(order, TERMS - 1) + 1):
            values[going, row] = _rate(table[:, :, 2], x, row - 2)
    return values, effort


def _rate(coefficients: Array, x: Array, order: int) -> Array:
    """Derivative of some order of Σ c_p x^p (k, n), with c (k, p, n)."""
    result = np.zeros((len(x), coefficients.shape[2]))
    for p in range(order, TERMS):
        weight = float(np.prod(np.arange(p - order + 1, p + 1)))
        result += weight * coefficients[:, p] * (x ** (p - order))[:, None]
    return result
