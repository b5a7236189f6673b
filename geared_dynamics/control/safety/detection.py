"""Observation and thresholds to events."""

from __future__ import annotations

import math
from typing import NamedTuple

from geared_dynamics.arrays import Array
from geared_dynamics.control.safety import memory as event
from geared_dynamics.control.safety.memory import (
    Mode,
    Observation,
    Recent,
    SafetyMemory,
    StateTrack,
)
from geared_dynamics.control.safety.policy import FACTOR, Policy
from geared_dynamics.control.terms import finite

# -- What is wrong in this cycle: facts and thresholds to events ----------------------------------


TURN = 2.0 * math.pi


def clock_jump(policy: Policy, recent: Recent, observed: Observation) -> int:
    """TIME_JUMP where time went back, or forward by more than ``time_jump``; else 0."""
    before, now = recent.now, observed.now
    if before is not None and not before <= now:
        return event.TIME_JUMP
    before, clock = recent.clock, observed.clock
    if clock is None or before is None:
        return 0
    return 0 if before <= clock <= before + policy.time_jump else event.TIME_JUMP


def state_fault(policy: Policy, observed: Observation) -> int:
    """What keeps the newest joint state from being used: 0 for nothing."""
    if observed.names_missing:
        return event.NAMES_MISSING
    q, v, n = observed.q, observed.v, len(policy.lower)
    if q is None or v is None or q.shape != (n,) or v.shape != (n,):
        return event.BAD_STATE
    return 0 if finite(q) and finite(v) else event.BAD_STATE


def joint_events(
    policy: Policy, memory: SafetyMemory, q: Array, v: Array, q_d: Array | None
) -> int:
    """Events of positions and speeds of a good state; quick where nothing is near."""
    for x, w, (low, high, speed) in zip(q.tolist(), v.tolist(), policy.rows, strict=True):
        if not (low <= x <= high and -speed <= w <= speed):
            return near_or_beyond(policy, memory, q, v, q_d)
    return 0


def near_or_beyond(
    policy: Policy, memory: SafetyMemory, q: Array, v: Array, q_d: Array | None
) -> int:
    """Events of positions and speeds, joint by joint.

    For an arm that was stopped beyond a limit, or was released there (``phase.returning``),
    it counts only where the reference does not lead back.
    """
    events = 0
    known = memory.phase.returning or bool(memory.latch.latched & event.POSITION_LIMIT)
    past, fast = policy.position_tolerance, 1.0 + policy.velocity_tolerance
    for k, (x, w) in enumerate(zip(q.tolist(), v.tolist(), strict=True)):
        low, high, speed = policy.lower[k], policy.upper[k], policy.velocity[k]
        near_low, near_high, near_speed = policy.rows[k]
        if not near_low <= x <= near_high:
            events |= event.POSITION_NEAR
        if not abs(w) <= near_speed:
            events |= event.VELOCITY_NEAR
        if not abs(w) <= speed * fast:
            events |= event.VELOCITY_LIMIT
        if not low - past <= x <= high + past:
            target = None if q_d is None else float(q_d[k])
            back = target is not None and (target <= x if x > high else target >= x)
            if not (known and back):
                events |= event.POSITION_LIMIT
    return events


def within(policy: Policy, q: Array) -> bool:
    """Whether all joints are in their ranges, so far as one is stopped."""
    past = policy.position_tolerance
    rows = zip(q.tolist(), policy.lower, policy.upper, strict=True)
    return all(low - past <= x <= high + past for x, low, high in rows)


def largest_error(policy: Policy, q: Array, q_d: Array) -> tuple[float, bool]:
    """Largest position error, and whether one is beyond its tolerance; NaN is."""
    largest, beyond = 0.0, False
    rows = zip(q_d.tolist(), q.tolist(), policy.tracking, policy.continuous, strict=True)
    for target, x, tolerance, endless in rows:
        error = target - x
        if endless and math.isfinite(error):
            error = math.remainder(error, TURN)
        size = abs(error)
        if not size <= tolerance:
            beyond = True
        if not size <= largest:
            largest = size
    return largest, beyond


def reference_events(policy: Policy, observed: Observation) -> int:
    """Whether the reference is missing, no position of this arm, or stale."""
    q_d, stamp, timeout = observed.q_d, observed.reference_stamp, policy.reference_timeout
    if q_d is not None and getattr(q_d, "shape", None) != (len(policy.lower),):
        return event.NO_REFERENCE
    if not policy.needs_reference:
        return 0
    if stamp is None:
        return event.NO_REFERENCE
    return 0 if -timeout <= observed.now - stamp <= timeout else event.STALE_REFERENCE


def command_events(policy: Policy, command: Array | None) -> int:
    """Whether the law's command is none."""
    if command is None:
        return 0
    good = command.shape == (len(policy.command),) and finite(command)
    return 0 if good else event.BAD_COMMAND


# -- Which joint state is the last good one -------------------------------------------------------
#
# Faster than twice its speed limit v_max no joint is. So a velocity beyond 2 v_max is impossible,
# and so is a position that is farther from the one before than
#
#     |q - q_before| <= 2 v_max (dt + slack)
#
# with dt between the stamps of the two and 5 ms of slack; where stamps are missing or do not go
# on, between their arrivals, which a loop that was busy brings closer together, and 25 ms. After
# an impossible one it is unknown which of the two is right: until they have been possible for
# ``state_timeout`` none is used.


SLACK = 5e-3  # [s] by which stamps may be off
ARRIVAL = 25e-3  # [s] by which arrivals may be


class LatestState(NamedTuple):
    """The last good state, and the events of looking for one.

    Attributes:
        q: Its position (n,), or None.
        v: Its velocity (n,), or None.
        stamp: When it came [s].
        events: ``Event`` as an integer.
        track: The newest state that could be read, or None.
    """

    q: Array | None
    v: Array | None
    stamp: float | None
    events: int
    track: StateTrack | None


def latest_valid_state(policy: Policy, memory: SafetyMemory, observed: Observation) -> LatestState:
    """The newest good state: this cycle's, or the one before."""
    recent, stamp = memory.recent, observed.state_stamp
    track, q, v = recent.track, observed.q, observed.v
    if stamp is None:
        return LatestState(recent.q, recent.v, recent.stamp, 0, track)
    events = state_fault(policy, observed)
    if observed.names_reordered:
        events |= event.NAMES_REORDERED
    if events & event.UNUSABLE or q is None or v is None:
        return LatestState(recent.q, recent.v, recent.stamp, events, track)
    q, v = q.copy(), v.copy()  # the caller may overwrite its arrays in every cycle
    if track is None or stamp != track.arrived:
        leap = impossible(policy, track, q, v, elapsed(track, stamp, observed.sampled))
        if overdue(policy, memory, observed):
            events |= event.STALE_STATE
        doubted = None if track is None else track.doubted
        doubted = stamp if leap else doubted
        track = StateTrack(q, stamp, observed.sampled, doubted)
    if track.doubted is not None:
        if stamp - track.doubted <= policy.state_timeout:
            events |= event.IMPOSSIBLE_STATE
            return LatestState(recent.q, recent.v, recent.stamp, events, track)
        track = track._replace(doubted=None)
    return LatestState(q, v, stamp, events, track)


def elapsed(track: StateTrack | None, arrived: float, sampled: float | None) -> float:
    """Time in which a position may have moved since the one before, slack included [s]."""
    if track is None:
        return math.inf
    if sampled is not None and track.sampled is not None and sampled > track.sampled:
        return sampled - track.sampled + SLACK
    return max(arrived - track.arrived, 0.0) + ARRIVAL


def impossible(policy: Policy, track: StateTrack | None, q: Array, v: Array, span: float) -> bool:
    """Whether no arm can have this state after the one before, in a time span [s]."""
    last = q.tolist() if track is None else track.q.tolist()
    rows = zip(q.tolist(), v.tolist(), last, policy.bounds, policy.continuous, strict=True)
    for x, speed, before, (fastest, pace), endless in rows:
        if not abs(speed) <= fastest:
            return True
        if fastest > pace:  # no limit is known: the joint may be as fast as it says
            pace = max(pace, FACTOR * abs(speed))
        way = x - before
        if endless and math.isfinite(way):
            way = math.remainder(way, TURN)
        if not abs(way) <= pace * span:
            return True
    return False


def overdue(policy: Policy, memory: SafetyMemory, observed: Observation) -> bool:
    """Whether a state comes later after the last good one than ``state_timeout``.

    By its arrival, whatever delayed it, and by its stamp: what comes at once after a pause of the
    loop may have been waiting. Not where the arm is blind already, and that is known.
    """
    recent, timeout = memory.recent, policy.state_timeout
    track, stamp = recent.track, observed.state_stamp
    blind = memory.phase.mode is Mode.OPEN_LOOP
    if blind or recent.stamp is None or track is None or stamp is None:
        return False
    if stamp - recent.stamp > timeout:
        return True
    if observed.sampled is None or track.sampled is None:
        return False
    return observed.sampled - track.sampled > timeout


def in_doubt(track: StateTrack | None) -> bool:
    """Whether joint states are not used since an impossible one."""
    return track is not None and track.doubted is not None
