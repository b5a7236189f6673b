"""Functions and their derivatives by a tape: sums, products and so on, one after the other.

The tape is a constant array, made once for a model (``trace.joined``). A state's numbers lie in a
row: the inputs, the tape's constants, then the value of each instruction.
"""

import math

import numpy as np
from numba import njit

from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.memory import Array, Pointer, keep, pointer, row, shift

# Header: how many constants, instructions and results there are, which follow in this order; and
# the number of inputs.
CONSTANTS, INSTRUCTIONS, RESULTS, INPUTS, HEADER_SIZE = 0, 1, 2, 3, 4
# An instruction: what to do, and the places of its two arguments in the row. WHERE gives its
# second argument where the first is not zero, else zero.
ADD, SUBTRACT, MULTIPLY, SIN, COS, DIVIDE, WHERE, LESS, AT_MOST, EQUAL = range(10)
SQRT, TANH, EXP, LOG, EXPM1, ABS, ROUND = range(10, 17)
INSTRUCTION_SIZE = 3
# Which of the comparisons of equal numbers counts as "below": none, or by its instruction.
NONE = -1
# Two values of a derivative differ: of their own size, and of the largest result.
OWN, LARGEST = 1e-9, 1e-12
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
        play(instructions, count, 3 * n + constants, NONE, x)
        result = row(out, k)
        for e in range(width):
            result[e] = results[e * RESULT_SIZE + 1] * x[int(results[e * RESULT_SIZE])]
        if not finite(result, width):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def tape_values(model: Array, tape: Array, given: Array, out: Array) -> int:
    """Results (r,) of a tape for its inputs, then 0; a row for each of K states.

    Where a comparison of the tape is between equal numbers, its branches meet: the results are
    computed with the other one too, for each such comparison and for all at once. Where they
    differ, the function jumps or has no derivative, and the last number is the place of the
    first such result, counted from 1.
    """
    width, size = int(tape[RESULTS]), int(tape[INPUTS])
    if not (holds(out, width + 1, model) and fits(given, size, out)):
        return at.WRONG_SHAPE
    if not apart(given, out):
        return at.OVERLAP
    constants, count = int(tape[CONSTANTS]), int(tape[INSTRUCTIONS])
    buffer = np.empty(size + constants + 2 * count + width)
    t, x = pointer(tape), pointer(buffer)
    start = size + constants
    for k in range(constants):
        x[size + k] = t[HEADER_SIZE + k]
    instructions = shift(t, HEADER_SIZE + constants)
    results = shift(instructions, count * INSTRUCTION_SIZE)
    meetings, other = shift(x, start + count), shift(x, start + 2 * count)
    for k in range(states(given)):
        if not gather(given, k, size, x):
            return at.NOT_FINITE
        result = row(out, k)
        play(instructions, count, start, NONE, x)
        take(results, width, x, result)
        result[width] = 0.0
        met = find_meetings(instructions, count, x, meetings)
        for meeting in range(met + 1 if met > 0 else 0):
            flipped = count if meeting == met else int(meetings[meeting])
            play(instructions, count, start, flipped, x)
            take(results, width, x, other)
            if result[width] == 0.0:
                result[width] = first_apart(width, result, other)
        if not finite(result, width):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def take(results: Pointer, width: int, x: Pointer, out: Pointer) -> None:
    """Copy the results out of the row, with their signs."""
    for e in range(width):
        out[e] = results[e * RESULT_SIZE + 1] * x[int(results[e * RESULT_SIZE])]


@njit(error_model="numpy")
def first_apart(width: int, one: Pointer, other: Pointer) -> float:
    """Place of the first result that differs, counted from 1; 0 if none does."""
    largest = 0.0
    for e in range(width):
        largest = max(largest, abs(one[e]))
    for e in range(width):
        gap = abs(one[e] - other[e])
        if not (gap <= OWN * (abs(one[e]) + abs(other[e])) or gap <= LARGEST * largest):
            return e + 1.0
    return 0.0


@njit(error_model="numpy")
def find_meetings(instructions: Pointer, count: int, x: Pointer, out: Pointer) -> int:
    """Write which instructions compare equal numbers; return how many do."""
    met = 0
    for k in range(count):
        e = k * INSTRUCTION_SIZE
        if LESS <= instructions[e] <= EQUAL:
            if x[int(instructions[e + 1])] == x[int(instructions[e + 2])]:
                out[met] = k
                met += 1
    return met


@njit(error_model="numpy")
def play(instructions: Pointer, count: int, start: int, flipped: int, x: Pointer) -> None:
    """Put the value of each instruction into the row, from ``start`` on.

    Where equal numbers are compared, the instruction ``flipped`` takes the first as below the
    second, all of them if that is ``count``.
    """
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
        elif what == COS:
            value = math.cos(first)
        elif what == DIVIDE:
            value = first / second
        elif what == WHERE:
            value = second if first != 0.0 else 0.0
        elif what <= EQUAL:
            below = flipped == k or flipped == count
            if first != second:
                below = what != EQUAL and first < second
            value = 1.0 if below else 0.0
        else:
            value = function(what, first)
        x[start + k] = value


@njit(error_model="numpy")
def function(what: int, x: float) -> float:
    """Value of one of the functions SQRT to ROUND."""
    if what == SQRT:
        return math.sqrt(x)
    if what == TANH:
        return math.tanh(x)
    if what == EXP:
        return math.exp(x)
    if what == LOG:
        return math.log(x)
    if what == EXPM1:
        return math.expm1(x)
    if what == ABS:
        return abs(x)
    return float(np.rint(x))
