"""Motion in root axes; pose, Jacobian, drift and wrenches of frames."""

import numpy as np
from numba import njit

from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.joint import body_at, joint_position, place
from geared_dynamics.kernels.memory import Array, Pointer, Vector, keep, pointer, row, shift
from geared_dynamics.kernels.vector import add, cross, dot, load, scale, store, times
from geared_dynamics.kernels.vector import transposed_times as transposed

# -- Motion of all bodies in the root frame, for the kernels that need it there -------------------
#
# Sciavicco 1994, eq. (40)-(43), corrected, with vectors in root axes.


# Per body: rotation of its kernel frame in the root frame, origin, angular velocity,
# velocity of the origin, angular acceleration, acceleration of the origin (no gravity).
ROT, POS, OMEGA, VEL, ALPHA, ACC, SIZE = 0, 9, 12, 15, 18, 21, 24


@njit(error_model="numpy")
def sweep(model: Pointer, q: Pointer, v: Pointer, a: Pointer, work: Pointer) -> None:
    """Fill ``work``, SIZE floats per body, from the root outward."""
    for i in range(int(model[at.BODIES])):
        b = body_at(i)
        w = i * SIZE
        c, s, p = place(model, b, joint_position(model, b, q))
        turn(model, b, c, s, work, w)
        move(model, b, p, v, a, work, w)


@njit(error_model="numpy")
def turn(model: Pointer, b: int, c: float, s: float, work: Pointer, w: int) -> None:
    """Rotation of the body at b in the root frame: R_parent ROTATION turn_z."""
    parent = int(model[b + at.PARENT])
    for k in range(3):
        column = (
            model[b + at.ROTATION + k],
            model[b + at.ROTATION + 3 + k],
            model[b + at.ROTATION + 6 + k],
        )
        if parent >= 0:
            column = times(work, parent * SIZE + ROT, column)
        work[w + ROT + k], work[w + ROT + 3 + k], work[w + ROT + 6 + k] = column
    for r in range(w + ROT, w + ROT + 9, 3):
        work[r], work[r + 1] = c * work[r] + s * work[r + 1], c * work[r + 1] - s * work[r]


@njit(error_model="numpy")
def move(model: Pointer, b: int, p: Vector, v: Pointer, a: Pointer, work: Pointer, w: int) -> None:
    """Position, velocities and accelerations of the body at b."""
    d = int(model[b + at.DOF])
    rate = scale(model[b + at.MULTIPLIER] * v[d], axis(work, w))
    change = scale(model[b + at.MULTIPLIER] * a[d], axis(work, w))
    zero = (0.0, 0.0, 0.0)
    origin, omega, vel, alpha, acc = zero, zero, zero, zero, zero
    parent = int(model[b + at.PARENT])
    if parent >= 0:
        u = parent * SIZE
        p = times(work, u + ROT, p)
        origin = load(work, u + POS)
        omega = load(work, u + OMEGA)
        alpha = load(work, u + ALPHA)
        sweep_rate = cross(omega, p)
        vel = add(load(work, u + VEL), sweep_rate)
        acc = add(load(work, u + ACC), add(cross(alpha, p), cross(omega, sweep_rate)))
    change = add(change, cross(omega, rate))
    if model[b + at.PRISMATIC] == 0.0:
        alpha = add(alpha, change)
        omega = add(omega, rate)
    else:
        acc = add(acc, add(change, cross(omega, rate)))
        vel = add(vel, rate)
    store(work, w + POS, add(origin, p))
    store(work, w + OMEGA, omega)
    store(work, w + VEL, vel)
    store(work, w + ALPHA, alpha)
    store(work, w + ACC, acc)


@njit(error_model="numpy")
def axis(work: Pointer, w: int) -> Vector:
    """Joint axis in the root frame: the z axis of the body's kernel frame."""
    return work[w + ROT + 2], work[w + ROT + 5], work[w + ROT + 8]


@njit(error_model="numpy")
def column(model: Pointer, i: int, point: Vector, work: Pointer) -> tuple[Vector, Vector]:
    """Angular and linear velocity of a point per unit rate of joint i, root frame."""
    w = i * SIZE
    z = axis(work, w)
    if model[body_at(i) + at.PRISMATIC] != 0.0:
        return (0.0, 0.0, 0.0), z
    p = load(work, w + POS)
    return z, cross(z, (point[0] - p[0], point[1] - p[1], point[2] - p[2]))


# -- Pose, Jacobian and its drift of a frame fixed in a body or spinning with a wheel -------------


@njit(error_model="numpy")
def pose(model: Array, frame: Array, q: Array, out: Array) -> int:
    """Homogeneous transform (4, 4), by rows (16,), of the frame in the root frame."""
    n = int(model[at.COORDINATES])
    if not (holds(out, 16, model) and fits(q, n, out)):
        return at.WRONG_SHAPE
    if not apart(q, out):
        return at.OVERLAP
    buffer = np.zeros(2 * n + int(model[at.BODIES]) * SIZE)
    m, f, x = pointer(model), pointer(frame), pointer(buffer)
    zero, work = shift(x, n), shift(x, 2 * n)
    for k in range(states(q)):
        if not gather(q, k, n, x):
            return at.NOT_FINITE
        sweep(m, x, zero, zero, work)
        one_pose(f, work, row(out, k))
        if not finite(row(out, k), 16):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def one_pose(frame: Pointer, work: Pointer, out: Pointer) -> None:
    """Pose from the bodies' motion."""
    body = int(frame[at.FRAME_BODY])
    for c in range(3):
        r = at.FRAME_ROTATION + c
        column = (frame[r], frame[r + 3], frame[r + 6])
        if body >= 0:
            column = times(work, body * SIZE + ROT, column)
        out[c], out[4 + c], out[8 + c] = column
    out[3], out[7], out[11] = origin(frame, work)
    out[12], out[13], out[14], out[15] = 0.0, 0.0, 0.0, 1.0


@njit(error_model="numpy")
def origin(frame: Pointer, work: Pointer) -> Vector:
    """Origin of the frame in the root frame."""
    body = int(frame[at.FRAME_BODY])
    p = load(frame, at.FRAME_POSITION)
    if body < 0:
        return p
    w = body * SIZE
    return add(load(work, w + POS), times(work, w + ROT, p))


@njit(error_model="numpy")
def spin_axis(frame: Pointer, work: Pointer) -> Vector:
    """Spin axis of the frame's wheel in the root frame; zero for a link."""
    body = int(frame[at.FRAME_BODY])
    e = load(frame, at.FRAME_AXIS)
    return e if body < 0 else times(work, body * SIZE + ROT, e)


@njit(error_model="numpy")
def jacobian(model: Array, frame: Array, q: Array, out: Array) -> int:
    """Jacobian (6, n), by rows (6 n,): linear rows, then angular rows, root axes."""
    n = int(model[at.COORDINATES])
    if not (holds(out, 6 * n, model) and fits(q, n, out)):
        return at.WRONG_SHAPE
    if not apart(q, out):
        return at.OVERLAP
    buffer = np.zeros(2 * n + int(model[at.BODIES]) * SIZE)
    m, f, x = pointer(model), pointer(frame), pointer(buffer)
    zero, work = shift(x, n), shift(x, 2 * n)
    for k in range(states(q)):
        if not gather(q, k, n, x):
            return at.NOT_FINITE
        sweep(m, x, zero, zero, work)
        one_jacobian(m, f, n, work, row(out, k))
        if not finite(row(out, k), 6 * n):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def one_jacobian(model: Pointer, frame: Pointer, n: int, work: Pointer, out: Pointer) -> None:
    """Jacobian from the bodies' places; a wheel adds its axis times its spin ratios."""
    e = spin_axis(frame, work)
    for d in range(n):
        ratio = frame[at.FRAME_ROW + d]
        for r in range(3):
            out[r * n + d] = 0.0
            out[(3 + r) * n + d] = ratio * e[r]
    point = origin(frame, work)
    i = int(frame[at.FRAME_BODY])
    while i >= 0:
        b = body_at(i)
        d = int(model[b + at.DOF])
        angular, linear = column(model, i, point, work)
        for r in range(3):
            out[r * n + d] += model[b + at.MULTIPLIER] * linear[r]
            out[(3 + r) * n + d] += model[b + at.MULTIPLIER] * angular[r]
        i = int(model[b + at.PARENT])


@njit(error_model="numpy")
def jacobian_drift(model: Array, frame: Array, q: Array, v: Array, out: Array) -> int:
    """Acceleration (6,) of the frame with all joint accelerations zero: J_dot v."""
    n = int(model[at.COORDINATES])
    if not (holds(out, 6, model) and fits(q, n, out) and fits(v, n, out)):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out)):
        return at.OVERLAP
    buffer = np.zeros(3 * n + int(model[at.BODIES]) * SIZE)
    m, f, x = pointer(model), pointer(frame), pointer(buffer)
    rate, zero, work = shift(x, n), shift(x, 2 * n), shift(x, 3 * n)
    for k in range(states(q)):
        if not (gather(q, k, n, x) & gather(v, k, n, rate)):
            return at.NOT_FINITE
        sweep(m, x, rate, zero, work)
        one_drift(f, n, rate, work, row(out, k))
        if not finite(row(out, k), 6):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def one_drift(frame: Pointer, n: int, v: Pointer, work: Pointer, out: Pointer) -> None:
    """Drift from the bodies' motion; a wheel adds s omega x e."""
    body = int(frame[at.FRAME_BODY])
    angular, linear = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if body >= 0:
        w = body * SIZE
        r = times(work, w + ROT, load(frame, at.FRAME_POSITION))
        omega = load(work, w + OMEGA)
        alpha = load(work, w + ALPHA)
        linear = add(cross(alpha, r), cross(omega, cross(omega, r)))
        linear = add(load(work, w + ACC), linear)
        spin = 0.0
        for d in range(n):
            spin += frame[at.FRAME_ROW + d] * v[d]
        angular = add(alpha, scale(spin, cross(omega, spin_axis(frame, work))))
    out[0], out[1], out[2] = linear
    out[3], out[4], out[5] = angular


@njit(error_model="numpy")
def external_forces(model: Array, q: Array, wrenches: Array, out: Array) -> int:
    """Generalised force (n,) of a wrench on every body, sum of J' f.

    ``wrenches`` (6 nb,): force and moment on each body about its origin, in its
    link frame.
    """
    n, bodies = int(model[at.COORDINATES]), int(model[at.BODIES])
    if not (holds(out, n, model) and fits(q, n, out) and fits(wrenches, 6 * bodies, out)):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(wrenches, out)):
        return at.OVERLAP
    buffer = np.zeros(2 * n + 6 * bodies + bodies * SIZE)
    m, x = pointer(model), pointer(buffer)
    zero, wrench, work = shift(x, n), shift(x, 2 * n), shift(x, 2 * n + 6 * bodies)
    for k in range(states(q)):
        if not (gather(q, k, n, x) & gather(wrenches, k, 6 * bodies, wrench)):
            return at.NOT_FINITE
        sweep(m, x, zero, zero, work)
        project_wrenches(m, n, bodies, wrench, work, row(out, k))
        if not finite(row(out, k), n):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def project_wrenches(
    model: Pointer, n: int, bodies: int, wrenches: Pointer, work: Pointer, out: Pointer
) -> None:
    """Sum of J' f over the bodies, walking from each to the root."""
    for d in range(n):
        out[d] = 0.0
    for body in range(bodies):
        w = body * SIZE
        turn = body_at(body) + at.TURN
        force = times(work, w + ROT, transposed(model, turn, load(wrenches, 6 * body)))
        moment = times(work, w + ROT, transposed(model, turn, load(wrenches, 6 * body + 3)))
        point = load(work, w + POS)
        i = body
        while i >= 0:
            b = body_at(i)
            angular, linear = column(model, i, point, work)
            power = dot(angular, moment) + dot(linear, force)
            out[int(model[b + at.DOF])] += model[b + at.MULTIPLIER] * power
            i = int(model[b + at.PARENT])
