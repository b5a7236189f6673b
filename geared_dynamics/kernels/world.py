"""Motion of all bodies in the root frame, for the kernels that need it there.

Paper 000, eq. (40)-(43), corrected, with vectors in root axes.
"""

from numba import njit

from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.joint import body_at, joint_position, place
from geared_dynamics.kernels.kinds import Pointer, Vector
from geared_dynamics.kernels.vector import add, cross, load, scale, store, times

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
