"""Following waypoints: from what is before to what is wanted at every time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from geared_dynamics.arrays import Array, BoolArray, Frozen, IntArray, readonly
from geared_dynamics.trajectory import segments
from geared_dynamics.trajectory.errors import TrajectoryError
from geared_dynamics.trajectory.integration import integrated
from geared_dynamics.trajectory.rules import Rules
from geared_dynamics.trajectory.sample import Sample, state
from geared_dynamics.trajectory.turns import beside
from geared_dynamics.trajectory.validation import moment
from geared_dynamics.trajectory.waypoints import Waypoints


@dataclass(frozen=True, eq=False)
class Reference(Frozen):
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
        """The tables one by one (6, 4 n)."""
        return tuple(self.tables)


def follow(waypoints: Waypoints, before: Sample, now: float, rules: Rules) -> Reference:
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
        old[0] = beside(old[0], rows[0, 0], rules.turning)
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
    motion: Reference, waypoints: Waypoints, before: Sample, now: float, rules: Rules
) -> Reference:
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
    made = Reference(lead.begin, knots, tables, readonly(last))
    made.__dict__["rows"] = motion.rows  # views of the same memory
    if knots is motion.knots:
        made.__dict__["times"] = motion.times
    return made


def _smooth(
    begin: float, times: Array, rows: Array, effort: Array, degree: IntArray, rules: Rules
) -> Reference:
    """Polynomials through waypoints q, v, a (3, p, n) with effort (p, n), all known."""
    chosen = np.diff(times) > 0.0  # the first point may lie at the beginning itself
    span = np.diff(times)[chosen]
    first, last = rows[:, :-1][:, chosen], rows[:, 1:][:, chosen]
    with np.errstate(over="ignore", invalid="ignore"):
        position = segments.polynomials(degree[chosen], span, first, last)
        slope = np.diff(effort, axis=0)[chosen] / span[:, None]
        tables = segments.tables(position, effort[:-1][chosen], slope)
    _refuse_overflow(tables)
    ends = np.concatenate([rows[:, -1], effort[-1:]])
    return Reference(begin, _knots(times, chosen), readonly(tables), _last(ends, rules))


def _stairs(begin: float, times: Array, values: Array, rules: Rules) -> Reference:
    """The state before until the first point, then always the next point (4, p, n)."""
    chosen = np.diff(times) > 0.0
    wanted = values[:, 1:].copy()
    if times[0] == 0.0:  # the state before stands first; waypoints alone begin in the past
        wanted[:, 0] = values[:, 0]
    tables = segments.constants(wanted[:, chosen])
    return Reference(begin, _knots(times, chosen), readonly(tables), _last(values[:, -1], rules))


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
