"""Motions from rest to rest, smooth enough for elastic arms."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.checks import as_order, finite_array, names_for, positive_time
from geared_dynamics.errors import ArrayError
from geared_dynamics.trajectory import spline
from geared_dynamics.trajectory.spline import Spline
from geared_dynamics.trajectory.waypoint_checks import STANDING, moment
from geared_dynamics.trajectory.waypoints import Rules, TrajectoryError, Waypoints, nearest_turn

# -- Motions from rest to rest --------------------------------------------------------------------


def rest_to_rest(
    start: ArrayLike,
    goal: ArrayLike,
    duration: float,
    *,
    continuous: int,
    begin: float = 0.0,
    joint_names: Iterable[str] = (),
) -> Spline:
    """One polynomial of degree 2 k + 1, its first k derivatives zero at both ends.

    In Bernstein's basis, where k + 1 coefficients are the start and k + 1 the goal: monotone,
    and without the cancellation of powers of t at high degree.

    Args:
        start: Position before (n,) [rad or m].
        goal: Position after (n,).
        duration: Time between [s].
        continuous: k, the number of derivatives that are continuous.
        begin: Time of departure [s].
        joint_names: Names for errors, such as ``model.joint_names``.
    """
    span = positive_time("duration", duration)
    first, departure = finite_array("start", start, 1), finite_array("begin", begin, 0)
    last = finite_array("goal", goal, 1)
    if first.shape != last.shape:
        finding = f"has {last.size} joints, start {first.size}"
        raise ArrayError("goal", finding, "give both for the same joints")
    times = np.array([departure, departure + span])
    return through(times, [first, last], continuous=continuous, joint_names=joint_names)


def through(
    times: ArrayLike,
    points: ArrayLike,
    *,
    continuous: int,
    joint_names: Iterable[str] = (),
    leaving: ArrayLike | None = None,
) -> Spline:
    """A spline of degree 2 k + 1 through points, at rest with k derivatives at both ends.

    Between the ends 2 k derivatives are continuous. Points far apart in distance and near in
    time, and high k, make it swing between them: look at it before you send it.

    Args:
        times: Rising times (p,) [s], at least two.
        points: Positions at these times (p, n) [rad or m].
        continuous: k, the number of derivatives that are continuous.
        joint_names: Names for errors, such as ``model.joint_names``.
        leaving: To go on from a motion instead of from rest: its derivatives 1 ... k at the
            first time (k, n), such as ``spline.derivatives(t, k)[1:]``.

    References:
        C. de Boor, "A Practical Guide to Splines", ch. XIII.
    """
    k = as_order("continuous", continuous)
    moments, where = finite_array("times", times, 1), finite_array("points", points, 2)
    if moments.size < 2 or np.any(np.diff(moments) <= 0.0):
        raise ArrayError("times", "do not increase", "give at least two, each later than the last")
    if len(where) != len(moments) or not where.shape[1]:
        finding = f"has shape {where.shape} for {len(moments)} times"
        raise ArrayError("points", finding, f"give shape ({len(moments)}, n)")
    degree = 2 * k + 1
    first, last = np.full(degree + 1, moments[0]), np.full(degree + 1, moments[-1])
    knots = np.r_[first, moments[1:-1], last]
    coefficients = np.empty((knots.size - degree - 1, where.shape[1]))
    # Equal coefficients at the ends are what makes the derivatives there zero.
    coefficients[: k + 1], coefficients[-k - 1 :] = where[0], where[-1]
    if leaving is not None:
        rates = finite_array("leaving", leaving, 2)
        if rates.shape != (k, where.shape[1]):
            finding = f"has shape {rates.shape}"
            raise ArrayError("leaving", finding, f"give derivatives 1 to {k}: {k, where.shape[1]}")
        coefficients[1 : k + 1] = first_coefficients(knots, degree, where[0], rates)
    if len(moments) > 2:
        coefficients[k + 1 : -k - 1] = inner_coefficients(
            knots, degree, moments, coefficients, where
        )
    names = names_for(joint_names, where.shape[1])
    return Spline(degree, knots, coefficients, names, leaving is not None)


def inner_coefficients(
    knots: Array, degree: int, times: Array, coefficients: Array, points: Array
) -> Array:
    """Coefficients beside those at the ends, from the points between (p - 2, n)."""
    known = degree // 2 + 1
    matrix = spline.functions(knots, degree, times[1:-1])
    ends = matrix[:, :known] @ coefficients[:known] + matrix[:, -known:] @ coefficients[-known:]
    try:
        return np.asarray(np.linalg.solve(matrix[:, known:-known], points[1:-1] - ends))
    except np.linalg.LinAlgError:
        finding = "are spaced so unevenly that no spline through the points can be computed"
        raise ArrayError("times", finding, "give times with similar distances") from None


def first_coefficients(knots: Array, degree: int, position: Array, rates: Array) -> Array:
    """Coefficients 1 ... k (k, n) that give k derivatives (k, n) at the first knot.

    There the i-th derivative is the first coefficient of the i-th derivative spline:
    c^(i)_0 = (p - i + 1) (c^(i-1)_1 - c^(i-1)_0) / (t_(p+1) - t_i), solved from the last to the
    first.
    """
    count = len(rates)
    row = np.array([rates[-1]])  # first coefficients of the derivative looked at
    for i in range(count, 0, -1):
        below = rates[i - 2] if i > 1 else position
        width = knots[degree + 1 : degree + 1 + len(row)] - knots[i : i + len(row)]
        steps = width[:, None] * row / (degree - i + 1)
        row = below + np.concatenate([np.zeros((1, position.size)), np.cumsum(steps, axis=0)])
    return row[1:]


# -- Waypoints for arms that need more derivatives than the joint trajectory controller gives -----


def smooth(
    waypoints: Waypoints, before: ArrayLike, now: float, rules: Rules, *, continuous: int
) -> Spline:
    """Follow the positions of waypoints with k continuous derivatives, from the present motion.

    Unlike ``follow`` it never jumps, and it does not keep to the velocities and accelerations
    of the points between; points that are not later than ``now`` are left out. Four derivatives
    are enough for elastic joints, five with their motors' inductance.

    Args:
        waypoints: As ``checked`` gives them, with positions.
        before: Position and its derivatives at ``now`` (r, n), r up to k + 1; those not given
            are zero. From a spline followed so far: ``spline.derivatives(now, k)``.
        now: Present time [s].
        rules: As given to ``checked``.
        continuous: k, the number of derivatives that are continuous.

    Raises:
        TrajectoryError: for points without positions, an end in motion, or no point left.
        ArrayError: for a state that is not finite or of other joints.
    """
    waypoints.refuse_other(rules)
    k, present = as_order("continuous", continuous), moment("now", now)
    known = finite_array("before", before, 2)
    if not 1 <= len(known) <= k + 1 or known.shape[1] != waypoints.n:
        finding = f"has shape {known.shape}"
        remedy = f"give 1 to {k + 1} rows q, v, a, ... of {waypoints.n} joints"
        raise ArrayError("before", finding, remedy)
    refuse_unfit(waypoints)
    start = present if waypoints.start is None else waypoints.start
    later = start + waypoints.times > present
    if not later.any():
        remedy = "give a point later than now"
        raise TrajectoryError("points", "no point is in the future", remedy)
    rows = np.zeros((k + 1, waypoints.n))
    rows[: len(known)] = known
    points = np.where(waypoints.held, rows[0], waypoints.positions[later])
    rows[0] = nearest_turn(rows[0], points[0], rules.turning)
    return through(
        np.append(present, start + waypoints.times[later]),
        np.concatenate([rows[:1], points]),
        continuous=k,
        joint_names=waypoints.joint_names,
        leaving=rows[1:],
    )


def refuse_unfit(waypoints: Waypoints) -> None:
    """Raise if there are points to integrate, or the last one moves."""
    if not waypoints.has_positions.all():
        place = f"point {int(np.argmin(waypoints.has_positions))}, positions"
        raise TrajectoryError(place, "are missing", "a smooth motion needs all positions")
    moving = np.flatnonzero(np.abs(waypoints.velocities[-1]) > STANDING)
    if moving.size:
        name = waypoints.joint_names[int(moving[0])]
        place = f"point {len(waypoints.times) - 1}, velocities, joint {name!r}"
        finding = f"is {waypoints.velocities[-1, moving[0]]:.6g} at the trajectory's end"
        raise TrajectoryError(place, finding, "a smooth motion ends at rest: end with velocity 0")
