"""Friction of the rotors at given speeds, as ``friction`` has it for the joints."""

import numpy as np
from numba import njit

from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.kernels import layout
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.drive import motor_at
from geared_dynamics.kernels.friction import force
from geared_dynamics.kernels.kinds import Array
from geared_dynamics.kernels.memory import keep, pointer, row, shift


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
