"""What the shafts' own motion does to the arm, as a power series in time.

To the links' inverse dynamics with theta = q, further motion z of the shafts adds what is
linear in it: reflected inertia, and pure couples on the wheels' carriers,

    sum h_d z_d'' + omega x sum h_d z_d',

which go inward without levers. The bodies' motion is read from the workspace that
``inverse_series.series_one_state`` leaves behind; it does not depend on z.
"""

from numba import njit

from geared_dynamics.kernels import inverse_series as series
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.joint import body_at
from geared_dynamics.kernels.kinds import Pointer
from geared_dynamics.kernels.series import cross_at, turn_z_at
from geared_dynamics.kernels.vector import accumulate, add, dot, load, scale, store, times


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
