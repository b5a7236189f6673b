"""Mass matrix, its factorised solution, and energies."""

import math

import numpy as np
from numba import njit

from geared_dynamics.kernels import inverse, kinematics
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, positive, states
from geared_dynamics.kernels.joint import body_at, joint_position, place
from geared_dynamics.kernels.memory import Array, Pointer, Vector, keep, pointer, row, shift
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
    transposed_times,
)

# -- Mass matrix: composite bodies (tips first), then the wheels' constant terms ------------------
#
# M = M_locked + Gamma' J Gamma + Gamma' J Z + Z' J Gamma, in link coordinates.


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


# -- Forward dynamics from the factorised mass matrix: the fast way for short chains --------------


@njit(error_model="numpy")
def forward_dynamics(model: Array, q: Array, v: Array, tau: Array, out: Array) -> int:
    """Acceleration (n,) from q, v, tau (n,), or (K, n) for K states: M^-1 (tau - bias)."""
    n, bodies = int(model[at.COORDINATES]), int(model[at.BODIES])
    if not (holds(out, n, model) and fits(q, n, out) and fits(v, n, out) and fits(tau, n, out)):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out) and apart(tau, out)):
        return at.OVERLAP
    buffer = np.zeros(4 * n + n * n + bodies * max(inverse.SIZE, SIZE))
    m, x = pointer(model), pointer(buffer)
    v_, force, zero, matrix = shift(x, n), shift(x, 2 * n), shift(x, 3 * n), shift(x, 4 * n)
    work = shift(matrix, n * n)
    for k in range(states(q)):
        if not (gather(q, k, n, x) & gather(v, k, n, v_) & gather(tau, k, n, force)):
            return at.NOT_FINITE
        result = row(out, k)
        inverse.one_state(m, x, v_, zero, work, result)
        for d in range(n):
            result[d] = force[d] - result[d]
        one_matrix(m, x, work, matrix)
        if not solve(n, matrix, result):
            return at.NOT_POSITIVE
        if not finite(result, n):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def solve(n: int, matrix: Pointer, x: Pointer) -> bool:
    """Overwrite x by matrix^-1 x and the lower triangle by its Cholesky factor."""
    for i in range(n):
        for j in range(i + 1):
            total = matrix[i * n + j]
            for k in range(j):
                total -= matrix[i * n + k] * matrix[j * n + k]
            if i > j:
                matrix[i * n + j] = total / matrix[j * n + j]
            elif positive(total):
                matrix[i * n + i] = math.sqrt(total)
            else:
                return False
    for i in range(n):
        for k in range(i):
            x[i] -= matrix[i * n + k] * x[k]
        x[i] /= matrix[i * n + i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= matrix[k * n + i] * x[k]
        x[i] /= matrix[i * n + i]
    return True


# -- Energies: four shares of the kinetic one (Sciavicco 1994, eq. 23) and the potential one ------


SHARES = 6  # numbers per state


@njit(error_model="numpy")
def energies(model: Array, q: Array, v: Array, out: Array) -> int:
    """Translation, rotation, spin, interaction; potential; all kinetic energy (6,) [J]."""
    n = int(model[at.COORDINATES])
    if not (holds(out, SHARES, model) and fits(q, n, out) and fits(v, n, out)):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out)):
        return at.OVERLAP
    buffer = np.zeros(3 * n + int(model[at.BODIES]) * kinematics.SIZE)
    m, x = pointer(model), pointer(buffer)
    rate, zero, work = shift(x, n), shift(x, 2 * n), shift(x, 3 * n)
    for k in range(states(q)):
        if not (gather(q, k, n, x) & gather(v, k, n, rate)):
            return at.NOT_FINITE
        kinematics.sweep(m, x, rate, zero, work)
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
    b, w = body_at(body), body * kinematics.SIZE
    mass = model[b + at.MASS]
    mc = times(work, w + kinematics.ROT, load(model, b + at.MOMENT))
    vel, omega = load(work, w + kinematics.VEL), load(work, w + kinematics.OMEGA)
    local = transposed_times(work, w + kinematics.ROT, omega)
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
    place = add(scale(mass, load(work, w + kinematics.POS)), mc)
    out[4] -= dot(load(model, at.GRAVITY), place)
