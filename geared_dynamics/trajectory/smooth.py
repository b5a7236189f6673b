"""Waypoints for arms that need more derivatives than the joint trajectory controller gives."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import ArrayLike
from geared_dynamics.errors import ArrayError
from geared_dynamics.trajectory.checks import as_order, finite_array
from geared_dynamics.trajectory.errors import TrajectoryError
from geared_dynamics.trajectory.motions import through
from geared_dynamics.trajectory.rules import Rules
from geared_dynamics.trajectory.spline import Spline
from geared_dynamics.trajectory.turns import beside
from geared_dynamics.trajectory.validation import STANDING, moment
from geared_dynamics.trajectory.waypoints import Waypoints


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
        raise TrajectoryError("points", "are none that lie in the future", remedy)
    rows = np.zeros((k + 1, waypoints.n))
    rows[: len(known)] = known
    points = np.where(waypoints.held, rows[0], waypoints.positions[later])
    rows[0] = beside(rows[0], points[0], rules.turning)
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
