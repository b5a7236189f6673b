"""Friction as control needs it: smooth in the rate, at one state and as a power series in time.

See FrictionRecord for the law.
"""

import math

import numpy as np
from numba import njit

from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.kernels import layout
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.memory import Array, Pointer, keep, pointer, row, shift
from geared_dynamics.kernels.series import product_at, store_cos_sin


@njit(error_model="numpy")
def friction_forces(
    model: Array, drives: Array, q: Array, v: Array, tau: Array, out: Array
) -> int:
    """Joint friction (n,) at positions q, rates v and loads tau (n,), or (K, n) of each."""
    n = int(model[layout.COORDINATES])
    if not (holds(out, n, model) and fits(q, n, out) and fits(v, n, out) and fits(tau, n, out)):
        return layout.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out) and apart(tau, out)):
        return layout.OVERLAP
    buffer = np.empty(3 * n)
    d, x = pointer(drives), pointer(buffer)
    for k in range(states(q)):
        if not (
            gather(q, k, n, x) & gather(v, k, n, shift(x, n)) & gather(tau, k, n, shift(x, 2 * n))
        ):
            return layout.NOT_FINITE
        for i in range(n):
            row(out, k)[i] = 0.0
        add_joint_friction(d, x, shift(x, n), shift(x, 2 * n), row(out, k))
        if not finite(row(out, k), n):
            return layout.OVERFLOW
    return keep(buffer, layout.OK)


@njit(error_model="numpy")
def add_joint_friction(
    drives: Pointer, q: Pointer, v: Pointer, load: Pointer, out: Pointer
) -> None:
    """Add the joints' friction to out (n,); a mimic's acts on its leader's coordinate."""
    for law in range(int(drives[at.JOINT_LAWS]), int(drives[at.JOINT_LAWS_END]), at.LAW_SIZE):
        d = int(drives[law + at.INDEX])
        k = drives[law + at.MULTIPLIER]
        position = k * q[d] + drives[law + at.SHIFT]
        out[d] += k * force(drives, law, k * v[d], position, abs(load[d]))


@njit(error_model="numpy")
def force(drives: Pointer, law: int, rate: float, position: float, load: float) -> float:
    """Friction force at a rate, a position and a load's magnitude."""
    total = without_sign(drives, law, rate, position)
    magnitude = level(drives, law, rate, rate, load)
    if magnitude != 0.0:
        total += magnitude * direction(rate, drives[law + at.ROUNDING])
    return total


@njit(error_model="numpy")
def base_and_slope(
    drives: Pointer, law: int, rate: float, position: float, sign: float
) -> tuple[float, float]:
    """``force`` as base + slope load, with any number for the sign of the rate."""
    base = without_sign(drives, law, rate, position) + level(drives, law, sign, rate, 0.0) * sign
    return base, drives[law + at.LOAD] * sign


@njit(error_model="numpy")
def without_sign(drives: Pointer, law: int, rate: float, position: float) -> float:
    """What does not depend on the sign of the rate: viscous friction, offset, ripples."""
    total = drives[law + at.VISCOUS] * rate + drives[law + at.OFFSET]
    for r in range(
        int(drives[law + at.RIPPLES]), int(drives[law + at.RIPPLES_END]), at.RIPPLE_SIZE
    ):
        total += drives[r + 1] * math.sin(drives[r] * position + drives[r + 2])
    return total


@njit(error_model="numpy")
def level(drives: Pointer, law: int, sign: float, rate: float, load: float) -> float:
    """What multiplies the sign of the rate: Coulomb, Stribeck and load-dependent friction."""
    side = 0 if sign >= 0.0 else 1
    total = drives[law + at.COULOMB + side] + drives[law + at.LOAD] * load
    excess = drives[law + at.EXCESS + side]
    if excess != 0.0:
        x = rate / drives[law + at.STRIBECK_SPEED]
        total += excess * math.exp(-x * x)
    return total


@njit(error_model="numpy")
def direction(rate: float, rounding: float) -> float:
    """Smooth sign of the rate: tanh(rate / rounding), or the sign where rounding is 0."""
    if rounding > 0.0:
        # Beyond 20 the tanh is 1 to the last digit, and dear.
        x = rate / rounding
        if abs(x) < 20.0:
            return math.tanh(x)
    return 1.0 if rate > 0.0 else (-1.0 if rate < 0.0 else 0.0)


@njit(error_model="numpy")
def direction_slope(rate: float, rounding: float) -> float:
    """Derivative of ``direction`` by the rate; 0 where the sign jumps."""
    if rounding > 0.0:
        x = rate / rounding
        if abs(x) < 20.0:
            t = math.tanh(x)
            return (1.0 - t * t) / rounding
    return 0.0


@njit(error_model="numpy")
def force_change(
    drives: Pointer,
    law: int,
    rate: float,
    change: float,
    position: float,
    load: float,
    load_change: float,
) -> float:
    """Time derivative of ``force`` where the rate changes by ``change`` and the load by its own.

    ``load`` and ``load_change`` are those of the load's magnitude.
    """
    side = 0 if rate >= 0.0 else 1
    rounding = drives[law + at.ROUNDING]
    total = drives[law + at.VISCOUS] * change
    total += level(drives, law, rate, rate, load) * direction_slope(rate, rounding) * change
    slope = drives[law + at.LOAD] * load_change
    excess = drives[law + at.EXCESS + side]
    if excess != 0.0:
        speed = drives[law + at.STRIBECK_SPEED]
        x = rate / speed
        slope -= 2.0 * x / speed * excess * math.exp(-x * x) * change
    total += slope * direction(rate, rounding)
    for r in range(
        int(drives[law + at.RIPPLES]), int(drives[law + at.RIPPLES_END]), at.RIPPLE_SIZE
    ):
        total += drives[r + 1] * drives[r] * rate * math.cos(drives[r] * position + drives[r + 2])
    return total


# -- Friction of the joints as a power series in time ---------------------------------------------
#
# Functions of a series follow from their differential equations: with x' the rate of x,
#
#     (tanh x)' = (1 - tanh^2 x) x',   (exp x)' = x' exp x,
#
# and sine and cosine as in ``series``. The sides of the law (v < 0, v >= 0) are chosen at the
# moment the series begins at.


# Scratch series: rate, sign of it, its square, magnitude, an exponent and its exponential
# (or the cosine and sine of a ripple), rate of a ripple.
RATE, SIGN, SQUARE, LEVEL, EXPONENT, POWER, TURNING, SIZE = 0, 1, 2, 3, 4, 5, 6, 7


@njit(error_model="numpy")
def add_joint_friction_series(
    drives: Pointer,
    n: int,
    order: int,
    path: Pointer,
    tau: Pointer,
    load: Pointer,
    scratch: Pointer,
) -> None:
    """Add the coefficients of the joints' friction to tau, (order + 1, n).

    Args:
        drives: Packed drives.
        n: Coordinates in a row of the series.
        order: Highest coefficient.
        path: Coefficients of the positions, (order + 2, n).
        tau: Those of the force before friction, in and out.
        load: Room for (order + 1, n).
        scratch: Room for (order + 2) * SIZE.
    """
    for e in range((order + 1) * n):
        load[e] = tau[e]
    for law in range(int(drives[at.JOINT_LAWS]), int(drives[at.JOINT_LAWS_END]), at.LAW_SIZE):
        d = int(drives[law + at.INDEX])
        k = drives[law + at.MULTIPLIER]
        for m in range(order + 1):
            scratch[m * SIZE + RATE] = k * (m + 1) * path[(m + 1) * n + d]
        store_sign(scratch, drives[law + at.ROUNDING], order)
        store_level(drives, law, n, order, shift(load, d), scratch)
        for m in range(order + 1):
            total = drives[law + at.VISCOUS] * scratch[m * SIZE + RATE]
            total += product_at(scratch, LEVEL, SIGN, m, SIZE)
            tau[m * n + d] += k * total
        tau[d] += k * drives[law + at.OFFSET]
        position = k * path[d] + drives[law + at.SHIFT]
        for r in range(
            int(drives[law + at.RIPPLES]), int(drives[law + at.RIPPLES_END]), at.RIPPLE_SIZE
        ):
            angle = drives[r] * position + drives[r + 2]
            for m in range(order + 1):
                scratch[m * SIZE + TURNING] = drives[r] * scratch[m * SIZE + RATE]
            store_cos_sin(scratch, EXPONENT, POWER, angle, TURNING, order + 1, SIZE)
            for m in range(order + 1):
                tau[m * n + d] += k * drives[r + 1] * scratch[m * SIZE + POWER]


@njit(error_model="numpy")
def store_sign(x: Pointer, rounding: float, order: int) -> None:
    """Write the series of tanh(rate / rounding), or of the sign where rounding is 0."""
    for m in range(order + 1):
        x[m * SIZE + SIGN] = 0.0
        x[m * SIZE + SQUARE] = 0.0
    # As in ``direction``: beyond 20 the tanh is 1 to the last digit.
    if rounding > 0.0 and abs(x[RATE]) < 20.0 * rounding:
        x[SIGN] = math.tanh(x[RATE] / rounding)
        x[SQUARE] = x[SIGN] * x[SIGN]
        for m in range(1, order + 1):
            total = m * x[m * SIZE + RATE] / rounding
            for j in range(m):
                change = (j + 1) * x[(j + 1) * SIZE + RATE] / rounding
                total -= x[(m - 1 - j) * SIZE + SQUARE] * change
            x[m * SIZE + SIGN] = total / m
            x[m * SIZE + SQUARE] = product_at(x, SIGN, SIGN, m, SIZE)
    else:
        x[SIGN] = 1.0 if x[RATE] > 0.0 else (-1.0 if x[RATE] < 0.0 else 0.0)


@njit(error_model="numpy")
def store_level(drives: Pointer, law: int, n: int, order: int, load: Pointer, x: Pointer) -> None:
    """Write the series of coulomb + excess exp(-(rate / speed)^2) + share |load|."""
    side = 0 if x[RATE] >= 0.0 else 1
    share = math.copysign(drives[law + at.LOAD], load[0])
    for m in range(order + 1):
        x[m * SIZE + LEVEL] = share * load[m * n]
    x[LEVEL] += drives[law + at.COULOMB + side]
    excess = drives[law + at.EXCESS + side]
    if excess == 0.0:
        return
    speed = drives[law + at.STRIBECK_SPEED]
    for m in range(order + 1):
        x[m * SIZE + EXPONENT] = -product_at(x, RATE, RATE, m, SIZE) / (speed * speed)
    x[POWER] = math.exp(x[EXPONENT])
    x[LEVEL] += excess * x[POWER]
    for m in range(1, order + 1):
        total = 0.0
        for j in range(m):
            total += (j + 1) * x[(j + 1) * SIZE + EXPONENT] * x[(m - 1 - j) * SIZE + POWER]
        x[m * SIZE + POWER] = total / m
        x[m * SIZE + LEVEL] += excess * x[m * SIZE + POWER]
