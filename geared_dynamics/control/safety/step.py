"""The safety step: what was observed and wanted in, what may be sent out."""

from __future__ import annotations

import math

from geared_dynamics.arrays import Array
from geared_dynamics.control.safety import detection
from geared_dynamics.control.safety import memory as at
from geared_dynamics.control.safety.commands import LONGEST_STEP, composed, limited
from geared_dynamics.control.safety.detection import NewestState, newest, undisturbed
from geared_dynamics.control.safety.memory import (
    Brake,
    Decision,
    Fallback,
    Mode,
    Nominal,
    Observation,
    SafetyMemory,
)
from geared_dynamics.control.safety.policy import Policy
from geared_dynamics.errors import ArrayError

SENT = SafetyMemory._fields.index("sent")


def step(
    policy: Policy,
    memory: SafetyMemory,
    seen: Observation,
    wanted: Array | None,
    fallback: Fallback | None,
    nominal: Nominal | None = None,
    brake: Brake | None = None,
) -> tuple[SafetyMemory, Decision]:
    """One cycle: the next memory, and what to send.

    Args:
        policy: Thresholds, limits, reactions.
        memory: Of the cycle before, ``START`` at first.
        seen: The facts of this cycle.
        wanted: Command of the law (n,) or (m,); None: nothing new was computed.
        fallback: The command that holds a posture, ``controller.fallback``, called only
            where it is needed; None: there is no model.
        nominal: The command of a motion without feedback, ``controller.nominal``, with which
            an arm is braked whose joint states stopped; None: it coasts.
        brake: The command of a deceleration, ``controller.brake``, with which an arm is brought
            to rest that is left (None: by the fallback's damping), and by which it is known what
            it did since the last joint state (None: its speed stays).
    """
    calm = undisturbed(policy, memory, seen, wanted, fallback)
    if calm is not None:
        return calm
    return judgement(policy, memory, seen, wanted, fallback, nominal, brake)


def judgement(
    policy: Policy,
    memory: SafetyMemory,
    seen: Observation,
    wanted: Array | None,
    fallback: Fallback | None,
    nominal: Nominal | None,
    brake: Brake | None = None,
) -> tuple[SafetyMemory, Decision]:
    """``step`` with the complete look at everything."""
    if not math.isfinite(seen.now):
        raise ArrayError("observation.now", f"is {seen.now}", "give a finite time [s]")
    jump = detection.jumped(policy, memory, seen)
    if memory.now is not None and seen.now < memory.now:
        memory = rebased(memory, seen.now)
    known = newest(policy, memory, seen)
    if known.q is None:
        return waiting(memory, seen, known, known.found | jump)
    if known.found & at.UNUSABLE:
        wanted = None  # made of a state that says nothing
    found = jump | known.found | conditions(policy, memory, seen, known, wanted)
    before, last = memory.sent, memory.now
    memory = judged(policy, memory, seen, known, found, wanted)
    target, memory, error = composed(policy, memory, seen, wanted, fallback, nominal, brake)
    if error is not None:
        found |= at.COMPUTATION
        memory = memory._replace(
            latched=memory.latched | at.COMPUTATION,
            clear=None,
            acknowledged=False,
        )
    dt = 0.0 if last is None else min(max(seen.now - last, 0.0), LONGEST_STEP)
    command, cut = limited(policy, target, before, dt)
    memory = SafetyMemory._make((*memory[:SENT], command, *memory[SENT + 1 :]))
    return memory, Decision(command, memory.mode, found | cut, memory.latched, error)


def waiting(
    memory: SafetyMemory, seen: Observation, known: NewestState, found: int
) -> tuple[SafetyMemory, Decision]:
    """No good state yet: nothing is sent, the emergency stop counts."""
    if seen.emergency_stop:
        found |= at.EMERGENCY_STOP
    latched = memory.latched | (found & (at.EMERGENCY_STOP | at.IMPOSSIBLE_STATE))
    memory = memory._replace(
        now=seen.now, clock=seen.clock, latched=latched, since=seen.now, track=known.track
    )
    return memory, Decision(None, Mode.WAITING, found, latched)


def conditions(
    policy: Policy,
    memory: SafetyMemory,
    seen: Observation,
    known: NewestState,
    wanted: Array | None,
) -> int:
    """Events of this cycle, but for the clock's and the newest state's own."""
    found = missing = detection.reference(policy, seen)
    if aged(policy, known, seen.now):
        found |= at.STALE_STATE
    else:
        q, v, q_d = known.good[0], known.good[1], None if missing else seen.q_d
        found |= detection.joints(policy, memory, q, v, q_d)
        if q_d is not None and (policy.tracked or memory.mode is not Mode.RUNNING):
            error, beyond = detection.largest_error(policy, q, q_d)
            if beyond:
                found |= at.TRACKING_ERROR
            if not error <= policy.resume_error:
                found |= at.RESUME_ERROR
        elif policy.needs_reference and not missing and memory.mode is not Mode.RUNNING:
            found |= at.RESUME_ERROR  # the reference's distance is not known
    if seen.emergency_stop:
        found |= at.EMERGENCY_STOP
    if seen.leaving is not None:
        found |= at.ENDING
    if not known.found & at.UNUSABLE:
        # What a law makes of a bad state says nothing about the law.
        found |= detection.command(policy, wanted)
        if seen.failed:
            found |= at.COMPUTATION
    if wanted is None and memory.mode is Mode.RUNNING and memory.wanted is not None:
        if seen.now - memory.wanted > policy.state_timeout and not found & at.STALE_STATE:
            found |= at.COMPUTATION
    return found


def aged(policy: Policy, known: NewestState, now: float) -> bool:
    """Whether the last good state is too old to be used."""
    return detection.stale(now - known.good[2], policy.state_timeout)


def rebased(memory: SafetyMemory, now: float) -> SafetyMemory:
    """Memory after the steady clock itself went back: every time in it is now."""
    track = memory.track
    doubted = None if track is None or track.doubted is None else now
    return memory._replace(
        now=now,
        since=now,
        clear=None,
        stamp=None if memory.stamp is None else now,
        refreshed=now,
        wanted=None if memory.wanted is None else now,
        resumed=None,
        track=None if track is None else track._replace(arrived=-math.inf, doubted=doubted),
        leaving=None if memory.leaving is None else now,
        guess=None,
    )


def judged(
    policy: Policy,
    memory: SafetyMemory,
    seen: Observation,
    known: NewestState,
    found: int,
    wanted: Array | None,
) -> SafetyMemory:
    """Memory with this cycle's state and mode."""
    now = seen.now
    stopping = found & at.STOPPING
    latched = memory.latched | (found & at.LATCHING)
    clear, acknowledged, events = (
        memory.clear,
        memory.acknowledged,
        memory.seen | stopping | latched,
    )
    if stopping & ~at.IDLE:  # a reference that is missing does not hinder an acknowledgement
        clear, acknowledged = None, False
    else:
        clear = now if clear is None else clear
        acknowledged = acknowledged or seen.acknowledged
    calm = clear is not None and (not events & ~at.IDLE or now - clear >= policy.recovery_time)
    if calm and acknowledged:
        latched = 0
    mode = memory.mode
    returning = memory.returning
    resumed = memory.resumed
    if stopping or latched:
        old = aged(policy, known, now)
        mode = reaction(policy, stopping | latched, found, old, mode is Mode.BRAKING)
    elif mode is not Mode.RUNNING and calm and not found & at.RESUME_ERROR and wanted is not None:
        mode = Mode.RUNNING
        returning = bool(events & at.POSITION_LIMIT)
        resumed = now if events & ~at.IDLE else None
    elif mode in (Mode.WAITING, Mode.BLIND, Mode.BRAKING):
        mode = Mode.HOLDING
    if returning and detection.within(policy, known.good[0]):
        returning = False
    if mode is Mode.RUNNING:
        events = 0
    changed = mode is not memory.mode
    leaving = None
    if seen.leaving is not None:
        leaving = now if memory.leaving is None else memory.leaving
    # By position: ``_replace`` would cost as much as all of the above.
    return SafetyMemory(
        mode,
        now if changed else memory.since,
        now,
        seen.clock,
        latched,
        events,
        clear,
        acknowledged and mode is not Mode.RUNNING,
        returning,
        known.q,
        known.v,
        known.stamp,
        None if changed else memory.posture,
        False if changed else memory.settled,
        memory.sent,
        memory.sent if changed else memory.origin,
        memory.static,
        memory.refreshed,
        now if wanted is not None else memory.wanted,
        resumed,
        known.track,
        leaving,
        None if changed else memory.guess,
    )


def reaction(policy: Policy, active: int, found: int, old: bool, braking: bool) -> Mode:
    """Mode that follows from the events; the severest of their reactions wins.

    Args:
        policy: The reactions.
        active: Events of this cycle that stop the arm, and those latched.
        found: Events of this cycle.
        old: Whether the last good state is too old to be used.
        braking: Whether the arm is braked already, so that its state is expected without any.
    """
    worst = 0
    for bit, severity in policy.severity:
        if active & bit and severity > worst:
            worst = severity
    if worst == 2:
        return Mode.ZEROING
    if active & at.ENDING and (braking or not old):
        return Mode.BRAKING
    if old or found & at.IMPOSSIBLE_STATE:
        return Mode.BLIND  # no feedback is possible
    return Mode.RAMPING if worst == 1 else Mode.HOLDING
