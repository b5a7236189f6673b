"""Energies: four shares of the kinetic one (paper 000, eq. 23) and the potential one."""

import numpy as np
from numba import njit

from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels import world
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.joint import body_at
from geared_dynamics.kernels.kinds import Array, Pointer
from geared_dynamics.kernels.memory import keep, pointer, row, shift
from geared_dynamics.kernels.vector import (
    add,
    cross,
    dot,
    load,
    scale,
    symmetric_times,
    times,
    transposed_times,
)

SHARES = 6  # numbers per state


@njit(error_model="numpy")
def energies(model: Array, q: Array, v: Array, out: Array) -> int:
    """Translation, rotation, spin, interaction; potential; all kinetic energy (6,) [J]."""
    n = int(model[at.COORDINATES])
    if not (holds(out, SHARES, model) and fits(q, n, out) and fits(v, n, out)):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out)):
        return at.OVERLAP
    buffer = np.zeros(3 * n + int(model[at.BODIES]) * world.SIZE)
    m, x = pointer(model), pointer(buffer)
    rate, zero, work = shift(x, n), shift(x, 2 * n), shift(x, 3 * n)
    for k in range(states(q)):
        if not (gather(q, k, n, x) & gather(v, k, n, rate)):
            return at.NOT_FINITE
        world.sweep(m, x, rate, zero, work)
        one_state(m, rate, work, row(out, k))
        if not finite(row(out, k), SHARES):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def one_state(model: Pointer, v: Pointer, work: Pointer, out: Pointer) -> None:
    """Energies from the bodies' motion; the potential is zero at the root's origin."""
    for e in range(SHARES):
        out[e] = 0.0
    for e in range(int(model[at.REFLECTED]), int(model[at.REFLECTED_END]), at.REFLECTED_SIZE):
        out[2] += 0.5 * v[int(model[e])] * model[e + 2] * v[int(model[e + 1])]
    for body in range(int(model[at.BODIES])):
        add_body(model, body, v, work, out)
    out[5] = out[0] + out[1] + out[2] + out[3]


@njit(error_model="numpy")
def add_body(model: Pointer, body: int, v: Pointer, work: Pointer, out: Pointer) -> None:
    """Add one locked link and the interaction with its wheels."""
    b, w = body_at(body), body * world.SIZE
    mass = model[b + at.MASS]
    mc = times(work, w + world.ROT, load(model, b + at.MOMENT))
    vel, omega = load(work, w + world.VEL), load(work, w + world.OMEGA)
    local = transposed_times(work, w + world.ROT, omega)
    turning = dot(local, symmetric_times(model, b + at.INERTIA, local))
    if mass > 0.0:
        # Energy of the mass gathered in its centre, taken out of the rotation about the origin.
        arm_rate = scale(1.0 / mass, cross(omega, mc))
        centre = add(vel, arm_rate)
        out[0] += 0.5 * mass * dot(centre, centre)
        turning -= mass * dot(arm_rate, arm_rate)
    out[1] += 0.5 * turning
    for e in range(int(model[b + at.CARRIED]), int(model[b + at.CARRIED_END]), at.CARRIED_SIZE):
        out[3] += v[int(model[e])] * dot(load(model, e + 1), local)
    place = add(scale(mass, load(work, w + world.POS)), mc)
    out[4] -= dot(load(model, at.GRAVITY), place)
