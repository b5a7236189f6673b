"""Forward dynamics from the factorised mass matrix: the fast way for short chains."""

import math

import numpy as np
from numba import njit

from geared_dynamics.kernels import inverse, mass
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.kinds import Array, Pointer
from geared_dynamics.kernels.memory import keep, pointer, row, shift


@njit(error_model="numpy")
def forward_dynamics(model: Array, q: Array, v: Array, tau: Array, out: Array) -> int:
    """Acceleration (n,) from q, v, tau (n,), or (K, n) for K states: M^-1 (tau - bias)."""
    n, bodies = int(model[at.COORDINATES]), int(model[at.BODIES])
    if not (holds(out, n, model) and fits(q, n, out) and fits(v, n, out) and fits(tau, n, out)):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out) and apart(tau, out)):
        return at.OVERLAP
    buffer = np.zeros(4 * n + n * n + bodies * max(inverse.SIZE, mass.SIZE))
    m, x = pointer(model), pointer(buffer)
    v_, force, zero, matrix = shift(x, n), shift(x, 2 * n), shift(x, 3 * n), shift(x, 4 * n)
    work = shift(matrix, n * n)
    for k in range(states(q)):
        if not (gather(q, k, n, x) & gather(v, k, n, v_) & gather(tau, k, n, force)):
            return at.NOT_FINITE
        result = row(out, k)
        inverse.one_state(m, x, v_, zero, work, result)
        for d in range(n):
            result[d] = force[d] - result[d]
        mass.one_matrix(m, x, work, matrix)
        if not solve(n, matrix, result):
            return at.NOT_POSITIVE
        if not finite(result, n):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def solve(n: int, matrix: Pointer, x: Pointer) -> bool:
    """Overwrite x by matrix^-1 x and the lower triangle by its Cholesky factor."""
    for i in range(n):
        for j in range(i + 1):
            total = matrix[i * n + j]
            for k in range(j):
                total -= matrix[i * n + k] * matrix[j * n + k]
            if i > j:
                matrix[i * n + j] = total / matrix[j * n + j]
            elif total > 0.0:
                matrix[i * n + i] = math.sqrt(total)
            else:
                return False
    for i in range(n):
        for k in range(i):
            x[i] -= matrix[i * n + k] * x[k]
        x[i] /= matrix[i * n + i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= matrix[k * n + i] * x[k]
        x[i] /= matrix[i * n + i]
    return True
