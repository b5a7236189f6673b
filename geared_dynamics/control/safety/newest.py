"""Which joint state is the last good one: what came, and what no arm can be in after the other.

Faster than twice its speed limit v_max no joint is. So a velocity beyond 2 v_max is impossible,
and so is a position that is farther from the one before than

    |q - q_before| <= 2 v_max (dt + slack)

with dt between the stamps of the two and 5 ms of slack; where stamps are missing or do not go on,
between their arrivals, which a loop that was busy brings closer together, and 25 ms. After an
impossible one it is unknown which of the two is right: until they have been possible for
``state_timeout`` none is used.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from geared_dynamics.arrays import Array
from geared_dynamics.control.safety import events as at
from geared_dynamics.control.safety import watch
from geared_dynamics.control.safety.events import Mode
from geared_dynamics.control.safety.policy import FACTOR, Policy
from geared_dynamics.control.safety.values import Observation, SafetyMemory, StateTrack

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
    fault = watch.usable(policy, seen)
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
            way = math.remainder(way, watch.TURN)
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
