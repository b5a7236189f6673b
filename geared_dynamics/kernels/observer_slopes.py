"""Stiffness and damping of an elastic arm at a state: what its forces change by.

    G_x = d(H a + C x' + g)/dx + springs,    G_v = 2 C + springs + friction

The Christoffel form makes d(C(v) v)/dv = 2 C(v). The part of G_x that is not springs is a
central difference of the inverse dynamics, over q alone: nothing else enters it.
"""

import math

from numba import njit

from geared_dynamics.kernels import coriolis, friction, inverse, kinematics
from geared_dynamics.kernels import drive_layout as on
from geared_dynamics.kernels import elastic_layout as has
from geared_dynamics.kernels.drive import motor_at
from geared_dynamics.kernels.kinds import Pointer
from geared_dynamics.kernels.memory import shift

PLAIN = 3.0  # smoothing rates beyond which the smooth sign is one
SAME = 1e-3  # smoothing rates within which a tangent is as good as a secant
STEP = 1e-5  # of the central difference [rad or m]: rounding and curvature are then alike


@njit(error_model="numpy")
def posture_slopes(
    model: Pointer, n: int, size: int, x: Pointer, rate: Pointer, a: Pointer, work: Pointer,
    out: Pointer,
) -> None:  # fmt: skip
    """Set out (N, N) to d(H a + C x' + g)/dx; work holds 3 N numbers and the bodies' scratch."""
    ahead, behind, moved = work, shift(work, size), shift(work, 2 * size)
    scratch = shift(work, 3 * size)
    for i in range(size):
        moved[i] = x[i]
    for e in range(size * size):
        out[e] = 0.0
    for j in range(n):
        moved[j] = x[j] + STEP
        inverse.one_state(model, moved, rate, a, scratch, ahead)
        moved[j] = x[j] - STEP
        inverse.one_state(model, moved, rate, a, scratch, behind)
        moved[j] = x[j]
        for i in range(size):
            out[i * size + j] = (ahead[i] - behind[i]) / (2.0 * STEP)


@njit(error_model="numpy")
def rate_slopes(
    model: Pointer,
    size: int,
    x: Pointer,
    rate: Pointer,
    zero: Pointer,
    work: Pointer,
    out: Pointer,
) -> None:
    """Set out (N, N) to d(C x')/dx' = 2 C; work holds the bodies' scratch."""
    kinematics.sweep(model, x, rate, zero, work)
    coriolis.one_matrix(model, size, rate, work, out)
    for e in range(size * size):
        out[e] *= 2.0


@njit(error_model="numpy")
def add_spring_slopes(
    springs: Pointer, size: int, x: Pointer, stiff: Pointer, damp: Pointer
) -> None:
    """Add P' K P and P' D P; a spring within its gap has neither."""
    for b in range(int(springs[has.SPRINGS]), int(springs[has.SPRINGS_END]), has.SPRING_SIZE):
        first, end = int(springs[b + has.STRETCH]), int(springs[b + has.STRETCH_END])
        length = -springs[b + has.REST]
        for e in range(first, end, has.STRETCH_SIZE):
            length += springs[e + 1] * x[int(springs[e])]
        if abs(length) >= springs[b + has.GAP]:
            K, D = springs[b + has.STIFFNESS], springs[b + has.DAMPING]
            for e in range(first, end, has.STRETCH_SIZE):
                for f in range(first, end, has.STRETCH_SIZE):
                    both = springs[e + 1] * springs[f + 1]
                    place = int(springs[e]) * size + int(springs[f])
                    stiff[place] += K * both
                    damp[place] += D * both


@njit(error_model="numpy")
def add_friction_slopes(
    springs: Pointer,
    drives: Pointer,
    size: int,
    dt: float,
    rate: Pointer,
    a: Pointer,
    inverted: Pointer,
    speed: Pointer,
    damp: Pointer,
) -> None:
    """Add the slopes of the joints' friction at x' and of the rotors' at their speeds (m,).

    a (N,) are the accelerations, inverted is H^-1 (N, N), dt the length of the step; 2 m more
    numbers follow the speeds.
    """
    for law in range(int(drives[on.JOINT_LAWS]), int(drives[on.JOINT_LAWS_END]), on.LAW_SIZE):
        d, mu = int(drives[law + on.INDEX]), drives[law + on.MULTIPLIER]
        ease = mu * mu * inverted[d * size + d]
        slope = slope_of_step(drives, law, mu * rate[d], dt * mu * a[d], dt * ease)
        damp[d * size + d] += mu * mu * slope
    first, end = int(springs[has.STRUCTURE]), int(springs[has.STRUCTURE_END])
    motors = int(springs[has.MOTORS])
    change, ease_at = shift(speed, motors), shift(speed, 2 * motors)
    for motor in range(motors):
        change[motor], ease_at[motor] = 0.0, 0.0
    for e in range(first, end, has.STRUCTURE_SIZE):
        d, motor = int(springs[e]), int(springs[e + 1])
        change[motor] += dt * springs[e + 2] * a[d]
        for f in range(first, end, has.STRUCTURE_SIZE):
            if int(springs[f + 1]) == motor:
                weight = springs[e + 2] * springs[f + 2]
                ease_at[motor] += weight * inverted[d * size + int(springs[f])]
    for e in range(first, end, has.STRUCTURE_SIZE):
        motor = int(springs[e + 1])
        law = int(drives[motor_at(drives, motor) + on.LAW])
        if law > 0:
            slope = slope_of_step(drives, law, speed[motor], change[motor], dt * ease_at[motor])
            for f in range(first, end, has.STRUCTURE_SIZE):
                if int(springs[f + 1]) == motor:
                    place = int(springs[e]) * size + int(springs[f])
                    damp[place] += slope * springs[e + 2] * springs[f + 2]


@njit(error_model="numpy")
def slope_of_step(drives: Pointer, law: int, rate: float, change: float, ease: float) -> float:
    """Slope of the friction over a step: the secant from the rate to where the step leads.

    The tangent at the rate alone is steep at rest, where it would hold what is torn off, and flat
    beyond some smoothing rates, where it would let what comes to rest jump to and fro for ever.
    Where the step leads is found with the friction at its end:

        x = rate + change - ease (f(x) - f(rate)),    f ~ level min(|x| / smoothing, 1) sign x

    Args:
        drives: Packed drives.
        law: Where the law begins.
        rate: At the beginning.
        change: Of the rate over the step by all forces at the beginning.
        ease: Of the rate over the step by a unit force.
    """
    rounding = drives[law + on.ROUNDING]
    clear = PLAIN * rounding
    if abs(rate) > clear and abs(rate + change) > clear and rate * (rate + change) > 0.0:
        return friction_slope(drives, law, rate)
    top = friction.level(drives, law, rate, rate, 0.0)
    here = top * friction.direction(rate, rounding)
    free, taken = rate + change + ease * here, ease * top
    if abs(free) <= taken + rounding:
        x = free * rounding / (rounding + taken) if rounding > 0.0 else 0.0
    else:
        x = free - math.copysign(taken, free)
    if abs(x - rate) <= SAME * rounding or x == rate:
        return friction_slope(drives, law, rate)
    there = friction.level(drives, law, x, x, 0.0) * friction.direction(x, rounding)
    return (there - here) / (x - rate) + drives[law + on.VISCOUS]


@njit(error_model="numpy")
def friction_slope(drives: Pointer, law: int, rate: float) -> float:
    """Derivative of ``friction.force`` by the rate."""
    rounding = drives[law + on.ROUNDING]
    total = drives[law + on.VISCOUS]
    total += friction.level(drives, law, rate, rate, 0.0) * friction.direction_slope(
        rate, rounding
    )
    excess = drives[law + on.EXCESS + (0 if rate >= 0.0 else 1)]
    if excess != 0.0:
        x = rate / drives[law + on.STRIBECK_SPEED]
        fall = excess * math.exp(-x * x) * friction.direction(rate, rounding)
        total -= 2.0 * x / drives[law + on.STRIBECK_SPEED] * fall
    return total
