"""A trajectory before the arm follows it, and how fast time goes along it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.control.safety import Policy
from geared_dynamics.description.trajectory_file import read_trajectory
from geared_dynamics.trajectory import (
    JointTrajectory,
    MotionLimits,
    Point,
    Reference,
    Rules,
    Sample,
    SampleBuffer,
    TrajectoryError,
    Waypoints,
    checked,
    follow,
    led_in,
    refuse_beyond,
    state,
)
from geared_dynamics.trajectory.sampling import slowed

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


# -- How fast time goes along the reference -------------------------------------------------------
#
# The torque needs the velocity and acceleration at which the arm really moves, so the rate has
# a slope: it changes within half a second, not at once.


RAMP = 2.0  # largest change of the rate [1/s]
SLOWEST = 0.1  # rate below which an arm that moves was not moved by the reference


class Pace:
    """Time along the reference: s(t) with ds/dt = rate, which follows what was asked for.

    Attributes:
        asked: Rate that is wanted, from 0 to 1.
        rate: Rate now.
        slope: Its change from now on [1/s].
        even: Whether s is the time itself: nothing is to be done.
    """

    __slots__ = ("_clock", "_lag", "_later", "asked", "even", "rate", "slope")

    def __init__(self) -> None:
        """Begin with time itself."""
        self.asked = self.rate = self._later = 1.0
        self.slope = self._lag = 0.0
        self._clock = math.nan
        self.even = True

    def ask(self, rate: float) -> None:
        """Approach a rate from the next cycle on.

        Args:
            rate: From 0 to 1.
        """
        if self.even:
            self._clock = math.nan  # go was not called meanwhile: its next call begins
        self.asked = rate
        self._look()

    def begin(self, clock: float, resting: bool) -> None:
        """Count a new reference from now on.

        Args:
            clock: Time [s].
            resting: Whether there was no reference before: then the rate needs no ramp.
        """
        self._clock, self._lag = clock, 0.0
        if resting:
            self.rate = self._later = self.asked
            self.slope = 0.0
        self._look()

    def time(self, clock: float) -> float:
        """The time along the reference at the last cycle's rate [s]."""
        return clock - self._lag

    def go(self, clock: float, later: float) -> tuple[float, float]:
        """Go on to a time; return the times along the reference, now and later [s].

        Args:
            clock: Time [s].
            later: For which the feedforward is computed [s].
        """
        dt = clock - self._clock
        self._clock = clock
        if dt > 0.0:
            before, step = self.rate, RAMP * dt
            self.rate += min(max(self.asked - before, -step), step)
            self._lag += dt * (1.0 - 0.5 * (before + self.rate))
        missing, ahead = self.asked - self.rate, later - clock
        self.slope = math.copysign(RAMP, missing) if missing else 0.0
        change = min(max(missing, -RAMP * ahead), RAMP * ahead)
        self._later = self.rate + change
        now = clock - self._lag
        self._look()
        return now, now + ahead * (self.rate + 0.5 * change)

    def slow(self, now: SampleBuffer, ahead: SampleBuffer) -> None:
        """Turn what was sampled along the reference into what the arm shall do, in place.

        Args:
            now: At the time of the cycle.
            ahead: At that of the feedforward.
        """
        for buffer, rate in ((now, self.rate), (ahead, self._later)):
            buffer.a *= rate * rate
            buffer.a += self.slope * buffer.v
            buffer.v *= rate

    def slow_rows(self, rows: Array) -> Array:
        """The same for all derivatives (k + 1, n), at the time of the feedforward."""
        return rows if self.even else slowed(rows, self._later, self.slope)

    def along(self, v: Array) -> Array:
        """Velocity along the reference (n,) of an arm that moves with v."""
        return v / self.rate if self.rate > SLOWEST else v

    def _look(self) -> None:
        self.even = self.asked == self.rate == 1.0 and self._lag == 0.0


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
