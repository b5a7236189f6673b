"""Truncated power series in time: coefficients of products, and of the turn about z.

Coefficient m of a series is its m-th time derivative over m!; those of a product are
Cauchy's sums, ``(a b)_m = sum of a_j b_(m-j)``. A series is given by the place of its
first coefficient in ``x``, the others follow ``step`` apart; those of a vector hold three
numbers. Every function gives one coefficient, so that recursions that need the lower
ones read like the equations. All are inlined by numba already: left to LLVM, their short
loops cost an eighth more.
"""

import math

from numba import njit

from geared_dynamics.kernels.memory import Pointer, Vector
from geared_dynamics.kernels.vector import add, cross, dot, load, scale, symmetric_times


@njit(error_model="numpy", inline="always")
def product_at(x: Pointer, a: int, b: int, m: int, step: int) -> float:
    """Coefficient m of a b, both scalar."""
    total = 0.0
    for j in range(m + 1):
        total += x[a + j * step] * x[b + (m - j) * step]
    return total


@njit(error_model="numpy", inline="always")
def scale_at(x: Pointer, s: int, a: int, m: int, step: int) -> Vector:
    """Coefficient m of s a, a scalar and a vector."""
    total = (0.0, 0.0, 0.0)
    for j in range(m + 1):
        total = add(total, scale(x[s + j * step], load(x, a + (m - j) * step)))
    return total


@njit(error_model="numpy", inline="always")
def cross_at(x: Pointer, a: int, b: int, m: int, step: int) -> Vector:
    """Coefficient m of a x b."""
    total = (0.0, 0.0, 0.0)
    for j in range(m + 1):
        total = add(total, cross(load(x, a + j * step), load(x, b + (m - j) * step)))
    return total


@njit(error_model="numpy", inline="always")
def dot_at(x: Pointer, a: int, b: int, m: int, step: int) -> float:
    """Coefficient m of a . b."""
    total = 0.0
    for j in range(m + 1):
        total += dot(load(x, a + j * step), load(x, b + (m - j) * step))
    return total


@njit(error_model="numpy", inline="always")
def store_power(
    x: Pointer, to: int, a: int, exponent: float, first: float, count: int, step: int
) -> None:
    """Write ``count`` coefficients of k a^exponent, ``first`` being its value: a y' = e a' y."""
    x[to] = first
    for m in range(1, count):
        total = 0.0
        for j in range(1, m + 1):
            total += (exponent * j - (m - j)) * x[a + j * step] * x[to + (m - j) * step]
        x[to + m * step] = total / (m * x[a])


@njit(error_model="numpy", inline="always")
def symmetric_times_at(x: Pointer, i: int, a: int, m: int, step: int) -> Vector:
    """Coefficient m of I a, I a symmetric matrix stored as xx xy xz yy yz zz."""
    total = (0.0, 0.0, 0.0)
    for j in range(m + 1):
        total = add(total, symmetric_times(x, i + j * step, load(x, a + (m - j) * step)))
    return total


@njit(error_model="numpy", inline="always")
def store_double_cross_at(x: Pointer, to: int, a: int, m: int, step: int) -> None:
    """Write coefficient m of the symmetric matrix of ``a x (a x .)``: a a' - a . a."""
    xx, xy, xz, yy, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(m + 1):
        u, v = load(x, a + j * step), load(x, a + (m - j) * step)
        xx += u[0] * v[0]
        xy += u[0] * v[1]
        xz += u[0] * v[2]
        yy += u[1] * v[1]
        yz += u[1] * v[2]
        zz += u[2] * v[2]
    k = to + m * step
    x[k], x[k + 1], x[k + 2] = -yy - zz, xy, xz
    x[k + 3], x[k + 4], x[k + 5] = -xx - zz, yz, -xx - yy


@njit(error_model="numpy", inline="always")
def store_cos_sin(
    x: Pointer, c: int, s: int, angle: float, rate: int, count: int, step: int
) -> None:
    """Write ``count`` coefficients of an angle's cosine and sine: c' = -rate s, s' = rate c."""
    x[c] = math.cos(angle)
    x[s] = math.sin(angle)
    for m in range(1, count):
        x[c + m * step] = -product_at(x, rate, s, m - 1, step) / m
        x[s + m * step] = product_at(x, rate, c, m - 1, step) / m


@njit(error_model="numpy", inline="always")
def turn_z_at(x: Pointer, c: int, s: int, a: int, m: int, step: int) -> Vector:
    """Coefficient m of a turned about z by the angle with cosine c and sine s."""
    first, second = 0.0, 0.0
    for j in range(m + 1):
        cosine, sine, k = x[c + j * step], x[s + j * step], a + (m - j) * step
        first += cosine * x[k] - sine * x[k + 1]
        second += sine * x[k] + cosine * x[k + 1]
    return first, second, x[a + m * step + 2]


@njit(error_model="numpy", inline="always")
def turn_back_z_at(x: Pointer, c: int, s: int, a: int, m: int, step: int) -> Vector:
    """Coefficient m of a turned about z by minus the angle with cosine c and sine s."""
    first, second = 0.0, 0.0
    for j in range(m + 1):
        cosine, sine, k = x[c + j * step], x[s + j * step], a + (m - j) * step
        first += cosine * x[k] + sine * x[k + 1]
        second += cosine * x[k + 1] - sine * x[k]
    return first, second, x[a + m * step + 2]


@njit(error_model="numpy", inline="always")
def store_coefficients(x: Pointer, count: int, n: int) -> None:
    """Turn n quantities and their derivatives, (count, n), into coefficients: row m over m!."""
    factorial = 1.0
    for m in range(2, count):
        factorial *= m
        for d in range(n):
            x[m * n + d] /= factorial


@njit(error_model="numpy", inline="always")
def store_derivatives(x: Pointer, count: int, n: int) -> None:
    """Turn the coefficients of n series, (count, n), into derivatives: row m times m!."""
    factorial = 1.0
    for m in range(2, count):
        factorial *= m
        for d in range(n):
            x[m * n + d] *= factorial
