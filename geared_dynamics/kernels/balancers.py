"""Springs between links and on joints: their forces on the joints, rates, energy."""

import numpy as np
from numba import njit

from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels import world
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.kinds import Array, Pointer
from geared_dynamics.kernels.memory import keep, pointer, row, shift
from geared_dynamics.kernels.springs import add_energies, add_forces, add_rates


@njit(error_model="numpy")
def balancer_forces(model: Array, springs: Array, q: Array, out: Array) -> int:
    """Generalised force (n,) of all elements on the joints."""
    n = int(model[at.COORDINATES])
    if not (holds(out, n, model) and fits(q, n, out)):
        return at.WRONG_SHAPE
    if not apart(q, out):
        return at.OVERLAP
    buffer = np.zeros(2 * n + int(model[at.BODIES]) * world.SIZE)
    m, s, x = pointer(model), pointer(springs), pointer(buffer)
    zero, work = shift(x, n), shift(x, 2 * n)
    for k in range(states(q)):
        if not gather(q, k, n, x):
            return at.NOT_FINITE
        world.sweep(m, x, zero, zero, work)
        clear(row(out, k), n)
        status = add_forces(m, s, x, work, row(out, k))
        if status != at.OK:
            return status
        if not finite(row(out, k), n):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def balancer_rates(model: Array, springs: Array, q: Array, v: Array, out: Array) -> int:
    """Time derivative (n,) of ``balancer_forces`` along the motion (q, v)."""
    n = int(model[at.COORDINATES])
    if not (holds(out, n, model) and fits(q, n, out) and fits(v, n, out)):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out)):
        return at.OVERLAP
    buffer = np.zeros(3 * n + int(model[at.BODIES]) * world.SIZE)
    m, s, x = pointer(model), pointer(springs), pointer(buffer)
    rate, zero, work = shift(x, n), shift(x, 2 * n), shift(x, 3 * n)
    for k in range(states(q)):
        if not (gather(q, k, n, x) & gather(v, k, n, rate)):
            return at.NOT_FINITE
        world.sweep(m, x, rate, zero, work)
        clear(row(out, k), n)
        status = add_rates(m, s, rate, work, row(out, k))
        if status != at.OK:
            return status
        if not finite(row(out, k), n):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def balancer_energy(model: Array, springs: Array, q: Array, out: Array) -> int:
    """Potential energy (1,) of all elements [J]."""
    n = int(model[at.COORDINATES])
    if not (holds(out, 1, model) and fits(q, n, out)):
        return at.WRONG_SHAPE
    if not apart(q, out):
        return at.OVERLAP
    buffer = np.zeros(2 * n + int(model[at.BODIES]) * world.SIZE)
    m, s, x = pointer(model), pointer(springs), pointer(buffer)
    zero, work = shift(x, n), shift(x, 2 * n)
    for k in range(states(q)):
        if not gather(q, k, n, x):
            return at.NOT_FINITE
        world.sweep(m, x, zero, zero, work)
        clear(row(out, k), 1)
        status = add_energies(s, x, work, row(out, k))
        if status != at.OK:
            return status
        if not finite(row(out, k), 1):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def clear(x: Pointer, n: int) -> None:
    """Set n numbers to zero."""
    for i in range(n):
        x[i] = 0.0
