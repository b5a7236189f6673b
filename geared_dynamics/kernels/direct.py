"""Kernels of a control cycle, called without numba's dispatcher.

The dispatcher looks at every argument before it calls a kernel, which in a cycle of a control
loop takes longer than the kernel. A direct kernel is an object as ``door`` makes them, with the
kernel's own arguments: plain vectors and floats go straight to the machine code for one state.
Anything else (batches, strided or foreign arrays, other numbers, keywords) goes to the
dispatcher, which converts, refuses and raises as ever.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from geared_dynamics.kernels import door
from geared_dynamics.kernels.door_code import (
    BEHIND,
    CALL,
    DATA,
    PLACE,
    PLAIN,
    SHAPE,
    VALUE,
    WORD,
    WRITEABLE,
    Assembly,
    Known,
)
from geared_dynamics.kernels.native import Code, object_code


def direct(kernel: Any, arrays: int, numbers: int) -> Any:
    """Return a compiled kernel, to be called without a detour where this Python allows it.

    Args:
        kernel: As the package has it: arrays, then numbers, then the array that it fills.
        arrays: How many it only reads.
        numbers: How many floats it takes.
    """
    address = 0 if door.fault() or not numbers_as_read() else door.native_address(kernel)
    if not address:
        return kernel
    enter = code(arrays, numbers).address("enter")
    made: Any = door.dressed(kernel, {CALL: enter, BEHIND: id(kernel), PLACE: address})
    for key in ("py_func", "overloads", "stats"):  # what is asked of any kernel
        setattr(made, key, getattr(kernel, key))
    return made


def numbers_as_read() -> bool:
    """Whether floats lie in memory as is read here, and numba passes them as is done here."""
    from numba.core.registry import cpu_target

    read = [ctypes.c_double.from_address(id(x) + VALUE).value for x in (1.5, np.float64(2.5))]
    kind = cpu_target.target_context.call_conv.get_function_type(types.int64, [types.float64])
    return read == [1.5, 2.5] and kind.args[-1] == ir.DoubleType()


@cache
def code(arrays: int, numbers: int) -> Code:
    """Machine code that calls kernels with as many arguments."""
    return Code(object_code(DirectAssembly(arrays, numbers).whole(), effort=1))


class DirectAssembly(Assembly):
    """Assembly of ``PyObject *enter(PyObject *door, PyObject **arguments, count, names)``."""

    def __init__(self, arrays: int, numbers: int) -> None:
        """Start without lines."""
        known = Known(id(np.ndarray), id(np.dtype(np.float64)), id(None), 0, 0, 0)
        super().__init__(arrays, known)
        self.numbers = numbers

    def whole(self) -> str:
        """Return the assembly."""
        return "\n".join(
            [
                "declare ptr @PyLong_FromLongLong(i64)",
                "declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)",
                self.text(),
            ]
        )

    def text(self) -> str:
        """Return the function."""
        status, failure = self.do("alloca i64"), self.do("alloca ptr")
        objects = self.arguments()
        out = objects.pop()
        vectors = [*objects[: self.inputs], out]
        self.check_arrays(vectors)
        self.go_on_if(self.plain(out, PLAIN | WRITEABLE, "1"), "result")
        values = [self.float_at(x, f"n{k}") for k, x in enumerate(objects[self.inputs :])]
        words = [f"ptr {status}", f"ptr {failure}"]
        given = [self.vector_words(x) for x in vectors]
        words += [word for one in given[:-1] for word in one]
        words += [f"double {value}" for value in values] + given[-1]
        kernel = self.read("%door", PLACE, "ptr")
        ran = self.do(f"call i32 {kernel}({', '.join(words)})")
        self.go_on_if([self.equal(ran, 0, "i32")], "ran")
        result = self.do(f"load i64, ptr {status}")
        self.lines.append(f"  ret ptr {self.do(f'call ptr @PyLong_FromLongLong(i64 {result})')}")
        self.lines.append("behind:")
        behind = self.read("%door", BEHIND, "ptr")
        call = f"ptr {behind}, ptr %arguments, i64 %count, ptr %names"
        self.lines.append(f"  ret ptr {self.do(f'call ptr @PyObject_Vectorcall({call})')}")
        head = "define ptr @enter(ptr %door, ptr %arguments, i64 %count, ptr %names) {"
        return "\n".join([head, *self.lines, "}", ""])

    def arguments(self) -> list[str]:
        """Go on with the right number of arguments by place, none by name."""
        number = self.inputs + self.numbers + 1
        given = self.do(f"and i64 %count, {2**63 - 1}")
        nameless = self.do("icmp eq ptr %names, null")
        self.go_on_if([self.equal(given, number), nameless], "counted")
        return [self.read("%arguments", WORD * k, "ptr") for k in range(number)]

    def vector_words(self, array: str) -> list[str]:
        """Words by which numba passes a vector, read of the array's object."""
        length = self.read(self.read(array, SHAPE, "ptr"), 0)
        return self.array_words(array, self.read(array, DATA, "ptr"), length)
