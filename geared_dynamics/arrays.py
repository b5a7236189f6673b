"""Array types shared by all rooms."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

__all__ = ["Array", "ArrayLike", "BoolArray", "Frozen", "IntArray", "readonly", "readonly_int"]


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


class Frozen:
    """Base of frozen dataclasses that hold arrays: read-only again after unpickling."""

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore the fields; NumPy's pickles do not keep the read-only flag."""
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        self.__dict__.update(state)
