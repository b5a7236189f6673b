r"""A stop before the node ends: braked to rest, the arm is left with gravity's command or zero.

With v the velocity and T what is left of ``stop_time``, in each cycle

    a = -v / max(T, T_s)

which is a constant deceleration at first, and an exponential end of time constant T_s. It becomes
a command by the complete model. With joint states v is the measured one. Without, and for arms
that must not be braked by what is measured (``Brake.closed``), the state is the expected one,

    q <- q + v dt + a' dt^2 / 2,   v <- v + a' dt

from the last good state, a' the acceleration that the command sent causes: where limits or rates
have cut it, and before the first one that brakes, by least squares from the commands of unit
accelerations, in which it is linear.
Measured, friction is left out, which helps; expected, it is counted at the expected velocity.
"""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.control.safety import events as at
from geared_dynamics.control.safety.events import Mode
from geared_dynamics.control.safety.limits import checked
from geared_dynamics.control.safety.policy import Policy
from geared_dynamics.control.safety.values import (
    Brake,
    Fallback,
    Guess,
    Leaving,
    Observation,
    SafetyMemory,
)

SOFT = 0.1  # [s], T_s: slow against the period of any joint states that are not stale
LONGEST = 1.8  # [s] after which an arm that is not at rest is left as if it were
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
    if guess is None:
        dt, fast = max(now - stamp, 0.0), float(np.abs(v).max(initial=0.0))
        if brake is None or memory.sent is None or not dt or fast <= policy.hold_velocity:
            return q + dt * v, v, True
        a = caused(brake, Guess(q, v, np.zeros_like(v), stamp, None, False), memory.sent)
        return q + dt * (v + 0.5 * dt * a), v + dt * a, True
    closed = brake is None or brake.closed
    if closed and stamp > guess.at:
        return q + max(now - stamp, 0.0) * v, v, True
    dt = max(now - guess.at, 0.0)
    return guess.q + dt * (guess.v + 0.5 * dt * guess.a), guess.v + dt * guess.a, False


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
    q, v, measured = expected(policy, memory, now, brake)
    fast, limit = float(np.abs(v).max(initial=0.0)), policy.hold_velocity
    slow = None if memory.guess is None else memory.guess.slow
    slow = None if fast > limit else now if slow is None else slow
    if not memory.settled and (over(memory, now, slow, fast <= REST * limit) or seen.hurried):
        static = checked(policy, fallback(q, None, None))
        memory = memory._replace(posture=q, settled=True, static=static.copy(), refreshed=now)
    still = np.zeros_like(v)
    a = still if memory.settled else -v / max(policy.stop_time - (now - memory.since), SOFT)
    memory = memory._replace(guess=Guess(q, v, a, now, slow, measured))
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


def foreseen(memory: SafetyMemory, brake: Brake | None, command: Array) -> SafetyMemory:
    """Memory with the acceleration that a command causes which limits or rates have cut.

    Args:
        memory: Of this cycle.
        brake: The command of a deceleration.
        command: What is sent (m,).
    """
    guess = memory.guess
    if memory.mode is not Mode.BRAKING or memory.settled or guess is None or brake is None:
        return memory
    a = caused(brake, guess, command)
    return memory._replace(guess=guess._replace(a=a))


def caused(brake: Brake, guess: Guess, command: Array) -> Array:
    """Acceleration (n,) at a state from a command (m,); the planned one where none follows."""
    q, v = guess.q, guess.v
    rate = np.zeros_like(v) if guess.measured else v
    base = brake.command(q, v, np.zeros_like(v), rate)
    columns = [brake.command(q, v, unit, rate) - base for unit in np.eye(len(v))]
    found = np.linalg.lstsq(np.array(columns).T, command - base, rcond=None)[0]
    return np.asarray(found) if np.isfinite(found).all() else guess.a


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
