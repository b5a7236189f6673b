"""A trajectory before the arm follows it: read, checked, prepared; and what it has to keep to.

Tolerances, times and stops are parameters of a joint trajectory controller (JTC).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.control.safety import Policy
from geared_dynamics.description.trajectory_file import read_trajectory
from geared_dynamics.model import GearedModel
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.parameters import ParameterError
from geared_dynamics.trajectory import (
    JointTrajectory,
    MotionLimits,
    Point,
    ReferenceMotion,
    Rules,
    Sample,
    Tolerances,
    TrajectoryError,
    Waypoints,
    checked,
    default_tolerances,
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


# -- How far the arm may be from its reference: given, as in a JTC's file, or by default ----------


ANGLE, LENGTH = 0.2, 0.05  # [rad], [m], where the node closes the loop and nothing is given
PATTERN = "constraints.{}.trajectory"
# Given in every JTC's parameter file, and without effect here: what such a file leaves out is
# what a JTC takes for it.
JTC_MARKS = ("command_interfaces", "state_interfaces", "type")


def tracking_of(parameters: FeedforwardParameters, model: GearedModel) -> Array:
    """Largest position errors (n,) [rad or m], infinite for none.

    Args:
        parameters: The parameters. NaN is not given, 0 is any error.
        model: Whose joints they are for.

    Raises:
        ParameterError: for a negative one.
    """
    errors = parameters.constraints.trajectory
    for name, value in zip(model.joint_names, errors.tolist(), strict=True):
        if value < 0.0:
            remedy = "set a tolerance above zero, 0 to disable the check, or NaN for the default"
            raise ParameterError(PATTERN.format(name), f"is {value:g}", remedy)
    usual = np.where(of_a_jtc(parameters), 0.0, default_of(parameters, model))
    found = np.where(np.isnan(errors), usual, errors)
    return np.where(found > 0.0, found, np.inf)


def default_of(parameters: FeedforwardParameters, model: GearedModel) -> Array:
    """Tolerances where none are given (n,): 0 where somebody else closes the loop."""
    if parameters.mode != "computed_torque":
        return np.zeros(model.n)
    return np.where(model.prismatic, LENGTH, ANGLE)


def of_a_jtc(parameters: FeedforwardParameters) -> bool:
    """Whether the parameters are those of a joint trajectory controller."""
    return any(bool(parameters.values[name]) for name in JTC_MARKS)


def untracked(parameters: FeedforwardParameters, model: GearedModel) -> list[str]:
    """A line where the node closes the loop of joints that may be anywhere, unasked."""
    if parameters.mode != "computed_torque":
        return []
    silent = np.isnan(parameters.constraints.trajectory)
    free = silent & ~np.isfinite(tracking_of(parameters, model))
    names = [name for name, is_free in zip(model.joint_names, free, strict=True) if is_free]
    if not names:
        return []
    remedy = f"set {PATTERN.format('<joint>')}, {ANGLE:g} rad or {LENGTH:g} m by default"
    finding = (
        f"no position error of {', '.join(names)} stops the arm, as in a JTC without tolerances"
    )
    return [f"{finding}; {remedy}"]


# -- From parameter values to what a trajectory's end may look like: tolerances, times, stops -----


def tolerances_of(parameters: FeedforwardParameters, model: GearedModel) -> Tolerances:
    """Tolerances of trajectories that bring none along."""
    wanted = parameters.constraints
    path = tracking_of(parameters, model)
    path = np.where(np.isfinite(path), path, 0.0)
    stopped = wanted.stopped_velocity_tolerance
    return default_tolerances(path, wanted.goal, stopped, wanted.goal_time)


def deceleration_of(parameters: FeedforwardParameters) -> Array | None:
    """Decelerations of a cancelled motion (n,); None where not wanted, or one is missing."""
    found = parameters.constraints.max_deceleration_on_cancel
    wanted = parameters.constraints.decelerate_on_cancel
    return found if wanted and (found > 0.0).all() else None


def reference_timeout(parameters: FeedforwardParameters) -> float:
    """Age at which a reference that has ended is dropped [s].

    As in JTC a ``cmd_timeout`` that is not longer than ``constraints.goal_time`` does not count.
    """
    timeout = parameters.cmd_timeout
    counts = timeout > parameters.constraints.goal_time
    return timeout if timeout > 0.0 and counts else math.inf


def without_effect(parameters: FeedforwardParameters) -> list[str]:
    """A line for each of these parameters that is given and does not count."""
    lines = []
    timeout, time = parameters.cmd_timeout, parameters.constraints.goal_time
    if timeout > 0.0 and math.isinf(reference_timeout(parameters)):
        lines.append(
            f"cmd_timeout ({timeout:g} s) has no effect: give more than constraints.goal_time "
            f"({time:g} s)"
        )
    if parameters.constraints.decelerate_on_cancel and deceleration_of(parameters) is None:
        lines.append(
            "constraints.decelerate_on_cancel has no effect: give "
            "constraints.<joint>.max_deceleration_on_cancel above zero for every joint"
        )
    return lines
