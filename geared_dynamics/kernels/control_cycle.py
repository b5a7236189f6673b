"""What a control cycle computes in one call each: its law, its reference, whether it is nominal.

For a loop in which every call from Python and every small array counts.
"""

import math

import numpy as np
from numba import njit

from geared_dynamics.kernels import law_layout as at
from geared_dynamics.kernels import layout
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.friction import add_joint_friction
from geared_dynamics.kernels.inverse import SIZE, one_state
from geared_dynamics.kernels.memory import Array, Pointer, keep, pointer, row, shift

# -- Control laws of a rigid arm: what ``control.laws`` does in a dozen calls ---------------------
#
# Only the laws with all terms, without integral and without balancers; the others stay in Python.


@njit(error_model="numpy")
def control_law(
    model: Array, drives: Array, law: Array, q: Array, v: Array,
    q_d: Array, v_d: Array, a_d: Array, out: Array,
) -> int:  # fmt: skip
    """Joint force with friction (n,) of a law, or (K, n) for K states; see control/laws.py."""
    n = int(model[layout.COORDINATES])
    if not (holds(out, n, model) and fits(q, n, out) and fits(v, n, out)):
        return layout.WRONG_SHAPE
    if not (fits(q_d, n, out) and fits(v_d, n, out) and fits(a_d, n, out)):
        return layout.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out)):
        return layout.OVERLAP
    if not (apart(q_d, out) and apart(v_d, out) and apart(a_d, out)):
        return layout.OVERLAP
    buffer = np.empty(8 * n + model.size + int(model[layout.BODIES]) * SIZE)
    m, x = pointer(model), pointer(buffer)
    for k in range(states(q)):
        if not (
            gather(q, k, n, x)
            & gather(v, k, n, shift(x, n))
            & gather(q_d, k, n, shift(x, 2 * n))
            & gather(v_d, k, n, shift(x, 3 * n))
            & gather(a_d, k, n, shift(x, 4 * n))
        ):
            return layout.NOT_FINITE
        force(m, model.size, pointer(drives), pointer(law), n, x, row(out, k))
        if not finite(row(out, k), n):
            return layout.OVERFLOW
    return keep(buffer, layout.OK)


@njit(error_model="numpy")
def force(
    model: Pointer, size: int, drives: Pointer, law: Pointer, n: int, x: Pointer, out: Pointer
) -> None:
    """Joint force of one state x = q, v, q_d, v_d, a_d (5 n), followed by scratch memory."""
    kind, friction = int(law[at.KIND]), int(law[at.RATE])
    computed, holding = kind == at.COMPUTED_TORQUE, kind >= at.HOLD_FORCE
    measured, desired = x, shift(x, 2 * n)
    a, zeros, extra = shift(x, 4 * n), shift(x, 5 * n), shift(x, 6 * n)
    work = shift(x, 8 * n)
    if kind != at.FEEDFORWARD:
        correction(law, n, x, extra)
    for i in range(n):
        zeros[i] = 0.0
        if computed:
            a[i] += extra[i]
    at_state = measured if computed or holding else desired
    speed = zeros if holding else shift(at_state, n)
    one_state(model, at_state, speed, a, shift(work, size), out)
    if friction != at.NO_FRICTION:
        rubbing, load = shift(x, 7 * n), out if law[at.LOADED] != 0.0 else zeros
        rate = shift(desired, n) if friction == at.REFERENCE else shift(measured, n)
        for i in range(n):
            rubbing[i] = 0.0
        add_joint_friction(drives, at_state, rate, load, rubbing)
        for i in range(n):
            out[i] += rubbing[i]
    if kind == at.PD_ACCELERATION or kind == at.HOLD_ACCELERATION:
        inertial(model, size, n, measured, extra, zeros, work)
    if kind >= at.PD_FORCE:
        for i in range(n):
            out[i] += extra[i]


@njit(error_model="numpy")
def correction(law: Pointer, n: int, x: Pointer, out: Pointer) -> None:
    """Set out = Kp (q_d - q) + Kv (v_d - v), continuous joints the short way round."""
    kp = shift(law, at.HEADER_SIZE)
    kv, per_turn = shift(kp, n), shift(kp, 2 * n)
    for i in range(n):
        error = x[2 * n + i] - x[i]
        error -= 2.0 * math.pi * np.rint(error * per_turn[i])
        out[i] = kp[i] * error + kv[i] * (x[3 * n + i] - x[n + i])


@njit(error_model="numpy")
def inertial(
    model: Pointer, size: int, n: int, q: Pointer, a: Pointer, zeros: Pointer, work: Pointer
) -> None:
    """Set a = M(q) a: inverse dynamics of the same arm at rest in free fall."""
    for i in range(size):
        work[i] = model[i]
    for i in range(3):
        work[layout.GRAVITY + i] = 0.0
    result = shift(zeros, 2 * n)
    one_state(work, q, zeros, a, shift(work, size), result)
    for i in range(n):
        a[i] = result[i]


# -- A segment of a reference at one time: ``segment_values`` of ``trajectory`` -------------------
#
# A loop evaluates two of them in each cycle, and NumPy takes longer than a law for that.


TERMS = 6  # powers of the time, from 0 on


@njit(error_model="numpy")
def segment_values(table: Array, x: float, out: Array) -> int:
    """Set out (k,) to sum_p table[p] x^p, with the table's rows (k,) one behind the other.

    Args:
        table: What the powers are multiplied by (6 k,).
        x: Time since the segment's start [s].
        out: Values (k,), or of any shape with as many numbers.
    """
    count = out.size
    if table.size != TERMS * count or not holds(out, out.shape[-1], table):
        return layout.WRONG_SHAPE
    if not apart(table, out):
        return layout.OVERLAP
    buffer = np.empty(TERMS)
    power, row, value = pointer(buffer), pointer(table), pointer(out)
    power[0] = 1.0
    for p in range(1, TERMS):
        power[p] = power[p - 1] * x
    for i in range(count):
        value[i] = row[i]
    for p in range(1, TERMS):
        for i in range(count):
            value[i] += power[p] * row[p * count + i]
    return keep(buffer, layout.OK)


# -- Whether a cycle is nominal by its numbers: no event, no limit active -------------------------
#
# It is so only where the full safety step in Python would detect nothing, in every bit the same:
# comparisons are those made there, and where rounding could differ the full step is asked.


# The packed policy: header | a row per joint | a row per command.
JOINTS = 0  # n
COMMANDS = 1  # m
HEADER_SIZE = 2

# A joint's row.
LOWER, UPPER = 0, 1  # positions beyond which a limit is near [rad or m]
SPEED = 2  # speed above which its limit is near [1/s]
ERROR = 3  # largest position error without an event [rad or m]
ENDLESS = 4  # whether the joint turns endlessly, 0 or 1
FASTEST = 5  # speed beyond which a state is impossible [1/s]
STEP = 6  # distance per time beyond which two positions are impossible [1/s]
JOINT_SIZE = 7

# A command's row.
MOST = 0  # largest magnitude, in the unit that is sent
RATE = 1  # largest rate of change per second
COMMAND_SIZE = 2

NOT_NOMINAL = -1  # returned where an event is to be reported, or cannot be decided here

LARGEST = 1e12  # of any number: sums of such do not overflow
TURN = 2.0 * math.pi
FAR = 1e4  # [rad] of an endless joint's error, up to which whole turns come off ...
DOUBT = 1e-9  # [rad] ... with a smaller rounding error than this


@njit(error_model="numpy")
def nominal_check(
    limits: Array,
    q: Array,
    v: Array,
    q_d: Array,
    command: Array,
    before: Array,
    last: Array,
    dt: float,
    span: float,
    out: Array,
) -> int:
    """Copy command (m,) to out and return OK, or NOT_NOMINAL where the full step is needed.

    Args:
        limits: The packed policy, as ``control.safety.policy`` packs it.
        q: Joint position (n,), or (K, n) for K cycles.
        v: Joint velocity.
        q_d: The reference's position.
        command: Of the law (m,) or (K, m).
        before: Command of the cycle before.
        last: Position of the joint state before (n,) or (K, n).
        dt: Time since the command before [s].
        span: Time in which the position may have moved [s].
        out: What may be sent (m,) or (K, m).
    """
    n, m = int(limits[JOINTS]), int(limits[COMMANDS])
    if not (holds(out, m, limits) and fits(command, m, out) and fits(before, m, out)):
        return layout.WRONG_SHAPE
    if not (fits(q, n, out) and fits(v, n, out) and fits(q_d, n, out)):
        return layout.WRONG_SHAPE
    if not fits(last, n, out):
        return layout.WRONG_SHAPE
    if not (apart(command, out) and apart(before, out) and apart(last, out)):
        return layout.OVERLAP
    if not (apart(q, out) and apart(v, out) and apart(q_d, out)):
        return layout.OVERLAP
    buffer = np.empty(4 * n + 2 * m)
    x, p = pointer(buffer), pointer(limits)
    u = shift(x, 4 * n)
    for k in range(states(q)):
        if not (
            gather(q, k, n, x)
            & gather(v, k, n, shift(x, n))
            & gather(q_d, k, n, shift(x, 2 * n))
            & gather(last, k, n, shift(x, 3 * n))
            & gather(command, k, m, u)
            & gather(before, k, m, shift(u, m))
        ):
            return NOT_NOMINAL
        if not (joints_nominal(p, n, x, span) and commands_nominal(p, n, m, u, shift(u, m), dt)):
            return NOT_NOMINAL
        for i in range(m):
            row(out, k)[i] = u[i]
    return keep(buffer, layout.OK)


@njit(error_model="numpy")
def joints_nominal(limits: Pointer, n: int, x: Pointer, span: float) -> bool:
    """Whether positions, speeds, errors, ways of x = q, v, q_d, last (4 n) are far from limits."""
    good = True
    for i in range(n):
        r = HEADER_SIZE + i * JOINT_SIZE
        q, v = x[i], x[n + i]
        good &= limits[r + LOWER] <= q <= limits[r + UPPER]
        good &= abs(v) <= limits[r + SPEED]
        good &= abs(q) <= LARGEST and abs(v) <= LARGEST
        good &= abs(v) <= limits[r + FASTEST]
        way = abs(q - x[3 * n + i])
        if limits[r + ENDLESS] != 0.0 and way > math.pi:
            good &= way <= FAR
            way = abs(way - TURN * np.rint(way / TURN)) + DOUBT
        good &= way <= limits[r + STEP] * span
        error = x[2 * n + i] - q
        if limits[r + ENDLESS] != 0.0 and abs(error) > math.pi:
            good &= abs(error) <= FAR
            error = abs(error - TURN * np.rint(error / TURN)) + DOUBT
        good &= abs(error) <= limits[r + ERROR]
    return good


@njit(error_model="numpy")
def commands_nominal(
    limits: Pointer, n: int, m: int, command: Pointer, before: Pointer, dt: float
) -> bool:
    """Whether a command (m,) and its change keep to their limits."""
    good = True
    for i in range(m):
        r = HEADER_SIZE + n * JOINT_SIZE + i * COMMAND_SIZE
        value, last, rate = command[i], before[i], limits[r + RATE]
        good &= abs(value) <= limits[r + MOST] and abs(value) <= LARGEST
        if rate < math.inf:
            reach = rate * dt
            good &= last - reach <= value <= last + reach
    return good
