"""Forces of rigid contacts: 0 <= F, 0 <= w = X'X F + b, F w = 0, or w = 0 for both signs of F.

X = L^-1 J', with the mass matrix L L', has a column per coordinate; what a support of mass m_e
adds stands below, 1/sqrt(m_e) in a place of its own. Sets of columns are orthonormalised, so
that errors grow with the condition of X and not with its square.
"""

import math

from numba import njit

from geared_dynamics.kernels.linear_algebra import add_scaled, inner
from geared_dynamics.kernels.memory import Pointer, shift

# What a coordinate is at a state; HELD is TOUCHING, but pulls without friction where that opens.
OPEN, EQUAL, TOUCHING, KNOWN, HELD = 0, 1, 2, 3, 4
DEPENDS = 1e-8  # a column whose part beside the others is smaller, relative to it, is one of them
ROUNDING = 1e-13  # of w or a force, relative to the largest |b|
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
def project_out(deep: int, Q: Pointer, held: int, column: Pointer) -> None:
    """Take the span of what is held out of a column; what was all in it becomes zero."""
    whole = inner(deep, column, column)
    for _ in range(2):
        for h in range(held):
            part = inner(deep, shift(Q, h * deep), column)
            add_scaled(deep, -part, shift(Q, h * deep), column)
    if not inner(deep, column, column) > DEPENDS * DEPENDS * whole:
        for e in range(deep):
            column[e] = 0.0


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


# -- All contacts that slide with Coulomb friction, the others' forces as they are ----------------
#
# Of each the direction of sliding is known, so that F_t = -mu |F_n| d leaves one unknown.


LEAST = 1e-12  # of the largest mobility: a pivot below it is none
MOST = 12  # contacts of which all combinations of sliding are tried

SOLVED = 0


@njit(error_model="numpy")
def slides(k: int, sliding: Pointer) -> bool:
    """Whether contact k slides."""
    return sliding[2 * k] != 0.0 or sliding[2 * k + 1] != 0.0


@njit(error_model="numpy")
def all_sliding(
    count: int,
    G: Pointer,
    kinds: Pointer,
    b: Pointer,
    sliding: Pointer,
    mu: float,
    work: Pointer,
    F: Pointer,
) -> int:
    """Forces of all contacts that slide, of the others as they are.

    Each pushes or is open, or pushes or pulls where it may. First what fails is changed, one by
    one; then all combinations are tried: SOLVED, or 1 + a contact without a force.
    """
    which, size = shift(work, count * (count + 1)), 3 * count
    number = 0
    for k in range(count):
        if slides(k, sliding) and kinds[k] != OPEN:
            along = shift(F, 3 * k)
            if kinds[k] == KNOWN:
                along[1] = -mu * abs(along[0]) * sliding[2 * k]
                along[2] = -mu * abs(along[0]) * sliding[2 * k + 1]
            else:
                which[number] = k
                number += 1
                along[0], along[1], along[2] = 0.0, 0.0, 0.0
    if number == 0:
        return SOLVED
    free = shift(which, count)
    for i in range(number):
        row = 3 * int(which[i])
        free[i] = b[row] + inner(size, shift(G, row * size), F)
    choice = 0
    for _ in range(20 * number):
        failed = combination(number, count, choice, G, kinds, sliding, mu, which, free, work, F)
        if failed == FOUND:
            return SOLVED
        choice ^= 1 << failed
    if number <= MOST:
        for choice in range(1 << number):
            if (
                combination(number, count, choice, G, kinds, sliding, mu, which, free, work, F)
                == FOUND
            ):
                return SOLVED
    return 1 + int(which[0])


@njit(error_model="numpy")
def combination(
    number: int,
    count: int,
    choice: int,
    G: Pointer,
    kinds: Pointer,
    sliding: Pointer,
    mu: float,
    which: Pointer,
    free: Pointer,
    work: Pointer,
    F: Pointer,
) -> int:
    """Forces of a choice: bit j of which[j], set: it pushes, or pulls; FOUND, or what fails."""
    size = 3 * count
    M, f, largest = work, shift(work, number * number), 0.0
    for i in range(number):
        row = shift(G, 3 * int(which[i]) * size)
        active = choice >> i & 1 or kinds[int(which[i])] != TOUCHING
        f[i] = -free[i] if active else 0.0
        largest = max(largest, abs(free[i]))
        for j in range(number):
            k = int(which[j])
            friction = row[3 * k + 1] * sliding[2 * k] + row[3 * k + 2] * sliding[2 * k + 1]
            M[i * number + j] = row[3 * k] - mu * side(choice, j, kinds[k]) * friction
            if not active:
                M[i * number + j] = 1.0 if i == j else 0.0
    singular = eliminate(number, M, f)
    if singular != FOUND:
        return singular
    for j in range(number):
        k, sign = int(which[j]), side(choice, j, kinds[int(which[j])])
        if sign * f[j] < 0.0:
            return j
        F[3 * k] = f[j]
        F[3 * k + 1] = -mu * sign * f[j] * sliding[2 * k]
        F[3 * k + 2] = -mu * sign * f[j] * sliding[2 * k + 1]
    for i in range(number):
        if not choice >> i & 1 and kinds[int(which[i])] == TOUCHING:
            row, w = shift(G, 3 * int(which[i]) * size), free[i]
            for j in range(number):
                w += inner(3, shift(row, 3 * int(which[j])), shift(F, 3 * int(which[j])))
            if w < -ROUNDING * largest:
                return i
    return FOUND


@njit(error_model="numpy")
def side(choice: int, j: int, kind: float) -> float:
    """Sign of a normal force in friction, zero where there is none."""
    if kind == HELD:
        return 0.0
    return -1.0 if kind == EQUAL and choice >> j & 1 else 1.0


@njit(error_model="numpy")
def eliminate(n: int, M: Pointer, x: Pointer) -> int:
    """Overwrite x by M^-1 x; FOUND, or the column without a pivot."""
    largest = 0.0
    for e in range(n * n):
        largest = max(largest, abs(M[e]))
    for j in range(n):
        best = j
        for i in range(j + 1, n):
            if abs(M[i * n + j]) > abs(M[best * n + j]):
                best = i
        if not abs(M[best * n + j]) > LEAST * largest:
            return j
        x[j], x[best] = x[best], x[j]
        for e in range(n):
            M[j * n + e], M[best * n + e] = M[best * n + e], M[j * n + e]
        for i in range(j + 1, n):
            ratio = M[i * n + j] / M[j * n + j]
            x[i] -= ratio * x[j]
            for e in range(j, n):
                M[i * n + e] -= ratio * M[j * n + e]
    for j in range(n - 1, -1, -1):
        for e in range(j + 1, n):
            x[j] -= M[j * n + e] * x[e]
        x[j] /= M[j * n + j]
    return FOUND
