"""The kernels' own checks: memory, shapes, finite inputs, no aliasing.

Done here because they cost a few nanoseconds here and a microsecond in Python.
"""

from numba import njit

from geared_dynamics.kernels.memory import Array, Pointer, address, dtype_of, row, type_of


@njit(inline="always")
def holds(out: Array, width: int, model: Array) -> bool:
    """Whether out is (width,) or (K, width), a plain array of native, aligned numbers.

    The model is one: what has its type and dtype is neither a subclass nor byte-swapped.
    """
    plain = type_of(out) == type_of(model) and dtype_of(out) == dtype_of(model)
    return plain and address(out) % 8 == 0 and out.shape[-1] == width


@njit(inline="always")
def fits(x: Array, n: int, out: Array) -> bool:
    """Whether x is (n,) or (K, n), for as many states K as out has rows.

    It must be a plain array, as out is: a masked one would be read behind its mask. Its
    numbers must be native, as those of out, and lie on multiples of eight bytes, which
    a field of a structured array may not: ``copy`` steps through them in whole numbers.
    """
    places = address(x) | x.strides[0] | x.strides[x.ndim - 1]
    plain = type_of(x) == type_of(out) and dtype_of(x) == dtype_of(out) and places % 8 == 0
    return plain and x.shape[-1] == n and (x.ndim == 1 or x.shape[0] == out.shape[0])


@njit(inline="always")
def states(x: Array) -> int:
    """Number of states in x: 1 for (n,), K for (K, n)."""
    return x.shape[0] if x.ndim == 2 else 1


@njit(inline="always")
def gather(x: Array, k: int, n: int, to: Pointer) -> bool:
    """Copy row k of x, which may be strided, to a pointer; return whether it is finite."""
    return copy(row(x, k), x.strides[x.ndim - 1] // 8, n, to)


@njit(error_model="numpy")
def copy(source: Pointer, step: int, n: int, to: Pointer) -> bool:
    """Copy n strided numbers; x - x is zero just for a finite x."""
    total = 0.0
    for i in range(n):
        x = source[i * step]
        total += x - x
        to[i] = x
    return total == 0.0


@njit(error_model="numpy")
def finite(x: Pointer, n: int) -> bool:
    """Whether n numbers are finite: what overflowed on the way must not be returned."""
    total = 0.0
    for i in range(n):
        total += x[i] - x[i]
    return total == 0.0


@njit(inline="always")
def apart(x: Array, out: Array) -> bool:
    """Whether the memory of the strided x lies outside the contiguous out."""
    first = address(x)
    last = first
    for axis in range(x.ndim):
        reach = (x.shape[axis] - 1) * x.strides[axis]
        if reach > 0:
            last += reach
        else:
            first += reach
    start = address(out)
    return last < start or first >= start + out.size * out.itemsize


@njit(inline="always")
def positive(pivot: float) -> bool:
    """Whether a pivot of a factorisation is above zero, which NaN is not."""
    return pivot > 0.0
