"""Command of each mode, limited; the stop before the node ends."""

from __future__ import annotations

import math

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.control.safety import memory as at
from geared_dynamics.control.safety.memory import (
    Brake,
    Fallback,
    Guess,
    Leaving,
    Mode,
    Nominal,
    Observation,
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
    found, result = 0, []
    previous = [math.nan] * len(policy.command) if before is None else before.tolist()
    rows = zip(command.tolist(), previous, policy.command, policy.command_rate, strict=True)
    for value, last, most, rate in rows:
        reach = rate * dt  # NaN of an infinite rate in no time: no comparison with NaN holds
        if value > last + reach:
            value, found = last + reach, found | at.COMMAND_RATE
        elif value < last - reach:
            value, found = last - reach, found | at.COMMAND_RATE
        if value > most:
            value, found = most, found | at.COMMAND_LIMIT
        elif value < -most:
            value, found = -most, found | at.COMMAND_LIMIT
        result.append(value)
    return np.array(result), found


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
    (q, v, stamp), guess = memory.good, memory.guess
    closed = brake is None or brake.closed
    if guess is None and float(np.abs(v).max(initial=0.0)) <= policy.hold_velocity:
        brake = None  # its friction may hold it, whatever was sent
    if guess is None or (closed and stamp > guess.at):
        return *predicted(brake, memory.sent, q, v, now - stamp), True
    return *predicted(brake, memory.sent, guess.q, guess.v, now - guess.at), False


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
    seen: Observation,
    fallback: Fallback,
    brake: Brake | None,
) -> tuple[Array, SafetyMemory]:
    """Command that brings the arm to rest or keeps it there, and the memory with what is expected.

    Args:
        policy: Thresholds and limits.
        memory: Of this cycle, in the mode BRAKING.
        seen: The facts of this cycle.
        fallback: The command that holds a posture.
        brake: The command of a deceleration; None: by the fallback's damping.
    """
    now = seen.now
    if memory.settled:
        return left_behind(memory.static, seen.leaving), memory  # type: ignore[arg-type]
    q, v, measured = expected(policy, memory, now, brake)
    fast, limit = float(np.abs(v).max(initial=0.0)), policy.hold_velocity
    slow = None if memory.guess is None else memory.guess.slow
    slow = None if fast > limit else now if slow is None else slow
    if over(memory, now, slow, fast <= REST * limit) or seen.hurried:
        static = checked(policy, fallback(q, None, None))
        memory = memory._replace(posture=q, settled=True, static=static.copy(), refreshed=now)
    still = np.zeros_like(v)
    a = still if memory.settled else -v / max(policy.stop_time - (now - memory.since), SOFT)
    memory = memory._replace(guess=Guess(q, v, now, slow, measured))
    if memory.settled:
        return left_behind(memory.static, seen.leaving), memory  # type: ignore[arg-type]
    if brake is None:
        return fallback(q, q, v), memory
    return brake.command(q, v, a, still if measured else v), memory


def over(memory: SafetyMemory, now: float, slow: float | None, resting: bool) -> bool:
    """Whether braking is over: the arm rests, or it took too long."""
    if now - memory.leaving >= LONGEST:  # type: ignore[operator]
        return True
    return slow is not None and now - slow >= (SHORT if resting else LONG)


def left_behind(static: Array, leaving: Leaving | None) -> Array:
    """The last command: gravity's, or zero."""
    return np.zeros_like(static) if leaving == "zero" else static


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
    found = np.linalg.lstsq(per_unit + ahead * drag, command - base, rcond=None)[0]
    return np.asarray(found) if np.isfinite(found).all() else still


def finished(policy: Policy, memory: SafetyMemory, found: int) -> bool:
    """Whether nothing is left to be sent to an arm that is left.

    Args:
        policy: Thresholds and limits.
        memory: After a cycle with ``Observation.leaving``.
        found: Events of that cycle.
    """
    mode, sent = memory.mode, memory.sent
    if sent is None:
        return True
    if found & at.COMMAND_RATE or memory.leaving is None:
        return False
    if mode is Mode.BLIND:
        over_now = memory.now - memory.since >= policy.blind_time  # type: ignore[operator]
        return over_now and (policy.blind_end == "gravity" or not sent.any())
    return not sent.any() if mode is Mode.ZEROING else memory.settled


# -- The command of each mode, before limits ------------------------------------------------------


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
