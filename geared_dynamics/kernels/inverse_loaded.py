"""Inverse dynamics with wrenches on the bodies, in one recursion."""

import numpy as np
from numba import njit

from geared_dynamics.kernels import inverse
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.joint import body_at
from geared_dynamics.kernels.kinds import Array, Pointer
from geared_dynamics.kernels.memory import keep, pointer, row, shift
from geared_dynamics.kernels.vector import accumulate, load, scale, transposed_times


@njit(error_model="numpy")
def inverse_dynamics_loaded(
    model: Array, q: Array, v: Array, a: Array, wrenches: Array, out: Array
) -> int:
    """Generalised force (n,) for motion q, v, a (n,) under wrenches (6 nb,); or K states.

    ``wrenches``: force and moment on each body about its origin, in its link frame.
    """
    n, bodies = int(model[at.COORDINATES]), int(model[at.BODIES])
    if not (holds(out, n, model) and fits(q, n, out) and fits(v, n, out) and fits(a, n, out)):
        return at.WRONG_SHAPE
    if not fits(wrenches, 6 * bodies, out):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out) and apart(a, out) and apart(wrenches, out)):
        return at.OVERLAP
    buffer = np.empty(3 * n + 6 * bodies + bodies * inverse.SIZE)
    m, x = pointer(model), pointer(buffer)
    rate, change, loads = shift(x, n), shift(x, 2 * n), shift(x, 3 * n)
    work = shift(loads, 6 * bodies)
    for k in range(states(q)):
        if not (
            gather(q, k, n, x)
            & gather(v, k, n, rate)
            & gather(a, k, n, change)
            & gather(wrenches, k, 6 * bodies, loads)
        ):
            return at.NOT_FINITE
        one_loaded_state(m, x, rate, change, loads, work, row(out, k))
        if not finite(row(out, k), n):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def one_loaded_state(
    model: Pointer,
    q: Pointer,
    v: Pointer,
    a: Pointer,
    wrenches: Pointer,
    work: Pointer,
    out: Pointer,
) -> None:
    """Inverse dynamics of one state; what the wrenches give, the joints need not."""
    bodies = int(model[at.BODIES])
    inverse.reflected(model, a, out)
    for i in range(bodies):
        inverse.outward(model, i, q, v, a, work, out)
        take_off(model, i, wrenches, work)
    for i in range(bodies - 1, -1, -1):
        inverse.inward(model, i, work, out)


@njit(error_model="numpy")
def take_off(model: Pointer, i: int, wrenches: Pointer, work: Pointer) -> None:
    """Take body i's wrench off the force and moment that its motion needs."""
    turn, w = body_at(i) + at.TURN, i * inverse.SIZE
    force = transposed_times(model, turn, load(wrenches, 6 * i))
    moment = transposed_times(model, turn, load(wrenches, 6 * i + 3))
    accumulate(work, w + inverse.FORCE, scale(-1.0, force))
    accumulate(work, w + inverse.MOMENT, scale(-1.0, moment))
