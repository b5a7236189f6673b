"""What is wrong in this cycle: facts and thresholds to events."""

from __future__ import annotations

import math

from geared_dynamics.arrays import Array
from geared_dynamics.control.arguments import finite
from geared_dynamics.control.safety import events as at
from geared_dynamics.control.safety.policy import Policy
from geared_dynamics.control.safety.values import Observation, SafetyMemory

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
