"""A product and a sum in one instruction, which rounds once."""

from typing import Any

from numba import types
from numba.extending import intrinsic

from geared_dynamics.kernels.native import fused

FUSED = fused()  # whether the processor has it; in software it takes a hundred times as long


@intrinsic
def fma(_context: Any, x: Any, y: Any, z: Any) -> Any:
    """Return x y + z."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float64(x, y, z), generate
