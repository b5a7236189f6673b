"""Time derivatives of the inverse dynamics along a path: the recursion in power series.

The recursion of ``inverse`` with every quantity a truncated Taylor series in time, in
axes that turn with the bodies. In these the rate of omega's components are alpha's, so
alpha needs no recursion of its own. With S = omega omega' - omega . omega the places p
on a body have the acceleration

    acc + alpha x p + S p,

linear in p: S serves the child's origin and the force.
"""

import numpy as np
from numba import njit

from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.joint import body_at
from geared_dynamics.kernels.memory import Array, Pointer, Vector, keep, pointer, row, shift
from geared_dynamics.kernels.series import (
    cross_at,
    scale_at,
    store_coefficients,
    store_cos_sin,
    store_derivatives,
    store_double_cross_at,
    symmetric_times_at,
    turn_back_z_at,
    turn_z_at,
)
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

# Workspace per body and coefficient: angular velocity, angular and linear acceleration of
# the origin (gravity taken off), S (6), angular momentum, force and moment on the body,
# origin in the parent's frame, a vector on its way through the joint, cosine and sine of
# the joint, its rate. Omega, cosine, sine and rate have one coefficient more than the rest.
OMEGA, ALPHA, ACC, SQUARE, MOMENTUM, FORCE, MOMENT, ORIGIN = 0, 3, 6, 9, 15, 18, 21, 24
PASSING, COS, SIN, RATE, SIZE = 27, 30, 31, 32, 33


@njit(error_model="numpy")
def inverse_dynamics_time_derivatives(model: Array, path: Array, out: Array) -> int:
    """Force and its time derivatives (r n,), or (K, r n), for q and its derivatives ((r + 2) n,).

    Row after row; r is the number of rows of n that out holds.
    """
    n = int(model[at.COORDINATES])
    count = out.shape[-1] // n
    if count < 1 or not (holds(out, count * n, model) and fits(path, (count + 2) * n, out)):
        return at.WRONG_SHAPE
    if not apart(path, out):
        return at.OVERLAP
    width = (count + 2) * n
    buffer = np.empty(width + work_size(int(model[at.BODIES]), count - 1))
    m, x = pointer(model), pointer(buffer)
    for k in range(states(path)):
        if not gather(path, k, width, x):
            return at.NOT_FINITE
        store_coefficients(x, count + 2, n)
        series_one_state(m, count - 1, x, shift(x, width), row(out, k))
        store_derivatives(row(out, k), count, n)
        if not finite(row(out, k), count * n):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit
def work_size(bodies: int, order: int) -> int:
    """Number of floats of the workspace."""
    return (bodies + 1) * (order + 2) * SIZE


@njit
def series_at(body: int, order: int) -> int:
    """Where the body's series begin in the workspace; body -1 is the root.

    Coefficient m of alpha, for m up to ``order``, stands at
    ``series_at(body, order) + m * SIZE + ALPHA``.
    """
    return (body + 1) * (order + 2) * SIZE


@njit(error_model="numpy")
def series_one_state(
    model: Pointer, order: int, path: Pointer, work: Pointer, out: Pointer
) -> None:
    """Coefficients of the force, (order + 1, n), from those of q, (order + 3, n).

    Coefficient m is the m-th derivative over m!. ``work`` holds ``work_size`` floats, and
    the bodies' series afterwards.
    """
    bodies = int(model[at.BODIES])
    reflected(model, order, path, out)
    rest(model, order, work)
    for i in range(bodies):
        outward(model, i, order, path, work, out)
    for i in range(bodies - 1, -1, -1):
        inward(model, i, order, work, out)


@njit(error_model="numpy")
def velocity(n: int, d: int, m: int, path: Pointer) -> float:
    """Coefficient m of v_d."""
    return (m + 1) * path[(m + 1) * n + d]


@njit(error_model="numpy")
def acceleration(n: int, d: int, m: int, path: Pointer) -> float:
    """Coefficient m of a_d."""
    return (m + 1) * (m + 2) * path[(m + 2) * n + d]


@njit(error_model="numpy")
def reflected(model: Pointer, order: int, path: Pointer, out: Pointer) -> None:
    """Set out = Gamma' J Gamma a."""
    n = int(model[at.COORDINATES])
    for e in range((order + 1) * n):
        out[e] = 0.0
    for e in range(int(model[at.REFLECTED]), int(model[at.REFLECTED_END]), at.REFLECTED_SIZE):
        i, j, value = int(model[e]), int(model[e + 1]), model[e + 2]
        for m in range(order + 1):
            out[m * n + i] += value * acceleration(n, j, m, path)


@njit(error_model="numpy")
def rest(model: Pointer, order: int, work: Pointer) -> None:
    """Series of the root, which rises against gravity."""
    for e in range((order + 2) * SIZE):
        work[e] = 0.0
    store(work, series_at(-1, order) + ACC, scale(-1.0, load(model, at.GRAVITY)))


@njit(error_model="numpy")
def outward(
    model: Pointer, i: int, order: int, path: Pointer, work: Pointer, out: Pointer
) -> None:
    """Motion of body i from its parent's, the force it needs, its wheels' shares."""
    b, w = body_at(i), series_at(i, order)
    parent = series_at(int(model[b + at.PARENT]), order)
    place(model, b, order, path, work, w)
    turn(model, b, order, parent, work, w)
    for m in range(order + 1):
        k = w + m * SIZE
        acc = add(load(work, parent + m * SIZE + ACC), origin_acc(model, b, parent, work, w, m))
        acc = transposed_times(model, b + at.ROTATION, acc)
        if model[b + at.PRISMATIC] == 0.0:
            store(work, k + PASSING, acc)
            acc = turn_back_z_at(work, w + COS, w + SIN, w + PASSING, m, SIZE)
        else:
            acc = add(acc, sliding(work, w, m))
        store(work, k + ACC, acc)
        store_double_cross_at(work, w + SQUARE, w + OMEGA, m, SIZE)
        body_force(model, b, path, work, w, m, out)


@njit(error_model="numpy")
def place(model: Pointer, b: int, order: int, path: Pointer, work: Pointer, w: int) -> None:
    """Series of the joint's rate, its turn, and the frame's origin in the parent's frame."""
    n, d = int(model[at.COORDINATES]), int(model[b + at.DOF])
    multiplier = model[b + at.MULTIPLIER]
    for m in range(order + 2):
        work[w + m * SIZE + RATE] = multiplier * velocity(n, d, m, path)
    position = multiplier * path[d] + model[b + at.OFFSET]
    origin = load(model, b + at.POSITION)
    if model[b + at.PRISMATIC] == 0.0:
        store_cos_sin(work, w + COS, w + SIN, position, w + RATE, order + 2, SIZE)
    else:
        r = b + at.ROTATION
        along = (model[r + 2], model[r + 5], model[r + 8])
        origin = add(origin, scale(position, along))
        for m in range(1, order + 1):
            store(work, w + m * SIZE + ORIGIN, scale(multiplier * path[m * n + d], along))
    store(work, w + ORIGIN, origin)


@njit(error_model="numpy")
def turn(model: Pointer, b: int, order: int, parent: int, work: Pointer, w: int) -> None:
    """Series of omega, and of alpha, its rate in axes that turn with the body."""
    for m in range(order + 2):
        k = w + m * SIZE
        omega = load(work, parent + m * SIZE + OMEGA)
        omega = transposed_times(model, b + at.ROTATION, omega)
        if model[b + at.PRISMATIC] == 0.0:
            store(work, k + PASSING, omega)
            omega = turn_back_z_at(work, w + COS, w + SIN, w + PASSING, m, SIZE)
            omega = (omega[0], omega[1], omega[2] + work[k + RATE])
        store(work, k + OMEGA, omega)
        if m > 0:
            store(work, k - SIZE + ALPHA, scale(m, omega))


@njit(error_model="numpy")
def origin_acc(model: Pointer, b: int, parent: int, work: Pointer, w: int, m: int) -> Vector:
    """Coefficient m of alpha x p + S p, the parent's, p the body's origin."""
    if model[b + at.PRISMATIC] == 0.0:
        k, p = parent + m * SIZE, load(work, w + ORIGIN)
        return add(cross(load(work, k + ALPHA), p), symmetric_times(work, k + SQUARE, p))
    turning = cross_at(work, parent + ALPHA, w + ORIGIN, m, SIZE)
    return add(turning, symmetric_times_at(work, parent + SQUARE, w + ORIGIN, m, SIZE))


@njit(error_model="numpy")
def sliding(work: Pointer, w: int, m: int) -> Vector:
    """Coefficient m of 2 omega x z rate + z rate', of a prismatic joint."""
    product = scale_at(work, w + RATE, w + OMEGA, m, SIZE)
    change = (m + 1) * work[w + (m + 1) * SIZE + RATE]
    return 2.0 * product[1], -2.0 * product[0], change


@njit(error_model="numpy")
def body_force(
    model: Pointer, b: int, path: Pointer, work: Pointer, w: int, m: int, out: Pointer
) -> None:
    """Coefficient m of force and moment that the motion of the body at b needs.

    f = m acc + alpha x mc + S mc,
    n = I alpha + mc x acc + sum h_d a_d + omega x (I omega + sum h_d v_d);
    h_d . alpha goes to joint d.
    """
    k, n = w + m * SIZE, int(model[at.COORDINATES])
    mc, inertia = load(model, b + at.MOMENT), b + at.INERTIA
    alpha, acc = load(work, k + ALPHA), load(work, k + ACC)
    force = add(cross(alpha, mc), symmetric_times(work, k + SQUARE, mc))
    store(work, k + FORCE, add(scale(model[b + at.MASS], acc), force))
    momentum = symmetric_times(model, inertia, load(work, k + OMEGA))
    moment = add(symmetric_times(model, inertia, alpha), cross(mc, acc))
    for e in range(int(model[b + at.CARRIED]), int(model[b + at.CARRIED_END]), at.CARRIED_SIZE):
        d = int(model[e])
        h = load(model, e + 1)
        momentum = add(momentum, scale(velocity(n, d, m, path), h))
        moment = add(moment, scale(acceleration(n, d, m, path), h))
        out[m * n + d] += dot(h, alpha)
    store(work, k + MOMENTUM, momentum)
    store(work, k + MOMENT, add(moment, cross_at(work, w + OMEGA, w + MOMENTUM, m, SIZE)))


@njit(error_model="numpy")
def inward(model: Pointer, i: int, order: int, work: Pointer, out: Pointer) -> None:
    """Take joint i's share of the force on body i, pass the force to the parent."""
    b, w = body_at(i), series_at(i, order)
    n, d = int(model[at.COORDINATES]), int(model[b + at.DOF])
    along = (MOMENT if model[b + at.PRISMATIC] == 0.0 else FORCE) + 2
    for m in range(order + 1):
        out[m * n + d] += model[b + at.MULTIPLIER] * work[w + m * SIZE + along]
    if int(model[b + at.PARENT]) >= 0:
        to = series_at(int(model[b + at.PARENT]), order)
        for m in range(order + 1):
            pass_inward(model, b, work, w, to, m)


@njit(error_model="numpy")
def pass_inward(model: Pointer, b: int, work: Pointer, w: int, to: int, m: int) -> None:
    """Add coefficient m of the body's force and moment to the parent's."""
    k = w + m * SIZE
    if model[b + at.PRISMATIC] == 0.0:
        force = turn_z_at(work, w + COS, w + SIN, w + FORCE, m, SIZE)
        moment = turn_z_at(work, w + COS, w + SIN, w + MOMENT, m, SIZE)
        force = times(model, b + at.ROTATION, force)
        arm = cross(load(work, w + ORIGIN), force)
    else:
        force = times(model, b + at.ROTATION, load(work, k + FORCE))
        moment = load(work, k + MOMENT)
        store(work, k + PASSING, force)
        arm = cross_at(work, w + ORIGIN, w + PASSING, m, SIZE)
    moment = add(times(model, b + at.ROTATION, moment), arm)
    accumulate(work, to + m * SIZE + FORCE, force)
    accumulate(work, to + m * SIZE + MOMENT, moment)
