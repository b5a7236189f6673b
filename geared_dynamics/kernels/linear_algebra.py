"""Small dense matrices and vectors at pointers: factors, products, exponential, square roots."""

import math

from numba import njit

from geared_dynamics.kernels.memory import Pointer, shift


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


# -- Exponential of a second-order system's matrix over a step ------------------------------------
#
# A = [[0, 1], [P, R]], x' = velocity: exp(A dt) and phi(A dt) = (exp(A dt) - 1) / (A dt), so that
# z + dt phi(A dt) f(z) is exact for a linear f at any dt: stiff springs cost nothing.
#
# Velocities are divided by a frequency first, which makes both off-diagonal blocks alike; then a
# Taylor series (twelve terms: 1e-10 at norm 1) after halving, and doubling back by
# phi(2 Z) = (exp(Z) + 1) phi(Z) / 2, exp(2 Z) = exp(Z)^2.


TERMS = 12
MOST = 60  # halvings: what needs more does not come from an arm


@njit(inline="always")
def exponential_size(size: int) -> int:
    """Numbers of work that ``exponential`` needs."""
    return 6 * size * size


@njit(error_model="numpy")
def exponential(
    size: int,
    dt: float,
    by_x: Pointer,
    by_rate: Pointer,
    work: Pointer,
    phi: Pointer,
    whole: Pointer,
) -> None:
    """Set phi and whole (2N, 2N) to phi(A dt) and exp(A dt)."""
    square, width = size * size, 2 * size
    frequency = math.sqrt(norm(size, by_x))
    frequency = max(frequency, 1.0)
    P, R, spare = work, shift(work, square), shift(work, 2 * square)
    reach = dt * max(frequency, norm(size, by_x) / frequency + norm(size, by_rate))
    halvings = 0
    while reach > 1.0 and halvings < MOST:
        reach *= 0.5
        halvings += 1
    part = dt * 0.5**halvings
    for e in range(square):
        P[e] = part * by_x[e] / frequency
        R[e] = part * by_rate[e]
    set_unit(width, phi)
    for term in range(terms(reach), 1, -1):
        times_system(size, part * frequency, P, R, phi, spare)
        for e in range(width * width):
            phi[e] = spare[e] / term
        add_unit(width, phi)
    times_system(size, part * frequency, P, R, phi, whole)
    add_unit(width, whole)
    for _ in range(halvings):
        product(width, whole, phi, 0.5, spare)
        for e in range(width * width):
            phi[e] = 0.5 * phi[e] + spare[e]
        product(width, whole, whole, 1.0, spare)
        for e in range(width * width):
            whole[e] = spare[e]
    unscale(size, frequency, phi)
    unscale(size, frequency, whole)


@njit(error_model="numpy")
def terms(reach: float) -> int:
    """Terms of the series that leave less than 1e-11."""
    count, left = 2, 0.5 * reach
    while left > 1e-11 and count < TERMS + 2:
        count += 1
        left *= reach / count
    return count


@njit(error_model="numpy")
def norm(size: int, matrix: Pointer) -> float:
    """Largest sum of magnitudes of a row."""
    largest = 0.0
    for i in range(size):
        total = 0.0
        for j in range(size):
            total += abs(matrix[i * size + j])
        largest = max(largest, total)
    return largest


@njit(error_model="numpy")
def times_system(
    size: int, link: float, P: Pointer, R: Pointer, right: Pointer, out: Pointer
) -> None:
    """Set out (2N, 2N) to [[0, link], [P, R]] right."""
    width = 2 * size
    below = size * width
    for e in range(below):
        out[e] = link * right[below + e]
        out[below + e] = 0.0
    for i in range(size):
        target = shift(out, below + i * width)
        for k in range(size):
            add_scaled(width, P[i * size + k], shift(right, k * width), target)
            add_scaled(width, R[i * size + k], shift(right, below + k * width), target)


@njit(error_model="numpy")
def set_unit(width: int, out: Pointer) -> None:
    """Set out to 1."""
    for e in range(width * width):
        out[e] = 0.0
    add_unit(width, out)


@njit(error_model="numpy")
def add_unit(width: int, out: Pointer) -> None:
    """Add 1 to out."""
    for i in range(width):
        out[i * width + i] += 1.0


@njit(error_model="numpy")
def unscale(size: int, frequency: float, out: Pointer) -> None:
    """Return to velocities that are not divided by the frequency."""
    width = 2 * size
    for i in range(size):
        for j in range(size):
            out[i * width + size + j] /= frequency
            out[(size + i) * width + j] *= frequency


# -- Square roots of covariances: U (k, k) with U' U = P, by rows ---------------------------------
#
# Triangular again after a step by Householder's reflections, and taking in one reading at a time
# by Potter's rule. Loops run along rows, which the compiler takes several numbers at once.
#
# Source: G. J. Bierman, Factorization Methods for Discrete Sequential Estimation, 1977.


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
