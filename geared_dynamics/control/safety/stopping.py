r"""A stop before the node ends: braked to rest, the arm is left with gravity's command or zero.

With v the velocity and T what is left of ``stop_time``, in each cycle

    a = -v / max(T, T_s)

which is a constant deceleration at first, and an exponential end of time constant T_s. It becomes
a command by the complete model. With joint states v is the measured one. Without, and for arms
that must not be braked by what is measured (``Brake.closed``), the state is the expected one,

    dq/dt = v,   dv/dt = a'(q, v, u)

from the last good state on, a' the acceleration that the command u causes which was sent last: by
least squares from the commands of unit accelerations, in which it is linear. So limits, rates and
what was sent before the first command that brakes count.
Measured, friction is left out, which helps; expected, it is counted at the expected velocity.
"""

from __future__ import annotations

import math

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
