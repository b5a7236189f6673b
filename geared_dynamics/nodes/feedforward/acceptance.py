"""What is done with a trajectory before the arm follows it: read, checked, prepared.

All but the way from the present posture to the first waypoint can be done beside the loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.control.safety import Policy
from geared_dynamics.trajectory import (
    JointTrajectory,
    MotionLimits,
    Reference,
    Rules,
    Sample,
    Waypoints,
    checked,
    follow,
    led_in,
    refuse_beyond,
    state,
)

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
    motion: Reference
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


def started(route: CheckedRoute, before: Sample, clock: float) -> Reference:
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
