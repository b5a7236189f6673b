"""Whether a cycle is nominal by its numbers: no event, no limit active.

It is so only where the full safety step in Python would detect nothing, in every bit the same:
comparisons are those made there, and where rounding could differ the full step is asked.
"""

import math

import numpy as np
from numba import njit

from geared_dynamics.kernels import layout
from geared_dynamics.kernels import nominal_layout as at
from geared_dynamics.kernels.border import apart, fits, gather, holds, states
from geared_dynamics.kernels.kinds import Array, Pointer
from geared_dynamics.kernels.memory import keep, pointer, row, shift

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
        limits: The packed policy, see ``nominal_layout``.
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
    n, m = int(limits[at.JOINTS]), int(limits[at.COMMANDS])
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
            return at.NOT_NOMINAL
        if not (joints_nominal(p, n, x, span) and commands_nominal(p, n, m, u, shift(u, m), dt)):
            return at.NOT_NOMINAL
        for i in range(m):
            row(out, k)[i] = u[i]
    return keep(buffer, layout.OK)


@njit(error_model="numpy")
def joints_nominal(limits: Pointer, n: int, x: Pointer, span: float) -> bool:
    """Whether positions, speeds, errors, ways of x = q, v, q_d, last (4 n) are far from limits."""
    good = True
    for i in range(n):
        r = at.HEADER_SIZE + i * at.JOINT_SIZE
        q, v = x[i], x[n + i]
        good &= limits[r + at.LOWER] <= q <= limits[r + at.UPPER]
        good &= abs(v) <= limits[r + at.SPEED]
        good &= abs(q) <= LARGEST and abs(v) <= LARGEST
        good &= abs(v) <= limits[r + at.FASTEST]
        way = abs(q - x[3 * n + i])
        if limits[r + at.ENDLESS] != 0.0 and way > math.pi:
            good &= way <= FAR
            way = abs(way - TURN * np.rint(way / TURN)) + DOUBT
        good &= way <= limits[r + at.STEP] * span
        error = x[2 * n + i] - q
        if limits[r + at.ENDLESS] != 0.0 and abs(error) > math.pi:
            good &= abs(error) <= FAR
            error = abs(error - TURN * np.rint(error / TURN)) + DOUBT
        good &= abs(error) <= limits[r + at.ERROR]
    return good


@njit(error_model="numpy")
def commands_nominal(
    limits: Pointer, n: int, m: int, command: Pointer, before: Pointer, dt: float
) -> bool:
    """Whether a command (m,) and its change keep to their limits."""
    good = True
    for i in range(m):
        r = at.HEADER_SIZE + n * at.JOINT_SIZE + i * at.COMMAND_SIZE
        value, last, rate = command[i], before[i], limits[r + at.RATE]
        good &= abs(value) <= limits[r + at.MOST] and abs(value) <= LARGEST
        if rate < math.inf:
            reach = rate * dt
            good &= last - reach <= value <= last + reach
    return good
