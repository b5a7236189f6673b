"""Feedforward of elastic joints by flatness, in truncated power series.

The elastic joints' rows of the links' equation,

    F(q, theta) = M_link q'' + S theta'' + Coriolis + g + friction = K z + D z',

z = theta - q, hold theta only in S theta'' and gyroscopic terms, linearly. Inserted into
itself,

    z  <-  W (F(q, q + z) - D z'),   W = 1/K,   beginning with z = 0,

each round adds a power of S and of 1/K and needs two derivatives of q more. Without damping,
where S is strictly triangular, the rounds end: row j is exact once the rows it hears of are.
Shafts and rigid joints then give the motors' torque: S' q'' + B theta'' + Coriolis + te.
"""

import numpy as np
from numba import njit

from geared_dynamics.kernels import flatness_layout as has
from geared_dynamics.kernels import inverse_series as series
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, states
from geared_dynamics.kernels.friction_series import SIZE as FRICTION_SIZE
from geared_dynamics.kernels.friction_series import add_joint_friction_series
from geared_dynamics.kernels.joint import body_at
from geared_dynamics.kernels.kinds import Array, Pointer
from geared_dynamics.kernels.memory import keep, pointer, row, shift
from geared_dynamics.kernels.series import store_coefficients, store_derivatives
from geared_dynamics.kernels.vector import dot, load


@njit(error_model="numpy")
def elastic_feedforward(model: Array, plan: Array, drives: Array, path: Array, out: Array) -> int:
    """Motion of the shafts and motors' torque (3 n_e + m,) for q and its derivatives (r n,).

    r = 2 rounds + 3; K states have a dimension more. Without drives there is no friction.
    """
    n, shafts, motors = joints_of(plan), int(plan[has.SHAFTS]), int(plan[has.MOTORS])
    rows, size = rows_needed(plan), n + shafts
    width = has.MOTION_ROWS * shafts + motors
    if not (fits(out, width, out) and fits(path, rows * n, out)):
        return at.WRONG_SHAPE
    if not apart(path, out):
        return at.OVERLAP
    buffer = np.empty(room(int(model[at.BODIES]), size, shafts, rows))
    m, p, d, x = pointer(model), pointer(plan), pointer(drives), pointer(buffer)
    rubs = drives.size > 0
    for k in range(states(path)):
        if not gather(path, k, rows * n, shift(x, rows * size)):
            return at.NOT_FINITE
        force = motors_side(m, p, d, rubs, rows, x)
        store_derivatives(x, has.MOTION_ROWS, size)
        result = row(out, k)
        for i in range(has.MOTION_ROWS):
            for j in range(shafts):
                result[i * shafts + j] = x[i * size + n + j]
        distribute(p, force, shift(result, has.MOTION_ROWS * shafts))
        if not finite(result, width):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def joints_of(plan: Pointer) -> int:
    """Number of coordinates q, n."""
    return int(plan[has.JOINTS])


@njit(error_model="numpy")
def rows_needed(plan: Pointer) -> int:
    """Rows of q and its derivatives: each round takes two, the dynamics two."""
    return 2 * int(plan[has.ROUNDS]) + 3


@njit(error_model="numpy")
def room(bodies: int, size: int, shafts: int, rows: int) -> int:
    """Floats of the workspace: x, force, load, z, scratch of friction, bodies' series."""
    return rows * (3 * size + shafts + FRICTION_SIZE) + series.work_size(bodies, rows - 3)


@njit(error_model="numpy")
def motors_side(
    model: Pointer, plan: Pointer, drives: Pointer, rubs: bool, rows: int, x: Pointer
) -> Pointer:
    """Find the shafts' motion; return the force on x, which motors must give.

    ``x`` is the workspace of ``room``. The derivatives of q (rows, n) stand in the place of
    the force; the coefficients of x = (q, theta) (rows, n + n_e) are put at its begin. With a
    row more than needed, theta and the force have a coefficient more.
    """
    n, shafts = joints_of(plan), int(plan[has.SHAFTS])
    rounds, size = int(plan[has.ROUNDS]), n + shafts
    extra = rows - rows_needed(plan)
    force, bearing = shift(x, rows * size), shift(x, 2 * rows * size)
    bend = shift(x, 3 * rows * size)
    scratch = shift(bend, rows * shafts)
    work = shift(scratch, rows * FRICTION_SIZE)
    begin(plan, rows, force, x, bend)
    for i in range(rounds):
        order = 2 * (rounds - i) + extra
        series.series_one_state(model, order, x, work, force)
        if rubs:
            add_joint_friction_series(drives, size, order, x, force, bearing, scratch)
        insert(plan, order, force, x, bend)
    if n == shafts:
        shafts_rows(model, n, size, extra, 2 + extra, x, work, force)
    else:
        series.series_one_state(model, extra, x, work, force)
        if rubs:
            add_joint_friction_series(drives, size, extra, x, force, bearing, scratch)
    add_tension(plan, extra, bend, force)
    return force


@njit(error_model="numpy")
def begin(plan: Pointer, rows: int, path: Pointer, x: Pointer, bend: Pointer) -> None:
    """Set the coefficients of q, of theta = q, and of z = 0."""
    n, shafts, joint = joints_of(plan), int(plan[has.SHAFTS]), int(plan[has.JOINT])
    size = n + shafts
    store_coefficients(path, rows, n)
    for m in range(rows):
        for d in range(n):
            x[m * size + d] = path[m * n + d]
        for k in range(shafts):
            x[m * size + n + k] = path[m * n + int(plan[joint + k])]
            bend[m * shafts + k] = 0.0


@njit(error_model="numpy")
def insert(plan: Pointer, order: int, force: Pointer, x: Pointer, bend: Pointer) -> None:
    """One round: z = W (F - D z'), coefficient by coefficient, and theta from it."""
    n, shafts, joint = joints_of(plan), int(plan[has.SHAFTS]), int(plan[has.JOINT])
    compliance, retardation = int(plan[has.COMPLIANCE]), int(plan[has.RETARDATION])
    size, damped = n + shafts, plan[has.DAMPED] != 0.0
    for m in range(order + 1):
        for k in range(shafts):
            total = 0.0
            for j in range(shafts):
                total += plan[compliance + k * shafts + j] * force[m * size + int(plan[joint + j])]
            if damped:
                # Row m + 1 is still that of the round before.
                for j in range(shafts):
                    rate = (m + 1) * bend[(m + 1) * shafts + j]
                    total -= plan[retardation + k * shafts + j] * rate
            bend[m * shafts + k] = total
            x[m * size + n + k] = x[m * size + int(plan[joint + k])] + total


@njit(error_model="numpy")
def shafts_rows(
    model: Pointer,
    n: int,
    size: int,
    order: int,
    reach: int,
    x: Pointer,
    work: Pointer,
    force: Pointer,
) -> None:
    """Set the shafts' rows of the force: Gamma_theta' J (spin' + e . alpha).

    The links' motion is still in ``work``, of which each body has ``reach`` + 2 coefficients.
    """
    for m in range(order + 1):
        for d in range(n, size):
            force[m * size + d] = 0.0
    for e in range(int(model[at.REFLECTED]), int(model[at.REFLECTED_END]), at.REFLECTED_SIZE):
        i, j = int(model[e]), int(model[e + 1])
        if i >= n:
            for m in range(order + 1):
                force[m * size + i] += model[e + 2] * series.acceleration(size, j, m, x)
    for i in range(int(model[at.BODIES])):
        b, w = body_at(i), series.series_at(i, reach) + series.ALPHA
        for e in range(
            int(model[b + at.CARRIED]), int(model[b + at.CARRIED_END]), at.CARRIED_SIZE
        ):
            d = int(model[e])
            if d >= n:
                for m in range(order + 1):
                    alpha = load(work, w + m * series.SIZE)
                    force[m * size + d] += dot(load(model, e + 1), alpha)


@njit(error_model="numpy")
def add_tension(plan: Pointer, order: int, bend: Pointer, force: Pointer) -> None:
    """Add te = K z + D z' to the shafts' rows."""
    n, shafts = joints_of(plan), int(plan[has.SHAFTS])
    stiffness, damping = int(plan[has.STIFFNESS]), int(plan[has.DAMPING])
    for m in range(order + 1):
        for k in range(shafts):
            total = 0.0
            for j in range(shafts):
                total += plan[stiffness + k * shafts + j] * bend[m * shafts + j]
                rate = (m + 1) * bend[(m + 1) * shafts + j]
                total += plan[damping + k * shafts + j] * rate
            force[m * (n + shafts) + n + k] += total


@njit(error_model="numpy")
def distribute(plan: Pointer, force: Pointer, out: Pointer) -> None:
    """Torque of the motors (m,) from the force on x (n + n_e,)."""
    size, motors = joints_of(plan) + int(plan[has.SHAFTS]), int(plan[has.MOTORS])
    for r in range(motors):
        out[r] = 0.0
    for d in range(size):
        for r in range(motors):
            out[r] += plan[int(plan[has.SHARES]) + d * motors + r] * force[d]
