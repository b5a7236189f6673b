"""Motions from rest to rest as quick as limits allow, for users without a planner."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, readonly
from geared_dynamics.errors import ArrayError
from geared_dynamics.trajectory import phases
from geared_dynamics.trajectory.checks import finite_array
from geared_dynamics.trajectory.phases import Phases
from geared_dynamics.trajectory.piecewise import Piecewise


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
    return _together(ends, begin, 2, lambda d, k: phases.accelerated(d, v[k], a[k]))


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
    return _together(ends, begin, 3, lambda d, k: phases.jerked(d, v[k], a[k], j[k]))


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
        raise ArrayError("goal", "takes a time that is no number", "use SI units")
    own = {k: phases.stretched(one, duration) for k, one in own.items()}
    inner = [np.cumsum(one.lengths)[:-1] for one in own.values()]
    times = np.unique(np.concatenate([[0.0], *inner]))
    times = times[times < duration]
    coefficients = np.zeros((len(times), degree + 1, first.size))
    if len(times):
        coefficients[:, 0] = first
    for k, one in own.items():
        coefficients[:, :, k] += np.sign(way[k]) * phases.pieces(one, times)
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
