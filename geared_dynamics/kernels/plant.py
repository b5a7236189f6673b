"""What the drives add to the equations of motion: rotors' inertia and friction.

    beta     = rows a + drift          inertial torque of the rotors, motor side
    friction = base + slope |load|     of joints and rotors; the load depends on a

beta = J (s' + e . alpha) with the carrier's angular acceleration alpha, as in kernels.drive.
"""

import numpy as np
from numba import njit

from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.kernels import inverse, layout
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.drive import carrier_alpha, motor_at
from geared_dynamics.kernels.friction import base_and_slope, direction
from geared_dynamics.kernels.kinds import Array, Pointer
from geared_dynamics.kernels.memory import keep, pointer, row, shift
from geared_dynamics.kernels.vector import dot, load


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
