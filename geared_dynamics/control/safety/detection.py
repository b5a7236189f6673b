"""Facts and thresholds to events; the fast path beside it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array
from geared_dynamics.control.safety import memory as at
from geared_dynamics.control.safety.commands import LONGEST_STEP, REFRESH, static
from geared_dynamics.control.safety.memory import (
    Decision,
    Fallback,
    Mode,
    Observation,
    SafetyMemory,
    StateTrack,
)
from geared_dynamics.control.safety.policy import FACTOR, Policy
from geared_dynamics.control.terms import finite

# -- What is wrong in this cycle: facts and thresholds to events ----------------------------------


TURN = 2.0 * math.pi


def jumped(policy: Policy, memory: SafetyMemory, seen: Observation) -> int:
    """Whether time went back, or forward by more than ``time_jump``."""
    before, now = memory.now, seen.now
    if before is not None and not before <= now:
        return at.TIME_JUMP
    before, clock = memory.clock, seen.clock
    if clock is None or before is None:
        return 0
    return 0 if before <= clock <= before + policy.time_jump else at.TIME_JUMP


def usable(policy: Policy, seen: Observation) -> int:
    """What keeps the newest joint state from being used: 0 for nothing."""
    if seen.names_missing:
        return at.NAMES_MISSING
    q, v, n = seen.q, seen.v, len(policy.lower)
    if q is None or v is None or q.shape != (n,) or v.shape != (n,):
        return at.BAD_STATE
    return 0 if finite(q) and finite(v) else at.BAD_STATE


def stale(age: float, timeout: float) -> bool:
    """Whether an age [s] is beyond a time-out; so is a stamp that far in the future."""
    return not -timeout <= age <= timeout


def joints(policy: Policy, memory: SafetyMemory, q: Array, v: Array, q_d: Array | None) -> int:
    """Events of positions and speeds of a good state; quick where nothing is near."""
    for x, w, (low, high, speed) in zip(q.tolist(), v.tolist(), policy.rows, strict=True):
        if not (low <= x <= high and -speed <= w <= speed):
            return near_or_beyond(policy, memory, q, v, q_d)
    return 0


def near_or_beyond(
    policy: Policy, memory: SafetyMemory, q: Array, v: Array, q_d: Array | None
) -> int:
    """Events of positions and speeds, joint by joint.

    For an arm that was stopped beyond a limit, or was released there (``memory.returning``),
    it counts only where the reference does not lead back.
    """
    found = 0
    known = memory.returning or bool(memory.latched & at.POSITION_LIMIT)
    past, fast = policy.position_tolerance, 1.0 + policy.velocity_tolerance
    for k, (x, w) in enumerate(zip(q.tolist(), v.tolist(), strict=True)):
        low, high, speed = policy.lower[k], policy.upper[k], policy.velocity[k]
        near_low, near_high, near_speed = policy.rows[k]
        if not near_low <= x <= near_high:
            found |= at.POSITION_NEAR
        if not abs(w) <= near_speed:
            found |= at.VELOCITY_NEAR
        if not abs(w) <= speed * fast:
            found |= at.VELOCITY_LIMIT
        if not low - past <= x <= high + past:
            wanted = None if q_d is None else float(q_d[k])
            back = wanted is not None and (wanted <= x if x > high else wanted >= x)
            if not (known and back):
                found |= at.POSITION_LIMIT
    return found


def within(policy: Policy, q: Array) -> bool:
    """Whether all joints are in their ranges, so far as one is stopped."""
    past = policy.position_tolerance
    rows = zip(q.tolist(), policy.lower, policy.upper, strict=True)
    return all(low - past <= x <= high + past for x, low, high in rows)


def largest_error(policy: Policy, q: Array, q_d: Array) -> tuple[float, bool]:
    """Largest position error, and whether one is beyond its tolerance; NaN is."""
    largest, beyond = 0.0, False
    rows = zip(q_d.tolist(), q.tolist(), policy.tracking, policy.continuous, strict=True)
    for wanted, x, tolerance, endless in rows:
        error = wanted - x
        if endless and math.isfinite(error):
            error = math.remainder(error, TURN)
        size = abs(error)
        if not size <= tolerance:
            beyond = True
        if not size <= largest:
            largest = size
    return largest, beyond


def reference(policy: Policy, seen: Observation) -> int:
    """Whether the reference is missing, no position of this arm, or stale."""
    if seen.q_d is not None and getattr(seen.q_d, "shape", None) != (len(policy.lower),):
        return at.NO_REFERENCE
    if not policy.needs_reference:
        return 0
    if seen.reference_stamp is None:
        return at.NO_REFERENCE
    if stale(seen.now - seen.reference_stamp, policy.reference_timeout):
        return at.STALE_REFERENCE
    return 0


def command(policy: Policy, wanted: Array | None) -> int:
    """Whether a wanted command is none."""
    if wanted is None:
        return 0
    good = wanted.shape == (len(policy.command),) and finite(wanted)
    return 0 if good else at.BAD_COMMAND


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


class NewestState(NamedTuple):
    """The last good state, and what was found while looking for one.

    Attributes:
        q: Its position (n,), or None.
        v: Its velocity (n,), or None.
        stamp: When it came [s].
        found: ``Event`` as an integer.
        track: The newest state that could be read, or None.
    """

    q: Array | None
    v: Array | None
    stamp: float | None
    found: int
    track: StateTrack | None

    @property
    def good(self) -> tuple[Array, Array, float]:
        """Position, velocity and when they came, where there was a good state."""
        return self.q, self.v, self.stamp  # type: ignore[return-value]


def newest(policy: Policy, memory: SafetyMemory, seen: Observation) -> NewestState:
    """The newest good state: this cycle's, or the one before."""
    track, q, v = memory.track, seen.q, seen.v
    before = NewestState(memory.q, memory.v, memory.stamp, 0, track)
    if seen.state_stamp is None:
        return before
    fault = usable(policy, seen)
    if seen.names_reordered:
        fault |= at.NAMES_REORDERED
    if fault & at.UNUSABLE or q is None or v is None:
        return before._replace(found=fault)
    if track is None or seen.state_stamp != track.arrived:
        leap = impossible(policy, track, q, v, elapsed(track, seen.state_stamp, seen.sampled))
        if overdue(policy, memory, seen):
            fault |= at.STALE_STATE
        doubted = None if track is None else track.doubted
        doubted = seen.state_stamp if leap else doubted
        track = StateTrack(q.copy(), seen.state_stamp, seen.sampled, doubted)
    if track.doubted is not None:
        if seen.state_stamp - track.doubted <= policy.state_timeout:
            return before._replace(found=fault | at.IMPOSSIBLE_STATE, track=track)
        track = track._replace(doubted=None)
    # Copies: the caller may overwrite its arrays in every cycle.
    return NewestState(q.copy(), v.copy(), seen.state_stamp, fault, track)


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


def overdue(policy: Policy, memory: SafetyMemory, seen: Observation) -> bool:
    """Whether a state comes later after the last good one than ``state_timeout``.

    By its arrival, whatever delayed it, and by its stamp: what comes at once after a pause of the
    loop may have been waiting. Not where the arm is blind already, and that is known.
    """
    track, timeout = memory.track, policy.state_timeout
    if (
        memory.mode is Mode.BLIND
        or memory.stamp is None
        or track is None
        or seen.state_stamp is None
    ):
        return False
    if seen.state_stamp - memory.stamp > timeout:
        return True
    if seen.sampled is None or track.sampled is None:
        return False
    return seen.sampled - track.sampled > timeout


def in_doubt(track: StateTrack | None) -> bool:
    """Whether joint states are not used since an impossible one."""
    return track is not None and track.doubted is not None


# -- The safety step's quick look at a cycle in which nothing happens: nearly every one -----------
#
# One compiled call and a dozen comparisons decide that an arm that runs goes on, that no event is
# to be reported and no limit cuts the command. What is not so, or not decided at once, is left to
# the complete look, which alone has a reaction to anything. Both decide alike in every bit, which
# a test compares over whole histories.


RUNNING = Mode.RUNNING
# Makes a named tuple of all its values by position, in a third of the time of its own class.
made = tuple.__new__


def undisturbed(
    policy: Policy,
    memory: SafetyMemory,
    seen: Observation,
    wanted: Array | None,
    fallback: Fallback | None,
) -> tuple[SafetyMemory, Decision] | None:
    """The next memory and what to send, where the arm runs and nothing is wrong; else None.

    Args:
        policy: Thresholds and limits.
        memory: Of the cycle before.
        seen: The facts of this cycle.
        wanted: Command of the law.
        fallback: The command that holds a posture, for gravity's at times.
    """
    (mode, since, before, clock, latched, _, clear, _, _, _, _, last_good, posture,
     settled, sent, origin, gravity, refreshed, _, resumed, track, _, _) = memory  # fmt: skip
    (now, stamp, q, v, heard, q_d, time, missing, reordered, failed, stop, _, sampled, leaving,
     _) = seen  # fmt: skip
    if mode is not RUNNING or latched or missing or reordered or failed or stop:
        return None
    if leaving is not None or track is None or last_good is None:
        return None
    last, arrived, taken, doubted = track
    if doubted is not None:
        return None
    if before is None or clock is None or time is None or sent is None:
        return None
    if stamp is None or q is None or v is None or wanted is None:
        return None
    age, silence = now - stamp, policy.state_timeout
    if not (before <= now < math.inf and -silence <= age <= silence):
        return None
    if stamp == arrived or stamp - last_good > silence:
        return None
    # As ``newest.elapsed``: its call, and those of ``min`` and ``max``, would cost as much again.
    if sampled is not None and taken is not None and sampled > taken:
        span = sampled - taken
        if span > silence:
            return None
        span += SLACK
    else:
        span = stamp - arrived + ARRIVAL if stamp > arrived else ARRIVAL
    if not clock <= time <= clock + policy.time_jump:
        return None
    if policy.needs_reference:
        silence = policy.reference_timeout
        if heard is None or not -silence <= now - heard <= silence:
            return None
    if resumed is not None and now - resumed < policy.resume_time:
        return None  # fading in
    command = np.empty(len(policy.command))
    dt = now - before
    if dt > LONGEST_STEP:
        dt = LONGEST_STEP
    try:
        if kernels.nominal_command(policy.packed, q, v, q if q_d is None else q_d, wanted, sent,
                                   last, dt, span, command):  # fmt: skip
            return None
    except kernels.NOT_TAKEN:
        return None  # arrays of another kind
    clear = now if clear is None else clear
    # Copies, as in the complete look: the caller may overwrite its arrays in every cycle.
    q = q.copy()
    kept = made(SafetyMemory, (
        RUNNING, since, now, time, 0, 0, clear, False, False, q, v.copy(), stamp, posture, settled,
        command, origin, gravity, refreshed, now, resumed,
        made(StateTrack, (q, stamp, sampled, None)), None, None,
    ))  # fmt: skip
    if gravity is None or now - refreshed >= REFRESH:
        try:
            kept = kept._replace(static=static(policy, kept, fallback), refreshed=now)
        except (
            Exception
        ):  # whatever a model may raise: the complete look meets it again, and tells
            return None
    return kept, made(Decision, (command, RUNNING, 0, 0, None))
