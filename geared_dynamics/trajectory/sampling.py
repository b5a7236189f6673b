"""Samples of a reference and its derivatives: at one time in a loop, or at many."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from math import factorial, perm
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, Frozen, readonly
from geared_dynamics.checks import as_order, as_time, finite_array, positive_time
from geared_dynamics.errors import ArrayError, shown
from geared_dynamics.trajectory import spline
from geared_dynamics.trajectory.references import (
    TERMS,
    ReferenceMotion,
    Sample,
    SampleBuffer,
    segment_tables,
)
from geared_dynamics.trajectory.spline import Spline
from geared_dynamics.trajectory.time_optimal import Piecewise
from geared_dynamics.trajectory.waypoints import TrajectoryError

# -- Looking at a reference: one time in a control loop, many times at once -----------------------


MOST = 1_000_000  # samples of ``resample``


def sample_into(reference: ReferenceMotion, t: float, out: SampleBuffer) -> None:
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
    if out.flat.size != reference.last.size:
        finding = f"is for {out.values.shape[1]} joints, the reference has {reference.n}"
        raise TrajectoryError("out", finding, f"make SampleBuffer({reference.n})")
    if s < times[-1]:
        if s < 0.0:
            s = 0.0
        k = bisect_right(times, s) - 1
        out.evaluate(reference.rows[k], s - times[k], out.flat)
        out.finished = False
    elif s >= times[-1]:
        out.values[:] = reference.last
        out.finished = True
    else:
        raise TrajectoryError("t", f"is {shown(t)}", "give a finite time [s]")


def sample(reference: ReferenceMotion, t: float) -> Sample:
    """What is wanted at a time [s]; see ``sample_into``."""
    out = SampleBuffer(reference.n)
    sample_into(reference, float(finite_array("t", t, 0)), out)
    return Sample(out.q, out.v, out.a, out.effort, out.finished)


def derivatives(reference: ReferenceMotion, t: ArrayLike, order: int) -> Array:
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


def resample(reference: ReferenceMotion, period: float, begin: float | None = None) -> Dense:
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
        raise TrajectoryError("period", finding, f"use a longer period, for at most {MOST} points")
    pieces = [
        a + (b - a) * np.arange(count) / count
        for a, b, count in zip(ends[:-1], ends[1:], counts.astype(int), strict=True)
    ]
    times = np.concatenate([*pieces, ends[-1:]])
    values, effort = _look(reference, times, 2, relative=True)
    q, v, a = values.swapaxes(0, 1)
    return Dense(times - offset, q, v, a, effort, reference.begin + offset)


def _look(
    reference: ReferenceMotion, t: Array, order: int, *, relative: bool = False
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


# -- Derivatives of a motion in a control loop ----------------------------------------------------


@dataclass(frozen=True, eq=False)
class Prepared(Frozen):
    """A motion's derivatives up to an order, as polynomials between times; made by ``prepare``.

    Attributes:
        begin: Time to which the knots are relative [s].
        knots: Rising times, the first at most 0 (k + 1,) [s].
        tables: What the powers of the time since a piece's begin are multiplied by
            (k, terms, (order + 1) n).
        first: Rows q, v, a and on before ``begin`` (order + 1, n).
        last: From the last knot on.
    """

    begin: float
    knots: Array
    tables: Array
    first: Array
    last: Array

    @cached_property
    def times(self) -> tuple[float, ...]:
        """The knots as plain numbers, which are quicker to search."""
        return tuple(self.knots.tolist())

    @cached_property
    def rows(self) -> tuple[Array, ...]:
        """The tables one by one."""
        return tuple(self.tables)


def prepare(motion: Spline | Piecewise | ReferenceMotion, order: int) -> Prepared:
    """Prepare a motion for ``derivatives_into``.

    Args:
        motion: From any function of this room.
        order: Highest derivative k; refused as ``derivatives`` of the motion refuses it.
    """
    k = as_order("order", order)
    if isinstance(motion, ReferenceMotion):
        return _of_reference(motion, k)
    if isinstance(motion, Piecewise):
        begin, knots, taylor = motion.start, motion.knots, motion.coefficients
    else:
        begin, knots, taylor = _of_spline(motion)
    before = motion.derivatives(np.nextafter(motion.start, -np.inf), k)
    after = motion.derivatives(np.nextafter(motion.end, np.inf), k)
    tables = np.stack([_prepared_rate(taylor, row) for row in range(k + 1)], axis=2)
    return _made(begin, knots, tables, before, after)


def derivatives_into(prepared: Prepared, t: float, out: Array) -> None:
    """Write q and its derivatives at a time into an array, without anything that stays.

    Args:
        prepared: From ``prepare``.
        t: Time [s].
        out: Rows q, v, a and on (order + 1, n), C-contiguous float64.

    Raises:
        ArrayError: if the time is not a number, or the array has another shape.
    """
    times = prepared.times
    s = (t if type(t) is float else as_time("t", t)) - prepared.begin
    if out.shape != prepared.last.shape or not out.flags.c_contiguous or out.dtype != np.float64:
        finding = f"has shape {out.shape} and type {out.dtype}"
        remedy = f"give shape {prepared.last.shape}, C-contiguous float64"
        raise ArrayError("out", finding, remedy)
    if s >= times[-1]:
        out[:] = prepared.last
    elif s < 0.0:
        out[:] = prepared.first
    elif s == s:
        k = bisect_right(times, s) - 1
        table, x = prepared.rows[k], s - times[k]
        power, powers = 1.0, [1.0]
        for _ in range(len(table) - 1):
            power *= x
            powers.append(power)
        np.dot(powers, table, out=out.reshape(-1))
    else:
        raise ArrayError("t", f"is {shown(t)}", "give a finite time [s]")


def _made(begin: float, knots: Array, tables: Array, before: Array, after: Array) -> Prepared:
    """Flatten tables (k, terms, order + 1, n) and freeze all."""
    count, terms, rows, n = tables.shape
    flat = readonly(tables.reshape(count, terms, rows * n))
    return Prepared(begin, readonly(knots), flat, readonly(before), readonly(after))


def _of_spline(motion: Spline) -> tuple[float, Array, Array]:
    """Begin, knots after it, and Taylor coefficients (k, degree + 1, n) at each piece's begin."""
    knots = np.unique(motion.knots)
    known = spline.values(motion.pieces, motion.degree, knots[:-1]).swapaxes(0, 1)
    factorials = np.cumprod(np.maximum(np.arange(motion.degree + 1.0), 1.0))
    return motion.start, knots - motion.start, known / factorials[:, None]


def _of_reference(motion: ReferenceMotion, order: int) -> Prepared:
    """Rows q, v, a as they are, which need not be each other's derivatives, then those of a."""
    parts = motion.tables.reshape(-1, TERMS, 4, motion.n)
    rows = [parts[:, :, row] for row in range(min(order, 2) + 1)]
    rows += [_prepared_rate(parts[:, :, 2], row - 2) for row in range(3, order + 1)]
    before, after = derivatives(motion, [motion.begin, motion.end], order)
    return _made(motion.begin, motion.knots, np.stack(rows, axis=2), before, after)


def _prepared_rate(coefficients: Array, order: int) -> Array:
    """Coefficients (k, p, n) of a derivative, filled up with zeros."""
    result = np.zeros_like(coefficients)
    terms = coefficients.shape[1]
    for p in range(terms - order):
        result[:, p] = perm(p + order, order) * coefficients[:, p + order]
    return result


# -- A motion along which time goes slower: its derivatives from those along its own time ---------


def slowed(rows: Array, rate: float, slope: float) -> Array:
    """Return derivatives with respect to time from those along the motion.

    With the motion q(s), ds/dt = rate and d²s/dt² = slope, that constant (Faà di Bruno):

        dⁿq/dtⁿ = Σ_k n! / ((n-k)! (2k-n)!) (slope/2)^(n-k) rate^(2k-n) dᵏq/dsᵏ,  n/2 <= k <= n

    so that q̇ = rate q′ and q̈ = rate² q″ + slope q′.

    Args:
        rows: q, q′, q″ and on (order + 1, n) [rad/s^i or m/s^i].
        rate: ds/dt, 1 for the motion's own time.
        slope: Its change [1/s].
    """
    found = np.zeros_like(rows)
    found[0] = rows[0]
    for n in range(1, len(rows)):
        for k in range((n + 1) // 2, n + 1):
            both = factorial(n) / (factorial(n - k) * factorial(2 * k - n))
            found[n] += both * (0.5 * slope) ** (n - k) * rate ** (2 * k - n) * rows[k]
    return found


# -- References that end a motion -----------------------------------------------------------------


STAND = 1e-3  # [s], the length of a stop from rest: a reference has one piece at least


def decelerating(q: Array, v: Array, deceleration: Array, now: float) -> ReferenceMotion:
    """Bring each joint to rest at its own deceleration, as JTC does on cancel.

    With d the deceleration and s the sign of v a joint rests after t_s = |v|/d, at
    q + v |v|/(2 d); until then it is at q + v t - s d t²/2.

    Args:
        q: Position now (n,) [rad or m].
        v: Velocity now (n,).
        deceleration: Above zero where v is not zero (n,) [rad/s² or m/s²].
        now: Time [s].
    """
    moving = np.abs(v) > 0.0
    rate = np.where(moving, deceleration, 1.0)
    ends = np.where(moving, np.abs(v) / rate, 0.0)
    goal = q + 0.5 * v * ends
    knots = np.unique(np.append(ends, 0.0 if moving.any() else (0.0, STAND)))
    coefficients = np.zeros((len(knots) - 1, TERMS, len(q)))
    brake = -np.sign(v) * rate
    for k, begin in enumerate(knots[:-1]):
        going = ends > begin
        at = q + v * begin + 0.5 * brake * begin**2
        coefficients[k, 0] = np.where(going, at, goal)
        coefficients[k, 1] = np.where(going, v + brake * begin, 0.0)
        coefficients[k, 2] = np.where(going, 0.5 * brake, 0.0)
    none = np.zeros((len(coefficients), len(q)))
    last = np.array([goal, *np.zeros((3, len(q)))])
    made = readonly(segment_tables(coefficients, none, none))
    return ReferenceMotion(now, readonly(knots), made, readonly(last))
