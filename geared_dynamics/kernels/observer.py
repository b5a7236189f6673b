"""Steps of the observers: prediction of an elastic arm over a step, and taking readings in.

Layouts: ``observer_layout``. The prediction is exponential (``linear_algebra``): exact
for springs and friction as they are at the beginning of the step, of second order otherwise.
"""

import math

import numpy as np
from numba import njit

from geared_dynamics.kernels import elastic_layout as has
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels import linear_algebra, observer_layout, observer_linear
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.linear_algebra import add_scaled
from geared_dynamics.kernels.memory import Array, Pointer, keep, pointer, row, shift

# Part of their deviation that rows of friction have in a reading: friction stays within its level,
# so that many deviations of it are no more than one or two.
BOUNDED = 0.5


@njit(error_model="numpy")
def observer_transition(
    model: Array, springs: Array, drives: Array, state: Array, given: Array, out: Array
) -> int:
    """Predicted state (k,), acceleration (N,) at first, phi(A dt) and exp(A dt) (2N, 2N each)."""
    n, motors = int(springs[has.JOINTS]), int(springs[has.MOTORS])
    size = n + int(springs[has.SHAFTS])
    k, width = 3 * size, 8 * size * size
    if not (holds(out, k + size + width, model) and fits(state, k, out)):
        return at.WRONG_SHAPE
    if not fits(given, motors + n + 1, out):
        return at.WRONG_SHAPE
    if not (apart(state, out) and apart(given, out)):
        return at.OVERLAP
    bodies = int(model[at.BODIES])
    buffer = np.empty(k + motors + n + 1 + advance_size(size, motors, bodies))
    m, s, d, start = pointer(model), pointer(springs), pointer(drives), pointer(buffer)
    inputs, work = shift(start, k), shift(start, k + motors + n + 1)
    for e in range(states(out)):
        if not (gather(state, e, k, start) & gather(given, e, motors + n + 1, inputs)):
            return at.NOT_FINITE
        result = row(out, e)
        if not advance(m, s, d, bodies, start, inputs, 0.0, work, result):
            return at.NOT_POSITIVE
        for i in range(size):
            result[k + i] = work[i]
        both = shift(work, 3 * size * size + size)  # phi, then exp
        for i in range(width):
            result[k + size + i] = both[i]
        if not finite(result, k + size + width):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def observer_predict(
    model: Array,
    springs: Array,
    drives: Array,
    tuning: Array,
    state: Array,
    factor: Array,
    given: Array,
    out: Array,
) -> int:
    """Predicted state (k,), U (k k), readings (c,) and their variances without noise (c,).

    Behind U in ``factor`` may lie rows of what friction at rest leaves open; the result has
    them as well, and ``given`` goes on with what ``observer_linear`` needs.
    """
    n, motors = int(springs[has.JOINTS]), int(springs[has.MOTORS])
    shafts = int(springs[has.SHAFTS])
    size = n + shafts
    k, c = 3 * size, motors + n + shafts
    count = observer_linear.laws(factor.shape[-1] // k - k)
    rows, step = k + observer_layout.GROUPS * count, motors + n + 1
    whole = step + observer_linear.given_size(count, size)
    if count < 0 or not (holds(out, k + rows * k + 2 * c, model) and fits(state, k, out)):
        return at.WRONG_SHAPE
    if not (fits(factor, rows * k, out) and fits(given, whole, out)):
        return at.WRONG_SHAPE
    if tuning.size != observer_layout.tuning_size(k, c, size):
        return at.WRONG_SHAPE
    if not (apart(state, out) and apart(given, out) and apart(factor, out)):
        return at.OVERLAP
    bodies = int(model[at.BODIES])
    room = advance_size(size, motors, bodies)
    buffer = np.empty(k + whole + rows * k + room + spread_size(size) + (2 * size + 1) * count)
    m, s, d, start = pointer(model), pointer(springs), pointer(drives), pointer(buffer)
    inputs, before = shift(start, k), shift(start, k + whole)
    work = shift(before, rows * k)
    more, t = shift(work, room), pointer(tuning)
    pushes = shift(more, spread_size(size))
    for e in range(states(out)):
        if not (gather(state, e, k, start) & gather(given, e, whole, inputs)):
            return at.NOT_FINITE
        if not gather(factor, e, rows * k, before):
            return at.NOT_FINITE
        result, dt = row(out, e), inputs[motors + n]
        if not advance(m, s, d, bodies, start, inputs, inputs[motors + n], work, result):
            return at.NOT_POSITIVE
        U, shown = shift(result, k), shift(result, k + rows * k)
        spread(size, c, dt, t, work, before, more, U)
        if count > 0:
            columns, V = shift(more, k), shift(more, k + 4 * size * size)
            observer_linear.respond(
                size, count, dt, shift(inputs, step), shift(start, size), shift(result, size),
                shift(work, size), before, columns, V, pushes, shift(U, k * k),
            )  # fmt: skip
        for i in range(c):
            reading = shift(t, i * k)
            value = 0.0
            for j in range(k):
                value += reading[j] * result[j]
            shown[i] = value
            shown[c + i] = linear_algebra.spread(k, rows, U, reading, more)
            for j in range(k, rows):
                shown[c + i] -= (1.0 - BOUNDED * BOUNDED) * more[j] * more[j]
        if not finite(result, k + rows * k + 2 * c):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def observer_update(
    model: Array,
    springs: Array,
    tuning: Array,
    state: Array,
    factor: Array,
    readings: Array,
    used: Array,
    out: Array,
) -> int:
    """State (k,), U (k k) with the readings (c,) where used is 1, and their squares' sum (1,).

    The sum is of the squared innovations, each over its variance when its turn comes: the
    normalised innovation squared of all of them. Rows of what friction at rest leaves open
    follow U in ``factor`` and in the result, as many as there are.
    """
    n, motors = int(springs[has.JOINTS]), int(springs[has.MOTORS])
    shafts = int(springs[has.SHAFTS])
    size = n + shafts
    k, c = 3 * size, motors + n + shafts
    rows = factor.shape[-1] // k
    if rows < k or not (holds(out, k + rows * k + 1, model) and fits(state, k, out)):
        return at.WRONG_SHAPE
    if not (fits(factor, rows * k, out) and fits(readings, c, out) and fits(used, c, out)):
        return at.WRONG_SHAPE
    if tuning.size != observer_layout.tuning_size(k, c, size):
        return at.WRONG_SHAPE
    if not (apart(state, out) and apart(factor, out)):
        return at.OVERLAP
    if not (apart(readings, out) and apart(used, out)):
        return at.OVERLAP
    buffer = np.empty(rows + k + 2 * c)
    spare, t = pointer(buffer), pointer(tuning)
    values, chosen = shift(spare, rows + k), shift(spare, rows + k + c)
    noise = shift(t, observer_layout.noise_at(k, c, size))
    for e in range(states(out)):
        result = row(out, e)
        U = shift(result, k)
        if not (gather(state, e, k, result) & gather(factor, e, rows * k, U)):
            return at.NOT_FINITE
        if not (gather(readings, e, c, values) & gather(used, e, c, chosen)):
            return at.NOT_FINITE
        total = 0.0
        for i in range(c):
            if chosen[i] != 0.0:
                reading = shift(t, i * k)
                total += linear_algebra.absorb(
                    k, rows, result, U, reading, noise[i], values[i], spare
                )
        result[k + rows * k] = total
        if not finite(result, k + rows * k + 1):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(inline="always")
def advance_size(size: int, motors: int, bodies: int) -> int:
    """Numbers of work that ``advance`` needs; its first ones are results of use to others."""
    square = size * size
    slopes = observer_linear.work_size(size, motors, bodies)
    return 2 * size + 11 * square + max(slopes, linear_algebra.exponential_size(size))


@njit(error_model="numpy")
def advance(
    model: Pointer,
    springs: Pointer,
    drives: Pointer,
    bodies: int,
    state: Pointer,
    given: Pointer,
    ahead: float,
    work: Pointer,
    out: Pointer,
) -> bool:
    """Predicted state (k,); work: a, H^-1, da/dx, da/dx', phi and exp (2N, 2N).

    The slope of friction is the secant over the time ahead; the tangent where that is zero.
    """
    n, motors = int(springs[has.JOINTS]), int(springs[has.MOTORS])
    size = n + int(springs[has.SHAFTS])
    square, width = size * size, 2 * size
    dt, phi = given[motors + n], shift(work, size + 3 * square)
    whole, outside = shift(phi, 4 * square), shift(phi, 8 * square)
    rest = shift(outside, size)
    for i in range(size):
        outside[i] = state[width + i] + (given[motors + i] if i < n else 0.0)
        out[width + i] = state[width + i]
    rate = shift(state, size)
    if not observer_linear.linearise(
        model, springs, drives, bodies, state, rate, outside, given, ahead, rest, work
    ):
        return False
    by_x, by_rate = shift(work, size + square), shift(work, size + 2 * square)
    linear_algebra.exponential(size, dt, by_x, by_rate, rest, phi, whole)
    for i in range(width):
        change = 0.0
        for j in range(size):
            change += phi[i * width + j] * rate[j] + phi[i * width + size + j] * work[j]
        out[i] = state[i] + dt * change
    return True


@njit(inline="always")
def spread_size(size: int) -> int:
    """Numbers of work that ``spread`` needs."""
    k = 3 * size
    return k + 6 * size * size + (k + 2 * size) * k


@njit(error_model="numpy")
def spread(
    size: int,
    c: int,
    dt: float,
    tuning: Pointer,
    found: Pointer,
    before: Pointer,
    work: Pointer,
    U: Pointer,
) -> None:
    """Set U to the root of F P F' + noise, from the root before; found as ``advance`` left it.

    F moves the unaccounted force d into the state by V = phi [0; H^-1]: z += dt V d. Torque noise
    enters the same way, constant over a step.
    """
    k, width, square = 3 * size, 2 * size, size * size
    inverted, phi = shift(found, size), shift(found, size + 3 * square)
    whole = shift(phi, 4 * square)
    columns, V, W = shift(work, k), shift(work, k + width * width), work
    W = shift(work, k + width * width + size * width)
    for i in range(width):  # rows become columns: V and exp, transposed
        for j in range(width):
            columns[j * width + i] = whole[i * width + j]
        for j in range(size):
            V[j * width + i] = 0.0
            for e in range(size):
                V[j * width + i] += phi[i * width + size + e] * inverted[e * size + j]
    for r in range(k):
        target = shift(W, r * k)
        for j in range(k):
            target[j] = before[r * k + j] if j >= width else 0.0
        for i in range(width):
            add_scaled(width, before[r * k + i], shift(columns, i * width), target)
        for i in range(size):
            add_scaled(width, dt * before[r * k + width + i], shift(V, i * width), target)
    rows = k + noise_rows(size, c, dt, tuning, V, shift(W, k * k))
    linear_algebra.triangularise(rows, k, W, work)
    for e in range(k * k):
        U[e] = W[e]


@njit(error_model="numpy")
def noise_rows(size: int, c: int, dt: float, tuning: Pointer, V: Pointer, out: Pointer) -> int:
    """Rows of noise over a step; return how many there are."""
    k, width, count, root = 3 * size, 2 * size, 0, math.sqrt(dt)
    torque = shift(tuning, observer_layout.torque_at(k, c))
    walk = shift(tuning, observer_layout.walk_at(k, c, size))
    for i in range(2 * size):
        strength = torque[i] if i < size else walk[i - size]
        if strength > 0.0:
            target = shift(out, count * k)
            for j in range(k):
                target[j] = 0.0
            if i < size:
                add_scaled(width, root * strength, shift(V, i * width), target)
            else:
                target[width + i - size] = root * strength
            count += 1
    return count
