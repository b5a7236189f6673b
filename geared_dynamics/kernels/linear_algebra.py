"""Small dense matrices and vectors at pointers: Cholesky factors, products, sums."""

import math

from numba import njit

from geared_dynamics.kernels.kinds import Pointer
from geared_dynamics.kernels.memory import shift


@njit(error_model="numpy")
def factor(n: int, matrix: Pointer) -> bool:
    """Overwrite the lower triangle by its Cholesky factor L; False where not positive."""
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
    return True


@njit(error_model="numpy")
def forward(n: int, lower: Pointer, x: Pointer) -> None:
    """Overwrite x by L^-1 x."""
    for i in range(n):
        for k in range(i):
            x[i] -= lower[i * n + k] * x[k]
        x[i] /= lower[i * n + i]


@njit(error_model="numpy")
def backward(n: int, lower: Pointer, x: Pointer) -> None:
    """Overwrite x by L'^-1 x."""
    for i in range(n - 1, -1, -1):
        x[i] /= lower[i * n + i]
        for k in range(i):
            x[k] -= lower[i * n + k] * x[i]


@njit(error_model="numpy")
def substitute(n: int, lower: Pointer, x: Pointer) -> None:
    """Overwrite x by (L L')^-1 x."""
    forward(n, lower, x)
    backward(n, lower, x)


@njit(error_model="numpy")
def product(n: int, left: Pointer, right: Pointer, scale: float, out: Pointer) -> None:
    """Set out (n, n) to scale * left right, along rows: several numbers at once."""
    for i in range(n):
        target = shift(out, i * n)
        for j in range(n):
            target[j] = 0.0
        for k in range(n):
            add_scaled(n, scale * left[i * n + k], shift(right, k * n), target)


@njit(error_model="numpy")
def inner(n: int, x: Pointer, y: Pointer) -> float:
    """Return x . y."""
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


@njit(inline="always")
def add_scaled(n: int, factor: float, source: Pointer, target: Pointer) -> None:
    """Add factor * source (n,) to target."""
    if factor != 0.0:
        for j in range(n):
            target[j] += factor * source[j]
