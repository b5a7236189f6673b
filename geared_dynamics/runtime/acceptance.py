"""A trajectory before the arm follows it: read, checked, prepared."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from geared_dynamics.control.safety import Policy
from geared_dynamics.description.trajectory_file import read_trajectory
from geared_dynamics.trajectory import (
    JointTrajectory,
    MotionLimits,
    Point,
    ReferenceMotion,
    Rules,
    Sample,
    TrajectoryError,
    Waypoints,
    checked,
    follow,
    led_in,
    refuse_beyond,
    state,
)

# -- What is done with a trajectory before the arm follows it: read, checked, prepared ------------
#
# All but the way from the present posture to the first waypoint can be done beside the loop.


SLACK = 1e-3  # [rad or m] beyond a limit that planners and rounding may make


class CheckedRoute(NamedTuple):
    """A trajectory that waits for the state from which it begins.

    Attributes:
        waypoints: As checked.
        motion: The reference from its first waypoint on; how it gets there is made up.
        rules: By which it was checked.
        limits: Within which it was found.
    """

    waypoints: Waypoints
    motion: ReferenceMotion
    rules: Rules
    limits: MotionLimits


def limits_of(policy: Policy) -> MotionLimits:
    """Positions and speeds that a trajectory may have: no others stop the arm.

    Args:
        policy: Of the safety step.
    """
    return MotionLimits(
        np.array(policy.lower) - SLACK,
        np.array(policy.upper) + SLACK,
        np.array(policy.velocity) * (1.0 + policy.velocity_tolerance),
    )


def routed(
    trajectory: JointTrajectory, rules: Rules, limits: MotionLimits, clock: float
) -> CheckedRoute:
    """Check a trajectory and all that is known of it without the present state.

    Args:
        trajectory: As received.
        rules: How it is read.
        limits: Of its joints.
        clock: Present time on the clock of its start [s].

    Raises:
        TrajectoryError: naming what is wrong with it.
    """
    waypoints = checked(trajectory, rules, clock)
    motion = follow(waypoints, state(waypoints.positions[0]), clock, rules)
    if waypoints.independent:
        leading = motion.knots[0] == 0.0 and len(motion.knots) > len(waypoints.times)
        present = int(np.searchsorted(motion.knots, 0.0, side="right")) - 1
        first = max(present, 0) + int(leading)
        refuse_beyond(motion, limits, rules.joints, since_start(waypoints, clock), first)
    # Looked up in every cycle; made here, beside the loop.
    _ = motion.rows, motion.times
    return CheckedRoute(waypoints, motion, rules, limits)


def started(route: CheckedRoute, before: Sample, clock: float) -> ReferenceMotion:
    """The reference from the present state on; the route is used up.

    Args:
        route: From ``routed``.
        before: The present state, or the reference that goes on.
        clock: Present time [s].

    Raises:
        TrajectoryError: where the way to the first waypoint is beyond limits.
    """
    waypoints, rules = route.waypoints, route.rules
    motion = led_in(route.motion, waypoints, before, clock, rules)
    limits, end = route.limits.including(before.q, before.v), None
    if waypoints.independent:
        end = int(len(motion.knots) > len(waypoints.times))
    refuse_beyond(motion, limits, rules.joints, since_start(waypoints, clock), 0, end)
    return motion


def since_start(waypoints: Waypoints, clock: float) -> float:
    """Time since the trajectory's start [s], by which its points' times count."""
    return 0.0 if waypoints.start is None else clock - waypoints.start


# -- A trajectory file as checked waypoints, and whether the arm is where they begin --------------


def read_waypoints(path: Path, approach: float | None = None) -> Waypoints:
    """Read a file and check it by the joint trajectory controller's rules.

    Args:
        path: The file.
        approach: Time from the start to the first point [s]: the controller moves the arm there
            from where it is. None: the time that the file says.

    Raises:
        DescriptionError: If it is no JointTrajectory.
        TrajectoryError: If a controller would refuse it.
    """
    data = read_trajectory(path)
    names = tuple(data["joint_names"])
    points = [Point(**point) for point in data["points"]]
    if approach is not None and points:
        later = approach - points[0].time
        points = [point._replace(time=point.time + later) for point in points]
    try:
        return checked(JointTrajectory(names, points), Rules(names), 0.0)
    except TrajectoryError as error:
        place = f"{path}, {error.place}"
        raise TrajectoryError(place, error.finding, error.remedy, error.code) from None


def refuse_elsewhere(found: Waypoints, measured: Mapping[str, float], tolerance: float) -> None:
    """Raise if a joint is not where the waypoints begin: the arm would jump there.

    Args:
        found: The waypoints.
        measured: Position of each of their joints [rad or m].
        tolerance: Largest distance [rad or m].
    """
    begin = dict(zip(found.joint_names, found.positions[0].tolist(), strict=True))
    away = {joint: measured[joint] - place for joint, place in begin.items()}
    worst = max(away, key=lambda joint: abs(np.nan_to_num(away[joint], nan=np.inf)))
    if not abs(away[worst]) <= tolerance:
        finding = (
            f"begins at {begin[worst]:.6g}, and joint {worst!r} is at {measured[worst]:.6g}: "
            "it would jump"
        )
        remedy = "let it move there first with --approach SECONDS, or give a larger --tolerance"
        raise TrajectoryError("trajectory", finding, remedy)
