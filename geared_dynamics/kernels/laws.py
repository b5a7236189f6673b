"""Control laws of a rigid arm in one call: what ``control.laws`` does in a dozen.

For a loop in which every call from Python and every small array counts. Only the laws with
all terms, without integral and without balancers; the others stay in Python.
"""

import math

import numpy as np
from numba import njit

from geared_dynamics.kernels import law_layout as at
from geared_dynamics.kernels import layout
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.friction import add_joint_friction
from geared_dynamics.kernels.inverse import SIZE, one_state
from geared_dynamics.kernels.kinds import Array, Pointer
from geared_dynamics.kernels.memory import keep, pointer, row, shift


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
