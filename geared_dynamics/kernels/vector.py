"""Three-vectors as tuples and 3x3 matrices inside flat arrays, inlined by LLVM."""

from numba import njit

from geared_dynamics.kernels.memory import Pointer, Vector


@njit
def load(x: Pointer, i: int) -> Vector:
    """Vector at x[i:i+3]."""
    return x[i], x[i + 1], x[i + 2]


@njit
def store(x: Pointer, i: int, a: Vector) -> None:
    """Write the vector a to x[i:i+3]."""
    x[i], x[i + 1], x[i + 2] = a


@njit
def accumulate(x: Pointer, i: int, a: Vector) -> None:
    """Add the vector a to x[i:i+3]."""
    x[i] += a[0]
    x[i + 1] += a[1]
    x[i + 2] += a[2]


@njit
def add(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@njit
def subtract(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@njit
def scale(s: float, a: Vector) -> Vector:
    """Return s a."""
    return s * a[0], s * a[1], s * a[2]


@njit
def dot(a: Vector, b: Vector) -> float:
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit
def cross(a: Vector, b: Vector) -> Vector:
    """Return a x b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@njit
def times(x: Pointer, i: int, a: Vector) -> Vector:
    """Return R a, R stored by rows at x[i:i+9]."""
    return (
        x[i] * a[0] + x[i + 1] * a[1] + x[i + 2] * a[2],
        x[i + 3] * a[0] + x[i + 4] * a[1] + x[i + 5] * a[2],
        x[i + 6] * a[0] + x[i + 7] * a[1] + x[i + 8] * a[2],
    )


@njit
def transposed_times(x: Pointer, i: int, a: Vector) -> Vector:
    """Return R' a, R stored by rows at x[i:i+9]."""
    return (
        x[i] * a[0] + x[i + 3] * a[1] + x[i + 6] * a[2],
        x[i + 1] * a[0] + x[i + 4] * a[1] + x[i + 7] * a[2],
        x[i + 2] * a[0] + x[i + 5] * a[1] + x[i + 8] * a[2],
    )


@njit
def symmetric_times(x: Pointer, i: int, a: Vector) -> Vector:
    """Return I a, I stored as xx xy xz yy yz zz at x[i:i+6]."""
    return (
        x[i] * a[0] + x[i + 1] * a[1] + x[i + 2] * a[2],
        x[i + 1] * a[0] + x[i + 3] * a[1] + x[i + 4] * a[2],
        x[i + 2] * a[0] + x[i + 4] * a[1] + x[i + 5] * a[2],
    )


@njit
def turn_z(c: float, s: float, a: Vector) -> Vector:
    """Return a turned about z by the angle with cosine c and sine s."""
    return c * a[0] - s * a[1], s * a[0] + c * a[1], a[2]


@njit
def turn_back_z(c: float, s: float, a: Vector) -> Vector:
    """Return a turned about z by minus the angle with cosine c and sine s."""
    return c * a[0] + s * a[1], c * a[1] - s * a[0], a[2]


@njit
def acceleration_matrix(omega: Vector, alpha: Vector, x: Pointer) -> None:
    """Write U, by rows, at x: U r = alpha x r + omega x (omega x r) for every r."""
    xy, xz, yz = omega[0] * omega[1], omega[0] * omega[2], omega[1] * omega[2]
    xx, yy, zz = omega[0] * omega[0], omega[1] * omega[1], omega[2] * omega[2]
    store(x, 0, (-(yy + zz), xy - alpha[2], xz + alpha[1]))
    store(x, 3, (xy + alpha[2], -(xx + zz), yz - alpha[0]))
    store(x, 6, (xz - alpha[1], yz + alpha[0], -(xx + yy)))
