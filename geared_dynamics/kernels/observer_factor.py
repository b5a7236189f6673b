"""Square roots of covariances: U (k, k) with U' U = P, by rows.

Triangular again after a step by Householder's reflections, and taking in one reading at a time
by Potter's rule. Loops run along rows, which the compiler takes several numbers at once.

Source: G. J. Bierman, Factorization Methods for Discrete Sequential Estimation, 1977.
"""

import math

from numba import njit

from geared_dynamics.kernels.kinds import Pointer
from geared_dynamics.kernels.memory import shift
from geared_dynamics.kernels.observer_linear import add_scaled


@njit(error_model="numpy")
def triangularise(rows: int, k: int, W: Pointer, spare: Pointer) -> None:
    """Reflect W (rows, k) so that its first k rows are upper triangular and W' W stays."""
    for c in range(k):
        square = 0.0
        for j in range(c + 1, rows):
            square += W[j * k + c] * W[j * k + c]
        if square == 0.0:
            continue
        head = W[c * k + c]
        length = math.sqrt(square + head * head)
        length = -length if head > 0.0 else length
        pivot = head - length
        beta = -1.0 / (length * pivot)
        wide = k - c - 1
        for i in range(wide):
            spare[i] = pivot * W[c * k + c + 1 + i]
        for j in range(c + 1, rows):
            add_scaled(wide, W[j * k + c], shift(W, j * k + c + 1), spare)
        add_scaled(wide, -beta * pivot, spare, shift(W, c * k + c + 1))
        for j in range(c + 1, rows):
            add_scaled(wide, -beta * W[j * k + c], spare, shift(W, j * k + c + 1))
            W[j * k + c] = 0.0
        W[c * k + c] = length


@njit(error_model="numpy")
def spread(k: int, rows: int, U: Pointer, reading: Pointer, out: Pointer) -> float:
    """Set out (rows,) to U h of a reading's row h (k,); return its square, h' P h."""
    for j in range(rows):
        out[j] = 0.0
    for i in range(k):
        if reading[i] != 0.0:
            for j in range(rows):
                out[j] += reading[i] * U[j * k + i]
    total = 0.0
    for j in range(rows):
        total += out[j] * out[j]
    return total


@njit(error_model="numpy")
def absorb(
    k: int,
    rows: int,
    state: Pointer,
    U: Pointer,
    reading: Pointer,
    noise: float,
    value: float,
    spare: Pointer,
) -> float:
    """Take a reading in: state (k,) and U; return innovation^2 / its variance.

    With f = U h, a = 1 / (f' f + noise): P h = U' f, state += a P h innovation,
    U -= a / (1 + sqrt(a noise)) f (P h)'. The rows behind the first k of U are errors that make
    no gain: each loses a (row h) (P h)', and its part of the reading counts as variance.
    """
    f, gain = spare, shift(spare, rows)
    share = 1.0 / (spread(k, k, U, reading, f) + noise)
    beside = spread(k, rows - k, shift(U, k * k), reading, shift(f, k))
    innovation = value
    for i in range(k):
        gain[i] = 0.0
        innovation -= reading[i] * state[i]
    for j in range(k):
        add_scaled(k, f[j], shift(U, j * k), gain)
    reduced = share / (1.0 + math.sqrt(share * noise))
    for j in range(k):
        add_scaled(k, -reduced * f[j], gain, shift(U, j * k))
    for j in range(k, rows):
        add_scaled(k, -share * f[j], gain, shift(U, j * k))
    add_scaled(k, share * innovation, gain, state)
    return share / (1.0 + share * beside) * innovation * innovation
