"""The command of each mode, before limits."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.control.safety.events import Mode
from geared_dynamics.control.safety.limits import checked, faded, fraction
from geared_dynamics.control.safety.policy import Policy
from geared_dynamics.control.safety.stopping import LONGEST, braked, predicted
from geared_dynamics.control.safety.values import (
    Brake,
    Fallback,
    Guess,
    Nominal,
    Observation,
    SafetyMemory,
)
from geared_dynamics.errors import ModelError

REFRESH = 0.02  # [s] after which gravity's command is computed again, for when nothing else can
# Rest counts only after this time [s]: one wild position at which an arm is stopped must not
# become what it is held at.
DWELL = 0.02
Composed = tuple[Array, SafetyMemory, "Exception | None"]


def composed(
    policy: Policy,
    memory: SafetyMemory,
    seen: Observation,
    wanted: Array | None,
    fallback: Fallback | None,
    nominal: Nominal | None,
    brake: Brake | None,
) -> Composed:
    """Command of the memory's mode, the memory with what had to be computed, what failed."""
    now = seen.now
    if memory.mode is Mode.RUNNING:
        return running(policy, memory, now, wanted, fallback)
    if memory.mode is Mode.ZEROING:
        return to_zero(policy, memory, now), memory, None
    try:
        if memory.mode is Mode.BRAKING:
            target, braking = braked(policy, memory, seen, called(fallback), brake)
            return checked(policy, target), braking, None
        target, memory = supported(policy, memory, now, fallback, nominal, brake)
    except Exception as error:  # whatever a model may raise; handed on in the decision
        return unsupported(policy, memory, now), memory, error
    return target, memory, None


def running(
    policy: Policy,
    memory: SafetyMemory,
    now: float,
    wanted: Array | None,
    fallback: Fallback | None,
) -> Composed:
    """The wanted command, faded in after a fault; the one before where there is no new one."""
    error: Exception | None = None
    if now - memory.refreshed >= REFRESH or memory.static is None:
        try:
            memory = memory._replace(static=static(policy, memory, fallback), refreshed=now)
        except Exception as raised:  # as above
            error = raised
    if wanted is None:
        return memory.sent, memory, error  # type: ignore[return-value]
    if memory.resumed is not None:
        part = fraction(now - memory.resumed, policy.resume_time)
        wanted = faded(memory.origin, wanted, part)
    return wanted, memory, error


def supported(
    policy: Policy,
    memory: SafetyMemory,
    now: float,
    fallback: Fallback | None,
    nominal: Nominal | None,
    brake: Brake | None,
) -> tuple[Array, SafetyMemory]:
    """Command that keeps the arm from falling: held, slowed down, or by gravity alone."""
    if memory.mode is Mode.BLIND:
        return unseen(policy, memory, now, fallback, nominal, brake)
    q, v, _ = memory.good
    if memory.mode is Mode.RAMPING:
        part = fraction(now - memory.since, policy.ramp_time)
        target = checked(policy, called(fallback)(q, q, v))
        return faded(memory.origin, target, part), memory
    if not memory.settled:
        slow = speed(v) <= policy.hold_velocity
        held = now - memory.since
        settled = (slow and held >= DWELL) or held >= policy.settle_time
        memory = memory._replace(posture=q, settled=settled)
    command = called(fallback)(memory.posture, q, v)  # type: ignore[arg-type]
    return checked(policy, command), memory


def unseen(
    policy: Policy,
    memory: SafetyMemory,
    now: float,
    fallback: Fallback | None,
    nominal: Nominal | None,
    brake: Brake | None,
) -> tuple[Array, SafetyMemory]:
    """Without joint states: brake an arm that moved, by the model alone, then gravity.

    From where the arm must have been when the mode began, q0 with velocity v under the command
    that was sent since the last joint state, the stop in T = ``blind_time`` is
    q0 + v t - v t^2 / (2 T). Without ``brake`` v stays in between; without ``nominal``, and for an
    arm at rest, gravity at the last posture.
    """
    q, v, stamp = memory.good
    length, t = policy.blind_time, now - memory.since
    moved = length > 0.0 and speed(v) > policy.hold_velocity
    if memory.posture is None:
        found = static(policy, memory, fallback)
        gap = memory.since - stamp
        start, v = predicted(brake, memory.sent, q, v, gap) if moved else (q, v)
        guess = Guess(start, v, memory.since, None, False)
        memory = memory._replace(static=found, refreshed=now, posture=start, guess=guess)
    elif memory.guess is not None:
        v = memory.guess.v
    start = q if memory.posture is None else memory.posture
    if moved and nominal is not None:
        if t < length:
            where = start + v * (t - 0.5 * t * t / length)
            command = nominal(where, v * (1.0 - t / length), v / -length)
            return checked(policy, command), memory
        if not memory.settled:
            end = checked(policy, called(fallback)(start + 0.5 * length * v, None, None))
            memory = memory._replace(static=end.copy(), refreshed=now, settled=True)
    return blind(policy, memory, now), memory


def speed(v: Array) -> float:
    """Largest magnitude of the joints' velocities."""
    return float(np.abs(v).max(initial=0.0))


def blind(policy: Policy, memory: SafetyMemory, now: float) -> Array:
    """Gravity at the posture last known, for a time or for good."""
    if memory.static is None:
        return to_zero(policy, memory, now)
    if policy.blind_end == "gravity":
        return memory.static
    part = fraction(now - memory.since - policy.blind_time, policy.ramp_time)
    return (1.0 - part) * memory.static


def unsupported(policy: Policy, memory: SafetyMemory, now: float) -> Array:
    """What is left where the fallback fails: gravity as it was computed last.

    An arm that no model was ever there for fades to zero: nothing else is known.
    """
    return blind(policy, memory, now)


def to_zero(policy: Policy, memory: SafetyMemory, now: float) -> Array:
    """The command at which the mode began, faded to zero."""
    late = memory.leaving is not None and now - memory.leaving >= LONGEST
    if memory.origin is None or late:
        return np.zeros(len(policy.command))
    return (1.0 - fraction(now - memory.since, policy.ramp_time)) * memory.origin


def static(policy: Policy, memory: SafetyMemory, fallback: Fallback | None) -> Array:
    """Gravity's command at the last good position."""
    return checked(policy, called(fallback)(memory.q, None, None)).copy()  # type: ignore[arg-type]


def called(fallback: Fallback | None) -> Fallback:
    """The fallback, where there is one."""
    if fallback is None:
        raise ModelError("fallback", "there is no model", "load one")
    return fallback
