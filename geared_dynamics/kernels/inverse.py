"""Inverse dynamics, with and without external wrenches."""

import numpy as np
from numba import njit

from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.joint import body_at, joint_position, place
from geared_dynamics.kernels.memory import (
    STACK_SIZE,
    Array,
    Pointer,
    Vector,
    keep,
    pointer,
    row,
    shift,
    stack_memory,
)
from geared_dynamics.kernels.vector import (
    acceleration_matrix,
    accumulate,
    add,
    cross,
    dot,
    load,
    scale,
    store,
    times,
    transposed_times,
    turn_back_z,
    turn_z,
)

# -- Complete inverse dynamics: a Newton-Euler recursion over the locked links --------------------
#
# Sciavicco 1994, eq. (35)-(45), corrected and in link coordinates. The wheels enter
# through two constants: reflected inertia, ``Gamma' J Gamma a`` on the joints, and
# per carrier h_d = sum e J Gamma_rd, which adds ``sum h_d a_d + omega x sum h_d v_d``
# to the carrier's moment and ``h_d . alpha`` to joint d, so that their number costs
# nothing.


# Workspace per body: angular velocity, angular and linear acceleration of the
# origin (gravity taken off), force and moment on it, origin in the parent's frame,
# cosine and sine of the joint, matrix U (``vector.acceleration_matrix``).
OMEGA, ALPHA, ACC, FORCE, MOMENT, ORIGIN, COS, SIN, MATRIX, SIZE = (
    0,
    3,
    6,
    9,
    12,
    15,
    18,
    19,
    20,
    29,
)


@njit(error_model="numpy")
def inverse_dynamics(model: Array, q: Array, v: Array, a: Array, out: Array) -> int:
    """Generalised force (n,) for motion q, v, a (n,), or (K, n) for K states."""
    n = int(model[at.COORDINATES])
    if not (holds(out, n, model) and fits(q, n, out) and fits(v, n, out) and fits(a, n, out)):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out) and apart(a, out)):
        return at.OVERLAP
    size = 3 * n + int(model[at.BODIES]) * SIZE
    buffer, m, x = model, pointer(model), stack_memory()
    if size > STACK_SIZE:
        buffer = np.empty(size)
        x = pointer(buffer)
    for k in range(states(q)):
        if not (
            gather(q, k, n, x) & gather(v, k, n, shift(x, n)) & gather(a, k, n, shift(x, 2 * n))
        ):
            return at.NOT_FINITE
        one_state(m, x, shift(x, n), shift(x, 2 * n), shift(x, 3 * n), row(out, k))
        if not finite(row(out, k), n):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def one_state(
    model: Pointer, q: Pointer, v: Pointer, a: Pointer, work: Pointer, out: Pointer
) -> None:
    """Inverse dynamics of one state; work holds SIZE floats per body."""
    bodies = int(model[at.BODIES])
    reflected(model, a, out)
    posture(model, q, work)
    for i in range(bodies):
        outward(model, i, v, a, work, out)
    for i in range(bodies - 1, -1, -1):
        inward(model, i, work, out)


@njit(error_model="numpy", forceinline=True)
def reflected(model: Pointer, a: Pointer, out: Pointer) -> None:
    """Set out = Gamma' J Gamma a."""
    for d in range(int(model[at.COORDINATES])):
        out[d] = 0.0
    for e in range(int(model[at.REFLECTED]), int(model[at.REFLECTED_END]), at.REFLECTED_SIZE):
        out[int(model[e])] += model[e + 2] * a[int(model[e + 1])]


@njit(error_model="numpy", forceinline=True)
def posture(model: Pointer, q: Pointer, work: Pointer) -> None:
    """Place every body in its parent: what waits for no other body is computed together."""
    for i in range(int(model[at.BODIES])):
        b, w = body_at(i), i * SIZE
        c, s, p = place(model, b, joint_position(model, b, q))
        store(work, w + ORIGIN, p)
        work[w + COS] = c
        work[w + SIN] = s


@njit(error_model="numpy", forceinline=True)
def outward(model: Pointer, i: int, v: Pointer, a: Pointer, work: Pointer, out: Pointer) -> None:
    """Motion of body i from its parent's, the force it needs, its wheels' shares."""
    b = body_at(i)
    d = int(model[b + at.DOF])
    rate = model[b + at.MULTIPLIER] * v[d]
    rate_change = model[b + at.MULTIPLIER] * a[d]
    c, s = work[i * SIZE + COS], work[i * SIZE + SIN]
    parent = int(model[b + at.PARENT])
    if parent < 0:
        omega = (0.0, 0.0, 0.0)
        alpha = (0.0, 0.0, 0.0)
        acc = scale(-1.0, load(model, at.GRAVITY))
    else:
        w = parent * SIZE
        omega = load(work, w + OMEGA)
        alpha = load(work, w + ALPHA)
        acc = add(load(work, w + ACC), times(work, w + MATRIX, load(work, i * SIZE + ORIGIN)))
        omega = turn_back_z(c, s, transposed_times(model, b + at.ROTATION, omega))
        alpha = turn_back_z(c, s, transposed_times(model, b + at.ROTATION, alpha))
    acc = turn_back_z(c, s, transposed_times(model, b + at.ROTATION, acc))
    if model[b + at.PRISMATIC] == 0.0:
        alpha = (alpha[0] + omega[1] * rate, alpha[1] - omega[0] * rate, alpha[2] + rate_change)
        omega = (omega[0], omega[1], omega[2] + rate)
    else:
        acc = (
            acc[0] + 2.0 * omega[1] * rate,
            acc[1] - 2.0 * omega[0] * rate,
            acc[2] + rate_change,
        )
    w = i * SIZE
    store(work, w + OMEGA, omega)
    store(work, w + ALPHA, alpha)
    store(work, w + ACC, acc)
    acceleration_matrix(omega, alpha, shift(work, w + MATRIX))
    force, moment = body_force(model, b, omega, alpha, acc, v, a, shift(work, w + MATRIX), out)
    store(work, w + FORCE, force)
    store(work, w + MOMENT, moment)


@njit(error_model="numpy", forceinline=True)
def body_force(
    model: Pointer,
    b: int,
    omega: Vector,
    alpha: Vector,
    acc: Vector,
    v: Pointer,
    a: Pointer,
    matrix: Pointer,
    out: Pointer,
) -> tuple[Vector, Vector]:
    """Force and moment about its origin that the motion of the body at b needs.

    f = m acc + alpha x mc + omega x (omega x mc),
    n = I alpha + omega x I omega + mc x acc + sum h_d a_d + omega x sum h_d v_d;
    h_d . alpha goes to joint d. ``matrix``: the body's (``vector.acceleration_matrix``).
    """
    mc = load(model, b + at.MOMENT)
    force = add(scale(model[b + at.MASS], acc), times(matrix, 0, mc))
    moment = add(turning_moment(model, b + at.INERTIA, omega, alpha, matrix), cross(mc, acc))
    first, end = int(model[b + at.CARRIED]), int(model[b + at.CARRIED_END])
    if first == end:
        return force, moment
    momentum = (0.0, 0.0, 0.0)
    for e in range(first, end, at.CARRIED_SIZE):
        d = int(model[e])
        h = load(model, e + 1)
        momentum = add(momentum, scale(v[d], h))
        moment = add(moment, scale(a[d], h))
        out[d] += dot(h, alpha)
    return force, add(moment, cross(omega, momentum))


@njit(error_model="numpy", forceinline=True)
def turning_moment(model: Pointer, e: int, w: Vector, alpha: Vector, matrix: Pointer) -> Vector:
    """Return I alpha + omega x I omega, I (6) at e, by the matrix U of the body.

    Its x is I_xx alpha_x + (I_zz - I_yy) w_y w_z - I_xy U_zx + I_xz U_yx + I_yz (w_y^2 - w_z^2).
    """
    xx, xy, xz = model[e], model[e + 1], model[e + 2]
    yy, yz, zz = model[e + 3], model[e + 4], model[e + 5]
    x_2, y_2, z_2 = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    x = xx * alpha[0] + (zz - yy) * (w[1] * w[2]) + yz * (y_2 - z_2)
    y = yy * alpha[1] + (xx - zz) * (w[0] * w[2]) + xz * (z_2 - x_2)
    z = zz * alpha[2] + (yy - xx) * (w[0] * w[1]) + xy * (x_2 - y_2)
    return (
        x - xy * matrix[6] + xz * matrix[3],
        y - yz * matrix[1] + xy * matrix[7],
        z - xz * matrix[5] + yz * matrix[2],
    )


@njit(error_model="numpy", forceinline=True)
def inward(model: Pointer, i: int, work: Pointer, out: Pointer) -> None:
    """Take joint i's share of the force on body i, pass the force to the parent."""
    b = body_at(i)
    w = i * SIZE
    force = load(work, w + FORCE)
    moment = load(work, w + MOMENT)
    along = moment[2] if model[b + at.PRISMATIC] == 0.0 else force[2]
    out[int(model[b + at.DOF])] += model[b + at.MULTIPLIER] * along
    parent = int(model[b + at.PARENT])
    if parent >= 0:
        c = work[w + COS]
        s = work[w + SIN]
        force = times(model, b + at.ROTATION, turn_z(c, s, force))
        moment = times(model, b + at.ROTATION, turn_z(c, s, moment))
        moment = add(moment, cross(load(work, w + ORIGIN), force))
        accumulate(work, parent * SIZE + FORCE, force)
        accumulate(work, parent * SIZE + MOMENT, moment)


# -- Inverse dynamics with wrenches on the bodies, in one recursion -------------------------------


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
    buffer = np.empty(3 * n + 6 * bodies + bodies * SIZE)
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
    reflected(model, a, out)
    posture(model, q, work)
    for i in range(bodies):
        outward(model, i, v, a, work, out)
        take_off(model, i, wrenches, work)
    for i in range(bodies - 1, -1, -1):
        inward(model, i, work, out)


@njit(error_model="numpy")
def take_off(model: Pointer, i: int, wrenches: Pointer, work: Pointer) -> None:
    """Take body i's wrench off the force and moment that its motion needs."""
    turn, w = body_at(i) + at.TURN, i * SIZE
    force = transposed_times(model, turn, load(wrenches, 6 * i))
    moment = transposed_times(model, turn, load(wrenches, 6 * i + 3))
    accumulate(work, w + FORCE, scale(-1.0, force))
    accumulate(work, w + MOMENT, scale(-1.0, moment))
