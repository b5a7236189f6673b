"""B-splines as motions that know their continuous derivatives, and those from rest to rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, Frozen, IntArray, readonly
from geared_dynamics.checks import (
    HIGHEST,
    as_order,
    finite_array,
    joint_list,
    names_for,
    positive_time,
)
from geared_dynamics.errors import ArrayError
from geared_dynamics.trajectory.waypoint_checks import moment, refuse_unfit
from geared_dynamics.trajectory.waypoints import Rules, TrajectoryError, Waypoints, nearest_turn

# -- B-splines: piecewise polynomials that are smooth by construction -----------------------------
#
# Of degree p over knots t_0 <= t_1 <= ..., where a knot of multiplicity m leaves p - m
# derivatives continuous. References: C. de Boor, "A Practical Guide to Splines", ch. IX-X.


def spans(knots: Array, degree: int, t: Array) -> IntArray:
    """Index i of the piece t_i <= t < t_(i+1) of each time (k,); the last piece is closed."""
    last = len(knots) - degree - 2
    found = np.searchsorted(knots, t, side="right") - 1
    return np.clip(found, degree, last)


def values(pieces: Sequence[tuple[Array, Array]], degree: int, t: Array) -> Array:
    """Value and derivatives (r, k, n) at times (k,): de Boor's recursion, for all at once.

    Only convex combinations of coefficients: it is stable at any degree. The derivative of
    order i, of degree less by i, joins at the i-th step: its weights are the spline's own.

    Args:
        pieces: Knots and coefficients (c - i, n) of the spline and its derivatives, r of them,
            as of ``derivative``.
        degree: Of the spline, at least r - 1.
        t: Times (k,) [s].
    """
    knots, first = pieces[0]
    at = spans(knots, degree, t)
    d = np.zeros((len(pieces), degree + 1, t.size, first.shape[1]))
    for i, (_, coefficients) in enumerate(pieces):
        d[i, i:] = coefficients[at - degree + np.arange(degree + 1 - i)[:, None]]
    for r in range(1, degree + 1):
        j = np.arange(r, degree + 1)[:, None]
        low, high = knots[at - degree + j], knots[at + 1 + j - r]
        part = ((t - low) / (high - low))[..., None]
        d[:r, r:] = (1.0 - part) * d[:r, r - 1 : -1] + part * d[:r, r:]
    return np.asarray(d[:, degree])


def derivative(knots: Array, degree: int, coefficients: Array) -> tuple[Array, Array]:
    """Knots and coefficients of the derivative, a spline of one degree less.

    c'_i = p (c_(i+1) - c_i) / (t_(i+p+1) - t_(i+1)), zero where the knots coincide.
    """
    width = knots[degree + 1 : -1] - knots[1 : -degree - 1]
    step = np.diff(coefficients, axis=0)
    slope = np.divide(
        degree * step, width[:, None], out=np.zeros_like(step), where=width[:, None] > 0.0
    )
    return knots[1:-1], slope


def functions(knots: Array, degree: int, t: Array) -> Array:
    """All basis functions at times (k,): a matrix (k, c)."""
    count = len(knots) - degree - 1
    return np.asarray(values([(knots, np.eye(count))], degree, t)[0])


# -- A motion q(t) that knows how many of its derivatives are continuous --------------------------


ALWAYS = 1_000_000  # derivatives of a joint that does not move
BLOCK = 128  # times looked at together: what lies between must fit the cache


@dataclass(frozen=True, eq=False)
class Spline(Frozen):
    """A piecewise polynomial of n joints, at rest before its first and after its last time.

    One that is ``entered`` in motion continues another one: before its first time all is as at
    it, and its first derivatives need not be zero.

    Attributes:
        degree: Degree of the pieces.
        knots: Rising times (c + degree + 1,) [s]; the first and the last degree + 1 coincide.
        coefficients: B-spline coefficients (c, n) [rad or m].
        joint_names: Names for errors (n,).
        entered: Whether it takes over from another motion instead of starting at rest.
    """

    degree: int
    knots: Array
    coefficients: Array
    joint_names: tuple[str, ...] = ()
    entered: bool = False

    def __post_init__(self) -> None:
        """Check and freeze what was given."""
        degree = as_order("degree", self.degree, 2 * HIGHEST + 1)
        coefficients = finite_array("coefficients", self.coefficients, 2)
        knots = finite_array("knots", self.knots, 1)
        count, n = coefficients.shape
        if count < degree + 1 or n < 1:
            finding = f"has shape {coefficients.shape}"
            remedy = f"give shape (c, n) with c at least {degree + 1}, degree + 1"
            raise ArrayError("coefficients", finding, remedy)
        if knots.size != count + degree + 1:
            finding = f"has {knots.size} times"
            remedy = f"give {count + degree + 1}: coefficients + degree + 1"
            raise ArrayError("knots", finding, remedy)
        ends = np.r_[knots[: degree + 1] - knots[0], knots[-degree - 1 :] - knots[-1]]
        multiplicity = np.unique(knots[degree + 1 : -degree - 1], return_counts=True)[1]
        inner = knots[degree + 1 : -degree - 1]
        apart = np.all((inner > knots[0]) & (inner < knots[-1]))
        rising = np.all(np.diff(knots) >= 0.0) and knots[0] < knots[-1] and apart
        if not rising or np.any(ends) or np.any(multiplicity > degree):
            finding = "do not describe a continuous motion"
            remedy = (
                "start and end with degree + 1 equal knots, let them not decrease, and repeat "
                "inner knots at most degree times"
            )
            raise ArrayError("knots", finding, remedy)
        object.__setattr__(self, "degree", degree)
        object.__setattr__(self, "knots", readonly(knots))
        object.__setattr__(self, "coefficients", readonly(coefficients))
        object.__setattr__(self, "joint_names", names_for(self.joint_names, n))

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.coefficients.shape[1])

    @property
    def start(self) -> float:
        """Time at which the motion begins [s]."""
        return float(self.knots[0])

    @property
    def end(self) -> float:
        """Time from which it rests [s]."""
        return float(self.knots[-1])

    @cached_property
    def continuous(self) -> tuple[int, ...]:
        """Order up to which each joint's derivatives are continuous, rest included (n,).

        At an inner knot of multiplicity m the degree less m; at an end r, if the outermost
        r + 1 coefficients are equal. A joint that does not move has all derivatives. What
        happens at the beginning of one that is entered is for its maker to know.
        """
        inner = self.knots[self.degree + 1 : -self.degree - 1]
        most = np.unique(inner, return_counts=True)[1].max(initial=0)
        inside = self.degree - int(most) if inner.size else ALWAYS
        return tuple(joint_order(row, inside, self.entered) for row in self.coefficients.T)

    def derivatives(self, t: ArrayLike, order: int) -> Array:
        """Position and its time derivatives up to an order.

        Args:
            t: Times (...) [s].
            order: Highest derivative k.

        Returns:
            Rows q, v, a, jerk and on (..., k+1, n) [rad/s^i or m/s^i].

        Raises:
            ArrayError: if a joint's derivatives are not continuous up to that order.
        """
        k = as_order("order", order)
        self.refuse_rough(k)
        times = finite_array("t", t)
        flat = np.clip(times.reshape(-1), self.start, self.end)
        rest = times.reshape(-1) > self.end
        if not self.entered:
            rest |= times.reshape(-1) < self.start
        result = np.zeros((flat.size, k + 1, self.n))
        pieces = self.pieces[: k + 1]
        for i in range(0, flat.size, BLOCK):
            with np.errstate(over="ignore", invalid="ignore"):
                known = values(pieces, self.degree, flat[i : i + BLOCK])
            result[i : i + BLOCK, : len(pieces)] = known.swapaxes(0, 1)
        result[rest, 1:] = 0.0
        if not np.isfinite(result).all():
            finding = "has points so far apart, or times so near, that it overflows"
            raise ArrayError("the spline", finding, "use SI units")
        return result.reshape(*times.shape, k + 1, self.n)

    @cached_property
    def pieces(self) -> tuple[tuple[Array, Array], ...]:
        """Knots and coefficients of the spline and of all its derivatives."""
        found = [(self.knots, self.coefficients)]
        for degree in range(self.degree, 0, -1):
            with np.errstate(over="ignore", invalid="ignore"):  # derivatives says so
                found.append(derivative(found[-1][0], degree, found[-1][1]))
        return tuple(found)

    def refuse_rough(self, order: int) -> None:
        """Raise if a joint has fewer continuous derivatives."""
        rough = {
            name: known
            for name, known in zip(self.joint_names, self.continuous, strict=True)
            if known < order
        }
        if rough:
            least = min(rough.values())
            finding = (
                f"is {order}, and {joint_list(rough)} has continuous derivatives up to {least}"
            )
            remedy = f"make the reference with continuous={order}, or ask for fewer derivatives"
            raise ArrayError("order", finding, remedy)


def joint_order(column: Array, inside: int, entered: bool = False) -> int:
    """Continuous derivatives of a joint with coefficients (c,), except where it is entered."""
    moved = np.flatnonzero(column != column[0])
    if not moved.size:
        return ALWAYS
    first = ALWAYS if entered else int(moved[0]) - 1
    last = int(np.flatnonzero(column[::-1] != column[-1])[0]) - 1
    return min(inside, first, last)


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
    matrix = functions(knots, degree, times[1:-1])
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
