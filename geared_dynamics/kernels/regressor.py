"""Regressor: generalised forces per unit of each parameter.

Ten columns per body (m, m c, Ixx Ixy Ixz Iyy Iyz Izz about the origin, link
frame) and one per wheel (its axial inertia, the locked link unchanged).
"""

import numpy as np
from numba import njit

from geared_dynamics.kernels import kinematics
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.joint import body_at
from geared_dynamics.kernels.memory import Array, Pointer, Vector, keep, pointer, row, shift
from geared_dynamics.kernels.vector import (
    add,
    cross,
    dot,
    load,
    scale,
    subtract,
    times,
    transposed_times,
)

# Force and moment per parameter: ten pairs of vectors.
COLUMNS_SIZE = 60


@njit(error_model="numpy")
def joint_regressor(model: Array, q: Array, v: Array, a: Array, out: Array) -> int:
    """Regressor (n, p), by rows (n p,), for q, v, a (n,); (K, n p) for K states."""
    n = int(model[at.COORDINATES])
    width = n * int(model[at.PARAMETERS])
    if not (holds(out, width, model) and fits(q, n, out) and fits(v, n, out) and fits(a, n, out)):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out) and apart(a, out)):
        return at.OVERLAP
    buffer = np.empty(3 * n + COLUMNS_SIZE + int(model[at.BODIES]) * kinematics.SIZE)
    m, x = pointer(model), pointer(buffer)
    v_, a_, columns = shift(x, n), shift(x, 2 * n), shift(x, 3 * n)
    work = shift(columns, COLUMNS_SIZE)
    for k in range(states(q)):
        if not (gather(q, k, n, x) & gather(v, k, n, v_) & gather(a, k, n, a_)):
            return at.NOT_FINITE
        kinematics.sweep(m, x, v_, a_, work)
        one_state(m, v_, a_, columns, work, row(out, k))
        if not finite(row(out, k), width):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def one_state(
    model: Pointer, v: Pointer, a: Pointer, columns: Pointer, work: Pointer, out: Pointer
) -> None:
    """Regressor from the bodies' motion."""
    n, p = int(model[at.COORDINATES]), int(model[at.PARAMETERS])
    for e in range(n * p):
        out[e] = 0.0
    for body in range(int(model[at.BODIES])):
        link_columns(model, body, columns, work)
        project(model, body, p, columns, work, out)
    for wheel in range(int(model[at.WHEELS]), int(model[at.WHEELS_END]), at.WHEEL_ROW + n):
        if model[at.COUPLING] == 1.0:
            armature_column(model, wheel, n, p, a, out)
        elif model[at.COUPLING] == 2.0:
            wheel_column(model, wheel, n, p, v, a, work, out)


@njit(error_model="numpy")
def in_link(model: Pointer, body: int, work: Pointer, x: Vector) -> Vector:
    """Components of a root-frame vector in the body's link frame."""
    turned = transposed_times(work, body * kinematics.SIZE + kinematics.ROT, x)
    return times(model, body_at(body) + at.TURN, turned)


@njit(error_model="numpy")
def put(columns: Pointer, k: int, force: Vector, moment: Vector) -> None:
    """Store the pair of column k."""
    for r in range(3):
        columns[6 * k + r] = force[r]
        columns[6 * k + 3 + r] = moment[r]


@njit(error_model="numpy")
def unit(k: int) -> Vector:
    """Unit vector along axis k."""
    return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)


@njit(error_model="numpy")
def link_columns(model: Pointer, body: int, columns: Pointer, work: Pointer) -> None:
    """Force and moment about the origin per parameter, link frame.

    f = m acc + alpha x mc + omega x (omega x mc), n = I alpha + mc x acc + omega x I omega.
    """
    w = body * kinematics.SIZE
    omega = in_link(model, body, work, load(work, w + kinematics.OMEGA))
    alpha = in_link(model, body, work, load(work, w + kinematics.ALPHA))
    acc = subtract(load(work, w + kinematics.ACC), load(model, at.GRAVITY))
    acc = in_link(model, body, work, acc)
    zero = (0.0, 0.0, 0.0)
    put(columns, 0, acc, zero)
    column = 4
    for i in range(3):
        e = unit(i)
        force = add(cross(alpha, e), cross(omega, cross(omega, e)))
        put(columns, 1 + i, force, cross(e, acc))
        for j in range(i, 3):
            f = unit(j)
            # I = e f' + f e', or e e' on the diagonal.
            first, second = scale(omega[j], e), scale(alpha[j], e)
            if i != j:
                first = add(first, scale(omega[i], f))
                second = add(second, scale(alpha[i], f))
            put(columns, column, zero, add(second, cross(omega, first)))
            column += 1


@njit(error_model="numpy")
def project(
    model: Pointer, body: int, p: int, columns: Pointer, work: Pointer, out: Pointer
) -> None:
    """Take the body's ten columns to the joints that move it."""
    point = load(work, body * kinematics.SIZE + kinematics.POS)
    first = int(model[body_at(body) + at.COLUMN])
    i = body
    while i >= 0:
        b = body_at(i)
        angular, linear = kinematics.column(model, i, point, work)
        angular = scale(model[b + at.MULTIPLIER], in_link(model, body, work, angular))
        linear = scale(model[b + at.MULTIPLIER], in_link(model, body, work, linear))
        to = int(model[b + at.DOF]) * p + first
        for k in range(10):
            force, moment = load(columns, 6 * k), load(columns, 6 * k + 3)
            out[to + k] += dot(linear, force) + dot(angular, moment)
        i = int(model[b + at.PARENT])


@njit(error_model="numpy")
def armature_column(model: Pointer, wheel: int, n: int, p: int, a: Pointer, out: Pointer) -> None:
    """Only the diagonal of Gamma' J Gamma: Gamma_rd^2 a_d."""
    column = int(model[wheel + at.WHEEL_COLUMN])
    for d in range(n):
        ratio = model[wheel + at.WHEEL_ROW + d]
        out[d * p + column] += ratio * ratio * a[d]


@njit(error_model="numpy")
def wheel_column(
    model: Pointer, wheel: int, n: int, p: int, v: Pointer, a: Pointer, work: Pointer, out: Pointer
) -> None:
    """Gamma_r (s' + e . alpha) on the joints, s' e + s omega x e on the carrier."""
    column = int(model[wheel + at.WHEEL_COLUMN])
    carrier = int(model[wheel + at.WHEEL_CARRIER])
    axis = load(model, wheel + at.WHEEL_AXIS)
    spin, spin_rate, turning = 0.0, 0.0, 0.0
    moment = axis
    for d in range(n):
        spin += model[wheel + at.WHEEL_ROW + d] * v[d]
        spin_rate += model[wheel + at.WHEEL_ROW + d] * a[d]
    if carrier >= 0:
        w = carrier * kinematics.SIZE
        axis = times(work, w + kinematics.ROT, axis)
        turning = dot(axis, load(work, w + kinematics.ALPHA))
        moment = scale(spin, cross(load(work, w + kinematics.OMEGA), axis))
        moment = add(scale(spin_rate, axis), moment)
    for d in range(n):
        out[d * p + column] += model[wheel + at.WHEEL_ROW + d] * (spin_rate + turning)
    i = carrier
    while i >= 0:
        b = body_at(i)
        if model[b + at.PRISMATIC] == 0.0:
            value = dot(kinematics.axis(work, i * kinematics.SIZE), moment)
            out[int(model[b + at.DOF]) * p + column] += model[b + at.MULTIPLIER] * value
        i = int(model[b + at.PARENT])
