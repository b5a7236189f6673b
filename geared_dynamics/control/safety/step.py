"""The safety step: what was observed and the law's command in, what may be sent out.

Nearly every cycle is a nominal one and ends in ``nominal_step``; the others take ``full_step``.
"""

from __future__ import annotations

import math

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array
from geared_dynamics.checks import warn_former
from geared_dynamics.control.safety import detection
from geared_dynamics.control.safety import memory as event
from geared_dynamics.control.safety.commands import (
    LONGEST_STEP,
    REFRESH,
    gravity_at,
    limited,
    mode_command,
)
from geared_dynamics.control.safety.detection import (
    ARRIVAL,
    SLACK,
    LatestState,
    latest_valid_state,
)
from geared_dynamics.control.safety.memory import (
    Brake,
    Decision,
    Fallback,
    Latch,
    Mode,
    Observation,
    OpenLoop,
    Phase,
    Recent,
    SafetyMemory,
    StateTrack,
)
from geared_dynamics.control.safety.policy import Policy
from geared_dynamics.errors import ArrayError


def step(
    policy: Policy,
    memory: SafetyMemory,
    observed: Observation,
    command: Array | None,
    fallback: Fallback | None,
    open_loop: OpenLoop | None = None,
    brake: Brake | None = None,
    *,
    nominal: OpenLoop | None = None,
) -> tuple[SafetyMemory, Decision]:
    """One cycle: the next memory, and what to send.

    Args:
        policy: Thresholds, limits, reactions.
        memory: Of the cycle before, ``START`` at first.
        observed: The facts of this cycle.
        command: Command of the law (n,) or (m,); None: nothing new was computed.
        fallback: The command that holds a posture, ``controller.hold``, called only
            where it is needed; None: there is no model.
        open_loop: The command of a motion without feedback, ``controller.open_loop``, with which
            an arm is braked whose joint states stopped; None: it coasts.
        brake: The command of a deceleration, ``controller.brake``, with which an arm is brought
            to rest that is left (None: by the fallback's damping), and by which it is known what
            it did since the last joint state (None: its speed stays).
        nominal: Former name of ``open_loop``, for one release.
    """
    # A nominal cycle has no event: the law's command is sent as it is.
    done = nominal_step(policy, memory, observed, command, fallback)
    if done is not None:
        return done
    if nominal is not None:
        warn_former("the argument nominal of safety.step", "open_loop")
        open_loop = nominal
    return full_step(policy, memory, observed, command, fallback, open_loop, brake)


def full_step(
    policy: Policy,
    memory: SafetyMemory,
    observed: Observation,
    command: Array | None,
    fallback: Fallback | None,
    open_loop: OpenLoop | None,
    brake: Brake | None = None,
) -> tuple[SafetyMemory, Decision]:
    """``step`` with all checks and reactions; see there for the arguments."""
    now = observed.now
    if not math.isfinite(now):
        raise ArrayError("observation.now", f"is {now}", "give a finite time [s]")
    events = detection.clock_jump(policy, memory.recent, observed)
    if memory.recent.now is not None and now < memory.recent.now:
        memory = rebased(memory, now)
    latest = latest_valid_state(policy, memory, observed)
    if latest.q is None:
        return waiting(memory, observed, latest, latest.events | events)
    if latest.events & event.UNUSABLE:
        command = None  # made of a state that says nothing
    silence = policy.state_timeout
    old = not -silence <= now - latest.stamp <= silence  # type: ignore[operator]
    events |= latest.events | detect_events(policy, memory, observed, latest, command, old)
    before = memory.recent
    memory = updated_memory(policy, memory, observed, latest, events, command, old)
    target, memory, error = mode_command(
        policy, memory, observed, command, fallback, open_loop, brake
    )
    if error is not None:
        events |= event.COMPUTATION
        latched = memory.latch.latched | event.COMPUTATION
        latch = memory.latch._replace(latched=latched, clear=None, acknowledged=False)
        memory = memory._replace(latch=latch)
    dt = 0.0 if before.now is None else min(max(now - before.now, 0.0), LONGEST_STEP)
    sent, cut = limited(policy, target, before.sent, dt)
    recent, phase, latch, gravity = memory
    # By position: _replace takes three times as long.
    recent = Recent(*recent[:6], sent, recent.commanded)
    memory = SafetyMemory(recent, phase, latch, gravity)
    return memory, Decision(sent, phase.mode, events | cut, latch.latched, error)


def waiting(
    memory: SafetyMemory, observed: Observation, latest: LatestState, events: int
) -> tuple[SafetyMemory, Decision]:
    """No good state yet: nothing is sent, the emergency stop counts."""
    now = observed.now
    if observed.emergency_stop:
        events |= event.EMERGENCY_STOP
    latched = memory.latch.latched | (events & (event.EMERGENCY_STOP | event.IMPOSSIBLE_STATE))
    memory = memory._replace(
        recent=memory.recent._replace(now=now, clock=observed.clock, track=latest.track),
        phase=memory.phase._replace(since=now),
        latch=memory.latch._replace(latched=latched),
    )
    return memory, Decision(None, Mode.WAITING, events, latched)


def detect_events(
    policy: Policy,
    memory: SafetyMemory,
    observed: Observation,
    latest: LatestState,
    command: Array | None,
    old: bool,
) -> int:
    """Events of this cycle, but for the clock's and the latest state's own.

    Args:
        policy: Thresholds.
        memory: Of the cycle before.
        observed: The facts of this cycle.
        latest: The last good state.
        command: Command of the law.
        old: Whether that state is too old to be used.
    """
    events = missing = detection.reference_events(policy, observed)
    running = memory.phase.mode is Mode.RUNNING
    if old:
        events |= event.STALE_STATE
    else:
        q, v, q_d = latest.q, latest.v, None if missing else observed.q_d
        events |= detection.joint_events(policy, memory, q, v, q_d)  # type: ignore[arg-type]
        if q_d is not None and (policy.tracked or not running):
            error, beyond = detection.largest_error(policy, q, q_d)  # type: ignore[arg-type]
            if beyond:
                events |= event.TRACKING_ERROR
            if not error <= policy.resume_error:
                events |= event.RESUME_ERROR
        elif policy.needs_reference and not missing and not running:
            events |= event.RESUME_ERROR  # the reference's distance is not known
    if observed.emergency_stop:
        events |= event.EMERGENCY_STOP
    if observed.leaving is not None:
        events |= event.ENDING
    if not latest.events & event.UNUSABLE:
        # What a law makes of a bad state says nothing about the law.
        events |= detection.command_events(policy, command)
        if observed.failed:
            events |= event.COMPUTATION
    commanded = memory.recent.commanded
    if command is None and running and commanded is not None:
        if observed.now - commanded > policy.state_timeout and not old:
            events |= event.COMPUTATION
    return events


def rebased(memory: SafetyMemory, now: float) -> SafetyMemory:
    """Memory after the steady clock itself went back: every time in it is now."""
    recent, phase = memory.recent, memory.phase
    track = recent.track
    if track is not None:
        doubted = None if track.doubted is None else now
        track = track._replace(arrived=-math.inf, doubted=doubted)
    return SafetyMemory(
        recent=recent._replace(
            now=now,
            stamp=None if recent.stamp is None else now,
            commanded=None if recent.commanded is None else now,
            track=track,
        ),
        phase=phase._replace(
            since=now, resumed=None, leaving=None if phase.leaving is None else now, guess=None
        ),
        latch=memory.latch._replace(clear=None),
        gravity=memory.gravity._replace(refreshed=now),
    )


def updated_memory(
    policy: Policy,
    memory: SafetyMemory,
    observed: Observation,
    latest: LatestState,
    events: int,
    command: Array | None,
    old: bool,
) -> SafetyMemory:
    """Memory with this cycle's state and mode; see ``detect_events`` for the arguments."""
    now, recent, phase, latch = observed.now, memory.recent, memory.phase, memory.latch
    stopping = events & event.STOPPING
    latched = latch.latched | (events & event.LATCHING)
    interruption = latch.interruption | stopping | latched
    if stopping & ~event.IDLE:  # a reference that is missing does not hinder an acknowledgement
        clear, acknowledged = None, False
    else:
        clear = now if latch.clear is None else latch.clear
        acknowledged = latch.acknowledged or observed.acknowledged
    recovered = clear is not None and (
        not interruption & ~event.IDLE or now - clear >= policy.recovery_time
    )
    if recovered and acknowledged:
        latched = 0
    mode, returning, resumed = phase.mode, phase.returning, phase.resumed
    ready = recovered and not events & event.RESUME_ERROR and command is not None
    if stopping or latched:
        mode = reaction(policy, stopping | latched, events, old, mode is Mode.BRAKING)
    elif mode is not Mode.RUNNING and ready:
        mode = Mode.RUNNING
        returning = bool(interruption & event.POSITION_LIMIT)
        resumed = now if interruption & ~event.IDLE else None
    elif mode in (Mode.WAITING, Mode.OPEN_LOOP, Mode.BRAKING):
        mode = Mode.HOLDING
    if returning and detection.within(policy, latest.q):  # type: ignore[arg-type]
        returning = False
    running, changed = mode is Mode.RUNNING, mode is not phase.mode
    leaving = None
    if observed.leaving is not None:
        leaving = now if phase.leaving is None else phase.leaving
    if changed:
        phase = Phase(mode=mode, since=now, origin=recent.sent)
    if (resumed, returning, leaving) != (phase.resumed, phase.returning, phase.leaving):
        phase = phase._replace(resumed=resumed, returning=returning, leaving=leaving)
    commanded = recent.commanded if command is None else now
    q, v, stamp, _, track = latest
    return SafetyMemory(
        Recent(now, observed.clock, q, v, stamp, track, recent.sent, commanded),
        phase,
        Latch(latched, 0 if running else interruption, clear, acknowledged and not running),
        memory.gravity,
    )


def reaction(policy: Policy, active: int, events: int, old: bool, braking: bool) -> Mode:
    """Mode that follows from the events; the severest of their reactions wins.

    Args:
        policy: The reactions.
        active: Events of this cycle that stop the arm, and those latched.
        events: Events of this cycle.
        old: Whether the last good state is too old to be used.
        braking: Whether the arm is braked already, so that its state is expected without any.
    """
    worst = 0
    for bit, severity in policy.severity:
        if active & bit and severity > worst:
            worst = severity
    if worst == 2:
        return Mode.RAMPING_TO_ZERO
    if active & event.ENDING and (braking or not old):
        return Mode.BRAKING
    if old or events & event.IMPOSSIBLE_STATE:
        return Mode.OPEN_LOOP  # no feedback is possible
    return Mode.RAMPING_TO_GRAVITY if worst == 1 else Mode.HOLDING


# -- Nominal cycles: the arm runs, no event, no limit active; nearly every cycle is one -----------
#
# One compiled call and a dozen comparisons decide that an arm that runs goes on, that no event is
# to be reported and no limit cuts the command. What is not so, or not decided at once, is
# left to the full step, which alone has a reaction to anything. Both decide alike in every bit,
# which a test compares over whole histories.


RUNNING = Mode.RUNNING
# Makes a named tuple of all its values by position, in a third of the time of its own class.
made = tuple.__new__


def nominal_step(
    policy: Policy,
    memory: SafetyMemory,
    observed: Observation,
    command: Array | None,
    fallback: Fallback | None,
) -> tuple[SafetyMemory, Decision] | None:
    """Return the next memory and decision of a nominal cycle, None if the full step is needed.

    Args:
        policy: Thresholds and limits.
        memory: Of the cycle before.
        observed: The facts of this cycle.
        command: Command of the law.
        fallback: The command that holds a posture, for gravity's at times.
    """
    # Unpacked at once: to look up an attribute takes as long as to unpack half of the tuple.
    recent, phase, latch, gravity = memory
    mode, _, _, _, _, resumed, returning, _, _ = phase
    latched, _, clear, _ = latch
    if mode is not RUNNING or returning or latched or clear is None:
        return None
    (now, stamp, q, v, heard, q_d, time,
     missing, reordered, failed, stopped, _, sampled, leaving, _) = observed  # fmt: skip
    if missing or reordered or failed or stopped or leaving is not None:
        return None
    before, clock, _, _, last_good, track, sent, _ = recent
    if before is None or clock is None or time is None or sent is None:
        return None
    if stamp is None or q is None or v is None or command is None or track is None:
        return None
    silence, (tracked, arrived, taken, doubted) = policy.state_timeout, track
    if doubted is not None or last_good is None:
        return None
    if not (before <= now < math.inf and -silence <= now - stamp <= silence):
        return None
    if stamp == arrived or stamp - last_good > silence:
        return None
    # As ``elapsed``: its call, and those of ``min`` and ``max``, would cost as much again.
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
    checked, dt = np.empty(len(policy.command)), now - before
    if dt > LONGEST_STEP:
        dt = LONGEST_STEP
    try:
        if kernels.nominal_check(policy.packed, q, v, q if q_d is None else q_d, command, sent,
                                   tracked, dt, span, checked):  # fmt: skip
            return None
    except kernels.NOT_TAKEN:
        return None  # arrays of another kind
    # Copies, as in the full step: the caller may overwrite its arrays in every cycle.
    q = q.copy()
    pull, refreshed = gravity
    if pull is None or now - refreshed >= REFRESH:
        try:
            gravity = gravity_at(policy, q, now, fallback)
        except Exception:  # whatever a model may raise: the full step meets and reports it
            return None
    track = made(StateTrack, (q, stamp, sampled, None))
    recent = made(Recent, (now, time, q, v.copy(), stamp, track, checked, now))
    decision = made(Decision, (checked, RUNNING, 0, 0, None))
    return made(SafetyMemory, (recent, phase, latch, gravity)), decision
