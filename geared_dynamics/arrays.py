"""Array types shared by all rooms, what counts as a number, and how large one may be."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geared_dynamics.errors import DescriptionError

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

__all__ = [
    "Array",
    "ArrayLike",
    "BoolArray",
    "Frozen",
    "IntArray",
    "WithDoorRecords",
    "is_masked",
    "readonly",
    "readonly_bool",
    "readonly_int",
    "real",
    "reals",
    "refuse_too_large",
]

REAL = "fiub"  # kinds of NumPy numbers that are real
DEEPEST = 64  # dimensions that an array can have


def readonly(values: ArrayLike) -> Array:
    """Return a C-contiguous read-only float64 copy of ``values``."""
    array = np.array(values, dtype=np.float64, order="C")
    array.setflags(write=False)
    return array


def readonly_int(values: ArrayLike) -> IntArray:
    """Return a C-contiguous read-only int64 copy of ``values``."""
    array = np.array(values, dtype=np.int64, order="C")
    array.setflags(write=False)
    return array


def readonly_bool(values: ArrayLike) -> BoolArray:
    """Return a C-contiguous read-only copy of ``values`` as truth values."""
    array = np.array(values, dtype=np.bool_, order="C")
    array.setflags(write=False)
    return array


def real(value: object) -> float:
    """Return a number as a float; Python would also read one from text.

    Raises:
        TypeError: If it is none, such as text.
        ValueError, OverflowError: If it is no single number, or too large.
    """
    text = isinstance(value, (str, bytes)) or not hasattr(value, "__float__")
    if (text and not hasattr(value, "__index__")) or is_masked(value):
        raise TypeError
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind not in REAL:
        raise TypeError
    return float(value)  # type: ignore[arg-type]


def reals(values: ArrayLike) -> Array:
    """Return real numbers as a new float64 array.

    Raises:
        TypeError: If one is none, such as text, or hidden by a mask.
        ValueError, OverflowError: If they are no array, or too large.
    """
    if is_masked(values):
        raise TypeError
    array = np.asarray(values)
    if array.dtype.kind == "O":
        return np.array([real(value) for value in array.flat]).reshape(array.shape)
    if array.dtype.kind not in REAL:
        raise TypeError
    return np.array(array, np.float64)


def is_masked(value: object, depth: int = 0) -> bool:
    """Whether an array, or one in a list, has a masked element: it is then no number."""
    ma = sys.modules.get("numpy.ma")  # where it is not imported there are no masks
    if ma is None or type(value) is np.ndarray:
        return False
    if isinstance(value, (list, tuple)):
        return depth < DEEPEST and any(is_masked(item, depth + 1) for item in value)
    return isinstance(value, ma.MaskedArray) and bool(ma.is_masked(value))


class Frozen:
    """Base of frozen dataclasses that hold arrays: read-only again after unpickling."""

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore the fields; NumPy's pickles keep neither flags nor the one dtype object."""
        self.__dict__.update({name: _restored(value) for name, value in state.items()})


class WithDoorRecords:
    """Base of models: the slot ``entry`` for the records that the public functions' doors find.

    It is the first behind the object's head, follows from the fields, and is not pickled.
    """

    __slots__ = ("entry",)
    entry: object


def _restored(value: object) -> object:
    """An array, or those in a tuple, read-only and of the dtype objects that kernels know."""
    if isinstance(value, np.ndarray):
        native = np.dtype(value.dtype.type)
        array = value.view(native) if value.dtype == native else value
        array.setflags(write=False)
        return array
    if isinstance(value, tuple):
        items = [_restored(item) for item in value]
        return value._make(items) if hasattr(value, "_make") else tuple(items)
    return value


# -- How large a number of a description may be ---------------------------------------------------


# The sun has 2e30 kg. Below this bound nothing that a model is made of overflows: the
# largest product is an inertia times the square of a ratio and of a mimic's multiplier.
LARGEST = 1e30


def refuse_too_large(value: float, place: str) -> None:
    """Refuse a number beyond anything that an arm can have, or one that is not finite.

    Raises:
        DescriptionError: At ``place``.
    """
    if not abs(value) <= LARGEST:
        raise DescriptionError(
            place,
            f"{value:g} is too large a number",
            f"write it in SI units; no arm has a number beyond {LARGEST:g}",
        )
