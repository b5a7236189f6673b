"""Which trajectories are refused, and why: JTC's checks, and those that it leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from geared_dynamics.arrays import Array, BoolArray, readonly, real, reals
from geared_dynamics.errors import shown, suggestion
from geared_dynamics.trajectory.waypoints import (
    FIELDS,
    INVALID_JOINTS,
    OLD_HEADER_TIMESTAMP,
    JointTrajectory,
    Point,
    PointArrays,
    Rules,
    TrajectoryError,
    Waypoints,
)

# JTC compares with the spacing of single precision numbers at 1.
STANDING = float(np.finfo(np.float32).eps)  # [rad/s or m/s]


def checked(trajectory: JointTrajectory, rules: Rules, now: float) -> Waypoints:
    """Check a trajectory and bring it into the order of the rules' joints.

    Args:
        trajectory: As received.
        rules: What is allowed.
        now: Present time on the clock of ``trajectory.start`` [s].

    Raises:
        TrajectoryError: naming point and joint, with the result code in ``code``.
    """
    names = joints_of(trajectory, rules)
    points = points_of(trajectory)
    start = start_of(trajectory.start)
    times = times_of(points)
    refuse_past(start, float(times[-1]), moment("now", now))
    order = [rules.joints.index(name) for name in names]
    arrays: dict[str, Any] = {}
    for field in FIELDS:
        values, given = field_of(points, field, names)
        full = np.zeros((len(times), rules.n))
        full[:, order] = values
        arrays[field], arrays[f"has_{field}"] = readonly(full), frozen(given)
    held = np.ones(rules.n, dtype=bool)
    held[order] = False
    waypoints = Waypoints(rules.joints, start, readonly(times), **arrays, held=frozen(held))
    refuse_missing(waypoints, rules)
    refuse_effort(waypoints, rules)
    refuse_moving_end(waypoints, rules)
    return waypoints


def frozen(flags: BoolArray) -> BoolArray:
    """Make flags read-only."""
    flags.setflags(write=False)
    return flags


def joints_of(trajectory: JointTrajectory, rules: Rules) -> list[str]:
    """Check the names of the joints."""
    names = list(trajectory.joint_names)
    place = "joint_names"
    if not names:
        remedy = f"name the joints of the points: {', '.join(rules.joints)}"
        raise TrajectoryError(place, "the list is empty", remedy, INVALID_JOINTS)
    for index, name in enumerate(names):
        if name not in rules.joints:
            finding = f"there is no joint {name!r} (index {index})"
            raise TrajectoryError(place, finding, suggestion(name, rules.joints), INVALID_JOINTS)
        if names.index(name) != index:
            finding = f"joint {name!r} stands at index {names.index(name)} and {index}"
            raise TrajectoryError(place, finding, "name each joint once", INVALID_JOINTS)
    missing = [name for name in rules.joints if name not in names]
    if missing and not rules.allow_partial_joints_goal:
        finding = f"joint {', '.join(map(repr, missing))} missing"
        remedy = (
            "name all joints, or set allow_partial_joints_goal: the others then hold; the nodes "
            "leave out joints without a drive, such as a gripper's, by locked_joints"
        )
        raise TrajectoryError(place, finding, remedy, INVALID_JOINTS)
    return names


def points_of(trajectory: JointTrajectory) -> Sequence[Point] | PointArrays:
    """Check that there are points."""
    if isinstance(trajectory.points, PointArrays):
        _refuse_shapes(trajectory.points, len(trajectory.joint_names))
        return trajectory.points
    points = list(trajectory.points)
    if not points:
        raise TrajectoryError("points", "the list is empty", "give at least one point")
    for k, point in enumerate(points):
        if not isinstance(point, Point):
            raise TrajectoryError(f"point {k}", f"is a {type(point).__name__}", "give a Point")
    return points


def _refuse_shapes(points: PointArrays, count: int) -> None:
    """Raise where arrays of points do not go together, or there is none."""
    p = len(points.times)
    if not p:
        raise TrajectoryError("points", "the list is empty", "give at least one point")
    if points.values.shape != (len(FIELDS), p, count) or points.given.shape != (len(FIELDS), p):
        finding = f"have shapes {points.values.shape} and {points.given.shape}"
        remedy = f"give {(len(FIELDS), p, count)} and {(len(FIELDS), p)}"
        raise TrajectoryError("points", finding, remedy)


def moment(place: str, value: object) -> float:
    """Check a time [s]."""
    try:
        number = real(value)
    except (TypeError, ValueError, OverflowError):
        raise TrajectoryError(place, f"is {shown(value)}, not a time", "give seconds") from None
    if not np.isfinite(number):
        raise TrajectoryError(place, f"is {number}", "give a finite time [s]")
    return number


def start_of(start: float | None) -> float | None:
    """Check the stamp; zero is JTC's spelling of now."""
    if start is None:
        return None
    return moment("start", start) or None


def times_of(points: Sequence[Point] | PointArrays) -> Array:
    """Check that the points' times rise."""
    if isinstance(points, PointArrays):
        times = points.times
        for k in np.flatnonzero(~np.isfinite(times))[:1]:
            moment(f"point {k}, time", times[k])
    else:
        times = np.array([moment(f"point {k}, time", p.time) for k, p in enumerate(points)])
    if times[0] < 0.0:
        finding = f"is {times[0]:g} s, before the trajectory's start"
        raise TrajectoryError("point 0, time", finding, "count times from the start, 0 or more")
    falls = np.flatnonzero(np.diff(times) <= 0.0)
    if falls.size:
        k = int(falls[0]) + 1
        finding = f"{times[k]:.9g} s is not later than point {k - 1} ({times[k - 1]:.9g} s)"
        remedy = "use strictly increasing times"
        raise TrajectoryError(f"point {k}, time", finding, remedy)
    return times


def refuse_past(start: float | None, duration: float, now: float) -> None:
    """Raise if all is over; without a stamp it starts now."""
    if start is not None and start + duration < now:
        finding = f"is {start:.9g} s: the trajectory ended {now - start - duration:.3g} s ago"
        remedy = "stamp it with a later time, or with 0 to start at once; compare the clocks"
        raise TrajectoryError("start", finding, remedy, OLD_HEADER_TIMESTAMP)


def field_of(
    points: Sequence[Point] | PointArrays, field: str, names: list[str]
) -> tuple[Array, BoolArray]:
    """One field of all points (p, m), zero where it is not given, and where it is given (p,)."""
    if isinstance(points, PointArrays):
        row = FIELDS.index(field)
        has = points.given[row].copy()
        values = np.where(has[:, None], points.values[row], 0.0)
        _refuse_not_finite(values, field, names)
        return values, has
    given = [getattr(point, field) for point in points]
    sizes = [_size(value, f"point {k}, {field}") for k, value in enumerate(given)]
    has = np.array(sizes) > 0
    for k, size in enumerate(sizes):
        if size not in {0, len(names)}:
            finding = f"has {size} numbers for {len(names)} joints"
            remedy = "give one for each joint in joint_names, or none"
            raise TrajectoryError(f"point {k}, {field}", finding, remedy)
    values = np.zeros((len(points), len(names)))
    if has.any():
        values[has] = _numbers([v for v, size in zip(given, sizes, strict=True) if size], field)
    _refuse_not_finite(values, field, names)
    return values, has


def _refuse_not_finite(values: Array, field: str, names: list[str]) -> None:
    """Raise where a number (p, m) is none."""
    wrong = np.argwhere(~np.isfinite(values))
    if wrong.size:
        k, j = wrong[0]
        finding = f"is {values[k, j]}"
        place = f"point {k}, {field}, joint {names[j]!r}"
        raise TrajectoryError(place, finding, "give finite numbers")


def _size(value: Any, place: str) -> int:
    """Count the numbers of a field; none if it is not given."""
    if value is None:
        return 0
    try:
        return len(value)
    except TypeError:
        finding = f"is {shown(value)}"
        raise TrajectoryError(place, finding, "give a list with a number per joint") from None


def _numbers(rows: list[Any], field: str) -> Array:
    """Rows of equal length as numbers."""
    try:
        found = reals(rows)
        if found.ndim != 2:
            raise TypeError
    except (TypeError, ValueError, OverflowError):
        finding = "contains a value that is not a real number"
        raise TrajectoryError(field, finding, "give a list of numbers for each point") from None
    return found


def refuse_missing(points: Waypoints, rules: Rules) -> None:
    """Raise where a point does not say enough for its position to be known."""
    splines = rules.interpolation_method == "splines"
    integrate = rules.allow_integration_in_goal_trajectories and splines
    bare = ~points.has_positions
    if integrate:
        bare &= ~points.has_velocities & ~points.has_accelerations
    if bare.any():
        remedy = "give a number for each joint"
        if not integrate:
            remedy += ", or set allow_integration_in_goal_trajectories with interpolation splines"
        finding = "are missing" if not integrate else "are missing, and so are their derivatives"
        raise TrajectoryError(f"point {int(np.argmax(bare))}, positions", finding, remedy)
    # JTC takes these and commands the position 0: its cubic and quintic both need velocities.
    rough = points.has_positions & points.has_accelerations & ~points.has_velocities
    if splines and rough.any():
        finding = "are given without velocities, which no interpolation can use"
        place = f"point {int(np.argmax(rough))}, accelerations"
        raise TrajectoryError(place, finding, "give velocities too, or no accelerations")


def refuse_effort(points: Waypoints, rules: Rules) -> None:
    """Raise if effort is given and not among the command interfaces."""
    if "effort" not in rules.command_interfaces and points.has_effort.any():
        place = f"point {int(np.argmax(points.has_effort))}, effort"
        finding = "is given, but 'effort' is not in command_interfaces"
        raise TrajectoryError(place, finding, "remove effort, or add 'effort' there")


def refuse_moving_end(points: Waypoints, rules: Rules) -> None:
    """Raise if the last point has a speed."""
    if rules.allow_nonzero_velocity_at_trajectory_end:
        return
    moving = np.flatnonzero(np.abs(points.velocities[-1]) > STANDING)
    if moving.size:
        j = int(moving[0])
        place = f"point {len(points.times) - 1}, velocities, joint {points.joint_names[j]!r}"
        finding = f"is {points.velocities[-1, j]:.6g} at the trajectory's end"
        remedy = "end with velocity 0, or set allow_nonzero_velocity_at_trajectory_end"
        raise TrajectoryError(place, finding, remedy)


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
