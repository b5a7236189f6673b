"""Motions from rest to rest as quick as limits allow: trapezoidal, or with bounded jerk."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, Frozen, readonly
from geared_dynamics.checks import as_order, finite_array
from geared_dynamics.errors import ArrayError
from geared_dynamics.trajectory.references import TERMS, ReferenceMotion, segment_tables

# -- Quickest motions of one joint from rest to rest, as a list of phases -------------------------
#
# All formulas are for one distance D ≥ 0. References: L. Biagiotti, C. Melchiorri, "Trajectory
# Planning for Automatic Machines and Robots", sections 3.2 and 3.4.


class Phases(NamedTuple):
    """Phases of constant highest derivative.

    Attributes:
        lengths: Durations (k,) [s].
        rates: The highest derivative in each (k,): acceleration, or jerk.
        order: 2 for acceleration, 3 for jerk.
    """

    lengths: Array
    rates: Array
    order: int

    @property
    def duration(self) -> float:
        """Time of all phases [s]."""
        return float(self.lengths.sum())


def accelerated(distance: float, v: float, a: float) -> Phases:
    """Quickest with a limited speed v and acceleration a: up, along, down.

    The speed reached is w = min(v, √(a D)); the phases take w / a, D / w - w / a, w / a.
    """
    reached = math.sqrt(a) * math.sqrt(distance)
    w = min(v, reached)
    ramp = w / a
    along = max(distance / w - ramp, 0.0) if v < reached else 0.0
    return Phases(np.array([ramp, along, ramp]), np.array([a, 0.0, -a]), 2)


def jerked(distance: float, v: float, a: float, j: float) -> Phases:
    """Quickest with limited speed v, acceleration a and jerk j: seven phases, symmetric.

    To the speed w and back to rest, a joint that reaches the acceleration a takes the way
    w (w / a + a / j), one that does not 2 w √(w / j).
    """
    w = min(v, top_speed(distance, a, j))
    if w * j >= a * a:
        change, constant = a / j, max(w / a - a / j, 0.0)
    else:
        change, constant = math.sqrt(w / j), 0.0
    ramp = 2.0 * change + constant
    along = max(distance / w - ramp, 0.0) if w == v else 0.0
    lengths = np.array([change, constant, change, along, change, constant, change])
    return Phases(lengths, j * np.array([1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0]), 3)


def top_speed(distance: float, a: float, j: float) -> float:
    """Speed at which a joint must brake at once, with no limit of the speed."""
    if distance * (j / a) * (j / a) >= 2.0 * a:
        # Positive root of w² / a + w a / j = D, written so that nothing cancels.
        ramp = a / j
        return 2.0 * distance / (ramp + math.sqrt(ramp * ramp + 4.0 * distance / a))
    return float(np.cbrt(distance) ** 2 * np.cbrt(j / 4.0))


def stretched(phases: Phases, duration: float) -> Phases:
    """The same way in a longer time: each derivative of order i falls by (T / T')^i."""
    if phases.duration == 0.0:
        return phases
    factor = phases.duration / duration
    return Phases(phases.lengths / factor, phases.rates * factor**phases.order, phases.order)


def pieces(phases: Phases, begin: Array) -> Array:
    """Coefficients (k, order + 1) of the way, from rest at 0, with s from each phase's begin.

    Args:
        phases: Of one joint.
        begin: Times at which the pieces begin (k,), after the motion's start [s].
    """
    starts = np.concatenate([[0.0], np.cumsum(phases.lengths)])
    state = np.zeros(phases.order + 1)  # way, speed, ... as Taylor coefficients
    known = []
    for length, rate in zip(phases.lengths, phases.rates, strict=True):
        state[-1] = rate / math.factorial(phases.order)
        known.append(state.copy())
        state = shifted(state, length)
    at = np.clip(np.searchsorted(starts, begin, side="right") - 1, 0, len(known) - 1)
    rows = [shifted(known[i], t - starts[i]) for i, t in zip(at, begin, strict=True)]
    return np.array(rows).reshape(len(begin), phases.order + 1)


def shifted(coefficients: Array, x: float) -> Array:
    """Taylor coefficients at a time x later."""
    result = coefficients.copy()
    for i in range(len(result) - 1):
        for k in range(len(result) - 2, i - 1, -1):
            result[k] += x * result[k + 1]
    return result


# -- A motion from rest to rest as polynomials between times, as jerky as its limits --------------


@dataclass(frozen=True, eq=False)
class Piecewise(Frozen):
    """q(s) = Σ c_k (s - t_i)^k, s = t - start, in the piece that begins at t_i; else at rest.

    Unlike a ``Spline`` it also gives the first derivative that jumps, with its value after the
    jump: the acceleration of a trapezoidal profile, the jerk of a jerk-bounded one.

    Attributes:
        degree: Of the pieces; degree - 1 derivatives are continuous, the next one jumps.
        start: Time up to which it rests [s].
        knots: Times t_i after the start, rising from 0 (k + 1,) [s].
        coefficients: c (k, degree + 1, n).
        first: Position before (n,) [rad or m].
        last: Position after (n,).
    """

    degree: int
    start: float
    knots: Array
    coefficients: Array
    first: Array
    last: Array

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.first.size)

    @property
    def duration(self) -> float:
        """Time from rest to rest [s]; zero if no joint moves."""
        return float(self.knots[-1])

    @property
    def end(self) -> float:
        """Time from which it rests [s]."""
        return self.start + self.duration

    def derivatives(self, t: ArrayLike, order: int) -> Array:
        """Position and its time derivatives up to an order.

        Args:
            t: Times (...) [s].
            order: Highest derivative k, at most the degree.

        Returns:
            Rows q, v, a, jerk and on (..., k+1, n) [rad/s^i or m/s^i].

        Raises:
            ArrayError: if an asked derivative has impulses.
        """
        highest = as_order("order", order)
        if highest > self.degree:
            finding = f"is {highest}, and derivative {self.degree} of this motion jumps"
            remedy = f"ask for {self.degree} or fewer, or use rest_to_rest(continuous={highest})"
            raise ArrayError("order", finding, remedy)
        times = finite_array("t", t)
        flat = times.reshape(-1) - self.start
        values = np.zeros((flat.size, highest + 1, self.n))
        values[:, 0] = np.where(flat[:, None] < 0.0, self.first, self.last)
        moving = np.flatnonzero((flat >= 0.0) & (flat < self.duration))
        at = np.searchsorted(self.knots, flat[moving], side="right") - 1
        terms = self.coefficients[at]  # of the derivative, lowest power first
        x = (flat[moving] - self.knots[at])[:, None]
        for row in range(highest + 1):
            values[moving, row] = horner(terms, x)
            terms = terms[:, 1:] * np.arange(1, terms.shape[1])[:, None]
        return values.reshape(*times.shape, highest + 1, self.n)

    def reference(self) -> ReferenceMotion:
        """The same motion for ``sample_into`` and ``derivatives``, without effort."""
        count, terms, n = self.coefficients.shape
        position = np.zeros((count, TERMS, n))
        position[:, :terms] = self.coefficients
        none = np.zeros((count, n))
        last = np.zeros((4, n))
        last[0] = self.last
        table = readonly(segment_tables(position, none, none))
        return ReferenceMotion(self.start, self.knots, table, readonly(last))


def horner(coefficients: Array, x: Array) -> Array:
    """Σ c_p x^p (k, n), with c (k, p, n) and x (k, 1)."""
    value = np.zeros(coefficients.shape[::2])
    for p in reversed(range(coefficients.shape[1])):
        value = value * x + coefficients[:, p]
    return value


# -- Motions from rest to rest as quick as limits allow, for users without a planner --------------


def trapezoidal(
    start: ArrayLike,
    goal: ArrayLike,
    *,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    begin: float = 0.0,
) -> Piecewise:
    """Quickest motion with limited velocity and acceleration: up, along, down.

    Each joint's own quickest motion, then stretched in time so that all arrive with the
    slowest: T = D / w + w / a with w = min(v, √(a D)), of the joint for which this is largest.
    A joint that is too near to reach its velocity goes up and down. Accelerations jump.

    Args:
        start: Position before (n,) [rad or m].
        goal: Position after (n,).
        velocity: Limits, above 0, one or (n,) [rad/s or m/s].
        acceleration: Limits, above 0, one or (n,) [rad/s² or m/s²].
        begin: Time of departure [s].
    """
    ends = _ends(start, goal)
    v = _limits("velocity", velocity, ends[0].size)
    a = _limits("acceleration", acceleration, ends[0].size)
    return _together(ends, begin, 2, lambda d, k: accelerated(d, v[k], a[k]))


def jerk_bounded(
    start: ArrayLike,
    goal: ArrayLike,
    *,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    jerk: ArrayLike,
    begin: float = 0.0,
) -> Piecewise:
    """Quickest motion with limited velocity, acceleration and jerk: seven phases.

    Each joint's own quickest motion, then stretched in time so that all arrive with the
    slowest. Accelerations are continuous, the jerk jumps: enough for motors with inductance,
    not for elastic joints (see ``rest_to_rest`` with ``continuous=4``).

    Args:
        start: Position before (n,) [rad or m].
        goal: Position after (n,).
        velocity: Limits, above 0, one or (n,) [rad/s or m/s].
        acceleration: Limits, above 0, one or (n,) [rad/s² or m/s²].
        jerk: Limits, above 0, one or (n,) [rad/s³ or m/s³].
        begin: Time of departure [s].
    """
    ends = _ends(start, goal)
    v = _limits("velocity", velocity, ends[0].size)
    a = _limits("acceleration", acceleration, ends[0].size)
    j = _limits("jerk", jerk, ends[0].size)
    return _together(ends, begin, 3, lambda d, k: jerked(d, v[k], a[k], j[k]))


def _together(
    ends: tuple[Array, Array], begin: float, degree: int, quickest: Callable[[float, int], Phases]
) -> Piecewise:
    """Stretch each joint's quickest motion to the longest and join them in one."""
    first, last = ends
    with np.errstate(over="ignore"):  # said below
        way = last - first
    departure = float(finite_array("begin", begin, 0))
    moving = np.flatnonzero(way)
    own = {int(k): quickest(abs(float(way[k])), int(k)) for k in moving}
    duration = max((one.duration for one in own.values()), default=0.0)
    if not np.isfinite(departure + duration):
        raise ArrayError("goal", "is so far away that the duration overflows", "use SI units")
    own = {k: stretched(one, duration) for k, one in own.items()}
    inner = [np.cumsum(one.lengths)[:-1] for one in own.values()]
    times = np.unique(np.concatenate([[0.0], *inner]))
    times = times[times < duration]
    coefficients = np.zeros((len(times), degree + 1, first.size))
    if len(times):
        coefficients[:, 0] = first
    for k, one in own.items():
        coefficients[:, :, k] += np.sign(way[k]) * pieces(one, times)
    knots = readonly(np.append(times, duration))
    return Piecewise(degree, departure, knots, readonly(coefficients), first, last)


def _ends(start: ArrayLike, goal: ArrayLike) -> tuple[Array, Array]:
    """Check positions before and after."""
    first, last = (
        readonly(finite_array("start", start, 1)),
        readonly(finite_array("goal", goal, 1)),
    )
    if first.shape != last.shape or not first.size:
        finding = f"has {last.size} joints, start {first.size}"
        raise ArrayError("goal", finding, "give both for the same joints, at least one")
    return first, last


def _limits(name: str, value: ArrayLike, n: int) -> list[float]:
    """Check limits and give one to each joint."""
    array = finite_array(name, value)
    if array.shape not in {(), (n,)}:
        raise ArrayError(name, f"has shape {array.shape}", f"give one limit, or {n}")
    if not np.all(array > 0.0):
        raise ArrayError(name, f"is {array.min():g}", "give limits above 0")
    return [float(limit) for limit in np.broadcast_to(array, (n,))]
