"""Motor commands by power series: with the jerk known, and of arms with elastic joints.

With the jerk the current's derivative follows, exactly.

The time derivative of every step in ``drive``: of the joint force by the recursion in
power series, of springs, friction and the gears' losses by their own derivatives.
"""

import math

import numpy as np
from numba import njit

from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.kernels import flatness, inverse_series, kinematics, layout
from geared_dynamics.kernels import flatness_layout as has
from geared_dynamics.kernels.balancers import add_forces, add_rates
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.drive import (
    binding,
    motor_at,
    needs_springs,
    one_motor,
)
from geared_dynamics.kernels.friction import (
    add_joint_friction,
    direction,
    direction_slope,
    force_change,
)
from geared_dynamics.kernels.memory import Array, Pointer, Vector, keep, pointer, row, shift
from geared_dynamics.kernels.series import store_coefficients, store_derivatives
from geared_dynamics.kernels.vector import dot, load

ORDER = 1  # of the force: itself and its derivative


@njit(error_model="numpy")
def motor_commands_jerk(
    model: Array,
    drives: Array,
    springs: Array,
    q: Array,
    v: Array,
    a: Array,
    jerk: Array,
    out: Array,
) -> int:
    """Commands (RESULT_ROWS m,) for q, v, a, jerk (n,), or a row for each of K states."""
    n, m = int(model[layout.COORDINATES]), int(drives[at.COUNT])
    width = at.RESULT_ROWS * m
    if not (holds(out, width, model) and fits(q, n, out) and fits(v, n, out)):
        return layout.WRONG_SHAPE
    if not (fits(a, n, out) and fits(jerk, n, out)):
        return layout.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out) and apart(a, out) and apart(jerk, out)):
        return layout.OVERLAP
    bodies = int(model[layout.BODIES])
    sprung = needs_springs(springs)
    work_size = inverse_series.work_size(bodies, ORDER)
    room_size = 3 * n + bodies * kinematics.SIZE if sprung else 0
    buffer = np.empty(12 * n + work_size + room_size)
    p, d, x = pointer(model), pointer(drives), pointer(buffer)
    rate, change, third = shift(x, n), shift(x, 2 * n), shift(x, 3 * n)
    path, tau, need, work = shift(x, 4 * n), shift(x, 8 * n), shift(x, 10 * n), shift(x, 12 * n)
    room = shift(work, work_size)
    for k in range(states(q)):
        if not (
            gather(q, k, n, x)
            & gather(v, k, n, rate)
            & gather(a, k, n, change)
            & gather(jerk, k, n, third)
        ):
            return layout.NOT_FINITE
        for i in range(4 * n):
            path[i] = x[i]
        store_coefficients(path, 4, n)
        # Coefficients 0 and 1 of a series are value and derivative.
        inverse_series.series_one_state(p, ORDER, path, work, tau)
        if sprung:
            status = subtract_springs(p, pointer(springs), n, x, rate, room, tau)
            if status != layout.OK:
                return status
        for i in range(2 * n):
            need[i] = tau[i]
        add_joint_friction(d, x, rate, tau, need)
        add_joint_friction_rate(d, n, x, rate, change, tau, shift(need, n))
        for r in range(m):
            alpha = carrier_alpha(d, r, ORDER, 0, work)
            alpha_rate = carrier_alpha(d, r, ORDER, 1, work)
            one_motor(d, r, n, x, rate, change, need, alpha, row(out, k))
            add_inductive(d, r, n, change, third, shift(need, n), alpha_rate, row(out, k))
        if not finite(row(out, k), width):
            return layout.OVERFLOW
    return keep(buffer, layout.OK)


@njit(error_model="numpy")
def subtract_springs(
    model: Pointer,
    springs: Pointer,
    n: int,
    q: Pointer,
    v: Pointer,
    room: Pointer,
    tau: Pointer,
) -> int:
    """Take off tau and its derivative (2 n,) what the springs give."""
    still, work = shift(room, 2 * n), shift(room, 3 * n)
    for i in range(3 * n):
        room[i] = 0.0
    kinematics.sweep(model, q, v, still, work)
    status = add_forces(model, springs, q, work, room)
    if status == layout.OK:
        status = add_rates(model, springs, v, work, shift(room, n))
    for i in range(2 * n):
        tau[i] -= room[i]
    return status


@njit(error_model="numpy")
def add_joint_friction_rate(
    drives: Pointer, n: int, q: Pointer, v: Pointer, a: Pointer, tau: Pointer, out: Pointer
) -> None:
    """Add the derivative of the joints' friction to out (n,); tau holds force and derivative."""
    for law in range(int(drives[at.JOINT_LAWS]), int(drives[at.JOINT_LAWS_END]), at.LAW_SIZE):
        d = int(drives[law + at.INDEX])
        k = drives[law + at.MULTIPLIER]
        position = k * q[d] + drives[law + at.SHIFT]
        growth = math.copysign(1.0, tau[d]) * tau[n + d]
        rate = force_change(drives, law, k * v[d], k * a[d], position, abs(tau[d]), growth)
        out[d] += k * rate


@njit(error_model="numpy")
def add_inductive(
    drives: Pointer,
    r: int,
    n: int,
    a: Pointer,
    jerk: Pointer,
    tau_rate: Pointer,
    alpha_rate: Vector,
    out: Pointer,
) -> None:
    """Add L di/dt to column r of the result, from the derivatives of joint force and motion."""
    m = int(drives[at.COUNT])
    b = motor_at(drives, r)
    change, second, lossless = 0.0, 0.0, 0.0
    for d in range(n):
        ratio = drives[b + at.ROWS + d]
        change += ratio * a[d]
        second += ratio * jerk[d]
        lossless += drives[b + at.ROWS + n + d] * tau_rate[d]
    second += dot(load(drives, b + at.AXIS), alpha_rate)
    growth = lossless - drives[b + at.INERTIA] * second
    torque = lossless + torque_change(drives, b, change, growth, out, m, r)
    slope = torque / drives[b + at.TORQUE_CONSTANT]
    out[at.VOLTAGE * m + r] += drives[b + at.INDUCTANCE] * slope
    out[at.BINDING * m + r] = binding(
        drives,
        b,
        out[at.TORQUE * m + r],
        out[at.CURRENT * m + r],
        out[at.VOLTAGE * m + r],
        out[at.SPEED * m + r],
    )


@njit(error_model="numpy")
def torque_change(
    drives: Pointer, b: int, change: float, growth: float, out: Pointer, m: int, r: int
) -> float:
    """Derivative of gear loss and rotor friction.

    Args:
        drives: Packed drives.
        b: The motor's block.
        change: Derivative of its speed relative to the carrier.
        growth: Derivative of the transmitted torque.
        out: The result, whose column r is complete.
        m: Number of motors.
        r: The motor.
    """
    speed, transmitted = out[at.SPEED * m + r], out[at.TRANSMITTED * m + r]
    size, growing = abs(transmitted), math.copysign(1.0, transmitted) * growth
    rounding = drives[b + at.SMOOTHING]
    part = drives[b + at.DRIVING] if transmitted * speed > 0.0 else drives[b + at.BACKDRIVING]
    total = part * growing * direction(speed, rounding)
    total += part * size * direction_slope(speed, rounding) * change
    law = int(drives[b + at.LAW])
    if law > 0:
        angle = out[at.ANGLE * m + r]
        total += force_change(drives, law, speed, change, angle, size, growing)
    return total


# -- Arms with elastic joints: ``drive`` on the motor side ----------------------------------------
#
# The motors' equations are those of ``drive`` over the coordinates x = (q, theta), whose motion
# and force ``flatness`` finds; joint friction acts on q', that of a rotor on its own speed
# relative to its carrier. With one derivative of q more the current's derivative follows as well.


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
    return load(
        work,
        inverse_series.series_at(carrier, reach) + m * inverse_series.SIZE + inverse_series.ALPHA,
    )
