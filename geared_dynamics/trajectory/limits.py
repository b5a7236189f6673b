"""Whether a reference stays within limits and tolerances."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, IntArray, readonly
from geared_dynamics.trajectory.references import TERMS, ReferenceMotion
from geared_dynamics.trajectory.waypoints import TrajectoryError

# -- Whether a reference stays within limits of position and speed, between its waypoints too -----
#
# A polynomial on [0, T] lies within the hull of its Bernstein coefficients (L. Farouki, "The
# Bernstein polynomial basis: a centennial retrospective", 2012, sec. 3),
#
#     b_i = sum_(k <= i) C(i, k) / C(d, k) c_k T^k,    b_0 = q(0), b_d = q(T).
#
# Where the hull reaches beyond a limit the segment is halved, until an end of a piece is beyond
# it or no hull is: nothing is missed between samples.


HALVINGS = 20  # what is undecided then touches the limit within 1e-12 of its hull
FINE = 257  # samples of the segment that is reported
BERNSTEIN = np.array(
    [[comb(i, k) / comb(TERMS - 1, k) if k <= i else 0.0 for k in range(TERMS)] for i in range(6)]
)


class MotionLimits(NamedTuple):
    """What joints may do; infinite for anything.

    Attributes:
        lower: Lowest positions (n,) [rad or m].
        upper: Highest positions (n,).
        velocity: Largest speeds (n,) [rad/s or m/s].
    """

    lower: Array
    upper: Array
    velocity: Array

    def including(self, q: Array, v: Array) -> MotionLimits:
        """Limits that an arm which is beyond them may come back to.

        Args:
            q: Position at the beginning (n,).
            v: Velocity at the beginning (n,).
        """
        return MotionLimits(
            np.minimum(self.lower, q),
            np.maximum(self.upper, q),
            np.maximum(self.velocity, np.abs(v)),
        )


class Beyond(NamedTuple):
    """Where a limit is exceeded, first in time.

    Attributes:
        quantity: "position" or "velocity".
        joint: Number of the joint.
        time: After the reference's begin [s].
        value: Farthest value of that segment.
        limit: What it exceeds.
    """

    quantity: str
    joint: int
    time: float
    value: float
    limit: float


def refuse_beyond(
    reference: ReferenceMotion,
    limits: MotionLimits,
    names: tuple[str, ...],
    offset: float = 0.0,
    first: int = 0,
    last: int | None = None,
) -> None:
    """Raise where a reference exceeds limits of position or speed.

    Args:
        reference: From ``follow``.
        limits: Of its joints.
        names: Of its joints (n,).
        offset: Added to times, for the error [s].
        first: Segment with which to begin.
        last: Segment before which to end; None: all.

    Raises:
        TrajectoryError: with joint, time and value.
    """
    for quantity in ("position", "velocity"):
        found = beyond(reference, limits, quantity, first, last)
        if found is not None:
            raise TrajectoryError(*worded(found, names, offset))


def worded(found: Beyond, names: tuple[str, ...], offset: float) -> tuple[str, str, str]:
    """Place, finding and remedy."""
    place = f"{found.quantity}, joint {names[found.joint]!r}"
    finding = f"is {found.value:.6g} at {found.time + offset:.3f} s, beyond {found.limit:.6g}"
    remedy = "stay within the limits"
    if found.quantity == "velocity":
        remedy = "give the trajectory more time, or more points if it overshoots between them"
    return place, finding, remedy


def beyond(
    reference: ReferenceMotion,
    limits: MotionLimits,
    quantity: str,
    first: int = 0,
    last: int | None = None,
) -> Beyond | None:
    """The first time at which a limit is exceeded; None where it never is."""
    n, chosen = reference.n, slice(first, last)
    row = 0 if quantity == "position" else 1
    low, high = (limits.lower, limits.upper) if row == 0 else (-limits.velocity, limits.velocity)
    wanted = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
    if not wanted.size:
        return None
    span = np.diff(reference.knots)[chosen]
    terms = reference.tables[chosen].reshape(-1, TERMS, 4, n)[:, :, row][:, :, wanted]
    power = span[:, None] ** np.arange(TERMS)
    hulls = np.matmul(BERNSTEIN, terms * power[:, :, None])  # (k, 6, w)
    segment, joint = earliest(hulls, low[wanted], high[wanted])
    if segment is None:
        return _at_rest(reference, limits, row, wanted) if last is None else None
    j = int(wanted[joint])
    x = np.linspace(0.0, span[segment], FINE)
    values = x[:, None] ** np.arange(TERMS) @ terms[segment, :, joint]
    excess = np.maximum(values - high[j], low[j] - values)
    k = int(excess.argmax())
    limit = high[j] if values[k] > high[j] else low[j]
    when = float(reference.knots[chosen][segment] + x[k])
    return Beyond(quantity, j, when, float(values[k]), float(limit))


def _at_rest(
    reference: ReferenceMotion, limits: MotionLimits, row: int, wanted: IntArray
) -> Beyond | None:
    """The end, which a reference without segments consists of."""
    if row:
        return None
    values = reference.last[0]
    excess = np.maximum(values - limits.upper, limits.lower - values)[wanted]
    if not (excess > 0.0).any():
        return None
    j = int(wanted[excess.argmax()])
    limit = limits.upper[j] if values[j] > limits.upper[j] else limits.lower[j]
    end = float(reference.knots[-1])
    return Beyond("position", j, end, float(values[j]), float(limit))


def earliest(hulls: Array, low: Array, high: Array) -> tuple[int | None, int]:
    """Segment and joint where a polynomial first leaves its range; None where none does.

    Args:
        hulls: Bernstein coefficients (k, d + 1, w).
        low: Ranges (w,).
        high: Ranges (w,).
    """
    outside = (hulls > high).any(axis=1) | (hulls < low).any(axis=1)
    segment, joint = np.nonzero(outside)
    pieces = hulls[segment, :, joint]  # (c, d + 1)
    best: tuple[int | None, int] = None, 0
    for _ in range(HALVINGS):
        ends = pieces[:, [0, -1]]
        top, bottom = high[joint, None], low[joint, None]
        found = np.flatnonzero(((ends > top) | (ends < bottom)).any(axis=1))
        if found.size:
            k = found[segment[found].argmin()]
            best = int(segment[k]), int(joint[k])
        doubt = ((pieces > top) | (pieces < bottom)).any(axis=1)
        if best[0] is not None:
            doubt &= segment < best[0]
        if not doubt.any():
            break
        left, right = halves(pieces[doubt])
        pieces = np.concatenate([left, right])
        segment, joint = np.tile(segment[doubt], 2), np.tile(joint[doubt], 2)
    return best


def halves(pieces: Array) -> tuple[Array, Array]:
    """Bernstein coefficients of both halves (c, d + 1), by de Casteljau's recursion."""
    left, right = np.empty_like(pieces), np.empty_like(pieces)
    row, last = pieces, pieces.shape[1] - 1
    for k in range(last + 1):
        left[:, k], right[:, last - k] = row[:, 0], row[:, -1]
        row = 0.5 * (row[:, 1:] + row[:, :-1])
    return left, right


# -- How far an arm may be from its trajectory: ros2_controllers' rules (JTC, tolerances.hpp) -----


ERASED = -1.0  # in a goal: no tolerance, whatever the default is
EPSILON = float(np.finfo(np.float32).eps)  # what JTC compares with
KINDS = ("position", "velocity", "acceleration")


class JointTolerance(NamedTuple):
    """What a goal says of one joint; 0 takes the default, -1 takes the tolerance away.

    Attributes:
        name: The joint.
        position: [rad or m].
        velocity: [rad/s or m/s].
        acceleration: [rad/s² or m/s²].
    """

    name: str
    position: float = 0.0
    velocity: float = 0.0
    acceleration: float = 0.0


class Tolerances(NamedTuple):
    """Largest errors; 0 is any.

    Attributes:
        path: Position, velocity and acceleration on the way (3, n).
        goal: The same after the last point (3, n).
        goal_time: How long after the last point the arm may be outside of ``goal`` [s]; 0: for
            any time.
    """

    path: Array
    goal: Array
    goal_time: float


class ToleranceError(ValueError):
    """A tolerance in a goal that has no meaning; its text says which."""


def default_tolerances(path: Array, goal: Array, stopped: float, goal_time: float) -> Tolerances:
    """Tolerances as parameters give them.

    Args:
        path: Position on the way (n,) [rad or m].
        goal: Position after the last point (n,) [rad or m].
        stopped: Velocity after the last point, of every joint [rad/s or m/s].
        goal_time: See ``Tolerances`` [s].
    """
    zero = np.zeros(len(path))
    ends = np.array([goal, np.full(len(path), stopped), zero])
    return Tolerances(readonly(np.array([path, zero, zero])), readonly(ends), goal_time)


def goal_tolerances(
    default: Tolerances,
    joints: Sequence[str],
    path: Sequence[JointTolerance],
    goal: Sequence[JointTolerance],
    goal_time: float,
) -> Tolerances:
    """Tolerances of a goal, where it gives some, and the default for the rest.

    Args:
        default: Of the parameters.
        joints: In the order of all arrays (n,).
        path: What the goal says of the way.
        goal: What it says of the end.
        goal_time: What it says of the time [s].

    Raises:
        ToleranceError: for an unknown joint or a negative number but -1. JTC then takes
            the default for everything.
    """
    time = resolved("goal_time_tolerance", default.goal_time, goal_time)
    rows = [default.path.copy(), default.goal.copy()]
    defaults = (default.path, default.goal)
    for place, row, usual, given in zip(
        ("path_tolerance", "goal_tolerance"), rows, defaults, (path, goal), strict=True
    ):
        for one in given:
            if one.name not in joints:
                raise ToleranceError(
                    f"{place} names joint {one.name!r}, which this arm does not have"
                )
            k = joints.index(one.name)
            for kind, name in enumerate(KINDS):
                what = f"{place} of joint {one.name!r}, {name},"
                row[kind, k] = resolved(what, float(usual[kind, k]), getattr(one, name))
    return Tolerances(readonly(rows[0]), readonly(rows[1]), time)


def resolved(what: str, default: float, given: float) -> float:
    """The default for 0, none for -1, else what is given."""
    if given > 0.0:
        return given
    if abs(given - ERASED) < EPSILON:
        return 0.0
    if given < 0.0:
        raise ToleranceError(f"{what} is {given:g}; use 0 for the default, or -1 for no limit")
    return default


def violation(limits: Array, error: Array, joints: Sequence[str]) -> str:
    """The first error beyond its limit in words, empty where there is none.

    Args:
        limits: (3, n), 0 for any.
        error: Of positions and velocities (2, n). Accelerations are not measured.
        joints: Their names (n,).
    """
    bounds = limits[:2]
    beyond = (bounds > 0.0) & ~(np.abs(error) <= bounds)  # what is no number is beyond, too
    if not beyond.any():
        return ""
    k = int(np.argmax(beyond.any(axis=0)))
    kind = int(np.argmax(beyond[:, k]))
    return (
        f"{KINDS[kind]} of joint {joints[k]!r} is off by {abs(error[kind, k]):.4g}, "
        f"tolerance {bounds[kind, k]:.4g}"
    )
