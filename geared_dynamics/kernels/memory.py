"""Bare pointers to the numbers of an array, types of arguments, and a product and sum in one.

Inside a kernel, a NumPy array passed from function to function costs atomic
reference counting at every call, several times the arithmetic done in between.
A pointer costs nothing. The entry of each kernel has checked the arrays' shapes,
and holds those it made by ``keep`` for as long as the pointers into them are used.
"""

from typing import Any, TypeAlias

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from geared_dynamics.kernels.native import fused

# Types in the kernels' signatures, for readers and the type checker.
Array: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = tuple[float, float, float]
Pointer: TypeAlias = Any  # of float64 numbers

POINTER = types.CPointer(types.float64)
# Where a PyArrayObject keeps its dtype (NumPy's ABI): behind the object's head stand data,
# number of dimensions, dimensions, strides and base, a word each.
WORD = types.intp.bitwidth // 8
DTYPE = object.__basicsize__ + 5 * WORD
KIND = object.__basicsize__ - WORD  # the head ends with the object's type
STACK_SIZE = 512  # numbers that a kernel's call may have on the stack, 4 kB


@intrinsic
def pointer(_context: Any, array: Any) -> Any:
    """Pointer to the first element of a float64 array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return POINTER(array), generate


@intrinsic
def stack_memory(_context: Any) -> Any:
    """Pointer to room for ``STACK_SIZE`` numbers on the stack, which lasts as long as the call."""

    def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        size = context.get_constant(types.intp, STACK_SIZE)
        return cgutils.alloca_once(builder, ir.DoubleType(), size=size)

    return POINTER(), generate


@intrinsic
def keep(_context: Any, array: Any, value: Any) -> Any:
    """Return the value, and let the array live until here.

    numba frees an array after its last use in the source, and a pointer is no use.
    """

    def generate(_target: Any, _builder: Any, _signature: Any, arguments: Any) -> Any:
        return arguments[1]

    return value(array, value), generate


@intrinsic
def address(_context: Any, array: Any) -> Any:
    """Where the first element lies; unlike ``array.ctypes.data`` it counts no reference."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.ptrtoint(start, context.get_value_type(types.intp))

    return types.intp(array), generate


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


@intrinsic
def dtype_of(_context: Any, array: Any) -> Any:
    """Identity of a NumPy array's dtype object, of an array that came from Python.

    numba chooses a compiled version by the kind of number and may overlook its byte order.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _word_at(DTYPE, context, builder, signature, arguments)

    return types.intp(array), generate


@intrinsic
def type_of(_context: Any, array: Any) -> Any:
    """Identity of the Python type of an array that came from Python.

    numba may take a subclass for an array, a masked one too, once it has seen the like.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _word_at(KIND, context, builder, signature, arguments)

    return types.intp(array), generate


@njit
def identities(array: Any) -> tuple[int, int]:
    """Identities of an array's dtype and of its type, for a look at the layout above."""
    return dtype_of(array), type_of(array)


def _word_at(offset: int, context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Read the word at an offset in the PyArrayObject behind the first argument."""
    value = context.make_array(signature.args[0])(context, builder, arguments[0])
    word = context.get_value_type(types.intp)
    place = builder.gep(value.parent, [ir.Constant(word, offset)])
    return builder.load(builder.bitcast(place, word.as_pointer()))


# -- A product and a sum in one instruction, which rounds once ------------------------------------


FUSED = fused()  # whether the processor has it; in software it takes a hundred times as long


@intrinsic
def fma(_context: Any, x: Any, y: Any, z: Any) -> Any:
    """Return x y + z."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float64(x, y, z), generate
