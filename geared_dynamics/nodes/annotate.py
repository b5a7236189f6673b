"""A trajectory made dense and given effort, for a controller that closes the loop in C++.

The joint trajectory controller takes position, velocity and acceleration between points from a
quintic, which a dense table reproduces exactly, and effort from a straight line. Points are
therefore put so densely that the line stays within a tolerance of the model's force.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.control import Controller, Reference, feedforward
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.trajectory import Reference as Motion
from geared_dynamics.trajectory import TrajectoryError, derivatives, resample

# Acceleration may jump at a waypoint, and effort with it: a point this long before has the
# values from before. So near, and yet JTC's quintic between the two is good to 1e-6 rad/s^2.
GAP = 1e-5  # [s]
HALVINGS = 8
MOST = 200_000  # points
SAME = 1e-9  # relative jump of an acceleration that is rounding


class Annotated(NamedTuple):
    """A trajectory with effort.

    Attributes:
        times: From its start (k,) [s], the first is 0.
        q: Position (k, n) [rad or m].
        v: Velocity (k, n).
        a: Acceleration (k, n).
        effort: Joint force of the model (k, n) [N m or N].
        error: Largest error of the line between points, part of each joint's largest force.
    """

    times: Array
    q: Array
    v: Array
    a: Array
    effort: Array
    error: float


def annotated(motion: Motion, control: Controller, period: float, tolerance: float) -> Annotated:
    """Sample a reference with its effort.

    Args:
        motion: The reference, from ``follow``.
        control: Whose switches say which terms count; the law is feedforward.
        period: Longest step [s].
        tolerance: Largest error of effort between points, part of each joint's largest.
    """
    times = with_jumps(motion, resample(motion, period).times)
    rows, effort = looked_at(motion, control, times)
    for _ in range(HALVINGS):
        middle = 0.5 * (times[1:] + times[:-1])
        between, exact = looked_at(motion, control, middle)
        scale = np.maximum(np.abs(effort).max(axis=0), np.finfo(float).tiny)
        miss = np.abs(0.5 * (effort[1:] + effort[:-1]) - exact) / scale
        worst = np.where(np.diff(times) > 1.5 * GAP, miss.max(axis=1), 0.0)
        coarse = worst > tolerance
        if not coarse.any() or len(times) + coarse.sum() > MOST:
            break
        at = np.flatnonzero(coarse) + 1
        times = np.insert(times, at, middle[coarse])
        rows = np.insert(rows, at, between[coarse], axis=0)
        effort = np.insert(effort, at, exact[coarse], axis=0)
    q, v, a = rows.swapaxes(0, 1)
    return Annotated(times, q, v, a, effort, float(worst.max(initial=0.0)))


def with_jumps(motion: Motion, times: Array) -> Array:
    """The times, and one just before each waypoint at which the acceleration jumps."""
    knots = motion.knots[1:-1]
    after = derivatives(motion, motion.begin + knots, 2)[:, 2]
    before = derivatives(motion, motion.begin + knots - GAP, 3)
    reached = before[:, 2] + GAP * before[:, 3]
    scale = np.abs(after).max(initial=0.0) + np.abs(reached).max(initial=0.0)
    jumps = np.abs(after - reached).max(axis=1, initial=0.0) > SAME * scale + 1e-12
    early = knots[jumps] - GAP
    end = motion.knots[-1:] - GAP  # after the last point the arm rests
    found: Array = np.unique(np.concatenate([times, early, end]))
    keep = np.append(True, np.diff(found) > 0.5 * GAP)
    return found[keep & (found >= 0.0)]


def looked_at(motion: Motion, control: Controller, times: Array) -> tuple[Array, Array]:
    """Position, velocity, acceleration (k, 3, n) and effort (k, n) at times after the begin."""
    rows = derivatives(motion, motion.begin + times, 2)
    q, v, a = (np.ascontiguousarray(rows[:, k]) for k in range(3))
    demand = feedforward(control.setting, None, Reference(q, v, a))
    effort = demand.torque
    if not np.isfinite(effort).all():
        raise TrajectoryError("trajectory", "needs forces beyond all numbers", "use SI units")
    return rows, effort


def refusal(error: GearedDynamicsError) -> str:
    """The log line about a trajectory that is refused."""
    return f"trajectory refused: {error}"
