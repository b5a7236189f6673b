"""Action goals from acceptance to result code, as ros2_controllers' JTC has them; no ROS.

``judged`` decides about one cycle. ``Goals`` puts it to a loop: one goal at a time is followed.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.control.safety import Event
from geared_dynamics.control.safety import memory as event
from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
from geared_dynamics.runtime.loop_time import SLOWEST
from geared_dynamics.trajectory import (
    INVALID_GOAL,
    JointTolerance,
    JointTrajectory,
    PointArrays,
    ToleranceError,
    Tolerances,
    decelerating,
    goal_tolerances,
    shortest_way,
    violation,
)
from geared_dynamics.trajectory import ReferenceMotion as Motion

Status = Literal["succeeded", "aborted", "canceled"]
SUCCESSFUL, PATH_TOLERANCE_VIOLATED, GOAL_TOLERANCE_VIOLATED = 0, -4, -5
HELD = event.STALE_REFERENCE | event.RESUME_ERROR  # a hold that does not end with its cause
UNREAD = event.BAD_STATE | event.NAMES_MISSING  # a joint state that says nothing about the goal
TOLD = (event.STOPPING | event.RESUME_ERROR) & ~event.NO_REFERENCE
BLIND_STOP = 0.5  # [s] in which a law without feedback brakes, where no decelerations are given


class Ending(NamedTuple):
    """How a goal ends.

    Attributes:
        status: Of the action.
        code: ``error_code`` of ``control_msgs/action/FollowJointTrajectory``.
        text: ``error_string``.
    """

    status: Status
    code: int
    text: str


REACHED = Ending("succeeded", SUCCESSFUL, "Goal successfully reached!")
CANCELED = Ending("canceled", SUCCESSFUL, "")
PREEMPTED = Ending("aborted", INVALID_GOAL, "Current goal preempted by new incoming action.")
REPLACED = Ending("aborted", INVALID_GOAL, "Current goal preempted by a trajectory on the topic.")
DEACTIVATED = Ending(
    "aborted", INVALID_GOAL, "Current goal cancelled during deactivate transition."
)
DROPPED = Ending("aborted", INVALID_GOAL, "The node has dropped the trajectory.")


class PathBounds(NamedTuple):
    """Path tolerances as a cycle reads them: joint's index, limit, whether it is continuous."""

    position: tuple[tuple[int, float, bool], ...]
    velocity: tuple[tuple[int, float, bool], ...]


class Pursuit(NamedTuple):
    """A trajectory under way.

    Attributes:
        key: What the caller knows the goal by; None for a trajectory from the topic.
        motion: The reference.
        tolerances: That hold for it.
        begin: Time from which its points count [s].
        times: Of the points after that [s].
        bounds: Path tolerances.
        first: Whether no cycle has looked at it yet.
    """

    key: object
    motion: Motion
    tolerances: Tolerances
    begin: float
    times: Sequence[float]
    bounds: PathBounds
    first: bool = True


class Progress(NamedTuple):
    """What feedback tells.

    Attributes:
        point: Index of the point that is led to; their number after the last.
        time: Since the points count [s].
        error: Wanted less measured position and velocity (2, n).
    """

    point: int
    time: float
    error: Array


def judged(
    tolerances: Tolerances, first: bool, over: float, error: Array, joints: Sequence[str]
) -> Ending | None:
    """What one cycle says of a goal; None: it goes on.

    Args:
        tolerances: Of the goal.
        first: Whether this is its first cycle.
        over: Time since the last point [s], negative before.
        error: Wanted less measured position and velocity (2, n).
        joints: Their names (n,).
    """
    if over < 0.0 or first:
        beyond = violation(tolerances.path, error, joints)
        if beyond:
            text = f"Aborted due to path tolerance violation: {beyond}"
            return Ending("aborted", PATH_TOLERANCE_VIOLATED, text)
    if over < 0.0:
        return None
    beyond = violation(tolerances.goal, error, joints)
    if not beyond:
        return REACHED
    if tolerances.goal_time and over > tolerances.goal_time:
        text = f"Aborted due to goal_time_tolerance exceeding by {over:.6f} seconds: {beyond}"
        return Ending("aborted", GOAL_TOLERANCE_VIOLATED, text)
    return None


def stopped(events: int) -> Ending:
    """The end of a goal whose arm was stopped.

    Args:
        events: What was found, ``Event`` as an integer.
    """
    if not events:
        return DROPPED
    names = ", ".join(str(one.name) for one in Event if events & one)
    if events & (event.TRACKING_ERROR | event.RESUME_ERROR):
        text = f"Aborted due to path tolerance violation: {names}"
        return Ending("aborted", PATH_TOLERANCE_VIOLATED, text)
    if events & event.STALE_REFERENCE:
        return Ending("aborted", GOAL_TOLERANCE_VIOLATED, "Aborted due to command timeout")
    return Ending("aborted", INVALID_GOAL, f"Aborted: the arm was stopped by {names}")


def bounds(limits: Tolerances, turning: Sequence[bool]) -> PathBounds:
    """Path tolerances of position and velocity.

    Args:
        limits: All tolerances.
        turning: Which joints are continuous (n,).
    """

    def given(row: Array, turns: Sequence[bool]) -> tuple[tuple[int, float, bool], ...]:
        each = enumerate(zip(row.tolist(), turns, strict=True))
        return tuple((k, most, turn) for k, (most, turn) in each if 0.0 < most < math.inf)

    return PathBounds(
        given(limits.path[0], turning), given(limits.path[1], [False] * len(turning))
    )


def near(desired: Array, measured: Array, limits: Sequence[tuple[int, float, bool]]) -> bool:
    """Whether errors keep to their limits; quicker than with arrays for a few joints."""
    if limits:
        wanted, found = desired.tolist(), measured.tolist()
        for k, most, turns in limits:
            off = abs(wanted[k] - found[k])
            if turns and most < off < math.inf:
                off = abs(math.remainder(off, math.tau))  # the short way round
            if not off <= most:
                return False
    return True


def finite(*rows: Array | None) -> bool:
    """Whether all rows are there and hold numbers."""
    return all(row is not None and bool(np.isfinite(row).all()) for row in rows)


class Goals:
    """The goals of one loop.

    Attributes:
        active: The trajectory that is judged; None for none.
        ended: Keys and ends of goals since ``take`` was called last.
        notes: What the log should say, since the last ``take``.
    """

    def __init__(self, loop: FeedforwardLoop) -> None:
        """Begin without a goal."""
        self.loop = loop
        self.active: Pursuit | None = None
        self.ended: list[tuple[object, Ending]] = []
        self.notes: list[str] = []
        self._error = np.zeros((2, loop.setup.bare.n))
        self._clock = 0.0
        self._rows = tuple(self._error)

    def accept(
        self,
        key: object,
        trajectory: JointTrajectory,
        path: Sequence[JointTolerance],
        goal: Sequence[JointTolerance],
        goal_time: float,
        now: float,
        clock: float,
    ) -> None:
        """Follow a goal from now on; the one before it is preempted.

        Args:
            key: What the caller knows it by.
            trajectory: As received.
            path: Its tolerances on the way.
            goal: Those after its last point.
            goal_time: How long it may take after that [s]; 0: as the parameters say.
            now: Steady time [s].
            clock: ROS time, counted as the loop does [s].

        Raises:
            TrajectoryError: naming what is wrong with it; what is under way goes on.
        """
        loop = self.loop
        loop.accept(trajectory, now, clock)
        self._end(PREEMPTED)
        assert loop.motion is not None  # just accepted
        default, turning = loop.setup.tolerances, loop.setup.rules.turning.tolist()
        try:
            limits = goal_tolerances(default, loop.setup.rules.joints, path, goal, goal_time)
        except ToleranceError as error:
            self.notes.append(f"{error}; the parameters' tolerances are used")
            limits = default
        points = trajectory.points
        if isinstance(points, PointArrays):
            times = points.times.tolist()
        else:
            times = [float(point.time) for point in points]
        begin = trajectory.start or clock
        self.active = Pursuit(key, loop.motion, limits, begin, times, bounds(limits, turning))

    def cancel(self, key: object, clock: float) -> bool:
        """End a goal as its client asks, and stop the arm; whether it was under way.

        Args:
            key: The goal's.
            clock: ROS time [s].
        """
        if self.active is None or self.active.key != key or key is None:
            return False
        self._end(CANCELED)
        self.stop(clock)
        return True

    def abort(self, ending: Ending) -> None:
        """End what is under way; the arm is the caller's affair."""
        self._end(ending)

    def take(self) -> tuple[list[tuple[object, Ending]], list[str]]:
        """The ends and the notes since the last call."""
        ended, notes = self.ended, self.notes
        self.ended, self.notes = [], []
        return ended, notes

    @property
    def judging(self) -> bool:
        """Whether a cycle has anything to look at."""
        return self.active is not None or bool(self.loop.setup.tolerances.goal_time)

    def judge(self, clock: float) -> bool:
        """After a cycle: judge the goal under way; whether there is ``progress`` to tell of.

        Args:
            clock: ROS time of the cycle [s].
        """
        loop, found = self.loop, self.active
        if found is None or (found.key is None and loop.motion is not found.motion):
            found = self.active = self._by_topic()
            if found is None:
                return False
        if loop.motion is not found.motion:
            replaced = loop.motion is not None
            self._end(REPLACED if replaced else stopped(self._events()))
            return False
        decision = loop.decision
        events = 0 if decision is None else decision.detected
        if events and (events & event.STALE_STATE or (events & HELD and loop.present.finished)):
            self._stopped(found)
            return False
        q, v = loop.q, loop.v
        if events & UNREAD or decision is None or q is None or v is None:
            return False
        clock = loop.pace.time(clock)  # the trajectory's, as its controller counts
        if clock != clock:
            return False
        self._clock = clock
        if not decision.running:
            return True
        if not (found.first or loop.present.finished):
            wanted, limits = loop.present, found.bounds
            if near(wanted.q, q, limits.position) and near(wanted.v, v, limits.velocity):
                return True  # as in nearly all cycles
        self._judge(found, clock, q, v)
        return self.active is not None

    def stop(self, clock: float) -> None:
        """Bring the arm to rest: by given decelerations, else held by the safety step.

        Args:
            clock: ROS time [s].
        """
        loop = self.loop
        q, v, decision = loop.q, loop.v, loop.decision
        made = None
        if decision is not None and decision.running and finite(q, v):
            assert q is not None  # as found
            assert v is not None
            rate = loop.setup.deceleration
            if rate is None and loop.setup.open_loop:
                rate = np.abs(v) / BLIND_STOP
            if rate is not None and clock == clock:
                made = self._braking(q, v, rate, clock)
        loop.motion, loop.resting = made, True

    def _braking(self, q: Array, v: Array, rate: Array, clock: float) -> Motion:
        """Motion that brings the arm to rest at these rates (n,), however slowly time goes."""
        pace = self.loop.pace
        share = max(pace.rate, SLOWEST)
        made = decelerating(q, pace.along(v), rate / share**2, clock)
        pace.begin(clock, resting=False)
        return made

    # -- one cycle ---------------------------------------------------------------------------

    def _by_topic(self) -> Pursuit | None:
        """The topic's trajectory, where the parameters bound the time after its end."""
        loop = self.loop
        limits = loop.setup.tolerances
        if loop.motion is None or loop.resting or not limits.goal_time:
            return None
        path = bounds(limits, loop.setup.rules.turning.tolist())
        return Pursuit(None, loop.motion, limits, loop.motion.begin, (), path, False)

    def progress(self) -> Progress:
        """Where the arm is on its trajectory in a cycle after which ``judge`` was true."""
        found, loop = self.active, self.loop
        assert found is not None  # as ``judge`` has said
        time = self._clock - found.begin
        error = self._errors(loop.q, loop.v)  # type: ignore[arg-type]
        return Progress(bisect_left(found.times, time), time, error)

    def _errors(self, q: Array, v: Array) -> Array:
        """Desired less measured position and velocity (2, n), in memory of this object."""
        desired, rules = self.loop.present, self.loop.setup.rules
        position, velocity = self._rows
        np.subtract(desired.q, q, out=position)
        np.subtract(desired.v, v, out=velocity)
        if rules.continuous:
            position[:] = shortest_way(q, desired.q, rules.turning)
        return self._error

    def _judge(self, found: Pursuit, clock: float, q: Array, v: Array) -> None:
        loop, joints = self.loop, self.loop.setup.rules.joints
        over = clock - found.motion.end if loop.present.finished else -1.0
        if found.first:
            self.active = found._replace(first=False)
        ending = judged(found.tolerances, found.first, over, self._errors(q, v), joints)
        if ending is None or (found.key is None and ending.code != GOAL_TOLERANCE_VIOLATED):
            return
        self._end(ending)
        if ending is REACHED:
            loop.resting = True  # the last point is kept, whatever cmd_timeout says
            return
        self.notes.append(f"{ending.text}; the arm is held")
        self.stop(clock)

    def _stopped(self, found: Pursuit) -> None:
        """The safety step has stopped the arm: the motion is not taken up again."""
        self._end(stopped(self._events()))
        if found.key is not None:
            self.loop.motion = None

    def _events(self) -> int:
        """What keeps the arm from running."""
        decision = self.loop.decision
        return 0 if decision is None else (decision.detected | decision.latched) & TOLD

    def _end(self, ending: Ending) -> None:
        """End the goal under way."""
        found, self.active = self.active, None
        if found is not None and found.key is not None:
            self.ended.append((found.key, ending))
