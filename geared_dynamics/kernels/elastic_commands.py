"""Motor commands of arms with elastic joints: ``drive`` on the motor side.

The motors' equations are those of ``drive`` over the coordinates x = (q, theta), whose
motion and force ``flatness`` finds; joint friction acts on q', that of a rotor on its own
speed relative to its carrier. With one derivative of q more the current's derivative
follows as well.
"""

import numpy as np
from numba import njit

from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.kernels import flatness, layout
from geared_dynamics.kernels import flatness_layout as has
from geared_dynamics.kernels import inverse_series as series
from geared_dynamics.kernels.border import apart, finite, fits, gather, states
from geared_dynamics.kernels.drive import motor_at, one_motor
from geared_dynamics.kernels.drive_rate import add_inductive
from geared_dynamics.kernels.kinds import Array, Pointer, Vector
from geared_dynamics.kernels.memory import keep, pointer, row, shift
from geared_dynamics.kernels.series import store_derivatives
from geared_dynamics.kernels.vector import load


@njit(error_model="numpy")
def elastic_motor_commands(
    model: Array, plan: Array, drives: Array, path: Array, out: Array
) -> int:
    """Commands (RESULT_ROWS m,) for q and its derivatives (r n,), or a row per state.

    r = 2 rounds + 3, or one more: then with L di/dt.
    """
    n, shafts = flatness.joints_of(plan), int(plan[has.SHAFTS])
    motors, size = int(plan[has.MOTORS]), n + shafts
    rows = path.shape[-1] // n
    extra = rows - flatness.rows_needed(plan)
    if extra < 0 or extra > 1:
        return layout.WRONG_SHAPE
    if not (fits(out, at.RESULT_ROWS * motors, out) and fits(path, rows * n, out)):
        return layout.WRONG_SHAPE
    if not apart(path, out):
        return layout.OVERLAP
    buffer = np.empty(flatness.room(model, plan, rows))
    m, p, d, x = pointer(model), pointer(plan), pointer(drives), pointer(buffer)
    work, reach = shift(x, flatness.work_at(size, shafts, rows)), rows - 3
    rate, change, third = shift(x, size), shift(x, 2 * size), shift(x, 3 * size)
    for k in range(states(path)):
        if not gather(path, k, rows * n, shift(x, rows * size)):
            return layout.NOT_FINITE
        status, force = flatness.motors_side(m, p, d, True, rows, x)
        if status != layout.OK:
            return status
        store_derivatives(x, 3 + extra, size)
        for r in range(motors):
            alpha = carrier_alpha(d, r, reach, 0, work)
            one_motor(d, r, size, x, rate, change, force, alpha, row(out, k))
            if extra == 1:
                alpha = carrier_alpha(d, r, reach, 1, work)
                growth = shift(force, size)
                add_inductive(d, r, size, change, third, growth, alpha, row(out, k))
        if not finite(row(out, k), at.RESULT_ROWS * motors):
            return layout.OVERFLOW
    return keep(buffer, layout.OK)


@njit(error_model="numpy")
def carrier_alpha(drives: Pointer, r: int, reach: int, m: int, work: Pointer) -> Vector:
    """Coefficient m of the angular acceleration of motor r's carrier, in its axes."""
    b = motor_at(drives, r)
    carrier = int(drives[b + at.CARRIER])
    if carrier < 0 or drives[b + at.COUPLED] == 0.0:
        return 0.0, 0.0, 0.0
    return load(work, series.series_at(carrier, reach) + m * series.SIZE + series.ALPHA)
