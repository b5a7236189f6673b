"""Coriolis matrix in Christoffel form, in root axes.

For a body seen as point masses at x, J_x = u_j + w_j x x, and M = sum m J_x' J_x
has the Christoffel matrix C = sum m J_x' dJ_x/dt. Summed over the body:

    C_ij = u_i . F_j + w_i . N_j
    F_j = m u_j' + w_j' x mc + w_j x (w x mc)
    N_j = I w_j' + mc x u_j' - w x (E w_j),    E = tr(I)/2 - I

(' is the time derivative). The wheels' ``Gamma' J Z + Z' J Gamma`` adds, for a
carrier with angular velocity w, the constants h_d and h = sum h_d v_d:

    C_dj += h_d . (w_(j) x z_j + (z_j x w) / 2),    w_(j) of joint j's own body
    C_id += h_d . (z_i x w) / 2
    C_ij += h . (z_i x z_j) / 2

so that C v contains h_d . alpha_0 on joint d and w x h on the carrier.
"""

import numpy as np
from numba import njit

from geared_dynamics.kernels import kinematics
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.joint import body_at
from geared_dynamics.kernels.kinds import Array, Pointer, Vector
from geared_dynamics.kernels.memory import keep, pointer, row, shift
from geared_dynamics.kernels.vector import (
    add,
    cross,
    dot,
    load,
    scale,
    subtract,
    symmetric_times,
    times,
    transposed_times,
)


@njit(error_model="numpy")
def coriolis_matrix(model: Array, q: Array, v: Array, out: Array) -> int:
    """Coriolis matrix (n, n), by rows (n n,), for q, v (n,); (K, n n) for K states."""
    n = int(model[at.COORDINATES])
    if not (holds(out, n * n, model) and fits(q, n, out) and fits(v, n, out)):
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
        one_matrix(m, n, rate, work, row(out, k))
        if not finite(row(out, k), n * n):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def one_matrix(model: Pointer, n: int, v: Pointer, work: Pointer, out: Pointer) -> None:
    """Coriolis matrix from the bodies' motion."""
    for e in range(n * n):
        out[e] = 0.0
    for body in range(int(model[at.BODIES])):
        b = body_at(body)
        j = body
        while j >= 0:
            body_column(model, body, j, n, work, out)
            j = int(model[body_at(j) + at.PARENT])
        if model[b + at.CARRIED] < model[b + at.CARRIED_END]:
            spin_terms(model, body, n, v, work, out)


@njit(error_model="numpy")
def column_rate(model: Pointer, body: int, j: int, work: Pointer) -> tuple[Vector, Vector]:
    """Time derivatives of joint j's angular and linear columns at the body's origin."""
    u, w = j * kinematics.SIZE, body * kinematics.SIZE
    turning = cross(load(work, u + kinematics.OMEGA), kinematics.axis(work, u))
    if model[body_at(j) + at.PRISMATIC] != 0.0:
        return (0.0, 0.0, 0.0), turning
    arm = subtract(load(work, w + kinematics.POS), load(work, u + kinematics.POS))
    arm_rate = subtract(load(work, w + kinematics.VEL), load(work, u + kinematics.VEL))
    return turning, add(cross(turning, arm), cross(kinematics.axis(work, u), arm_rate))


@njit(error_model="numpy")
def body_column(model: Pointer, body: int, j: int, n: int, work: Pointer, out: Pointer) -> None:
    """Column j of the body's share, onto all joints i that move the body."""
    b, w = body_at(body), body * kinematics.SIZE
    point, omega = load(work, w + kinematics.POS), load(work, w + kinematics.OMEGA)
    angular, _ = kinematics.column(model, j, point, work)
    angular_rate, linear_rate = column_rate(model, body, j, work)
    mc = times(work, w + kinematics.ROT, load(model, b + at.MOMENT))
    force = add(cross(angular_rate, mc), cross(angular, cross(omega, mc)))
    force = add(scale(model[b + at.MASS], linear_rate), force)
    inertia = b + at.INERTIA
    half_trace = 0.5 * (model[inertia] + model[inertia + 3] + model[inertia + 5])
    spread = subtract(scale(half_trace, angular), turned_inertia(model, b, work, w, angular))
    moment = add(turned_inertia(model, b, work, w, angular_rate), cross(mc, linear_rate))
    moment = subtract(moment, cross(omega, spread))
    column = int(model[body_at(j) + at.DOF])
    multiplier = model[body_at(j) + at.MULTIPLIER]
    i = body
    while i >= 0:
        a = body_at(i)
        angular, linear = kinematics.column(model, i, point, work)
        value = dot(angular, moment) + dot(linear, force)
        out[int(model[a + at.DOF]) * n + column] += multiplier * model[a + at.MULTIPLIER] * value
        i = int(model[a + at.PARENT])


@njit(error_model="numpy")
def turned_inertia(model: Pointer, b: int, work: Pointer, w: int, x: Vector) -> Vector:
    """Return R I R' x: the body's inertia about its origin, in root axes."""
    inner = symmetric_times(model, b + at.INERTIA, transposed_times(work, w + kinematics.ROT, x))
    return times(work, w + kinematics.ROT, inner)


@njit(error_model="numpy")
def spin_terms(model: Pointer, body: int, n: int, v: Pointer, work: Pointer, out: Pointer) -> None:
    """Share of the wheels that the body carries (module docstring)."""
    b, w = body_at(body), body * kinematics.SIZE
    omega = load(work, w + kinematics.OMEGA)
    total = (0.0, 0.0, 0.0)
    for e in range(int(model[b + at.CARRIED]), int(model[b + at.CARRIED_END]), at.CARRIED_SIZE):
        d = int(model[e])
        h = times(work, w + kinematics.ROT, load(model, e + 1))
        total = add(total, scale(v[d], h))
        spin_row_and_column(model, body, d, h, omega, n, work, out)
    i = body
    while i >= 0:
        j = body
        while j >= 0:
            spin_pair(model, i, j, total, n, work, out)
            j = int(model[body_at(j) + at.PARENT])
        i = int(model[body_at(i) + at.PARENT])


@njit(error_model="numpy")
def spin_row_and_column(
    model: Pointer,
    body: int,
    d: int,
    h: Vector,
    omega: Vector,
    n: int,
    work: Pointer,
    out: Pointer,
) -> None:
    """Elements (d, j) and (j, d) of one h_d, over the joints j that turn the carrier."""
    j = body
    while j >= 0:
        b, w = body_at(j), j * kinematics.SIZE
        if model[b + at.PRISMATIC] == 0.0:
            z = kinematics.axis(work, w)
            k = int(model[b + at.DOF])
            turning = cross(load(work, w + kinematics.OMEGA), z)
            gyro = scale(0.5, cross(z, omega))
            out[d * n + k] += model[b + at.MULTIPLIER] * dot(h, add(turning, gyro))
            out[k * n + d] += model[b + at.MULTIPLIER] * dot(h, gyro)
        j = int(model[b + at.PARENT])


@njit(error_model="numpy")
def spin_pair(
    model: Pointer, i: int, j: int, total: Vector, n: int, work: Pointer, out: Pointer
) -> None:
    """Element (i, j): h . (z_i x z_j) / 2."""
    a, b = body_at(i), body_at(j)
    if i == j or model[a + at.PRISMATIC] != 0.0 or model[b + at.PRISMATIC] != 0.0:
        return
    value = 0.5 * dot(
        total,
        cross(
            kinematics.axis(work, i * kinematics.SIZE), kinematics.axis(work, j * kinematics.SIZE)
        ),
    )
    value *= model[a + at.MULTIPLIER] * model[b + at.MULTIPLIER]
    out[int(model[a + at.DOF]) * n + int(model[b + at.DOF])] += value
