"""Hostile arrays: at the edge of readable memory, in odd layouts, of wrong sizes and contents."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np

PAGE = mmap.PAGESIZE
LIBC = ctypes.CDLL(None, use_errno=True)
NUMBERS = (np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-320, -0.0, 1e155, 1e16, 0.0)
STRANGE: tuple[Any, ...] = (
    None, "text", b"bytes", object(), {}, [], (), [[]], [1.0, [2.0]], 1 + 2j, True, 10**400,
    np.datetime64("now"), np.zeros(2, "S3"), np.array([None]), np.zeros((2, 2, 2, 2)), 5, -1.0,
    np.zeros((0, 3)), np.zeros(0), np.array(3.0), np.zeros(2, [("a", float), ("b", int)]),
    np.ma.array([1.0, 2.0], mask=[0, 1]), 10**5000, "\x1b[2J",
)  # fmt: skip


def guarded(values: np.ndarray, *, front: bool = False) -> np.ndarray:
    """Copy of an array that ends (or begins) where a page begins that must not be touched.

    One number too many read or written is a segmentation fault.
    """
    values = np.ascontiguousarray(values, float)
    pages = max(-(-values.nbytes // PAGE), 1) + 1
    memory = mmap.mmap(-1, pages * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    closed = start if front else start + (pages - 1) * PAGE
    if LIBC.mprotect(ctypes.c_void_p(closed), ctypes.c_size_t(PAGE), 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    offset = PAGE if front else (pages - 1) * PAGE - values.nbytes
    found = np.frombuffer(memory, float, values.size, offset).reshape(values.shape)
    found[...] = values
    return found


class Subclass(np.ndarray):
    """An array of another class."""


def laid_out(values: np.ndarray, rng: np.random.Generator) -> Any:
    """The same numbers in another layout or container."""
    kind = rng.integers(9)
    if kind == 0:
        return guarded(values)
    if kind == 1:
        return guarded(values, front=True)
    if kind == 2:
        return values.tolist()
    if kind == 3:
        return values.astype(">f8")
    if kind == 4 and values.ndim:
        wide = np.zeros((*values.shape[:-1], 2 * values.shape[-1]))
        wide[..., ::2] = values
        return wide[..., ::2]
    if kind == 5 and values.ndim:
        return values[..., ::-1].copy()[..., ::-1]
    if kind == 6:
        fixed = values.copy()
        fixed.flags.writeable = False
        return fixed
    if kind == 7:
        return values.copy().view(Subclass)
    return np.asfortranarray(values)


def spoilt(values: np.ndarray, rng: np.random.Generator) -> Any:
    """Something else in an array's place: wrong in size, content or kind."""
    kind = rng.integers(8)
    if kind <= 2 and values.size:
        changed = guarded(values) if kind else values.copy()
        changed.flat[rng.integers(values.size)] = NUMBERS[rng.integers(len(NUMBERS))]
        return changed
    if kind == 3 and values.ndim and values.shape[-1]:
        return guarded(values[..., : rng.integers(values.shape[-1])])
    if kind == 4 and values.ndim:
        return guarded(np.concatenate([values, values], axis=-1))
    if kind == 5:
        return guarded(np.broadcast_to(values, (int(rng.integers(4)), *values.shape)))
    if kind == 6 and values.ndim:
        return guarded(values.reshape(-1)[:1])
    return STRANGE[rng.integers(len(STRANGE))]


def hostile_result(
    wanted: np.ndarray, inputs: dict[str, Any], rng: np.random.Generator
) -> tuple[Any, dict[str, Any]]:
    """Something in the place of ``out``, and inputs that change with it.

    Args:
        wanted: What the call gives.
        inputs: Its arguments by name.
        rng: Of the choice.
    """
    arrays = [name for name, x in inputs.items() if isinstance(x, np.ndarray)]
    kind = rng.integers(6)
    if kind == 0:
        return guarded(wanted, front=bool(rng.integers(2))), {}
    if kind == 1 and arrays:  # the result lies on an input
        name = arrays[rng.integers(len(arrays))]
        return inputs[name], {}
    if kind == 2 and arrays:  # or begins within it
        name = arrays[rng.integers(len(arrays))]
        value = inputs[name]
        shift = int(rng.integers(-wanted.size, value.size + 1))
        room = np.zeros(2 * wanted.size + value.size)
        start = wanted.size
        moved = room[start : start + value.size].reshape(value.shape)
        moved[...] = value
        out = room[start + shift :][: wanted.size].reshape(wanted.shape)
        return out, {name: moved}
    if kind == 3:
        return spoilt(wanted, rng), {}
    if kind == 4:
        number = wanted.dtype.newbyteorder() if rng.integers(2) else np.dtype(np.float32)
        return wanted.astype(number), {}
    return laid_out(wanted, rng), {}
