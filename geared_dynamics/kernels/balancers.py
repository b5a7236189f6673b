"""Forces, rates and energy of balancers."""

import math

import numpy as np
from numba import njit

from geared_dynamics.kernels import balancer_layout as has
from geared_dynamics.kernels import kinematics
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.joint import body_at
from geared_dynamics.kernels.memory import Array, Pointer, Vector, keep, pointer, row, shift
from geared_dynamics.kernels.vector import add, cross, dot, load, scale, subtract, times

# -- Forces of springs from the motion of the bodies, on pointers ---------------------------------
#
# A line element with tension F(l) pulls anchor 1 toward anchor 0 along d = p_1 - p_0,
# l = |d|, and does work on the joints: tau_b = -(dl/dq)' F = -(F / l) (J_1 - J_0)' d.
# The tension by kind: ``LineElementRecord``. The functions read ``work``, filled by
# ``kinematics.sweep``, and add to what ``out`` holds; a status says when a line element has
# no force (``balancer_layout``).


# Anchors nearer than this have met: rounding then decides the direction [m].
NEAR = 1e-9


@njit(error_model="numpy")
def line_at(k: int) -> int:
    """Where line element k's block begins."""
    return has.HEADER_SIZE + k * has.LINE_SIZE


@njit(error_model="numpy")
def spring_at(springs: Pointer, k: int) -> int:
    """Where torsion spring k's block begins."""
    return line_at(int(springs[has.LINES])) + k * has.SPRING_SIZE


@njit(error_model="numpy")
def add_forces(model: Pointer, springs: Pointer, q: Pointer, work: Pointer, out: Pointer) -> int:
    """Add the force of all elements to out (n,)."""
    for k in range(int(springs[has.LINES])):
        s = line_at(k)
        first, second = anchor(springs, s + has.BODY, work), anchor(springs, s + has.OTHER, work)
        d = subtract(second, first)
        status, per_length, _, _ = tension(springs, s, math.sqrt(dot(d, d)))
        if status != at.OK:
            return fault(k, status)
        pull = scale(per_length, d)
        project(model, int(springs[s + has.BODY]), first, pull, work, out)
        project(model, int(springs[s + has.OTHER]), second, scale(-1.0, pull), work, out)
    for k in range(int(springs[has.SPRINGS])):
        s = spring_at(springs, k)
        d = int(springs[s + has.DOF])
        out[d] += springs[s + has.FORCE] - springs[s + has.RATE] * q[d]
    return at.OK


@njit(error_model="numpy")
def add_rates(model: Pointer, springs: Pointer, v: Pointer, work: Pointer, out: Pointer) -> int:
    """Add the time derivative of the force of all elements to out (n,).

    ``work`` holds the velocities of the motion v. With the pull f = (F / l) d,
    f_dot = (F / l) d_dot + (F' - F / l) e (e . d_dot), e = d / l, F' = dF/dl.
    """
    for k in range(int(springs[has.LINES])):
        s = line_at(k)
        body, other = int(springs[s + has.BODY]), int(springs[s + has.OTHER])
        first, second = anchor(springs, s + has.BODY, work), anchor(springs, s + has.OTHER, work)
        left, right = velocity(body, first, work), velocity(other, second, work)
        d, change = subtract(second, first), subtract(right, left)
        square = dot(d, d)
        status, per_length, slope, _ = tension(springs, s, math.sqrt(square))
        if status != at.OK:
            return fault(k, status)
        pull, pull_rate = scale(per_length, d), scale(per_length, change)
        if slope != per_length:  # equal in a spring of no free length, whose anchors may meet
            along = (slope - per_length) * dot(d, change) / square
            pull_rate = add(pull_rate, scale(along, d))
        project(model, body, first, pull_rate, work, out)
        project_drift(model, body, first, left, pull, work, out)
        project(model, other, second, scale(-1.0, pull_rate), work, out)
        project_drift(model, other, second, right, scale(-1.0, pull), work, out)
    for k in range(int(springs[has.SPRINGS])):
        s = spring_at(springs, k)
        d = int(springs[s + has.DOF])
        out[d] -= springs[s + has.RATE] * v[d]
    return at.OK


@njit(error_model="numpy")
def add_energies(springs: Pointer, q: Pointer, work: Pointer, out: Pointer) -> int:
    """Add the potential energy of all elements to out (1,)."""
    for k in range(int(springs[has.LINES])):
        s = line_at(k)
        first, second = anchor(springs, s + has.BODY, work), anchor(springs, s + has.OTHER, work)
        d = subtract(second, first)
        status, _, _, stored = tension(springs, s, math.sqrt(dot(d, d)))
        if status == has.FAULT + has.USED_UP:
            return fault(k, status)
        out[0] += stored
    for k in range(int(springs[has.SPRINGS])):
        s = spring_at(springs, k)
        x = q[int(springs[s + has.DOF])]
        out[0] += (0.5 * springs[s + has.RATE] * x - springs[s + has.FORCE]) * x
    return at.OK


@njit(error_model="numpy")
def fault(k: int, status: int) -> int:
    """Status that names line element k beside the reason."""
    return status + has.REASONS * k


@njit(error_model="numpy")
def tension(springs: Pointer, s: int, l: float) -> tuple[int, float, float, float]:  # noqa: E741
    """Status, F / l [N/m], F' [N/m] and the integral of F from LENGTH to l [J]."""
    x = l - springs[s + has.LENGTH]
    force, slope = springs[s + has.PRELOAD], 0.0
    stored = force * x
    if springs[s + has.KIND] == has.COIL:
        slope = springs[s + has.STIFFNESS]
        stored += 0.5 * slope * x * x
        if force == slope * springs[s + has.LENGTH]:  # F = slope l, also where l is zero
            return at.OK, slope, slope, stored
        force += slope * x
    elif springs[s + has.KIND] == has.GAS:
        volume = springs[s + has.VOLUME]
        area = springs[s + has.SIGN] * springs[s + has.AREA]
        left = volume - area * x
        if left <= 0.0:
            return has.FAULT + has.USED_UP, 0.0, 0.0, 0.0
        exponent, pressure = springs[s + has.EXPONENT], springs[s + has.PRESSURE]
        squeeze = math.log(volume / left)
        force = area * pressure * math.exp(exponent * squeeze)
        slope = exponent * force * area / left
        stored = pressure * volume * work_ratio(exponent - 1.0, squeeze)
    if l < NEAR:
        return has.FAULT + has.MEETING, 0.0, 0.0, stored
    return at.OK, force / l, slope, stored


@njit(error_model="numpy")
def work_ratio(excess: float, squeeze: float) -> float:
    """(exp(excess squeeze) - 1) / excess, which is squeeze for an isothermal gas."""
    return squeeze if excess == 0.0 else math.expm1(excess * squeeze) / excess


@njit(error_model="numpy")
def anchor(springs: Pointer, s: int, work: Pointer) -> Vector:
    """Anchor in the root frame; its block holds the body, then the point."""
    body, p = int(springs[s]), load(springs, s + 1)
    if body < 0:
        return p
    w = body * kinematics.SIZE
    return add(load(work, w + kinematics.POS), times(work, w + kinematics.ROT, p))


@njit(error_model="numpy")
def velocity(body: int, point: Vector, work: Pointer) -> Vector:
    """Velocity of a point of a body, root frame."""
    if body < 0:
        return 0.0, 0.0, 0.0
    w = body * kinematics.SIZE
    arm = subtract(point, load(work, w + kinematics.POS))
    return add(load(work, w + kinematics.VEL), cross(load(work, w + kinematics.OMEGA), arm))


@njit(error_model="numpy")
def project(
    model: Pointer, body: int, point: Vector, force: Vector, work: Pointer, out: Pointer
) -> None:
    """Add J' f of a force at a point of a body, walking to the root."""
    i = body
    while i >= 0:
        b = body_at(i)
        _, linear = kinematics.column(model, i, point, work)
        out[int(model[b + at.DOF])] += model[b + at.MULTIPLIER] * dot(linear, force)
        i = int(model[b + at.PARENT])


@njit(error_model="numpy")
def project_drift(
    model: Pointer,
    body: int,
    point: Vector,
    speed: Vector,
    force: Vector,
    work: Pointer,
    out: Pointer,
) -> None:
    """Add J_dot' f of a force at a point that moves with ``speed``."""
    i = body
    while i >= 0:
        b, w = body_at(i), i * kinematics.SIZE
        z = kinematics.axis(work, w)
        column_rate = cross(load(work, w + kinematics.OMEGA), z)
        if model[b + at.PRISMATIC] == 0.0:
            arm = subtract(point, load(work, w + kinematics.POS))
            arm_rate = subtract(speed, load(work, w + kinematics.VEL))
            column_rate = add(cross(column_rate, arm), cross(z, arm_rate))
        out[int(model[b + at.DOF])] += model[b + at.MULTIPLIER] * dot(column_rate, force)
        i = int(model[b + at.PARENT])


# -- Springs between links and on joints: their forces on the joints, rates, energy ---------------


@njit(error_model="numpy")
def balancer_forces(model: Array, springs: Array, q: Array, out: Array) -> int:
    """Generalised force (n,) of all elements on the joints."""
    n = int(model[at.COORDINATES])
    if not (holds(out, n, model) and fits(q, n, out)):
        return at.WRONG_SHAPE
    if not apart(q, out):
        return at.OVERLAP
    buffer = np.zeros(2 * n + int(model[at.BODIES]) * kinematics.SIZE)
    m, s, x = pointer(model), pointer(springs), pointer(buffer)
    zero, work = shift(x, n), shift(x, 2 * n)
    for k in range(states(q)):
        if not gather(q, k, n, x):
            return at.NOT_FINITE
        kinematics.sweep(m, x, zero, zero, work)
        clear(row(out, k), n)
        status = add_forces(m, s, x, work, row(out, k))
        if status != at.OK:
            return status
        if not finite(row(out, k), n):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def balancer_rates(model: Array, springs: Array, q: Array, v: Array, out: Array) -> int:
    """Time derivative (n,) of ``balancer_forces`` along the motion (q, v)."""
    n = int(model[at.COORDINATES])
    if not (holds(out, n, model) and fits(q, n, out) and fits(v, n, out)):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out)):
        return at.OVERLAP
    buffer = np.zeros(3 * n + int(model[at.BODIES]) * kinematics.SIZE)
    m, s, x = pointer(model), pointer(springs), pointer(buffer)
    rate, zero, work = shift(x, n), shift(x, 2 * n), shift(x, 3 * n)
    for k in range(states(q)):
        if not (gather(q, k, n, x) & gather(v, k, n, rate)):
            return at.NOT_FINITE
        kinematics.sweep(m, x, rate, zero, work)
        clear(row(out, k), n)
        status = add_rates(m, s, rate, work, row(out, k))
        if status != at.OK:
            return status
        if not finite(row(out, k), n):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def balancer_energy(model: Array, springs: Array, q: Array, out: Array) -> int:
    """Potential energy (1,) of all elements [J]."""
    n = int(model[at.COORDINATES])
    if not (holds(out, 1, model) and fits(q, n, out)):
        return at.WRONG_SHAPE
    if not apart(q, out):
        return at.OVERLAP
    buffer = np.zeros(2 * n + int(model[at.BODIES]) * kinematics.SIZE)
    m, s, x = pointer(model), pointer(springs), pointer(buffer)
    zero, work = shift(x, n), shift(x, 2 * n)
    for k in range(states(q)):
        if not gather(q, k, n, x):
            return at.NOT_FINITE
        kinematics.sweep(m, x, zero, zero, work)
        clear(row(out, k), 1)
        status = add_energies(s, x, work, row(out, k))
        if status != at.OK:
            return status
        if not finite(row(out, k), 1):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def clear(x: Pointer, n: int) -> None:
    """Set n numbers to zero."""
    for i in range(n):
        x[i] = 0.0
