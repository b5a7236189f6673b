"""Forces of rigid contacts: 0 <= F, 0 <= w = X'X F + b, F w = 0, or w = 0 for both signs of F.

X = L^-1 J', with the mass matrix L L', has a column per coordinate; what a support of mass m_e
adds stands below, 1/sqrt(m_e) in a place of its own. Sets of columns are orthonormalised, so
that errors grow with the condition of X and not with its square.
"""

import math

from numba import njit

from geared_dynamics.kernels.kinds import Pointer
from geared_dynamics.kernels.linear_algebra import add_scaled, inner
from geared_dynamics.kernels.memory import shift

# What a coordinate is at a state; HELD is TOUCHING, but pulls without friction where that opens.
OPEN, EQUAL, TOUCHING, KNOWN, HELD = 0, 1, 2, 3, 4
DEPENDS = 1e-8  # a column whose part beside the others is smaller, relative to it, is one of them
ROUNDING = 1e-13  # of w, relative to the largest |b|
FOUND, STUCK = -1, -2


@njit(error_model="numpy")
def orthonormalise(
    size: int, X: Pointer, chosen: Pointer, count: int, rows: int, Q: Pointer, T: Pointer
) -> int:
    """X[chosen] = Q T with orthonormal Q (Gram-Schmidt, twice); FOUND, or the dependent one.

    Args:
        size: Length of a column.
        X: Columns, one after the other.
        chosen: Which columns, ``count`` of them.
        count: Their number.
        rows: Leading dimension of T.
        Q: Result, ``count`` columns.
        T: Upper triangle, by rows.
    """
    for j in range(count):
        column = shift(Q, j * size)
        source = shift(X, int(chosen[j]) * size)
        for e in range(size):
            column[e] = source[e]
        whole = inner(size, column, column)
        for i in range(j):
            T[i * rows + j] = 0.0
        for _ in range(2):
            for i in range(j):
                part = inner(size, shift(Q, i * size), column)
                add_scaled(size, -part, shift(Q, i * size), column)
                T[i * rows + j] += part
        length = inner(size, column, column)
        if not length > DEPENDS * DEPENDS * whole:
            return j
        length = math.sqrt(length)
        T[j * rows + j] = length
        for e in range(size):
            column[e] /= length
    return FOUND


@njit(error_model="numpy")
def equalities(
    size: int,
    chosen: Pointer,
    count: int,
    rows: int,
    Q: Pointer,
    T: Pointer,
    b: Pointer,
    F: Pointer,
    y: Pointer,
) -> None:
    """Forces F of the chosen columns with w = 0 there, and y = X F: T'z = -b, T F = z, y = Q z."""
    for e in range(size):
        y[e] = 0.0
    for j in range(count):
        z = -b[int(chosen[j])]
        for i in range(j):
            z -= T[i * rows + j] * F[int(chosen[i])]
        z /= T[j * rows + j]
        F[int(chosen[j])] = z
        add_scaled(size, z, shift(Q, j * size), y)
    for j in range(count - 1, -1, -1):
        z = F[int(chosen[j])]
        for i in range(j + 1, count):
            z -= T[j * rows + i] * F[int(chosen[i])]
        F[int(chosen[j])] = z / T[j * rows + j]


@njit(error_model="numpy")
def complementary(
    size: int,
    rows: int,
    X: Pointer,
    state: Pointer,
    b: Pointer,
    work: Pointer,
    F: Pointer,
    y: Pointer,
) -> int:
    """Forces of all coordinates; FOUND, the index of a dependent one, or STUCK.

    First all that approach (b < 0) are tried together. Where a force would pull, the forces
    are found one by one (Lawson and Hanson), which ends after finitely many steps.

    Args:
        size: Length of a column.
        rows: Number of columns.
        X: The columns.
        state: OPEN, EQUAL or TOUCHING, of each.
        b: w without forces.
        work: Scratch, ``rows`` (size + rows + 2).
        F: Result, forces; 0 of what is open.
        y: Result, X F.
    """
    Q, T = work, shift(work, rows * size)
    chosen, trial = shift(T, rows * rows), shift(T, rows * rows + rows)
    largest, count = 0.0, 0
    for i in range(rows):
        F[i] = 0.0
        if state[i] == EQUAL or (state[i] == TOUCHING and b[i] < 0.0):
            chosen[count] = i
            count += 1
        if state[i] != OPEN:
            largest = max(largest, abs(b[i]))
    failed = orthonormalise(size, X, chosen, count, rows, Q, T)
    if failed != FOUND:
        return int(chosen[failed])
    equalities(size, chosen, count, rows, Q, T, b, F, y)
    if settled(size, rows, X, state, b, F, y, ROUNDING * largest) == FOUND:
        return FOUND
    count = 0
    for i in range(rows):
        F[i] = 0.0
        if state[i] == EQUAL:
            chosen[count] = i
            count += 1
    return one_by_one(size, rows, X, state, b, ROUNDING * largest, chosen, count, trial, F, y, Q)


@njit(error_model="numpy")
def settled(
    size: int,
    rows: int,
    X: Pointer,
    state: Pointer,
    b: Pointer,
    F: Pointer,
    y: Pointer,
    rounding: float,
) -> int:
    """FOUND where no force pulls and nothing approaches, else the coordinate that does most."""
    worst, which = -rounding, FOUND
    for i in range(rows):
        if state[i] == TOUCHING:
            if F[i] < 0.0:
                return i
            if F[i] == 0.0:
                w = b[i] + inner(size, shift(X, i * size), y)
                if w < worst:
                    worst, which = w, i
    return which


@njit(error_model="numpy")
def one_by_one(
    size: int,
    rows: int,
    X: Pointer,
    state: Pointer,
    b: Pointer,
    rounding: float,
    chosen: Pointer,
    count: int,
    trial: Pointer,
    F: Pointer,
    y: Pointer,
    Q: Pointer,
) -> int:
    """Add what approaches most; take out again what would pull, on the way there."""
    T, added = shift(Q, rows * size), False
    for _ in range(20 * rows + 20):
        failed = orthonormalise(size, X, chosen, count, rows, Q, T)
        if failed != FOUND:
            return int(chosen[failed])
        equalities(size, chosen, count, rows, Q, T, b, trial, y)
        reach, leaving = 1.0, FOUND
        for j in range(count):
            i = int(chosen[j])
            if state[i] == TOUCHING and trial[i] <= 0.0:
                step = F[i] / (F[i] - trial[i]) if F[i] > trial[i] else 0.0
                if step <= reach:
                    reach, leaving = step, j
        for j in range(count):
            i = int(chosen[j])
            F[i] += reach * (trial[i] - F[i])
        if leaving != FOUND:
            F[int(chosen[leaving])] = 0.0
            if reach == 0.0 and leaving == count - 1 and added:
                # In exact numbers what is added pushes: w was below zero by rounding alone.
                equalities(size, chosen, count - 1, rows, Q, T, b, F, y)
                return FOUND
            added = False
            for j in range(leaving, count - 1):
                chosen[j] = chosen[j + 1]
            count -= 1
            continue
        which = settled(size, rows, X, state, b, F, y, rounding)
        if which == FOUND:
            return FOUND
        chosen[count] = which
        count, added = count + 1, True
    return STUCK
