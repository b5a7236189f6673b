"""Array types shared by all rooms."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["Array", "ArrayLike", "IntArray", "readonly"]


def readonly(values: ArrayLike, dtype: type = np.float64) -> NDArray[np.float64]:
    """Return a C-contiguous read-only copy of ``values``."""
    array = np.array(values, dtype=dtype, order="C")
    array.setflags(write=False)
    return array
