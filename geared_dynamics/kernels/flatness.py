"""Feedforward of elastic joints by flatness, in truncated power series.

The elastic joints' rows of the links' equation,

    F(q, theta) = M_link q'' + S theta'' + Coriolis + g - balancers + friction = K z + D z',

z = theta - q, hold theta only in S theta'' and gyroscopic terms, linearly. Inserted into
itself,

    z  <-  W (F(q, q + z) - D z'),   W = 1/K,   beginning with z = 0,

each round adds a power of S and of 1/K and needs two derivatives of q more. The recursion over
the links runs once, with z = 0; what z adds is linear (``add_couples``). Without damping, where S
is strictly triangular, the rounds end: row j is exact once the rows it hears of are.
Shafts and rigid joints then give the motors' torque: S' q'' + B theta'' + Coriolis + te.
"""

import numpy as np
from numba import njit

from geared_dynamics.kernels import balancer_series as balancers
from geared_dynamics.kernels import flatness_layout as has
from geared_dynamics.kernels import inverse_series as series
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, states
from geared_dynamics.kernels.friction import SIZE as FRICTION_SIZE
from geared_dynamics.kernels.friction import add_joint_friction_series
from geared_dynamics.kernels.joint import body_at
from geared_dynamics.kernels.memory import Array, Pointer, keep, pointer, row, shift
from geared_dynamics.kernels.series import (
    cross_at,
    store_coefficients,
    store_derivatives,
    turn_z_at,
)
from geared_dynamics.kernels.vector import accumulate, add, dot, load, scale, store, times


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
    buffer = np.empty(room(model, plan, rows))
    m, p, d, x = pointer(model), pointer(plan), pointer(drives), pointer(buffer)
    rubs = drives.size > 0
    for k in range(states(path)):
        if not gather(path, k, rows * n, shift(x, rows * size)):
            return at.NOT_FINITE
        status, force = motors_side(m, p, d, rubs, rows, x)
        if status != at.OK:
            return status
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
def room(model: Pointer, plan: Pointer, rows: int) -> int:
    """Floats of the workspace: x, three forces, z, scratch of friction, bodies' series (2)."""
    bodies, shafts = int(model[at.BODIES]), int(plan[has.SHAFTS])
    count = balancers_at(bodies, joints_of(plan) + shafts, shafts, rows)
    return count + (balancers.work_size(bodies, rows - 3) if plan[has.BALANCERS] > 0.0 else 0)


@njit(error_model="numpy")
def balancers_at(bodies: int, size: int, shafts: int, rows: int) -> int:
    """Where the series begin that the balancers need."""
    return work_at(size, shafts, rows) + series.work_size(bodies, rows - 3)


@njit(error_model="numpy")
def work_at(size: int, shafts: int, rows: int) -> int:
    """Where the bodies' series begin in the workspace."""
    return rows * (4 * size + shafts + FRICTION_SIZE)


@njit(error_model="numpy")
def motors_side(
    model: Pointer, plan: Pointer, drives: Pointer, rubs: bool, rows: int, x: Pointer
) -> tuple[int, Pointer]:
    """Find the shafts' motion; return a status, and the force on x that motors must give.

    ``x`` is the workspace of ``room``. The derivatives of q (rows, n) stand in the place of
    the force; the coefficients of x = (q, theta) (rows, n + n_e) are put at its begin. With a
    row more than needed, theta and the force have a coefficient more.
    """
    n, shafts = joints_of(plan), int(plan[has.SHAFTS])
    rounds, size = int(plan[has.ROUNDS]), n + shafts
    extra, reach = rows - rows_needed(plan), rows - 3
    force, links = shift(x, rows * size), shift(x, 2 * rows * size)
    bearing, bend = shift(x, 3 * rows * size), shift(x, 4 * rows * size)
    scratch, work = shift(bend, rows * shafts), shift(x, work_at(size, shafts, rows))
    begin(plan, rows, force, x, bend)
    series.series_one_state(model, reach, x, work, links)
    status = at.OK
    if plan[has.BALANCERS] > 0.0:
        springs = shift(plan, int(plan[has.BALANCERS]))
        beside = shift(x, balancers_at(int(model[at.BODIES]), size, shafts, rows))
        status = balancers.take_off(model, springs, size, reach, x, work, beside, links)
    for i in range(rounds + 1):
        order = 2 * (rounds - i) + extra
        if i < rounds or n > shafts:
            for e in range((order + 1) * size):
                force[e] = links[e]
            if i > 0:
                add_couples(model, n, order, reach, bend, work, force)
            if rubs:
                add_joint_friction_series(drives, size, order, x, force, bearing, scratch)
        if i < rounds:
            insert(plan, order, size, force, bend)
    for m in range(extra + 3):
        for k in range(shafts):
            x[m * size + n + k] += bend[m * shafts + k]
    store_shafts_rows(model, n, extra, reach, x, work, force)
    add_tension(plan, extra, bend, force)
    return status, force


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
def insert(plan: Pointer, order: int, size: int, force: Pointer, bend: Pointer) -> None:
    """One round: z = W (F - D z'), coefficient by coefficient."""
    shafts, joint = int(plan[has.SHAFTS]), int(plan[has.JOINT])
    for m in range(order + 1):
        for k in range(shafts):
            bend[m * shafts + k] = 0.0
        for e in range(int(plan[has.SPRINGS]), int(plan[has.SPRINGS_END]), has.SPRING_SIZE):
            k, j = int(plan[e + has.ROW]), int(plan[e + has.COLUMN])
            pull = force[m * size + int(plan[joint + j])]
            # Row m + 1 is still that of the round before.
            rate = (m + 1) * bend[(m + 1) * shafts + j]
            bend[m * shafts + k] += plan[e + has.COMPLIANCE] * pull
            bend[m * shafts + k] -= plan[e + has.RETARDATION] * rate


@njit(error_model="numpy")
def add_tension(plan: Pointer, order: int, bend: Pointer, force: Pointer) -> None:
    """Add te = K z + D z' to the shafts' rows."""
    n, shafts = joints_of(plan), int(plan[has.SHAFTS])
    for m in range(order + 1):
        for e in range(int(plan[has.SPRINGS]), int(plan[has.SPRINGS_END]), has.SPRING_SIZE):
            k, j = int(plan[e + has.ROW]), int(plan[e + has.COLUMN])
            tension = plan[e + has.STIFFNESS] * bend[m * shafts + j]
            tension += plan[e + has.DAMPING] * (m + 1) * bend[(m + 1) * shafts + j]
            force[m * (n + shafts) + n + k] += tension


@njit(error_model="numpy")
def distribute(plan: Pointer, force: Pointer, out: Pointer) -> None:
    """Torque of the motors (m,) from the force on x (n + n_e,)."""
    for r in range(int(plan[has.MOTORS])):
        out[r] = 0.0
    for e in range(int(plan[has.SHARES]), int(plan[has.SHARES_END]), has.SHARE_SIZE):
        out[int(plan[e + 1])] += plan[e + 2] * force[int(plan[e])]


# -- What the shafts' own motion does to the arm --------------------------------------------------
#
# To the links' inverse dynamics with theta = q, further motion z of the shafts adds what is
# linear in it: reflected inertia, and pure couples on the wheels' carriers,
#
#     sum h_d z_d'' + omega x sum h_d z_d',
#
# which go inward without levers. The bodies' motion is read from the workspace that
# ``inverse_series.series_one_state`` leaves behind; it does not depend on z.


@njit(error_model="numpy")
def add_couples(
    model: Pointer, n: int, order: int, reach: int, bend: Pointer, work: Pointer, out: Pointer
) -> None:
    """Add the links' part of the force that the motion z of the shafts needs.

    Args:
        model: Packed model of x = (q, theta), N = n + n_e coordinates.
        n: Number of coordinates q.
        order: Highest coefficient.
        reach: Order of the force that ``work`` was made for.
        bend: Coefficients of z, (order + 3, n_e).
        work: Series of the bodies; momentum, moment of them are overwritten.
        out: Coefficients of the force (order + 1, N), of which the first n in a row change.
    """
    size, bodies = int(model[at.COORDINATES]), int(model[at.BODIES])
    shafts = size - n
    for e in range(int(model[at.REFLECTED]), int(model[at.REFLECTED_END]), at.REFLECTED_SIZE):
        i, j = int(model[e]), int(model[e + 1])
        if i < n <= j:
            for m in range(order + 1):
                change = series.acceleration(shafts, j - n, m, bend)
                out[m * size + i] += model[e + 2] * change
    for i in range(bodies):
        couple(model, n, shafts, body_at(i), series.series_at(i, reach), order, bend, work)
    for i in range(bodies - 1, -1, -1):
        pass_inward(model, size, i, reach, order, work, out)


@njit(error_model="numpy")
def couple(
    model: Pointer,
    n: int,
    shafts: int,
    b: int,
    w: int,
    order: int,
    bend: Pointer,
    work: Pointer,
) -> None:
    """Write the couple that the wheels on the body at b need."""
    for m in range(order + 1):
        momentum, moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for e in range(
            int(model[b + at.CARRIED]), int(model[b + at.CARRIED_END]), at.CARRIED_SIZE
        ):
            k = int(model[e]) - n
            if k >= 0:
                h = load(model, e + 1)
                momentum = add(momentum, scale(series.velocity(shafts, k, m, bend), h))
                moment = add(moment, scale(series.acceleration(shafts, k, m, bend), h))
        store(work, w + m * series.SIZE + series.MOMENTUM, momentum)
        store(work, w + m * series.SIZE + series.MOMENT, moment)
    for m in range(order + 1):
        turning = cross_at(work, w + series.OMEGA, w + series.MOMENTUM, m, series.SIZE)
        accumulate(work, w + m * series.SIZE + series.MOMENT, turning)


@njit(error_model="numpy")
def pass_inward(
    model: Pointer, size: int, i: int, reach: int, order: int, work: Pointer, out: Pointer
) -> None:
    """Give joint i its share of the couple on body i, and the parent the couple."""
    b, w = body_at(i), series.series_at(i, reach)
    moment, d, parent = w + series.MOMENT, int(model[b + at.DOF]), int(model[b + at.PARENT])
    to = series.series_at(parent, reach) + series.MOMENT
    for m in range(order + 1):
        passed = load(work, moment + m * series.SIZE)
        if model[b + at.PRISMATIC] == 0.0:
            out[m * size + d] += model[b + at.MULTIPLIER] * passed[2]
            if parent >= 0:
                passed = turn_z_at(work, w + series.COS, w + series.SIN, moment, m, series.SIZE)
        if parent >= 0:
            accumulate(work, to + m * series.SIZE, times(model, b + at.ROTATION, passed))


@njit(error_model="numpy")
def store_shafts_rows(
    model: Pointer, n: int, order: int, reach: int, x: Pointer, work: Pointer, out: Pointer
) -> None:
    """Set the shafts' rows of the force: Gamma_theta' J (spin' + e . alpha).

    Arguments as of ``add_couples``, and the coefficients of x = (q, theta), (order + 3, N).
    """
    size = int(model[at.COORDINATES])
    for m in range(order + 1):
        for d in range(n, size):
            out[m * size + d] = 0.0
    for e in range(int(model[at.REFLECTED]), int(model[at.REFLECTED_END]), at.REFLECTED_SIZE):
        i, j = int(model[e]), int(model[e + 1])
        if i >= n:
            for m in range(order + 1):
                out[m * size + i] += model[e + 2] * series.acceleration(size, j, m, x)
    for i in range(int(model[at.BODIES])):
        b, w = body_at(i), series.series_at(i, reach) + series.ALPHA
        for e in range(
            int(model[b + at.CARRIED]), int(model[b + at.CARRIED_END]), at.CARRIED_SIZE
        ):
            d = int(model[e])
            if d >= n:
                for m in range(order + 1):
                    alpha = load(work, w + m * series.SIZE)
                    out[m * size + d] += dot(load(model, e + 1), alpha)
