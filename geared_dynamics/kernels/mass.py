"""Mass matrix: composite bodies (tips first), then the wheels' constant terms.

M = M_locked + Gamma' J Gamma + Gamma' J Z + Z' J Gamma, in link coordinates.
"""

import numpy as np
from numba import njit

from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.joint import body_at, joint_position, place
from geared_dynamics.kernels.kinds import Array, Pointer, Vector
from geared_dynamics.kernels.memory import keep, pointer, row, shift
from geared_dynamics.kernels.vector import (
    accumulate,
    add,
    cross,
    dot,
    load,
    scale,
    store,
    symmetric_times,
    times,
)

# Per body: rotation and origin in the parent's frame, then mass, first moment and
# inertia (xx xy xz yy yz zz) of the composite body about the origin.
ROT, POS, MASS, MC, INERTIA, SIZE = 0, 9, 12, 13, 16, 22


@njit(error_model="numpy")
def mass_matrix(model: Array, q: Array, out: Array) -> int:
    """Mass matrix (n, n), by rows (n n,), for q (n,); (K, n n) for K states."""
    n = int(model[at.COORDINATES])
    if not (holds(out, n * n, model) and fits(q, n, out)):
        return at.WRONG_SHAPE
    if not apart(q, out):
        return at.OVERLAP
    buffer = np.empty(n + int(model[at.BODIES]) * SIZE)
    m, x = pointer(model), pointer(buffer)
    for k in range(states(q)):
        if not gather(q, k, n, x):
            return at.NOT_FINITE
        one_matrix(m, x, shift(x, n), row(out, k))
        if not finite(row(out, k), n * n):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def one_matrix(model: Pointer, q: Pointer, work: Pointer, out: Pointer) -> None:
    """Mass matrix at one posture; work holds SIZE floats per body."""
    n, bodies = int(model[at.COORDINATES]), int(model[at.BODIES])
    for e in range(n * n):
        out[e] = 0.0
    for e in range(int(model[at.REFLECTED]), int(model[at.REFLECTED_END]), at.REFLECTED_SIZE):
        out[int(model[e]) * n + int(model[e + 1])] += model[e + 2]
    for i in range(bodies):
        prepare(model, i, q, work)
    for i in range(bodies - 1, -1, -1):
        b = body_at(i)
        link_column(model, i, n, work, out)
        for e in range(
            int(model[b + at.CARRIED]), int(model[b + at.CARRIED_END]), at.CARRIED_SIZE
        ):
            spin_column(model, i, int(model[e]), load(model, e + 1), n, work, out)
        if model[b + at.PARENT] >= 0.0:
            join(work, int(model[b + at.PARENT]) * SIZE, i * SIZE)


@njit(error_model="numpy")
def prepare(model: Pointer, i: int, q: Pointer, work: Pointer) -> None:
    """Place body i in its parent; its composite starts as the body itself."""
    b = body_at(i)
    w = i * SIZE
    c, s, p = place(model, b, joint_position(model, b, q))
    for r in range(0, 9, 3):
        first, second = model[b + at.ROTATION + r], model[b + at.ROTATION + r + 1]
        work[w + ROT + r] = c * first + s * second
        work[w + ROT + r + 1] = c * second - s * first
        work[w + ROT + r + 2] = model[b + at.ROTATION + r + 2]
    store(work, w + POS, p)
    for e in range(10):
        work[w + MASS + e] = model[b + at.MASS + e]


@njit(error_model="numpy")
def add_pair(out: Pointer, n: int, d: int, k: int, value: float) -> None:
    """Add to elements (d, k) and (k, d)."""
    out[d * n + k] += value
    out[k * n + d] += value


@njit(error_model="numpy")
def link_column(model: Pointer, i: int, n: int, work: Pointer, out: Pointer) -> None:
    """Column of M_locked: force that unit acceleration of joint i takes at its ancestors."""
    b = body_at(i)
    w = i * SIZE
    d = int(model[b + at.DOF])
    mu = model[b + at.MULTIPLIER]
    if model[b + at.PRISMATIC] == 0.0:
        force = (-work[w + MC + 1], work[w + MC], 0.0)
        moment = (work[w + INERTIA + 2], work[w + INERTIA + 4], work[w + INERTIA + 5])
        out[d * n + d] += mu * mu * moment[2]
    else:
        force = (0.0, 0.0, work[w + MASS])
        moment = (work[w + MC + 1], -work[w + MC], 0.0)
        out[d * n + d] += mu * mu * force[2]
    j = int(model[b + at.PARENT])
    while j >= 0:
        force = times(work, w + ROT, force)
        moment = add(times(work, w + ROT, moment), cross(load(work, w + POS), force))
        b = body_at(j)
        w = j * SIZE
        along = moment[2] if model[b + at.PRISMATIC] == 0.0 else force[2]
        add_pair(out, n, d, int(model[b + at.DOF]), mu * model[b + at.MULTIPLIER] * along)
        j = int(model[b + at.PARENT])


@njit(error_model="numpy")
def spin_column(
    model: Pointer, carrier: int, d: int, h: Vector, n: int, work: Pointer, out: Pointer
) -> None:
    """Column of Gamma' J Z and its transpose: h_d along each revolute joint below the carrier."""
    j = carrier
    while j >= 0:
        b = body_at(j)
        if model[b + at.PRISMATIC] == 0.0:
            add_pair(out, n, d, int(model[b + at.DOF]), model[b + at.MULTIPLIER] * h[2])
        h = times(work, j * SIZE + ROT, h)
        j = int(model[b + at.PARENT])


@njit(error_model="numpy")
def join(work: Pointer, u: int, w: int) -> None:
    """Add the composite body at w to its parent's at u.

    With R, p the child's place, x = R mc and mass m:
    mc += x + m p;  I += R I R' + (2 p.x + m p.p) 1 - p x' - x p' - m p p'.
    """
    p = load(work, w + POS)
    mass = work[w + MASS]
    x = times(work, w + ROT, load(work, w + MC))
    y = add(x, scale(0.5 * mass, p))
    trace = 2.0 * dot(p, y)
    work[u + MASS] += mass
    accumulate(work, u + MC, add(x, scale(mass, p)))
    e = u + INERTIA
    for i in range(3):
        left = symmetric_times(work, w + INERTIA, load(work, w + ROT + 3 * i))
        for j in range(i, 3):
            turned = dot(left, load(work, w + ROT + 3 * j))
            shifted = trace if i == j else 0.0
            work[e] += turned + shifted - p[i] * y[j] - y[i] * p[j]
            e += 1
