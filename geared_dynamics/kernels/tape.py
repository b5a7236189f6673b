"""Derivatives of the inverse dynamics by a tape: sums and products, one after the other.

The tape is a constant array, made once for a model (``trace.derivatives``). A state's numbers lie
in a row: the inputs, the tape's constants, then the value of each instruction.
"""

import math

import numpy as np
from numba import njit

from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.kinds import Array, Pointer
from geared_dynamics.kernels.memory import keep, pointer, row, shift

# Header: how many constants, instructions and results there are, which follow in this order.
CONSTANTS, INSTRUCTIONS, RESULTS, HEADER_SIZE = 0, 1, 2, 3
# An instruction: what to do, and the places of its two arguments in the row.
ADD, SUBTRACT, MULTIPLY, SIN, COS = 0, 1, 2, 3, 4
INSTRUCTION_SIZE = 3
RESULT_SIZE = 2  # place in the row, sign


@njit(error_model="numpy")
def inverse_dynamics_slopes(
    model: Array, tape: Array, q: Array, v: Array, a: Array, out: Array
) -> int:
    """Force (n,), its derivatives by q, v, a, by rows (n n,) each; a row for each of K states."""
    n, width = int(model[at.COORDINATES]), int(tape[RESULTS])
    if not (holds(out, width, model) and fits(q, n, out) and fits(v, n, out) and fits(a, n, out)):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out) and apart(a, out)):
        return at.OVERLAP
    constants, count = int(tape[CONSTANTS]), int(tape[INSTRUCTIONS])
    buffer = np.empty(3 * n + constants + count)
    t, x = pointer(tape), pointer(buffer)
    for k in range(constants):
        x[3 * n + k] = t[HEADER_SIZE + k]
    instructions = shift(t, HEADER_SIZE + constants)
    results = shift(instructions, count * INSTRUCTION_SIZE)
    for k in range(states(q)):
        if not (
            gather(q, k, n, x) & gather(v, k, n, shift(x, n)) & gather(a, k, n, shift(x, 2 * n))
        ):
            return at.NOT_FINITE
        play(instructions, count, 3 * n + constants, x)
        result = row(out, k)
        for e in range(width):
            result[e] = results[e * RESULT_SIZE + 1] * x[int(results[e * RESULT_SIZE])]
        if not finite(result, width):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def play(instructions: Pointer, count: int, start: int, x: Pointer) -> None:
    """Put the value of each instruction into the row, from ``start`` on."""
    for k in range(count):
        e = k * INSTRUCTION_SIZE
        what = int(instructions[e])
        first, second = x[int(instructions[e + 1])], x[int(instructions[e + 2])]
        if what == MULTIPLY:
            value = first * second
        elif what == ADD:
            value = first + second
        elif what == SUBTRACT:
            value = first - second
        elif what == SIN:
            value = math.sin(first)
        else:
            value = math.cos(first)
        x[start + k] = value
