"""Prediction of an elastic arm over a step in which joints and rotors stick, slide and reverse.

    z(dt) = z + dt phi(A dt) g(z) - V f,    V = dt phi(A dt) [0; H^-1 R']

g is the arm without what multiplies the sign of a rate, A its derivative, R the rates of the
friction laws (joints', then rotors') by x'. f is the mean over the step of what g leaves out:

    sliding   f = law(r),    r the mean rate over the step: found by bisection, so that a rate that
              passes zero within the step has the friction of both directions
    standing  f = what keeps the rate (or brings it to rest), as far as the level allows

A rotor counts as standing within three times the rate that smooths its sign. There friction is
any number within its level, and its encoder shows the rate; a link's rate nothing shows, and its
friction is that of the law.
"""

import math

import numpy as np
from numba import njit

from geared_dynamics.kernels import drive_layout as on
from geared_dynamics.kernels import elastic, friction
from geared_dynamics.kernels import elastic_layout as has
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.drive import motor_at
from geared_dynamics.kernels.memory import Array, Pointer, keep, pointer, row, shift
from geared_dynamics.kernels.observer import advance, advance_size
from geared_dynamics.kernels.observer_layout import FIELDS, HELD, LEVEL, RESPONSE, SLOPE, SPEED

STANDING = 3.0  # times the smoothing rate: the smooth sign is 0.995 there
SWEEPS = 30  # over the laws, whose friction acts on each other's rates
HALVINGS = 45
JUMP = 1e9  # slope of a sign that is not smoothed, by its level


@njit(error_model="numpy")
def observer_sliding(
    model: Array, springs: Array, drives: Array, state: Array, given: Array, out: Array
) -> int:
    """Predicted step with friction that sticks.

    ``state`` is z (2N,); ``given`` the motors' torques (m,), the force on the joints (n,), dt, and
    for each law 1 to keep a standing rotor's rate, 0 to bring it to rest (e,). The result: z
    (2N,), acceleration without signs of rates (N,), change by their friction -V f (2N,), phi and
    exp (2N, 2N each), V by columns (e, 2N), and (FIELDS, e): ``observer_layout``.
    """
    n, motors = int(springs[has.JOINTS]), int(springs[has.MOTORS])
    size = n + int(springs[has.SHAFTS])
    width, block, count = 2 * size, 8 * size * size, laws(pointer(drives))
    total = 5 * size + block + count * (width + FIELDS)
    if not (holds(out, total, model) and fits(state, width, out)):
        return at.WRONG_SHAPE
    if not fits(given, motors + n + 1 + count, out):
        return at.WRONG_SHAPE
    if not (apart(state, out) and apart(given, out)):
        return at.OVERLAP
    bodies = int(model[at.BODIES])
    room = advance_size(size, motors, bodies) + 3 * size
    own = count * (2 * count + 6) + size
    buffer = np.empty(3 * size + motors + n + 1 + count + drives.size + room + own)
    m, s, d, start = pointer(model), pointer(springs), pointer(drives), pointer(buffer)
    inputs = shift(start, 3 * size)
    smooth = shift(inputs, motors + n + 1 + count)
    free = shift(smooth, drives.size)
    work, spare = shift(free, 3 * size), shift(free, room)
    without_signs(d, drives.size, smooth)
    for e in range(states(out)):
        for i in range(size):
            start[width + i] = 0.0
        if not gather(state, e, width, start):
            return at.NOT_FINITE
        if not gather(given, e, motors + n + 1 + count, inputs):
            return at.NOT_FINITE
        result = row(out, e)
        if not advance(m, s, smooth, bodies, start, inputs, 0.0, work, free):
            return at.NOT_POSITIVE
        phi = shift(work, size + 3 * size * size)
        for i in range(size):
            result[width + i] = work[i]
        for i in range(block):
            result[width + 3 * size + i] = phi[i]
        columns = shift(result, 5 * size + block)
        dt, stay = inputs[motors + n], shift(inputs, motors + n + 1)
        spread(s, d, size, count, dt, shift(work, size), phi, spare, columns)
        rub(s, d, size, count, dt, start, free, stay, columns, spare, result)
        if not finite(result, total):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def joint_laws(drives: Pointer) -> int:
    """Number of joints' friction laws."""
    return (int(drives[on.JOINT_LAWS_END]) - int(drives[on.JOINT_LAWS])) // on.LAW_SIZE


@njit(error_model="numpy")
def laws(drives: Pointer) -> int:
    """Number of friction laws, joints' and rotors'."""
    count = joint_laws(drives)
    for r in range(int(drives[on.COUNT])):
        if drives[motor_at(drives, r) + on.LAW] > 0.0:
            count += 1
    return count


@njit(error_model="numpy")
def law_at(drives: Pointer, e: int) -> tuple[int, int]:
    """Where law e begins, and the motor it belongs to, -1 of a joint's."""
    joints = joint_laws(drives)
    if e < joints:
        return int(drives[on.JOINT_LAWS]) + e * on.LAW_SIZE, -1
    seen = joints
    for r in range(int(drives[on.COUNT])):
        law = int(drives[motor_at(drives, r) + on.LAW])
        if law > 0:
            if seen == e:
                return law, r
            seen += 1
    return -1, -1


@njit(error_model="numpy")
def without_signs(drives: Pointer, size: int, out: Pointer) -> None:
    """Copy the drives (size,) without what multiplies the sign of a rate."""
    for i in range(size):
        out[i] = drives[i]
    for e in range(laws(drives)):
        law, _ = law_at(drives, e)
        for side in range(2):
            out[law + on.COULOMB + side] = 0.0
            out[law + on.EXCESS + side] = 0.0


@njit(error_model="numpy")
def rate_of(springs: Pointer, drives: Pointer, law: int, motor: int, rate: Pointer) -> float:
    """Rate of a law at x' (N,): that of a joint, or of a rotor in its carrier."""
    if motor < 0:
        return float(drives[law + on.MULTIPLIER] * rate[int(drives[law + on.INDEX])])
    total = 0.0
    first, end = int(springs[has.STRUCTURE]), int(springs[has.STRUCTURE_END])
    for e in range(first, end, has.STRUCTURE_SIZE):
        if int(springs[e + 1]) == motor:
            total += springs[e + 2] * rate[int(springs[e])]
    return total


@njit(error_model="numpy")
def spread(
    springs: Pointer,
    drives: Pointer,
    size: int,
    count: int,
    dt: float,
    inverse: Pointer,
    phi: Pointer,
    spare: Pointer,
    out: Pointer,
) -> None:
    """Set out (e, 2N) to the columns of V: what a law's unit force changes over the step."""
    width = 2 * size
    first, end = int(springs[has.STRUCTURE]), int(springs[has.STRUCTURE_END])
    for e in range(count):
        law, motor = law_at(drives, e)
        for i in range(size):
            spare[i] = 0.0
        if motor < 0:
            d = int(drives[law + on.INDEX])
            for i in range(size):
                spare[i] = drives[law + on.MULTIPLIER] * inverse[i * size + d]
        else:
            for part in range(first, end, has.STRUCTURE_SIZE):
                if int(springs[part + 1]) == motor:
                    d = int(springs[part])
                    for i in range(size):
                        spare[i] += springs[part + 2] * inverse[i * size + d]
        column = shift(out, e * width)
        for i in range(width):
            line = shift(phi, i * width + size)
            total = 0.0
            for k in range(size):
                total += line[k] * spare[k]
            column[i] = dt * total


@njit(error_model="numpy")
def rub(
    springs: Pointer,
    drives: Pointer,
    size: int,
    count: int,
    dt: float,
    before: Pointer,
    free: Pointer,
    stay: Pointer,
    columns: Pointer,
    work: Pointer,
    out: Pointer,
) -> None:
    """Set out's state, change by friction and laws' numbers; free (2N,) is without friction."""
    width, square = 2 * size, count * count
    late, mean = work, shift(work, square)  # change of the rates at the end, and in the mean
    v0, v1 = shift(work, 2 * square), shift(work, 2 * square + count)
    vm, f = shift(work, 2 * square + 2 * count), shift(work, 2 * square + 3 * count)
    moved = shift(work, 2 * square + 6 * count)
    numbers = shift(columns, count * width)
    for i in range(size):
        moved[i] = (free[i] - before[i]) / dt
    for e in range(count):
        law, motor = law_at(drives, e)
        v0[e] = rate_of(springs, drives, law, motor, shift(before, size))
        v1[e] = rate_of(springs, drives, law, motor, shift(free, size))
        vm[e] = rate_of(springs, drives, law, motor, moved)
        f[e] = 0.0
        for j in range(count):
            column = shift(columns, j * width)
            late[e * count + j] = rate_of(springs, drives, law, motor, shift(column, size))
            mean[e * count + j] = rate_of(springs, drives, law, motor, column) / dt
        numbers[SLOPE * count + e] = 0.0
        numbers[HELD * count + e] = 0.0
        numbers[LEVEL * count + e] = highest(drives, law)
        numbers[RESPONSE * count + e] = late[e * count + e]
    for _ in range(SWEEPS):
        change = 0.0
        for e in range(count):
            top = numbers[LEVEL * count + e]
            if top > 0.0:
                law, motor = law_at(drives, e)
                old = f[e]
                one_law(drives, law, motor, count, e, stay[e], v0, v1, vm, late, mean, numbers, f)
                change = max(change, abs(f[e] - old) / top)
        if change < 1e-11:
            break
    for i in range(width):
        lost = 0.0
        for e in range(count):
            lost += columns[e * width + i] * f[e]
        out[i] = free[i] - lost
        out[width + size + i] = -lost
    for e in range(count):
        law, motor = law_at(drives, e)
        numbers[SPEED * count + e] = rate_of(springs, drives, law, motor, shift(out, size))


@njit(error_model="numpy")
def highest(drives: Pointer, law: int) -> float:
    """Largest level of a law, of both directions."""
    one = drives[law + on.COULOMB] + max(drives[law + on.EXCESS], 0.0)
    other = drives[law + on.COULOMB + 1] + max(drives[law + on.EXCESS + 1], 0.0)
    return float(max(one, other))


@njit(error_model="numpy")
def one_law(
    drives: Pointer,
    law: int,
    motor: int,
    count: int,
    e: int,
    stay: float,
    v0: Pointer,
    v1: Pointer,
    vm: Pointer,
    late: Pointer,
    mean: Pointer,
    numbers: Pointer,
    f: Pointer,
) -> None:
    """Set f[e] and its numbers, the other laws' friction as it is."""
    rounding, own = drives[law + on.ROUNDING], e * count + e
    if motor >= 0 and abs(v0[e]) < STANDING * rounding:
        # A spring stiffer than the step is long turns the rate at its end the other way.
        ended = late[own] >= mean[own]
        wanted = (v1[e] if ended else vm[e]) - stay * v0[e]
        for j in range(count):
            if j != e:
                wanted -= (late[e * count + j] if ended else mean[e * count + j]) * f[j]
        wanted /= late[own] if ended else mean[own]
        most = friction.level(drives, law, wanted, v0[e], 0.0)
        f[e] = min(max(wanted, -most), most)
        numbers[HELD * count + e] = 1.0 if abs(wanted) < most else 0.0
        return
    rate = vm[e]
    for j in range(count):
        if j != e:
            rate -= mean[e * count + j] * f[j]
    f[e] = sliding(drives, law, rate, mean[own])
    numbers[SLOPE * count + e] = slope(drives, law, rate - mean[own] * f[e], f[e])


@njit(error_model="numpy")
def signed(drives: Pointer, law: int, rate: float) -> float:
    """What multiplies the sign of the rate, times it."""
    turn = friction.direction(rate, drives[law + on.ROUNDING])
    return friction.level(drives, law, rate, rate, 0.0) * turn


@njit(error_model="numpy")
def sliding(drives: Pointer, law: int, rate: float, weight: float) -> float:
    """Friction f = signed(rate - weight f)."""
    top = highest(drives, law)
    if abs(rate) - weight * top > 20.0 * drives[law + on.ROUNDING]:
        force = math.copysign(top, rate)
        for _ in range(4):
            force = signed(drives, law, rate - weight * force)
        return force
    low, high = -top, top
    for _ in range(HALVINGS):
        force = 0.5 * (low + high)
        if force > signed(drives, law, rate - weight * force):
            high = force
        else:
            low = force
    return 0.5 * (low + high)


@njit(error_model="numpy")
def slope(drives: Pointer, law: int, rate: float, force: float) -> float:
    """Derivative of ``signed`` by the rate, where the friction is force."""
    top = highest(drives, law)
    if drives[law + on.ROUNDING] == 0.0 and abs(force) < (1.0 - 1e-9) * abs(
        friction.level(drives, law, force, rate, 0.0)
    ):
        return JUMP * top
    return elastic.friction_slope(drives, law, rate) - drives[law + on.VISCOUS]
