"""A trajectory made dense and given effort, for a controller that closes the loop in C++.

The joint trajectory controller takes position, velocity and acceleration between points from a
quintic, which a dense table reproduces exactly, and effort from a straight line. Points are
therefore put so densely that the line stays within a tolerance of the model's force.

Only the way from the present posture to the first waypoint depends on the posture: the rest can
be computed before, ``tail_of``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, Frozen
from geared_dynamics.control import Reference, Setting, feedforward
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.trajectory import (
    MotionLimits,
    Rules,
    Sample,
    TrajectoryError,
    Waypoints,
    derivatives,
    follow,
    refuse_beyond,
    resample,
    sample,
    shortest_way,
    state,
)
from geared_dynamics.trajectory import ReferenceMotion as Motion

# Acceleration may jump at a waypoint, and effort with it: a point this long before has the
# values from before. So near, and yet JTC's quintic between the two is good to 1e-6 rad/s^2.
GAP = 1e-5  # [s]
HALVINGS = 8
MOST = 200_000  # points
SAME = 1e-9  # relative jump of an acceleration that is rounding
BLOCK = 500  # points whose effort is computed in one call, in which nothing else runs
ROUNDING = 1e-6  # part of an effort limit
Stamp = Literal["none", "posture", "given"]


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


@dataclass(frozen=True, eq=False)
class Annotation(Frozen):
    """How trajectories are annotated.

    Attributes:
        setting: The model with its switches, which say which terms count.
        rules: How trajectories are read.
        limits: Positions and speeds that are not exceeded.
        effort: Largest joint forces (n,) [N m or N], infinite for any.
        jump: Largest step from the posture to where the motion begins [rad or m].
        resting: Speed up to which an arm counts as at rest [rad/s or m/s].
        period: Longest step between points [s].
        tolerance: Largest error of effort between points, part of each joint's largest.
        refuse: Whether what is beyond a limit is refused; else it is a warning.
    """

    setting: Setting
    rules: Rules
    limits: MotionLimits
    effort: Array
    jump: float
    resting: float
    period: float
    tolerance: float
    refuse: bool = True


class Posture(NamedTuple):
    """Where a motion begins.

    Attributes:
        state: Measured, or what was wanted last where that is continued.
        time: Its time, on the clock of the trajectory's start [s].
    """

    state: Sample
    time: float


class Tail(NamedTuple):
    """A trajectory from its first waypoint on, which no posture changes.

    Attributes:
        waypoints: As checked.
        dense: With effort, times from the first waypoint on; None where it depends on the posture.
        warnings: What is beyond limits and not refused.
    """

    waypoints: Waypoints
    dense: Annotated | None
    warnings: tuple[str, ...]


class Answer(NamedTuple):
    """What to send to the controller.

    Attributes:
        dense: The trajectory.
        stamp: When it starts: at once ("none"), at the posture's time, or as it was given.
        warnings: What is beyond limits and not refused.
    """

    dense: Annotated
    stamp: Stamp
    warnings: tuple[str, ...]


class Findings:
    """Raises what is beyond a limit, or notes it."""

    def __init__(self, refuse: bool) -> None:
        """Begin with nothing noted."""
        self._refuse = refuse
        self.noted: list[str] = []

    def collect(self, check: Callable[[], None]) -> None:
        """Check; what is raised is a refusal or a note."""
        try:
            check()
        except TrajectoryError as error:
            if self._refuse:
                raise
            self.noted.append(str(error))


def tail_of(waypoints: Waypoints, given: Annotation) -> Tail:
    """Annotate a trajectory from its first waypoint on.

    Args:
        waypoints: As checked.
        given: How.

    Raises:
        TrajectoryError: where it is beyond limits.
    """
    if not waypoints.independent or waypoints.held.any():
        return Tail(waypoints, None, ())
    first = float(waypoints.times[0])
    cut = replace(waypoints, start=None, times=waypoints.times - first)
    motion = follow(cut, state(waypoints.positions[0]), 0.0, given.rules)
    findings = Findings(given.refuse)
    dense = _checked(motion, given, findings, given.limits, first)
    return Tail(waypoints, dense, tuple(findings.noted))


def annotate(tail: Tail, posture: Posture | None, given: Annotation) -> Answer:
    """A trajectory with effort, from the posture on.

    It is the motion that JTC makes of the trajectory: from the posture to the first waypoint,
    or joining in the middle where its stamp says that it has begun. The arm moves on between
    the posture's time and the controller's: a motion that begins in motion is stamped with the
    former, so that the controller joins it where the arm is by then.

    Args:
        tail: From ``tail_of``.
        posture: Where the arm is; None: not known, which is good enough for a trajectory that
            begins at once with a waypoint at time 0.
        given: As given to ``tail_of``.

    Raises:
        TrajectoryError: where it is beyond limits, or begins with a jump.
    """
    waypoints, findings = tail.waypoints, Findings(given.refuse)
    if posture is None:
        if tail.dense is None or waypoints.start is not None or waypoints.times[0] > 0.0:
            finding = "no joint state has been received, so the start of the motion is unknown"
            remedy = "start the robot driver, or add a first point at time 0"
            raise TrajectoryError("joint_states", finding, remedy)
        return Answer(tail.dense, "none", tail.warnings)
    begun = 0.0 if waypoints.start is None else posture.time - waypoints.start
    lead = float(waypoints.times[0]) - begun  # [s] to the first waypoint
    resting = waypoints.start is None and np.abs(posture.state.v).max() <= given.resting
    stamp: Stamp = "none" if resting else "posture"
    before, now, rules = posture.state, posture.time, given.rules
    including = given.limits.including(before.q, before.v)
    if tail.dense is None:
        motion = follow(waypoints, before, now, rules)
        findings.collect(lambda: _refuse_jump(motion, posture, given))
        dense = _checked(motion, given, findings, including, begun)
    elif lead > 0.0:
        motion = follow(waypoints.first, before, now, rules)
        way = _checked(motion, given, findings, including, begun)
        dense = joined(way, tail.dense, lead)
    else:
        motion = follow(waypoints, before, now, rules)
        findings.collect(lambda: _refuse_jump(motion, posture, given))
        dense = tail.dense._replace(times=tail.dense.times + float(waypoints.times[0]))
        stamp = "none" if waypoints.start is None else "given"
    return Answer(dense, stamp, (*tail.warnings, *findings.noted))


def joined(way: Annotated, tail: Annotated, lead: float) -> Annotated:
    """The way to the first waypoint and what follows; the waypoint itself is the tail's."""
    rows = [np.concatenate([a[:-1], b]) for a, b in zip(way[1:5], tail[1:5], strict=True)]
    times = np.concatenate([way.times[:-1], lead + tail.times])
    return Annotated(times, rows[0], rows[1], rows[2], rows[3], max(way.error, tail.error))


def _checked(
    motion: Motion, given: Annotation, findings: Findings, limits: MotionLimits, offset: float
) -> Annotated:
    """Annotate a motion within limits; times in errors count from the trajectory's start."""
    names = given.rules.joints
    findings.collect(lambda: refuse_beyond(motion, limits, names, offset))
    dense = annotated(motion, given.setting, given.period, given.tolerance)
    findings.collect(lambda: refuse_effort(dense, given.effort, names, offset))
    return dense


def refuse_effort(dense: Annotated, most: Array, names: tuple[str, ...], offset: float) -> None:
    """Raise where a joint's force is beyond its limit, with the largest part of it.

    Args:
        dense: With effort.
        most: Largest joint forces (n,), infinite for any.
        names: Of the joints (n,).
        offset: Added to times, for the error [s].
    """
    part = np.abs(dense.effort) / most
    k, j = np.unravel_index(int(part.argmax()), part.shape)
    if part[k, j] > 1.0 + ROUNDING:
        finding = f"is {dense.effort[k, j]:.6g} at {dense.times[k] + offset:.3f} s, beyond "
        finding += f"{most[j]:.6g}"
        remedy = "give the trajectory more time, or check the model and its payload"
        raise TrajectoryError(f"effort, joint {names[j]!r}", finding, remedy)


def _refuse_jump(motion: Motion, posture: Posture, given: Annotation) -> None:
    """Raise where the motion begins elsewhere than the arm is."""
    begin = sample(motion, motion.begin).q
    way = np.abs(shortest_way(posture.state.q, begin, given.rules.turning))
    j = int(way.argmax())
    if way[j] > given.jump:
        finding = f"is {begin[j]:.6g} where the motion begins, and the joint is at "
        finding += f"{posture.state.q[j]:.6g}: it would jump"
        remedy = "give the first point time to be reached from where the arm is"
        raise TrajectoryError(f"position, joint {given.rules.joints[j]!r}", finding, remedy)


def annotated(motion: Motion, setting: Setting, period: float, tolerance: float) -> Annotated:
    """Sample a reference with its effort.

    Args:
        motion: The reference, from ``follow``.
        setting: The model with its switches, which say which terms count.
        period: Longest step [s].
        tolerance: Largest error of effort between points, part of each joint's largest.
    """
    if motion.knots[-1] > period * MOST:
        finding = f"would result in more than {MOST} points for {motion.knots[-1]:.6g} s"
        raise TrajectoryError(
            "annotate.period", finding, "set a longer period, or send a shorter trajectory"
        )
    times = with_jumps(motion, resample(motion, period).times)
    rows, effort = looked_at(motion, setting, times)
    worst = np.zeros(1)
    for _ in range(HALVINGS if len(times) > 1 else 0):
        middle = 0.5 * (times[1:] + times[:-1])
        between, exact = looked_at(motion, setting, middle)
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
    before = derivatives(motion, motion.begin + knots - GAP, 5)
    reached = before[:, 2] + GAP * (
        before[:, 3] + GAP * (before[:, 4] + GAP / 3 * before[:, 5]) / 2
    )
    scale = np.abs(after).max(initial=0.0) + np.abs(reached).max(initial=0.0)
    jumps = np.abs(after - reached).max(axis=1, initial=0.0) > SAME * scale + 1e-12
    early = knots[jumps] - GAP
    end = motion.knots[-1:] - GAP  # after the last point the arm rests
    found: Array = np.unique(np.concatenate([times, early, end]))
    keep = np.append(True, np.diff(found) > 0.5 * GAP)
    return found[keep & (found >= 0.0)]


def looked_at(motion: Motion, setting: Setting, times: Array) -> tuple[Array, Array]:
    """Position, velocity, acceleration (k, 3, n) and effort (k, n) at times after the begin."""
    rows = derivatives(motion, motion.begin + times, 2)
    effort = np.empty((len(times), motion.n))
    for k in range(0, len(times), BLOCK):
        q, v, a = (np.ascontiguousarray(rows[k : k + BLOCK, row]) for row in range(3))
        demand = feedforward(setting, None, Reference(q, v, a))
        effort[k : k + BLOCK] = demand.torque
    if not np.isfinite(effort).all():
        raise TrajectoryError("trajectory", "needs forces that overflow", "use SI units")
    return rows, effort


def refusal(error: GearedDynamicsError) -> str:
    """The log line about a trajectory that is refused."""
    return f"trajectory refused: {error}"
