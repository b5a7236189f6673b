"""Feedforward of elastic joints by flatness, in truncated power series.

The elastic joints' rows of the links' equation,

    F(q, theta) = M_link q'' + S theta'' + Coriolis + g - balancers + friction = K z + D z',

z = theta - q, hold theta only in S theta'' and gyroscopic terms, linearly. Inserted into
itself,

    z  <-  W (F(q, q + z) - D z'),   W = 1/K,   beginning with z = 0,

each round adds a power of S and of 1/K and needs two derivatives of q more. The recursion over
the links runs once, with z = 0; what z adds is linear (``couples``). Without damping, where S
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
from geared_dynamics.kernels.couples import add_couples, store_shafts_rows
from geared_dynamics.kernels.friction_series import SIZE as FRICTION_SIZE
from geared_dynamics.kernels.friction_series import add_joint_friction_series
from geared_dynamics.kernels.kinds import Array, Pointer
from geared_dynamics.kernels.memory import keep, pointer, row, shift
from geared_dynamics.kernels.series import store_coefficients, store_derivatives


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
