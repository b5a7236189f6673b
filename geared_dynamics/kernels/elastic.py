"""Elastic joints: springs, forward dynamics of x = (q, theta), stiffness and damping at a state.

The arm with a coordinate more for each elastic joint is a packed model like any other:
bodies follow q, wheels follow q and theta.
"""

import math

import numpy as np
from numba import njit

from geared_dynamics.kernels import drive_layout as on
from geared_dynamics.kernels import elastic_layout as has
from geared_dynamics.kernels import elimination, friction, inverse, kinematics, mass, terms
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.drive import motor_at
from geared_dynamics.kernels.memory import Array, Pointer, keep, pointer, row, shift


@njit(error_model="numpy")
def elastic_forward_dynamics(
    model: Array,
    springs: Array,
    plan: Array,
    q: Array,
    theta: Array,
    v: Array,
    vtheta: Array,
    tau_m: Array,
    tau: Array,
    out: Array,
) -> int:
    """Acceleration (n + n_e,) of x from q, v, tau (n,), theta, vtheta (n_e,), tau_m (m,).

    K states have a dimension more. An empty plan asks for the factorised mass matrix.
    """
    n, shafts, motors = (
        int(springs[has.JOINTS]),
        int(springs[has.SHAFTS]),
        int(springs[has.MOTORS]),
    )
    size, bodies = n + shafts, int(model[at.BODIES])
    if not (holds(out, size, model) and fits(q, n, out) and fits(v, n, out)):
        return at.WRONG_SHAPE
    if not fits(tau, n, out):
        return at.WRONG_SHAPE
    if not (fits(theta, shafts, out) and fits(vtheta, shafts, out) and fits(tau_m, motors, out)):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(theta, out) and apart(v, out) and apart(vtheta, out)):
        return at.OVERLAP
    if not (apart(tau_m, out) and apart(tau, out)):
        return at.OVERLAP
    if plan.size == 0:
        room = size * size + bodies * max(inverse.SIZE, mass.SIZE)
    else:
        room = max((bodies + 1) * elimination.work_size(pointer(plan)), bodies * inverse.SIZE)
    buffer = np.zeros(4 * size + motors + room)
    m, s, p, x = pointer(model), pointer(springs), pointer(plan), pointer(buffer)
    rate, force, zero = shift(x, size), shift(x, 2 * size), shift(x, 3 * size)
    shaft, work = shift(x, 4 * size), shift(x, 4 * size + motors)
    for k in range(states(out)):
        if not (gather(q, k, n, x) & gather(theta, k, shafts, shift(x, n))):
            return at.NOT_FINITE
        if not (gather(v, k, n, rate) & gather(vtheta, k, shafts, shift(rate, n))):
            return at.NOT_FINITE
        if not (gather(tau, k, n, force) & gather(tau_m, k, motors, shaft)):
            return at.NOT_FINITE
        for d in range(n, size):
            force[d] = 0.0
        add_motors(s, shaft, force)
        add_springs(s, x, rate, force)
        result = row(out, k)
        inverse.one_state(m, x, rate, zero, work, result)
        for d in range(size):
            force[d] -= result[d]
        if plan.size == 0:
            mass.one_matrix(m, x, shift(work, size * size), work)
            for d in range(size):
                result[d] = force[d]
            solved = mass.solve(size, work, result)
        else:
            solved = elimination.solve(m, p, x, force, work, result)
        if not solved:
            return at.NOT_POSITIVE
        if not finite(result, size):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def spring_tensions(
    model: Array, springs: Array, q: Array, theta: Array, v: Array, vtheta: Array, out: Array
) -> int:
    """Tension of each spring (s,), for q, v (n,) and theta, vtheta (n_e,)."""
    n, shafts = int(springs[has.JOINTS]), int(springs[has.SHAFTS])
    size = n + shafts
    first, end = int(springs[has.SPRINGS]), int(springs[has.SPRINGS_END])
    width = (end - first) // has.SPRING_SIZE
    if not (holds(out, width, model) and fits(q, n, out) and fits(v, n, out)):
        return at.WRONG_SHAPE
    if not (fits(theta, shafts, out) and fits(vtheta, shafts, out)):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(theta, out) and apart(v, out) and apart(vtheta, out)):
        return at.OVERLAP
    buffer = np.empty(2 * size)
    s, x = pointer(springs), pointer(buffer)
    rate = shift(x, size)
    for k in range(states(out)):
        if not (gather(q, k, n, x) & gather(theta, k, shafts, shift(x, n))):
            return at.NOT_FINITE
        if not (gather(v, k, n, rate) & gather(vtheta, k, shafts, shift(rate, n))):
            return at.NOT_FINITE
        count = 0
        for b in range(first, end, has.SPRING_SIZE):
            row(out, k)[count] = pull(s, b, x, rate)
            count += 1
        if not finite(row(out, k), count):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def add_motors(springs: Pointer, shaft: Pointer, force: Pointer) -> None:
    """Add A tau_m to the force on x."""
    for e in range(
        int(springs[has.STRUCTURE]), int(springs[has.STRUCTURE_END]), has.STRUCTURE_SIZE
    ):
        force[int(springs[e])] += springs[e + 2] * shaft[int(springs[e + 1])]


@njit(error_model="numpy")
def add_springs(springs: Pointer, x: Pointer, rate: Pointer, force: Pointer) -> None:
    """Add -P' tension to the force on x."""
    for b in range(int(springs[has.SPRINGS]), int(springs[has.SPRINGS_END]), has.SPRING_SIZE):
        strength = pull(springs, b, x, rate)
        for e in range(
            int(springs[b + has.STRETCH]), int(springs[b + has.STRETCH_END]), has.STRETCH_SIZE
        ):
            force[int(springs[e])] -= springs[e + 1] * strength


@njit(error_model="numpy")
def pull(springs: Pointer, b: int, x: Pointer, rate: Pointer) -> float:
    """Tension of the spring at b."""
    length, change = -springs[b + has.REST], 0.0
    for e in range(
        int(springs[b + has.STRETCH]), int(springs[b + has.STRETCH_END]), has.STRETCH_SIZE
    ):
        length += springs[e + 1] * x[int(springs[e])]
        change += springs[e + 1] * rate[int(springs[e])]
    return tension(springs, b, length, change)


@njit(error_model="numpy")
def tension(springs: Pointer, b: int, length: float, change: float) -> float:
    """K z + D z'; with a gap, of what exceeds it, and a stop never holds its partner back."""
    gap = springs[b + has.GAP]
    if gap == 0.0:
        return springs[b + has.STIFFNESS] * length + springs[b + has.DAMPING] * change
    if abs(length) <= gap:
        return 0.0
    beyond = length - gap if length > 0.0 else length + gap
    total = springs[b + has.STIFFNESS] * beyond + springs[b + has.DAMPING] * change
    return total if total * length > 0.0 else 0.0


# -- Stiffness and damping of an elastic arm at a state: what its forces change by ----------------
#
#     G_x = d(H a + C x' + g)/dx + springs,    G_v = 2 C + springs + friction
#
# The Christoffel form makes d(C(v) v)/dv = 2 C(v). The part of G_x that is not springs is a
# central difference of the inverse dynamics, over q alone: nothing else enters it.


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
    terms.one_matrix(model, size, rate, work, out)
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
