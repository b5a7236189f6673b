"""Types in the kernels' signatures, for readers and the type checker."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = tuple[float, float, float]
# Of float64 numbers, see kernels.memory.
Pointer: TypeAlias = Any
