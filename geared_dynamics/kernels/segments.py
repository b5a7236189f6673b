"""A segment of a reference at one time: ``segment_values`` of ``trajectory`` as a kernel.

A loop evaluates two of them in each cycle, and NumPy takes longer than a law for that.
"""

import numpy as np
from numba import njit

from geared_dynamics.kernels import layout
from geared_dynamics.kernels.border import apart, holds
from geared_dynamics.kernels.kinds import Array
from geared_dynamics.kernels.memory import keep, pointer

TERMS = 6  # powers of the time, from 0 on


@njit(error_model="numpy")
def segment_values(table: Array, x: float, out: Array) -> int:
    """Set out (k,) to sum_p table[p] x^p, with the table's rows (k,) one behind the other.

    Args:
        table: What the powers are multiplied by (6 k,).
        x: Time since the segment's start [s].
        out: Values (k,), or of any shape with as many numbers.
    """
    count = out.size
    if table.size != TERMS * count or not holds(out, out.shape[-1], table):
        return layout.WRONG_SHAPE
    if not apart(table, out):
        return layout.OVERLAP
    buffer = np.empty(TERMS)
    power, row, value = pointer(buffer), pointer(table), pointer(out)
    power[0] = 1.0
    for p in range(1, TERMS):
        power[p] = power[p - 1] * x
    for i in range(count):
        value[i] = row[i]
    for p in range(1, TERMS):
        for i in range(count):
            value[i] += power[p] * row[p * count + i]
    return keep(buffer, layout.OK)
