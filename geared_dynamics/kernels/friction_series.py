"""Friction of the joints as a power series in time: the law of ``friction``, coefficient-wise.

Functions of a series follow from their differential equations: with x' the rate of x,

    (tanh x)' = (1 - tanh^2 x) x',   (exp x)' = x' exp x,

and sine and cosine as in ``series``. The sides of the law (v < 0, v >= 0) are chosen at the
moment the series begins at.
"""

import math

from numba import njit

from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.kernels.kinds import Pointer
from geared_dynamics.kernels.memory import shift
from geared_dynamics.kernels.series import product_at, store_cos_sin

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
