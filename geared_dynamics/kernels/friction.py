"""Friction as control needs it: smooth in the rate. See FrictionRecord for the law."""

import math

import numpy as np
from numba import njit

from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.kernels import layout
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.kinds import Array, Pointer
from geared_dynamics.kernels.memory import keep, pointer, row, shift


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
