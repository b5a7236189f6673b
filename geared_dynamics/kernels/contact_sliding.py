"""Forces of all contacts that slide with Coulomb friction, of the others' forces as they are.

Of each the direction of sliding is known, so that F_t = -mu |F_n| d leaves one unknown.
"""

from numba import njit

from geared_dynamics.kernels.contact_solve import EQUAL, FOUND, HELD, KNOWN, OPEN, TOUCHING
from geared_dynamics.kernels.kinds import Pointer
from geared_dynamics.kernels.linear_algebra import inner
from geared_dynamics.kernels.memory import shift

LEAST = 1e-12  # of the largest mobility: a pivot below it is none
MOST = 12  # contacts of which all combinations of sliding are tried
ROUNDING = 1e-13  # of the largest |b|

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
