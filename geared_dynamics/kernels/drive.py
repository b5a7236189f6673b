"""Motor commands, rotor friction, and what drives add to the equations."""

import math

import numpy as np
from numba import njit

from geared_dynamics.kernels import balancer_layout as has
from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.kernels import inverse, kinematics, layout
from geared_dynamics.kernels.balancers import add_forces
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.friction import (
    add_joint_friction,
    base_and_slope,
    direction,
    force,
)
from geared_dynamics.kernels.memory import Array, Pointer, Vector, keep, pointer, row, shift
from geared_dynamics.kernels.vector import dot, load

# -- What the motors must do for a motion: torque, current, voltage -------------------------------
#
# From the joint force tau that the gears must give (inverse dynamics less what springs give,
# and joint friction), motor by motor and on the motor side:
#
#     tau_m   = distribution tau                       torque at the shaft of lossless gears
#     beta    = J (s' + e . alpha)                     the rotor, upstream of the loss
#     m       = tau_m - beta                           what the gear transmits
#     loss    = |m| sign(s) (1/eta_d - 1 | 1 - eta_b)  driving: m s > 0, backdriving: m s < 0
#     torque  = tau_m + loss + rotor friction          electromagnetic, k_t i
#     voltage = R i + L i' + k_e s
#
# s = A' v is the rotor's speed relative to its carrier, which is what the back-EMF sees.
# Vukobratovic 2002, eq. (20.62)-(20.69), with the carrier's rotation that (20.70) drops.


@njit(error_model="numpy")
def motor_commands(
    model: Array, drives: Array, springs: Array, q: Array, v: Array, a: Array, out: Array
) -> int:
    """Commands (RESULT_ROWS m,) for motion q, v, a (n,), or a row for each of K states."""
    n, m = int(model[layout.COORDINATES]), int(drives[at.COUNT])
    width = at.RESULT_ROWS * m
    if not (holds(out, width, model) and fits(q, n, out) and fits(v, n, out) and fits(a, n, out)):
        return layout.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out) and apart(a, out)):
        return layout.OVERLAP
    bodies = int(model[layout.BODIES])
    sprung = needs_springs(springs)
    room_size = 2 * n + bodies * kinematics.SIZE if sprung else 0
    buffer = np.empty(5 * n + bodies * inverse.SIZE + room_size)
    p, d, x = pointer(model), pointer(drives), pointer(buffer)
    rate, change, tau, need = shift(x, n), shift(x, 2 * n), shift(x, 3 * n), shift(x, 4 * n)
    work = shift(x, 5 * n)
    room = shift(work, bodies * inverse.SIZE)
    for k in range(states(q)):
        if not (gather(q, k, n, x) & gather(v, k, n, rate) & gather(a, k, n, change)):
            return layout.NOT_FINITE
        inverse.one_state(p, x, rate, change, work, tau)
        if sprung:
            status = subtract_springs(p, pointer(springs), n, x, room, tau)
            if status != layout.OK:
                return status
        for i in range(n):
            need[i] = tau[i]
        add_joint_friction(d, x, rate, tau, need)
        for r in range(m):
            alpha = carrier_alpha(d, r, work, inverse.SIZE, inverse.ALPHA)
            one_motor(d, r, n, x, rate, change, need, alpha, row(out, k))
        if not finite(row(out, k), width):
            return layout.OVERFLOW
    return keep(buffer, layout.OK)


@njit(error_model="numpy")
def needs_springs(springs: Array) -> bool:
    """Whether there are any springs between links or on joints."""
    return springs[has.LINES] + springs[has.SPRINGS] > 0.0


@njit(error_model="numpy")
def subtract_springs(
    model: Pointer, springs: Pointer, n: int, q: Pointer, room: Pointer, tau: Pointer
) -> int:
    """Take off tau (n,) what the springs give; room holds n + n + bodies * world.SIZE floats."""
    still, work = shift(room, n), shift(room, 2 * n)
    for i in range(2 * n):
        room[i] = 0.0
    kinematics.sweep(model, q, still, still, work)
    status = add_forces(model, springs, q, work, room)
    for i in range(n):
        tau[i] -= room[i]
    return status


@njit(error_model="numpy")
def carrier_alpha(drives: Pointer, r: int, work: Pointer, size: int, start: int) -> Vector:
    """Angular acceleration of motor r's carrier, zero where it does not count."""
    b = motor_at(drives, r)
    carrier = int(drives[b + at.CARRIER])
    if carrier < 0 or drives[b + at.COUPLED] == 0.0:
        return 0.0, 0.0, 0.0
    return load(work, carrier * size + start)


@njit(error_model="numpy")
def motor_at(drives: Pointer, r: int) -> int:
    """Where motor r's block begins."""
    return int(drives[at.MOTORS]) + r * int(drives[at.MOTOR_SIZE])


@njit(error_model="numpy")
def one_motor(
    drives: Pointer,
    r: int,
    n: int,
    q: Pointer,
    v: Pointer,
    a: Pointer,
    tau: Pointer,
    alpha: Vector,
    out: Pointer,
) -> None:
    """Column r of the result; alpha is the carrier's angular acceleration."""
    m = int(drives[at.COUNT])
    b = motor_at(drives, r)
    angle, speed, change, lossless = drives[b + at.ZERO], 0.0, 0.0, 0.0
    for d in range(n):
        ratio = drives[b + at.ROWS + d]
        angle += ratio * q[d]
        speed += ratio * v[d]
        change += ratio * a[d]
        lossless += drives[b + at.ROWS + n + d] * tau[d]
    change += dot(load(drives, b + at.AXIS), alpha)
    transmitted = lossless - drives[b + at.INERTIA] * change
    shaft = lossless + gear_loss(drives, b, transmitted, speed)
    torque = shaft
    law = int(drives[b + at.LAW])
    if law > 0:
        torque += force(drives, law, speed, angle, abs(transmitted))
    current = torque / drives[b + at.TORQUE_CONSTANT]
    voltage = drives[b + at.RESISTANCE] * current + drives[b + at.BACK_EMF] * speed
    out[at.TORQUE * m + r] = torque
    out[at.CURRENT * m + r] = current
    out[at.VOLTAGE * m + r] = voltage
    out[at.SPEED * m + r] = speed
    out[at.ANGLE * m + r] = angle
    out[at.SHAFT * m + r] = shaft
    out[at.TRANSMITTED * m + r] = transmitted
    out[at.BINDING * m + r] = binding(drives, b, torque, current, voltage, speed)


@njit(error_model="numpy")
def gear_loss(drives: Pointer, b: int, transmitted: float, speed: float) -> float:
    """Torque on the rotor that the gear's loss takes; it opposes the speed (eta_b <= 1)."""
    sign = direction(speed, drives[b + at.SMOOTHING])
    part = drives[b + at.DRIVING] if transmitted * speed > 0.0 else drives[b + at.BACKDRIVING]
    return abs(transmitted) * sign * part


@njit(error_model="numpy")
def binding(
    drives: Pointer, b: int, torque: float, current: float, voltage: float, speed: float
) -> float:
    """Bits of the limits that a command exceeds."""
    cross = drives[b + at.POLE_PAIRS] * speed * drives[b + at.INDUCTANCE] * current
    amplitude = abs(voltage) if cross == 0.0 else math.hypot(voltage, cross)
    limits, size = b + at.LIMITS, abs(torque)
    bits = beyond(amplitude, drives[limits], at.OVER_VOLTAGE)
    bits += beyond(abs(current), drives[limits + 1], at.OVER_CURRENT)
    bits += beyond(size, drives[limits + 2], at.OVER_TORQUE)
    bits += beyond(abs(speed), drives[limits + 3], at.OVER_SPEED)
    return bits + beyond(size, available(drives, b, abs(speed)), at.OVER_ENVELOPE)


@njit(error_model="numpy")
def beyond(value: float, limit: float, bit: float) -> float:
    """The bit where a value is above its limit, else 0."""
    return float(bit) if value > limit else 0.0


@njit(error_model="numpy")
def available(drives: Pointer, b: int, speed: float) -> float:
    """Torque of the envelope at a speed; infinite without envelope, 0 beyond its end."""
    first, end = int(drives[b + at.ENVELOPE]), int(drives[b + at.ENVELOPE_END])
    if first == end:
        return math.inf
    if speed <= drives[first]:
        return drives[first + 1]
    for k in range(first + 2, end, 2):
        if speed <= drives[k]:
            part = (speed - drives[k - 2]) / (drives[k] - drives[k - 2])
            return drives[k - 1] + part * (drives[k + 1] - drives[k - 1])
    return 0.0


# -- Friction of the rotors at given speeds, as ``friction`` has it for the joints ----------------


@njit(error_model="numpy")
def rotor_friction(
    model: Array, drives: Array, angle: Array, speed: Array, load: Array, out: Array
) -> int:
    """Friction torque (m,) at angles, speeds and loads (m,), or (K, m) of each."""
    m = int(drives[at.COUNT])
    if not (holds(out, m, model) and fits(angle, m, out) and fits(speed, m, out)):
        return layout.WRONG_SHAPE
    if not fits(load, m, out):
        return layout.WRONG_SHAPE
    if not (apart(angle, out) and apart(speed, out) and apart(load, out)):
        return layout.OVERLAP
    buffer = np.empty(3 * m)
    d, x = pointer(drives), pointer(buffer)
    rate, weight = shift(x, m), shift(x, 2 * m)
    for k in range(states(out)):
        if not (gather(angle, k, m, x) & gather(speed, k, m, rate) & gather(load, k, m, weight)):
            return layout.NOT_FINITE
        for r in range(m):
            law = int(d[motor_at(d, r) + at.LAW])
            row(out, k)[r] = force(d, law, rate[r], x[r], abs(weight[r])) if law > 0 else 0.0
        if not finite(row(out, k), m):
            return layout.OVERFLOW
    return keep(buffer, layout.OK)


# -- What the drives add to the equations of motion: rotors' inertia and friction -----------------
#
#     beta     = rows a + drift          inertial torque of the rotors, motor side
#     friction = base + slope |load|     of joints and rotors; the load depends on a
#
# beta = J (s' + e . alpha) with the carrier's angular acceleration alpha, as in kernels.drive.


@njit(error_model="numpy")
def drive_terms(
    model: Array, drives: Array, q: Array, v: Array, way: Array, band: Array, out: Array
) -> int:
    """Terms at positions q and rates v (n,), or a row for each of K states.

    ``way`` (n,) are the rates that say which way friction acts. ``band`` (1,) is the rate
    within which exact friction is at rest; where it is negative, the sign is smooth. The result
    holds, one after the other: rows (m n), drift (m), the joints' base (n) and slope (n),
    the rotors' base (m) and slope (m), the signs of the rotors' speeds (m).
    """
    n, m = int(model[layout.COORDINATES]), int(drives[at.COUNT])
    width = m * n + 4 * m + 2 * n
    if not (holds(out, width, model) and fits(q, n, out) and fits(v, n, out)):
        return layout.WRONG_SHAPE
    if not (fits(way, n, out) and fits(band, 1, out)):
        return layout.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out) and apart(way, out) and apart(band, out)):
        return layout.OVERLAP
    buffer = np.empty(6 * n + 1 + int(model[layout.BODIES]) * inverse.SIZE)
    p, d, x = pointer(model), pointer(drives), pointer(buffer)
    rate, passing = shift(x, n), shift(x, 2 * n)
    limit = shift(x, 3 * n)
    room = shift(x, 3 * n + 1)
    for k in range(states(q)):
        if not (
            gather(q, k, n, x)
            & gather(v, k, n, rate)
            & gather(way, k, n, passing)
            & gather(band, k, 1, limit)
        ):
            return layout.NOT_FINITE
        result = row(out, k)
        rotor_inertia(p, d, n, x, rate, room, result)
        friction = shift(result, m * n + m)
        joint_terms(d, n, x, rate, passing, limit[0], friction)
        rotor_terms(d, n, x, rate, passing, limit[0], shift(friction, 2 * n))
        if not finite(result, width):
            return layout.OVERFLOW
    return keep(buffer, layout.OK)


@njit(error_model="numpy")
def rotor_inertia(
    model: Pointer, drives: Pointer, n: int, q: Pointer, v: Pointer, room: Pointer, out: Pointer
) -> None:
    """Set rows (m n) and drift (m); room holds 3 n + bodies * inverse.SIZE floats."""
    m = int(drives[at.COUNT])
    still, change, unused, work = room, shift(room, n), shift(room, 2 * n), shift(room, 3 * n)
    for i in range(2 * n):
        room[i] = 0.0
    inverse.one_state(model, q, v, change, work, unused)
    for r in range(m):
        out[m * n + r] = carrier_torque(drives, r, work)
    for d in range(n):
        change[d] = 1.0
        inverse.one_state(model, q, still, change, work, unused)
        change[d] = 0.0
        for r in range(m):
            b = motor_at(drives, r)
            own = drives[b + at.INERTIA] * drives[b + at.ROWS + d]
            out[r * n + d] = own + carrier_torque(drives, r, work)


@njit(error_model="numpy")
def carrier_torque(drives: Pointer, r: int, work: Pointer) -> float:
    """J e . alpha of motor r after a sweep of inverse dynamics."""
    b = motor_at(drives, r)
    alpha = carrier_alpha(drives, r, work, inverse.SIZE, inverse.ALPHA)
    return drives[b + at.INERTIA] * dot(load(drives, b + at.AXIS), alpha)


@njit(error_model="numpy")
def joint_terms(
    drives: Pointer, n: int, q: Pointer, v: Pointer, way: Pointer, band: float, out: Pointer
) -> None:
    """Set base (n) and slope (n) of the joints' friction."""
    for i in range(2 * n):
        out[i] = 0.0
    for law in range(int(drives[at.JOINT_LAWS]), int(drives[at.JOINT_LAWS_END]), at.LAW_SIZE):
        d = int(drives[law + at.INDEX])
        k = drives[law + at.MULTIPLIER]
        sign = sense(k * way[d], drives[law + at.ROUNDING], band)
        position = k * q[d] + drives[law + at.SHIFT]
        base, slope = base_and_slope(drives, law, k * v[d], position, sign)
        out[d] += k * base
        out[n + d] += k * slope


@njit(error_model="numpy")
def rotor_terms(
    drives: Pointer, n: int, q: Pointer, v: Pointer, way: Pointer, band: float, out: Pointer
) -> None:
    """Set base (m) and slope (m) of the rotors' friction, and the signs of their speeds (m)."""
    m = int(drives[at.COUNT])
    for r in range(m):
        b = motor_at(drives, r)
        angle, speed, turning = drives[b + at.ZERO], 0.0, 0.0
        for d in range(n):
            ratio = drives[b + at.ROWS + d]
            angle += ratio * q[d]
            speed += ratio * v[d]
            turning += ratio * way[d]
        sign = sense(turning, drives[b + at.SMOOTHING], band)
        base, slope = 0.0, 0.0
        law = int(drives[b + at.LAW])
        if law > 0:
            base, slope = base_and_slope(drives, law, speed, angle, sign)
        out[r], out[m + r], out[2 * m + r] = base, slope, sign


@njit(error_model="numpy")
def sense(rate: float, rounding: float, band: float) -> float:
    """Sign of a rate: smooth where the band is negative, else 0 within the band."""
    if band < 0.0:
        return direction(rate, rounding)
    return direction(rate, 0.0) if abs(rate) > band else 0.0
