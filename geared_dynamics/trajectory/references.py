"""References that follow waypoints, and their samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, BoolArray, Frozen, IntArray, readonly
from geared_dynamics.checks import as_order, finite_array
from geared_dynamics.trajectory.waypoint_checks import moment
from geared_dynamics.trajectory.waypoints import Rules, TrajectoryError, Waypoints, nearest_turn

# -- Polynomials between two waypoints, from what both say ----------------------------------------
#
# With s the time since the segment's start and T its length, q(s) = Σ c_k s^k. JTC's rules:
# linear from positions, cubic from positions and velocities, quintic from accelerations too.


TERMS = 6  # powers s^0 ... s^5
FALLING = np.array([[1, 1, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5], [0, 0, 2, 6, 12, 20]], np.float64)


def polynomials(degree: IntArray, span: Array, first: Array, last: Array) -> Array:
    """Coefficients c (k, 6, n) of k segments.

    Args:
        degree: 1, 3 or 5 of each segment (k,).
        span: T, lengths (k,) [s].
        first: Position, velocity, acceleration at the segments' starts (3, k, n).
        last: The same at their ends (3, k, n).
    """
    result = np.zeros((len(span), TERMS, first.shape[2]))
    for kind, function in ((1, linear), (3, cubic), (5, quintic)):
        chosen = np.flatnonzero(degree == kind)
        if chosen.size:
            time = span[chosen, None]
            rows = function(time, first[:, chosen], last[:, chosen])
            for k, row in enumerate(rows):
                result[chosen, k] = row
    return result


def linear(span: Array, first: Array, last: Array) -> list[Array]:
    """c_0, c_1 with the positions of both ends; the speed is the mean speed."""
    return [first[0], (last[0] - first[0]) / span]


def cubic(span: Array, first: Array, last: Array) -> list[Array]:
    """c_0 ... c_3 with positions and velocities of both ends (Hermite)."""
    q, v = first[0], first[1]
    mean = (last[0] - q) / span
    return [q, v, (3.0 * mean - 2.0 * v - last[1]) / span, (v + last[1] - 2.0 * mean) / span**2]


def quintic(span: Array, first: Array, last: Array) -> list[Array]:
    """c_0 ... c_5 with positions, velocities and accelerations of both ends.

    What c_0 + c_1 T + c_2 T² leaves of q, v, a at the end, in units of T:
    e_0 = Σ u_k, e_1 = Σ k u_k, e_2 = Σ k (k - 1) u_k over k = 3, 4, 5, with u_k = c_k T^k.
    """
    q, v, a = first
    e0 = last[0] - q - v * span - 0.5 * a * span**2
    e1 = (last[1] - v - a * span) * span
    e2 = (last[2] - a) * span**2
    u3 = 10.0 * e0 - 4.0 * e1 + 0.5 * e2
    u4 = -15.0 * e0 + 7.0 * e1 - e2
    u5 = 6.0 * e0 - 3.0 * e1 + 0.5 * e2
    return [q, v, 0.5 * a, u3 / span**3, u4 / span**4, u5 / span**5]


def segment_tables(position: Array, effort: Array, slope: Array) -> Array:
    """What the powers of s are multiplied by: (k, 6, 4 n), columns q, v, a and effort.

    Args:
        position: Coefficients c (k, 6, n).
        effort: At the segments' starts (k, n).
        slope: Its rate (k, n).
    """
    count, _, n = position.shape
    result = np.zeros((count, TERMS, 4, n))
    for order in range(3):
        weights = FALLING[order, order:, None]
        result[:, : TERMS - order, order] = weights * position[:, order:]
    result[:, 0, 3], result[:, 1, 3] = effort, slope
    return result.reshape(count, TERMS, 4 * n)


def segment_constants(values: Array) -> Array:
    """Tables of segments in which nothing changes, from q, v, a and effort (4, k, n)."""
    _, count, n = values.shape
    result = np.zeros((count, TERMS, 4, n))
    result[:, 0] = values.swapaxes(0, 1)
    return result.reshape(count, TERMS, 4 * n)


# -- Waypoints without positions: JTC integrates them by Heun's method (trapezoids) ---------------


def degrees(has: BoolArray) -> IntArray:
    """Degree of each segment, by what both of its ends give.

    Args:
        has: Whether the points give positions, velocities, accelerations (3, p).
    """
    velocity, acceleration = has[1, :-1] & has[1, 1:], has[2, :-1] & has[2, 1:]
    return np.asarray(1 + 2 * velocity + 2 * (velocity & acceleration), dtype=np.int64)


def integrated(times: Array, rows: Array, has: BoolArray) -> IntArray:
    """Fill in positions that are missing, and return the degrees of the segments (p - 1,).

    v_2 = v_1 + (a_1 + a_2) T / 2 where velocities are missing, q_2 = q_1 + (v_1 + v_2) T / 2.
    A point before that lacks a velocity (acceleration) has it zero, for this segment and not
    for the one that leads to it: JTC fills it in when it comes there.

    Args:
        times: (p,) [s].
        rows: q, v, a (3, p, n), zero where not given; changed.
        has: Which are given (3, p); changed.
    """
    if has[0].all():
        return degrees(has)
    found = np.empty(len(times) - 1, dtype=np.int64)
    for k, span in enumerate(np.diff(times)):
        if not has[0, k + 1]:
            has[1, k] = True
            if not has[1, k + 1]:
                has[2, k] = has[1, k + 1] = True
                rows[1, k + 1] = rows[1, k] + 0.5 * span * (rows[2, k] + rows[2, k + 1])
            has[0, k + 1] = True
            rows[0, k + 1] = rows[0, k] + 0.5 * span * (rows[1, k] + rows[1, k + 1])
        found[k] = degrees(has[:, k : k + 2])[0]
    return found


# -- One instant of a reference, and memory to write it to ----------------------------------------


MOST_JOINTS = 10_000


class Sample(NamedTuple):
    """What is wanted at one time.

    Attributes:
        q: Position (n,) [rad or m].
        v: Velocity (n,) [rad/s or m/s].
        a: Acceleration (n,) [rad/s² or m/s²].
        effort: Feedforward that the trajectory brought along (n,) [Nm or N].
        finished: Whether the last point has been reached.
    """

    q: Array
    v: Array
    a: Array
    effort: Array
    finished: bool = False


# (table, time since the segment's start, out (4 n,)): set out to what the segment's table gives.
Evaluation = Callable[[Array, float, Array], object]


def segment_values(table: Array, x: float, out: Array) -> None:
    """Set out (4 n,) to q, v, a, effort x [s] after a segment's start, by its table (24 n,)."""
    y = x * x
    np.dot((1.0, x, y, y * x, y * y, y * y * x), table.reshape(TERMS, -1), out)


class SampleBuffer:
    """Memory that ``sample_into`` writes to; make one per loop and keep it.

    Attributes:
        values: q, v, a and effort as rows (4, n); ``q``, ``v``, ``a``, ``effort`` are views of it.
        finished: Whether the last point has been reached.
        evaluate: What computes the values, ``segment_values`` or a kernel.
    """

    __slots__ = ("a", "effort", "evaluate", "finished", "flat", "q", "v", "values")

    def __init__(self, n: int, evaluate: Evaluation = segment_values) -> None:
        """Reserve memory for n joints."""
        n = as_order("n", n, MOST_JOINTS)
        self.values = np.zeros((4, n))
        self.flat = self.values.reshape(-1)
        self.q, self.v, self.a, self.effort = self.values
        self.evaluate = evaluate
        self.finished = False


def state(
    q: ArrayLike,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
    effort: ArrayLike | None = None,
) -> Sample:
    """Make a sample of what is known, for ``follow``; the rest is zero.

    Args:
        q: Position (n,) [rad or m].
        v: Velocity (n,).
        a: Acceleration (n,).
        effort: Effort commanded last (n,).
    """
    position = finite_array("q", q, 1)
    zero = np.zeros_like(position)
    velocity, acceleration, force = (
        zero.copy() if value is None else finite_array(name, value, 1)
        for name, value in (("v", v), ("a", a), ("effort", effort))
    )
    for name, row in (("v", velocity), ("a", acceleration), ("effort", force)):
        if row.shape != position.shape:
            finding = f"has {row.size} numbers, q {position.size}"
            raise TrajectoryError(name, finding, "give one for each joint")
    return Sample(position, velocity, acceleration, force)


# -- Following waypoints: from what is before to what is wanted at every time ---------------------


@dataclass(frozen=True, eq=False)
class ReferenceMotion(Frozen):
    """q, v, a and effort over time, as polynomials between times.

    Attributes:
        begin: Time at which following begins [s]; before it, all is as at it.
        knots: Times of the segments' ends after ``begin`` (k + 1,) [s].
        tables: What the powers of the time since a segment's start are multiplied by
            (k, 6, 4 n): columns q, v, a and effort.
        last: q, v, a, effort from the last time on (4, n).
    """

    begin: float
    knots: Array
    tables: Array
    last: Array

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.last.shape[1])

    @property
    def end(self) -> float:
        """Time from which the last point is repeated [s]."""
        return self.begin + float(self.knots[-1])

    @cached_property
    def times(self) -> tuple[float, ...]:
        """The knots as plain numbers, which are quicker to search."""
        return tuple(self.knots.tolist())

    @cached_property
    def rows(self) -> tuple[Array, ...]:
        """The tables one by one (24 n,)."""
        return tuple(self.tables.reshape(len(self.tables), -1))


def follow(waypoints: Waypoints, before: Sample, now: float, rules: Rules) -> ReferenceMotion:
    """Prepare waypoints for sampling; a reference before it is simply replaced.

    The first segment leads from ``before`` at ``now`` to the first point. There is none if the
    first point lies at ``now`` or earlier: the reference then jumps to where the waypoints are.

    Args:
        waypoints: As ``checked`` gives them.
        before: The measured state, or the last command where that shall be continued (JTC's
            ``interpolate_from_desired_state``), see ``state``. Its effort is the one commanded
            last.
        now: Time of ``before`` and of departure of a trajectory without a stamp [s].
        rules: As given to ``checked``.

    Raises:
        ArrayError: for a state that is not finite.
        TrajectoryError: for a state of other joints, and for waypoints without positions that
            would have to be integrated from a time in the past.
    """
    waypoints.refuse_other(rules)
    present = moment("now", now)
    old = _known(before, waypoints)
    times = waypoints.times + (0.0 if waypoints.start is None else waypoints.start - present)
    rows = np.array([waypoints.positions, waypoints.velocities, waypoints.accelerations])
    has = np.array(
        [waypoints.has_positions, waypoints.has_velocities, waypoints.has_accelerations]
    )
    effort = waypoints.effort
    rows[0] += has[0, :, None] * waypoints.held * old[0]  # zero there
    if has[0, 0]:
        old[0] = nearest_turn(old[0], rows[0, 0], rules.turning)
    if times[0] >= 0.0:
        times = np.concatenate([[0.0], times])
        rows = np.concatenate([old[:3, None], rows], axis=1)
        has = np.concatenate([np.ones((3, 1), dtype=np.bool_), has], axis=1)
        effort = np.concatenate([old[3:], effort])
    elif not has[0, 0]:
        finding = f"has no positions and lies {-times[0]:.3g} s in the past"
        raise TrajectoryError("point 0", finding, "give positions, or a later start")
    if rules.interpolation_method == "none":
        return _stairs(present, times, np.concatenate([rows, effort[None]]), rules)
    degree = integrated(times, rows, has)
    return _smooth(present, times, rows, effort, degree, rules)


def led_in(
    motion: ReferenceMotion, waypoints: Waypoints, before: Sample, now: float, rules: Rules
) -> ReferenceMotion:
    """``follow`` for waypoints that were followed before, from another state and time.

    Only the first segment is computed again, however long the trajectory is. The memory of
    ``motion`` is taken over: it must not be used any more.

    Args:
        motion: From ``follow`` with the same waypoints and rules, and any state and time.
        waypoints: As given to ``follow``.
        before: As for ``follow``.
        now: As for ``follow`` [s].
        rules: As given to ``follow``.
    """
    times = waypoints.times + (0.0 if waypoints.start is None else waypoints.start - now)
    alike = len(motion.knots) == len(times) + 1 and waypoints.independent
    if not alike or times[0] <= 0.0 or rules.interpolation_method == "none":
        return follow(waypoints, before, now, rules)
    lead = follow(waypoints.first, before, now, rules)
    tables, last = motion.tables, motion.last.copy()
    tables.setflags(write=True)
    tables[0] = lead.tables[0]
    last[0, waypoints.held] = before.q[waypoints.held]
    n = waypoints.n
    tables[:, 0, :n][:, waypoints.held] = before.q[waypoints.held]
    tables.setflags(write=False)
    knots = motion.knots if waypoints.start is None else readonly(np.append(0.0, times))
    made = ReferenceMotion(lead.begin, knots, tables, readonly(last))
    made.__dict__["rows"] = motion.rows  # views of the same memory
    if knots is motion.knots:
        made.__dict__["times"] = motion.times
    return made


def _smooth(
    begin: float, times: Array, rows: Array, effort: Array, degree: IntArray, rules: Rules
) -> ReferenceMotion:
    """Polynomials through waypoints q, v, a (3, p, n) with effort (p, n), all known."""
    chosen = np.diff(times) > 0.0  # the first point may lie at the beginning itself
    span = np.diff(times)[chosen]
    first, last = rows[:, :-1][:, chosen], rows[:, 1:][:, chosen]
    with np.errstate(over="ignore", invalid="ignore"):
        position = polynomials(degree[chosen], span, first, last)
        slope = np.diff(effort, axis=0)[chosen] / span[:, None]
        tables = segment_tables(position, effort[:-1][chosen], slope)
    _refuse_overflow(tables)
    ends = np.concatenate([rows[:, -1], effort[-1:]])
    return ReferenceMotion(begin, _knots(times, chosen), readonly(tables), _last(ends, rules))


def _stairs(begin: float, times: Array, values: Array, rules: Rules) -> ReferenceMotion:
    """The state before until the first point, then always the next point (4, p, n)."""
    chosen = np.diff(times) > 0.0
    wanted = values[:, 1:].copy()
    if times[0] == 0.0:  # the state before stands first; waypoints alone begin in the past
        wanted[:, 0] = values[:, 0]
    tables = segment_constants(wanted[:, chosen])
    return ReferenceMotion(
        begin, _knots(times, chosen), readonly(tables), _last(values[:, -1], rules)
    )


def _knots(times: Array, chosen: BoolArray) -> Array:
    """Times of the segments that are chosen, and of the last point."""
    return readonly(np.append(times[:-1][chosen], times[-1]))


def _last(ends: Array, rules: Rules) -> Array:
    """q, v, a, effort after the end (4, n)."""
    rest = np.array([1.0, 0.0, 0.0, 1.0]) if rules.rest_after_end else np.ones(4)
    return readonly(rest[:, None] * ends)


def _known(before: Sample, waypoints: Waypoints) -> Array:
    """Check the state before: q, v, a, effort (4, n)."""
    rows = np.array(state(before.q, before.v, before.a, before.effort)[:4])
    if rows.shape[1] != waypoints.n:
        finding = f"has {rows.shape[1]} joints, the waypoints {waypoints.n}"
        raise TrajectoryError("before", finding, "give both for the same joints")
    return rows


def _refuse_overflow(tables: Array) -> None:
    """Raise if numbers have left float64."""
    bad = np.flatnonzero(~np.isfinite(tables).all(axis=(1, 2)))
    if bad.size:
        finding = "has points so far apart, or times so near, that it overflows"
        raise TrajectoryError(f"segment {int(bad[0])}", finding, "use SI units")
