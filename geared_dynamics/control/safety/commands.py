"""Command of each mode, limited; the stop before the node ends."""

from __future__ import annotations

import math

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.control.safety import memory as event
from geared_dynamics.control.safety.memory import (
    Brake,
    Fallback,
    Gravity,
    Guess,
    Leaving,
    Mode,
    Observation,
    OpenLoop,
    Phase,
    SafetyMemory,
)
from geared_dynamics.control.safety.policy import Policy
from geared_dynamics.control.terms import finite
from geared_dynamics.errors import ArrayError, ModelError

# -- Commands made to fit: magnitude and rate of change; those that cannot be sent at all ---------


LONGEST_STEP = 0.1  # [s] that a rate of change counts at most, however long nothing was sent


def limited(policy: Policy, command: Array, before: Array | None, dt: float) -> tuple[Array, int]:
    """The command within its limits and near enough to the one before, and what was cut.

    A limit that became smaller than the command before wins over the rate.

    Args:
        policy: The limits.
        command: Finite command (n,) or (m,).
        before: Command of the cycle before; None: the first one, which may be anything.
        dt: Time since then [s].
    """
    cut, result = 0, []
    previous = [math.nan] * len(policy.command) if before is None else before.tolist()
    rows = zip(command.tolist(), previous, policy.command, policy.command_rate, strict=True)
    for value, last, most, rate in rows:
        reach = rate * dt  # NaN of an infinite rate in no time: no comparison with NaN holds
        if value > last + reach:
            value, cut = last + reach, cut | event.COMMAND_RATE
        elif value < last - reach:
            value, cut = last - reach, cut | event.COMMAND_RATE
        if value > most:
            value, cut = most, cut | event.COMMAND_LIMIT
        elif value < -most:
            value, cut = -most, cut | event.COMMAND_LIMIT
        result.append(value)
    return np.array(result), cut


def faded(origin: Array | None, target: Array, part: float) -> Array:
    """(1 - part) origin + part target."""
    if origin is None or part >= 1.0:
        return target
    return np.asarray(origin + part * (target - origin))


def fraction(elapsed: float, duration: float) -> float:
    """Part of a fade that is over, 0 to 1."""
    if elapsed >= duration:
        return 1.0
    return max(elapsed, 0.0) / duration


def checked(policy: Policy, command: Array) -> Array:
    """Refuse a fallback's command that cannot be sent."""
    if command.shape == (len(policy.command),) and finite(command):
        return command
    raise ArrayError("fallback", f"gives {command.tolist()}", "give a controller of this arm")


# -- The command of each mode, before limits ------------------------------------------------------


REFRESH = 0.02  # [s] after which gravity's command is computed again, for when nothing else can
# Rest counts only after this time [s]: one wild position at which an arm is stopped must not
# become what it is held at.
DWELL = 0.02
ModeCommand = tuple[Array, SafetyMemory, "Exception | None"]


def mode_command(
    policy: Policy,
    memory: SafetyMemory,
    observed: Observation,
    command: Array | None,
    fallback: Fallback | None,
    open_loop: OpenLoop | None,
    brake: Brake | None,
) -> ModeCommand:
    """Command of the memory's mode, the memory with what had to be computed, what failed."""
    now, mode = observed.now, memory.phase.mode
    if mode is Mode.RUNNING:
        return running(policy, memory, now, command, fallback)
    if mode is Mode.RAMPING_TO_ZERO:
        return to_zero(policy, memory.phase, now), memory, None
    try:
        if mode is Mode.BRAKING:
            target, braking = braked(policy, memory, observed, required(fallback), brake)
            return checked(policy, target), braking, None
        if mode is Mode.OPEN_LOOP:
            return *open_loop_stop(policy, memory, now, fallback, open_loop, brake), None
        return *held_or_damped(policy, memory, now, required(fallback)), None
    except Exception as error:  # whatever a model may raise; handed on in the decision
        return gravity_alone(policy, memory, now), memory, error


def running(
    policy: Policy,
    memory: SafetyMemory,
    now: float,
    command: Array | None,
    fallback: Fallback | None,
) -> ModeCommand:
    """The law's command, faded in after a fault; the one before where there is no new one."""
    error: Exception | None = None
    gravity, phase, recent = memory.gravity, memory.phase, memory.recent
    if now - gravity.refreshed >= REFRESH or gravity.command is None:
        try:
            memory = memory._replace(gravity=gravity_at(policy, recent.q, now, fallback))
        except Exception as raised:  # as above
            error = raised
    if command is None:
        return recent.sent, memory, error  # type: ignore[return-value]
    if phase.resumed is not None:
        part = fraction(now - phase.resumed, policy.resume_time)
        command = faded(phase.origin, command, part)
    return command, memory, error


def held_or_damped(
    policy: Policy, memory: SafetyMemory, now: float, fallback: Fallback
) -> tuple[Array, SafetyMemory]:
    """Command that holds the arm, or slows it down with damping alone.

    ``fallback`` is the law's ``controller.hold``.
    """
    phase, (q, v, _) = memory.phase, memory.recent.good
    if phase.mode is Mode.RAMPING_TO_GRAVITY:
        part = fraction(now - phase.since, policy.ramp_time)
        return faded(phase.origin, checked(policy, fallback(q, q, v)), part), memory
    if not phase.settled:
        slow = float(np.abs(v).max(initial=0.0)) <= policy.hold_velocity
        held = now - phase.since
        settled = (slow and held >= DWELL) or held >= policy.settle_time
        phase = phase._replace(posture=q, settled=settled)
        memory = memory._replace(phase=phase)
    return checked(policy, fallback(phase.posture, q, v)), memory  # type: ignore[arg-type]


def open_loop_stop(
    policy: Policy,
    memory: SafetyMemory,
    now: float,
    fallback: Fallback | None,
    open_loop: OpenLoop | None,
    brake: Brake | None,
) -> tuple[Array, SafetyMemory]:
    """Without joint states: brake an arm that moved, by the model alone, then gravity.

    From where the arm must have been when the mode began, q0 with velocity v under the command
    that was sent since the last joint state, the stop in T = ``open_loop_time`` is
    q0 + v t - v t^2 / (2 T). Without ``brake`` v stays in between; without ``open_loop``, and for
    an arm at rest, gravity at the last posture.
    """
    phase, recent = memory.phase, memory.recent
    length, t, (q, v, stamp) = policy.open_loop_time, now - phase.since, recent.good
    moved = length > 0.0 and float(np.abs(v).max(initial=0.0)) > policy.hold_velocity
    if phase.posture is None:
        gravity = gravity_at(policy, q, now, fallback)
        start, gap = q, phase.since - stamp
        if moved:
            start, v = predicted(brake, recent.sent, start, v, gap)
        phase = phase._replace(posture=start, guess=Guess(start, v, phase.since, None, False))
        memory = memory._replace(phase=phase, gravity=gravity)
    elif phase.guess is not None:
        v = phase.guess.v
    if moved and open_loop is not None:
        start = q if phase.posture is None else phase.posture
        if t < length:
            where = start + v * (t - 0.5 * t * t / length)
            command = open_loop(where, v * (1.0 - t / length), v / -length)
            return checked(policy, command), memory
        if not phase.settled:
            end = start + 0.5 * length * v
            gravity = gravity_at(policy, end, now, fallback)
            memory = memory._replace(phase=phase._replace(settled=True), gravity=gravity)
    return gravity_alone(policy, memory, now), memory


def gravity_alone(policy: Policy, memory: SafetyMemory, now: float) -> Array:
    """Gravity at the posture last known, for a time or for good; also where the model fails.

    An arm that no model was ever there for fades to zero: nothing else is known.
    """
    gravity = memory.gravity.command
    if gravity is None:
        return to_zero(policy, memory.phase, now)
    if policy.open_loop_end == "gravity":
        return gravity
    part = fraction(now - memory.phase.since - policy.open_loop_time, policy.ramp_time)
    return (1.0 - part) * gravity


def to_zero(policy: Policy, phase: Phase, now: float) -> Array:
    """The command at which the mode began, faded to zero."""
    late = phase.leaving is not None and now - phase.leaving >= LONGEST
    if phase.origin is None or late:
        return np.zeros(len(policy.command))
    return (1.0 - fraction(now - phase.since, policy.ramp_time)) * phase.origin


def gravity_at(policy: Policy, q: Array | None, now: float, fallback: Fallback | None) -> Gravity:
    """Gravity's command at a position."""
    command = required(fallback)(q, None, None)  # type: ignore[arg-type]
    return Gravity(checked(policy, command).copy(), now)


def required(fallback: Fallback | None) -> Fallback:
    """The fallback; raise where there is none."""
    if fallback is None:
        finding = "no model is loaded, so no holding command can be computed"
        raise ModelError("fallback", finding, "load a model")
    return fallback


# -- A stop before the node ends ------------------------------------------------------------------
#
# With v the velocity and T what is left of ``stop_time``, in each cycle
#
#     a = -v / max(T, T_s)
#
# which is a constant deceleration at first, and an exponential end of time constant T_s. It
# becomes a command by the complete model. With joint states v is the measured one. Without, and
# for arms that must not be braked by what is measured (``Brake.closed``), the state is the
# expected one,
#
#     dq/dt = v,   dv/dt = a'(q, v, u)
#
# from the last good state on, a' the acceleration that the command u causes which was sent last:
# by least squares from the commands of unit accelerations, in which it is linear. So limits,
# rates and what was sent before the first command that brakes count. Measured, friction is left
# out, which helps; expected, it is counted at the expected velocity.


SOFT = 0.1  # [s], T_s: slow against the period of any joint states that are not stale
LONGEST = 1.8  # [s] after which an arm that is not at rest is left as if it were
STEP = 5e-3  # [s] of the midpoint rule at most, as between two commands without joint states
CHANGE = 1e-4  # part of the fastest joint's speed, and that of an arm at rest [1/s], to differ by
SHORT, LONG = 0.02, 0.2  # [s] of rest, and of slowness, that are the end
REST = 0.1  # part of ``hold_velocity`` that is rest


def expected(
    policy: Policy, memory: SafetyMemory, now: float, brake: Brake | None
) -> tuple[Array, Array, bool]:
    """Position and velocity (n,) at a time, and whether they are measured ones.

    Args:
        policy: Whose ``hold_velocity`` is the slowest that counts as motion.
        memory: With a good state.
        now: The time [s].
        brake: The command of a deceleration; where it is ``closed``, or None, measured states
            count after the first.
    """
    recent, guess = memory.recent, memory.phase.guess
    q, v, stamp = recent.good
    closed = brake is None or brake.closed
    if guess is None and float(np.abs(v).max(initial=0.0)) <= policy.hold_velocity:
        brake = None  # its friction may hold it, whatever was sent
    if guess is None or (closed and stamp > guess.at):
        return *predicted(brake, recent.sent, q, v, now - stamp), True
    return *predicted(brake, recent.sent, guess.q, guess.v, now - guess.at), False


def predicted(
    brake: Brake | None, sent: Array | None, q: Array, v: Array, duration: float
) -> tuple[Array, Array]:
    """Position and velocity (n,) to which a constant command leads.

    By the midpoint rule, implicit in the velocity for motors driven by voltage, whose back EMF
    brakes them within milliseconds: v <- v + h (1 - h A / 2)^-1 a'(q + h v / 2, v), A = da'/dv.

    Args:
        brake: The command of a deceleration, by which the arm is known; None: its speed stays.
        sent: The command (m,), None if none was sent.
        q: Position at first (n,).
        v: Velocity at first (n,).
        duration: How long it acts [s].
    """
    if brake is None or sent is None or duration <= 0.0:
        return q + max(duration, 0.0) * v, v
    count = math.ceil(min(duration, LONGEST) / STEP)
    h = duration / count
    for _ in range(count):
        change = h * caused(brake, q + 0.5 * h * v, v, sent, 0.5 * h)
        q, v = q + h * (v + 0.5 * change), v + change
    return q, v


def braked(
    policy: Policy,
    memory: SafetyMemory,
    observed: Observation,
    fallback: Fallback,
    brake: Brake | None,
) -> tuple[Array, SafetyMemory]:
    """Command that brings the arm to rest or keeps it there, and the memory with what is expected.

    Args:
        policy: Thresholds and limits.
        memory: Of this cycle, in the mode BRAKING.
        observed: The facts of this cycle.
        fallback: The command that holds a posture.
        brake: The command of a deceleration; None: by the fallback's damping.
    """
    now, phase = observed.now, memory.phase
    if phase.settled:
        return final_command(memory.gravity.command, observed.leaving), memory  # type: ignore[arg-type]
    q, v, measured = expected(policy, memory, now, brake)
    fast, limit = float(np.abs(v).max(initial=0.0)), policy.hold_velocity
    slow = None if phase.guess is None else phase.guess.slow
    slow = None if fast > limit else now if slow is None else slow
    still, guess = np.zeros_like(v), Guess(q, v, now, slow, measured)
    if over(phase, now, slow, fast <= REST * limit) or observed.hurried:
        gravity = Gravity(checked(policy, fallback(q, None, None)).copy(), now)
        phase = phase._replace(posture=q, settled=True, guess=guess)
        memory = memory._replace(phase=phase, gravity=gravity)
        return final_command(gravity.command, observed.leaving), memory  # type: ignore[arg-type]
    memory = memory._replace(phase=phase._replace(guess=guess))
    if brake is None:
        return fallback(q, q, v), memory
    a = -v / max(policy.stop_time - (now - phase.since), SOFT)
    return brake.command(q, v, a, still if measured else v), memory


def over(phase: Phase, now: float, slow: float | None, resting: bool) -> bool:
    """Whether braking is over: the arm rests, or it took too long."""
    if now - phase.leaving >= LONGEST:  # type: ignore[operator]
        return True
    return slow is not None and now - slow >= (SHORT if resting else LONG)


def final_command(gravity: Array, leaving: Leaving | None) -> Array:
    """The last command: gravity's, or zero."""
    return np.zeros_like(gravity) if leaving == "zero" else gravity


def caused(brake: Brake, q: Array, v: Array, command: Array, ahead: float) -> Array:
    """Acceleration (n,) that a command (m,) causes some time ahead [s]; none where none follows.

    With the command B a + c(q, v) of an acceleration a: (B - t B A) a = u - c, B A = -dc/dv.
    """
    still, each = np.zeros_like(v), np.eye(len(v))
    base = brake.command(q, v, still, v)
    per_unit = np.array([brake.command(q, v, unit, v) - base for unit in each]).T
    small = CHANGE * max(float(np.abs(v).max(initial=0.0)), CHANGE)
    faster = [brake.command(q, w, still, w) - base for w in v + small * each]
    drag = np.array(faster).T / small
    a = np.linalg.lstsq(per_unit + ahead * drag, command - base, rcond=None)[0]
    return np.asarray(a) if np.isfinite(a).all() else still


def finished(policy: Policy, memory: SafetyMemory, events: int) -> bool:
    """Whether nothing is left to be sent to an arm that is left.

    Args:
        policy: Thresholds and limits.
        memory: After a cycle with ``Observation.leaving``.
        events: Of that cycle.
    """
    phase, recent = memory.phase, memory.recent
    if recent.sent is None:
        return True
    if events & event.COMMAND_RATE or phase.leaving is None:
        return False
    if phase.mode is Mode.OPEN_LOOP:
        over_now = recent.now - phase.since >= policy.open_loop_time  # type: ignore[operator]
        return over_now and (policy.open_loop_end == "gravity" or not recent.sent.any())
    return not recent.sent.any() if phase.mode is Mode.RAMPING_TO_ZERO else phase.settled
