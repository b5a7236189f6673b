"""The terms of the inverse dynamics apart, and the Coriolis matrix.

What ``inverse`` adds up is kept in four shares, which have the kinematics in common:
gravity (no motion), velocity (no acceleration, no gravity), acceleration (of the locked
links), and the wheels' spin. The shares are linear in their causes, so they are exact, not
differences of torques.
"""

import numpy as np
from numba import njit

from geared_dynamics.kernels import kinematics
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
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
    subtract,
    symmetric_times,
    times,
    transposed_times,
)

# Rows of the result, n numbers each: the links' terms, the wheels' terms, and the torques of
# the model without rotors, with their armature, complete.
INERTIA, CORIOLIS, GRAVITY, ARMATURE, COUPLING, RIGID, SIMPLE, COMPLETE = range(8)
ROWS = 8

# Workspace per body: rotation in the parent (9) and origin there; angular velocity; angular
# and linear acceleration of the origin, of velocities and of accelerations; gravity taken
# off; force and moment by share (the wheels' is a moment only).
TURN, ORIGIN, OMEGA, ALPHA_V, ALPHA_A, ACC_V, ACC_A, ACC_G = 0, 9, 12, 15, 18, 21, 24, 27
FORCE_V, FORCE_A, FORCE_G, MOMENT_V, MOMENT_A, MOMENT_G, MOMENT_W = 30, 33, 36, 39, 42, 45, 48
SIZE = 51


@njit(error_model="numpy")
def torque_terms(model: Array, q: Array, v: Array, a: Array, out: Array) -> int:
    """All terms (ROWS n,) for motion q, v, a (n,), or (K, ROWS n) for K states."""
    n = int(model[at.COORDINATES])
    if not (
        holds(out, ROWS * n, model) and fits(q, n, out) and fits(v, n, out) and fits(a, n, out)
    ):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out) and apart(a, out)):
        return at.OVERLAP
    buffer = np.empty(3 * n + int(model[at.BODIES]) * SIZE)
    m, x = pointer(model), pointer(buffer)
    for k in range(states(q)):
        if not (
            gather(q, k, n, x) & gather(v, k, n, shift(x, n)) & gather(a, k, n, shift(x, 2 * n))
        ):
            return at.NOT_FINITE
        one_state(m, x, shift(x, n), shift(x, 2 * n), shift(x, 3 * n), row(out, k))
        if not finite(row(out, k), ROWS * n):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def one_state(
    model: Pointer, q: Pointer, v: Pointer, a: Pointer, work: Pointer, out: Pointer
) -> None:
    """All terms of one state; work holds SIZE floats per body."""
    bodies, n = int(model[at.BODIES]), int(model[at.COORDINATES])
    reflected(model, n, a, out)
    for i in range(bodies):
        outward(model, i, q, v, a, work)
        forces(model, i, n, v, a, work, out)
    for i in range(bodies - 1, -1, -1):
        inward(model, i, n, work, out)
    for d in range(n):
        rigid = out[INERTIA * n + d] + out[CORIOLIS * n + d] + out[GRAVITY * n + d]
        simple = rigid + out[ARMATURE * n + d]
        out[RIGID * n + d] = rigid
        out[SIMPLE * n + d] = simple
        out[COMPLETE * n + d] = simple + out[COUPLING * n + d]


@njit(error_model="numpy")
def reflected(model: Pointer, n: int, a: Pointer, out: Pointer) -> None:
    """Set all to zero, then armature and coupling to Gamma' J Gamma a, diagonal and rest."""
    for e in range(RIGID * n):
        out[e] = 0.0
    for e in range(int(model[at.REFLECTED]), int(model[at.REFLECTED_END]), at.REFLECTED_SIZE):
        i, j = int(model[e]), int(model[e + 1])
        term = ARMATURE if i == j else COUPLING
        out[term * n + i] += model[e + 2] * a[j]


@njit(error_model="numpy")
def outward(model: Pointer, i: int, q: Pointer, v: Pointer, a: Pointer, work: Pointer) -> None:
    """Motion of body i from its parent's, velocities, accelerations and gravity apart."""
    b, w = body_at(i), i * SIZE
    d = int(model[b + at.DOF])
    rate = model[b + at.MULTIPLIER] * v[d]
    rate_change = model[b + at.MULTIPLIER] * a[d]
    c, s, p = place(model, b, joint_position(model, b, q))
    for e in range(0, 9, 3):
        x, y = model[b + at.ROTATION + e], model[b + at.ROTATION + e + 1]
        work[w + TURN + e] = c * x + s * y
        work[w + TURN + e + 1] = c * y - s * x
        work[w + TURN + e + 2] = model[b + at.ROTATION + e + 2]
    store(work, w + ORIGIN, p)
    parent = int(model[b + at.PARENT])
    zero = (0.0, 0.0, 0.0)
    omega, alpha_v, alpha_a, acc_v, acc_a = zero, zero, zero, zero, zero
    if parent < 0:
        acc_g = transposed_times(work, w + TURN, scale(-1.0, load(model, at.GRAVITY)))
    else:
        up = parent * SIZE
        omega, alpha_v, alpha_a = (
            load(work, up + OMEGA),
            load(work, up + ALPHA_V),
            load(work, up + ALPHA_A),
        )
        acc_v = add(load(work, up + ACC_V), carried(alpha_v, omega, p))
        acc_a = add(load(work, up + ACC_A), cross(alpha_a, p))
        acc_g = transposed_times(work, w + TURN, load(work, up + ACC_G))
        omega = transposed_times(work, w + TURN, omega)
        alpha_v = transposed_times(work, w + TURN, alpha_v)
        alpha_a = transposed_times(work, w + TURN, alpha_a)
        acc_v = transposed_times(work, w + TURN, acc_v)
        acc_a = transposed_times(work, w + TURN, acc_a)
    if model[b + at.PRISMATIC] == 0.0:
        alpha_v = (alpha_v[0] + omega[1] * rate, alpha_v[1] - omega[0] * rate, alpha_v[2])
        alpha_a = (alpha_a[0], alpha_a[1], alpha_a[2] + rate_change)
        omega = (omega[0], omega[1], omega[2] + rate)
    else:
        acc_v = (acc_v[0] + 2.0 * omega[1] * rate, acc_v[1] - 2.0 * omega[0] * rate, acc_v[2])
        acc_a = (acc_a[0], acc_a[1], acc_a[2] + rate_change)
    store(work, w + OMEGA, omega)
    store(work, w + ALPHA_V, alpha_v)
    store(work, w + ALPHA_A, alpha_a)
    store(work, w + ACC_V, acc_v)
    store(work, w + ACC_A, acc_a)
    store(work, w + ACC_G, acc_g)


@njit(error_model="numpy")
def carried(alpha: Vector, omega: Vector, p: Vector) -> Vector:
    """Acceleration alpha x p + omega x (omega x p) of a place p on a body."""
    return add(cross(alpha, p), cross(omega, cross(omega, p)))


@njit(error_model="numpy")
def forces(
    model: Pointer, i: int, n: int, v: Pointer, a: Pointer, work: Pointer, out: Pointer
) -> None:
    """Force and moment that body i needs, by share; see ``inverse.body_force``."""
    b, w = body_at(i), i * SIZE
    mass, mc, inertia = model[b + at.MASS], load(model, b + at.MOMENT), b + at.INERTIA
    omega, alpha_v, alpha_a = (
        load(work, w + OMEGA),
        load(work, w + ALPHA_V),
        load(work, w + ALPHA_A),
    )
    acc_v, acc_a, acc_g = load(work, w + ACC_V), load(work, w + ACC_A), load(work, w + ACC_G)
    store(work, w + FORCE_V, add(scale(mass, acc_v), carried(alpha_v, omega, mc)))
    store(work, w + FORCE_A, add(scale(mass, acc_a), cross(alpha_a, mc)))
    store(work, w + FORCE_G, scale(mass, acc_g))
    moment = add(symmetric_times(model, inertia, alpha_v), cross(mc, acc_v))
    turning = cross(omega, symmetric_times(model, inertia, omega))
    store(work, w + MOMENT_V, add(moment, turning))
    moment = add(symmetric_times(model, inertia, alpha_a), cross(mc, acc_a))
    store(work, w + MOMENT_A, moment)
    store(work, w + MOMENT_G, cross(mc, acc_g))
    alpha = add(alpha_v, alpha_a)
    spin, change = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for e in range(int(model[b + at.CARRIED]), int(model[b + at.CARRIED_END]), at.CARRIED_SIZE):
        d = int(model[e])
        h = load(model, e + 1)
        spin = add(spin, scale(v[d], h))
        change = add(change, scale(a[d], h))
        out[COUPLING * n + d] += dot(h, alpha)
    store(work, w + MOMENT_W, add(change, cross(omega, spin)))


@njit(error_model="numpy")
def inward(model: Pointer, i: int, n: int, work: Pointer, out: Pointer) -> None:
    """Take joint i's share of the forces on body i, pass them to the parent."""
    b, w = body_at(i), i * SIZE
    d, multiplier = int(model[b + at.DOF]), model[b + at.MULTIPLIER]
    if model[b + at.PRISMATIC] == 0.0:
        out[CORIOLIS * n + d] += multiplier * work[w + MOMENT_V + 2]
        out[INERTIA * n + d] += multiplier * work[w + MOMENT_A + 2]
        out[GRAVITY * n + d] += multiplier * work[w + MOMENT_G + 2]
        out[COUPLING * n + d] += multiplier * work[w + MOMENT_W + 2]
    else:
        out[CORIOLIS * n + d] += multiplier * work[w + FORCE_V + 2]
        out[INERTIA * n + d] += multiplier * work[w + FORCE_A + 2]
        out[GRAVITY * n + d] += multiplier * work[w + FORCE_G + 2]
    parent = int(model[b + at.PARENT])
    if parent >= 0:
        to = parent * SIZE
        for share in range(3):
            force = times(work, w + TURN, load(work, w + FORCE_V + 3 * share))
            moment = times(work, w + TURN, load(work, w + MOMENT_V + 3 * share))
            moment = add(moment, cross(load(work, w + ORIGIN), force))
            accumulate(work, to + FORCE_V + 3 * share, force)
            accumulate(work, to + MOMENT_V + 3 * share, moment)
        moment = times(work, w + TURN, load(work, w + MOMENT_W))
        accumulate(work, to + MOMENT_W, moment)


# -- Coriolis matrix in Christoffel form, in root axes --------------------------------------------
#
# For a body seen as point masses at x, J_x = u_j + w_j x x, and M = sum m J_x' J_x
# has the Christoffel matrix C = sum m J_x' dJ_x/dt. Summed over the body:
#
#     C_ij = u_i . F_j + w_i . N_j
#     F_j = m u_j' + w_j' x mc + w_j x (w x mc)
#     N_j = I w_j' + mc x u_j' - w x (E w_j),    E = tr(I)/2 - I
#
# (' is the time derivative). The wheels' ``Gamma' J Z + Z' J Gamma`` adds, for a
# carrier with angular velocity w, the constants h_d and h = sum h_d v_d:
#
#     C_dj += h_d . (w_(j) x z_j + (z_j x w) / 2),    w_(j) of joint j's own body
#     C_id += h_d . (z_i x w) / 2
#     C_ij += h . (z_i x z_j) / 2
#
# so that C v contains h_d . alpha_0 on joint d and w x h on the carrier.


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
