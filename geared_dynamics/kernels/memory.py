"""Bare pointers to the numbers of an array.

Inside a kernel, a NumPy array passed from function to function costs atomic
reference counting at every call, several times the arithmetic done in between.
A pointer costs nothing. The entry of each kernel has checked the arrays' shapes,
and holds those it made by ``keep`` for as long as the pointers into them are used.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

POINTER = types.CPointer(types.float64)


@intrinsic
def pointer(_context: Any, array: Any) -> Any:
    """Pointer to the first element of a float64 array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return POINTER(array), generate


@intrinsic
def keep(_context: Any, array: Any, value: Any) -> Any:
    """Return the value, and let the array live until here.

    numba frees an array after its last use in the source, and a pointer is no use.
    """

    def generate(_target: Any, _builder: Any, _signature: Any, arguments: Any) -> Any:
        return arguments[1]

    return value(array, value), generate


@intrinsic
def row(_context: Any, array: Any, k: Any) -> Any:
    """Pointer to row k of a two-dimensional array, to the start of a vector."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        value = context.make_array(kind)(context, builder, arguments[0])
        if kind.ndim == 1:
            return value.data
        stride = cgutils.unpack_tuple(builder, value.strides)[0]
        byte = builder.bitcast(value.data, ir.IntType(8).as_pointer())
        byte = builder.gep(byte, [builder.mul(stride, arguments[1])])
        return builder.bitcast(byte, ir.DoubleType().as_pointer())

    return POINTER(array, types.intp), generate


@intrinsic
def shift(_context: Any, start: Any, count: Any) -> Any:
    """Pointer to the element ``count`` places after ``start``."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return POINTER(start, types.intp), generate
