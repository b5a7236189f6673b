"""Python functions that call compiled code without a detour.

A call through ``ctypes`` or numba's dispatcher costs several times the arithmetic. This door is
a built-in of the kind that C extensions have, written in LLVM assembly for CPython's and NumPy's
interfaces: it looks at the arguments, calls the code, and returns the result, or None for
whatever it does not take (other types, shapes, strides, overlapping memory, a state that the
code leaves to the kernels): the caller then goes the usual way, whose errors have names.

What it reads of an array's object is compared once with what Python says (``fault``). On another
Python than CPython with its lock there is no door, and models are not compiled.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.trace.cache import key_of, made
from geared_dynamics.trace.native import Code

WORD = 8
HEAD = object.__basicsize__
# Places in the object of an array, in words behind its head, and the flags asked of one.
DATA, DIMENSIONS, SHAPE, DTYPE, FLAGS = (HEAD + WORD * k for k in (0, 1, 2, 5, 6))
KIND = HEAD - WORD
PLAIN, WRITEABLE = 0x0101, 0x0400  # C-contiguous and aligned
CALLED_WITH_ARRAY = 0x80  # METH_FASTCALL
MOST = 4  # inputs of a function
NEW_ARRAY = 93  # place of PyArray_New in NumPy's table of functions
FLOAT64 = 12  # its number of the type


class Place(NamedTuple):
    """Words of a door's description, which the built-in finds in its first argument."""

    code: int
    table: int
    array_type: int
    dtype: int
    none: int
    new_array: int
    dimensions: int  # of the result, 1 or 2
    rows: int
    columns: int
    size: int  # of the result, in bytes
    width: int  # of every input


class MethodDef(ctypes.Structure):
    """CPython's description of a built-in."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


class DoorWords(np.ndarray[Any, Any]):
    """The words of ``Place``, with all that must live as long as the built-in."""

    kept: tuple[object, ...] = ()


def make_door(
    code: Code, name: str, table: Array, inputs: int, width: int, shape: tuple[int, ...]
) -> Any:
    """Return the built-in ``f(input 0, .., out or None)`` of a compiled function of one state."""
    rows, columns = shape if len(shape) == 2 else (*shape, 1)
    words = Place(
        code=code.address(name),
        table=table.ctypes.data,
        array_type=id(np.ndarray),
        dtype=id(np.dtype(np.float64)),
        none=id(None),
        new_array=new_array(),
        dimensions=len(shape),
        rows=rows,
        columns=columns,
        size=rows * columns * WORD,
        width=width,
    )
    description = np.array(words, np.int64).view(DoorWords)
    doors = doors_code()
    method = MethodDef(name.encode(), doors.address(f"door_{inputs}"), CALLED_WITH_ARRAY, None)
    description.kept = (code, table, doors, method)
    make = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.POINTER(MethodDef), ctypes.py_object, ctypes.c_void_p
    )(("PyCFunction_NewEx", ctypes.pythonapi))
    return make(ctypes.byref(method), description, None)


@cache
def fault() -> str:
    """Why there can be no door in this Python; empty if there can."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return f"this Python ({sys.implementation.name}) has other objects than CPython's"
    array = np.zeros((3, 5))

    def word(place: int, kind: Any = ctypes.c_size_t) -> int:
        return int(kind.from_address(id(array) + place).value)

    lengths = word(SHAPE)
    found = (
        word(KIND),
        word(DATA),
        word(DIMENSIONS, ctypes.c_int),
        ctypes.c_ssize_t.from_address(lengths).value,
        ctypes.c_ssize_t.from_address(lengths + WORD).value,
        word(DTYPE),
        word(FLAGS, ctypes.c_int) & (PLAIN | WRITEABLE),
    )
    kind, dtype = id(np.ndarray), id(np.dtype(np.float64))
    if found != (kind, array.ctypes.data, 2, 3, 5, dtype, PLAIN | WRITEABLE):
        return f"arrays of NumPy {np.__version__} lie in memory in another way than is read"
    return ""


@cache
def new_array() -> int:
    """Address of NumPy's PyArray_New."""
    core: Any = import_module("numpy._core._multiarray_umath")
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )(core._ARRAY_API, None)
    table = ctypes.cast(pointer, ctypes.POINTER(ctypes.c_void_p))
    return int(table[NEW_ARRAY] or 0)


@cache
def doors_code() -> Code:
    """Machine code of the doors for every number of inputs, compiled once."""
    head = "declare void @Py_IncRef(ptr)\ndeclare void @Py_DecRef(ptr)\n"
    text = head + "".join(assembly(k) for k in range(1, MOST + 1))
    return made(key_of(b"doors", text.encode()), lambda: text)


def assembly(inputs: int) -> str:
    """A door's assembly: PyObject *door(PyObject *self, PyObject **arguments, Py_ssize_t)."""
    lines: list[str] = []

    def do(text: str) -> str:
        name = f"%v{len(lines)}"
        lines.append(f"  {name} = {text}")
        return name

    def at(start: str, place: int) -> str:
        return do(f"getelementptr i8, ptr {start}, i64 {place}")

    def read(start: str, place: int, kind: str = "i64") -> str:
        return do(f"load {kind}, ptr {at(start, place)}")

    def all_of(truths: list[str]) -> str:
        result = truths[0]
        for truth in truths[1:]:
            result = do(f"and i1 {result}, {truth}")
        return result

    def go_on_if(truths: list[str], label: str, otherwise: str = "decline") -> None:
        lines.append(f"  br i1 {all_of(truths)}, label %{label}, label %{otherwise}")
        lines.append(f"{label}:")

    def equal(a: str, b: str | int, kind: str = "i64") -> str:
        return do(f"icmp eq {kind} {a}, {b}")

    def plain(array: str, flags: int) -> list[str]:
        """Whether an object is an array of ours; only after this may its shape be read."""
        return [equal(read(array, KIND), word["array_type"])]

    def kind_of(array: str, flags: int) -> list[str]:
        masked = do(f"and i32 {read(array, FLAGS, 'i32')}, {flags}")
        return [equal(read(array, DTYPE), word["dtype"]), equal(masked, flags, "i32")]

    words = do(f"load ptr, ptr {at('%self', DATA)}")
    word = {key: read(words, WORD * k) for k, key in enumerate(Place._fields)}
    go_on_if([equal("%count", inputs + 1)], "counted")
    objects = [read("%arguments", WORD * k, "ptr") for k in range(inputs + 1)]
    *given, out = objects
    go_on_if([t for x in given for t in plain(x, PLAIN)], "arrays")
    truths = [t for x in given for t in kind_of(x, PLAIN)]
    truths += [equal(read(x, DIMENSIONS, "i32"), 1, "i32") for x in given]
    go_on_if(truths, "rows")
    lengths = [read(x, SHAPE, "ptr") for x in given]
    go_on_if([equal(read(length, 0), word["width"]) for length in lengths], "inputs")
    starts = [read(x, DATA, "ptr") for x in given]
    numbers = do(f"inttoptr i64 {word['table']} to ptr")
    call = do(f"inttoptr i64 {word['code']} to ptr")
    arguments = ", ".join(f"ptr {x}" for x in (numbers, *starts))
    no_result = equal(do(f"ptrtoint ptr {out} to i64"), word["none"])
    lines.append(f"  br i1 {no_result}, label %make, label %check")
    # -- a result is given ----
    lines.append("check:")
    go_on_if(plain(out, PLAIN | WRITEABLE), "array")
    count = do(f"trunc i64 {word['dimensions']} to i32")
    truths = kind_of(out, PLAIN | WRITEABLE)
    go_on_if([*truths, equal(read(out, DIMENSIONS, "i32"), count, "i32")], "ranked")
    shape, two = read(out, SHAPE, "ptr"), equal(word["dimensions"], 2)
    last = do(f"select i1 {two}, i64 1, i64 0")
    last = do(f"getelementptr i64, ptr {shape}, i64 {last}")
    columns = do(f"select i1 {two}, i64 {word['columns']}, i64 {word['rows']}")
    target = read(out, DATA, "ptr")
    truths = [equal(read(shape, 0), word["rows"]), equal(do(f"load i64, ptr {last}"), columns)]
    start, length = do(f"ptrtoint ptr {target} to i64"), do(f"shl i64 {word['width']}, 3")
    stop = do(f"add i64 {start}, {word['size']}")
    for x in starts:
        # Apart: the input ends before the result begins, or begins after its end.
        first = do(f"ptrtoint ptr {x} to i64")
        end = do(f"add i64 {first}, {length}")
        before = do(f"icmp ule i64 {end}, {start}")
        after = do(f"icmp uge i64 {first}, {stop}")
        truths.append(do(f"or i1 {before}, {after}"))
    go_on_if(truths, "run")
    done = do(f"call i64 {call}({arguments}, ptr {target})")
    go_on_if([equal(done, 1)], "good")
    lines += [f"  call void @Py_IncRef(ptr {out})", f"  ret ptr {out}"]
    # -- a result is made ----
    lines.append("make:")
    make = do(f"inttoptr i64 {word['new_array']} to ptr")
    kind = do(f"inttoptr i64 {word['array_type']} to ptr")
    count = do(f"trunc i64 {word['dimensions']} to i32")
    shape = at(words, WORD * Place._fields.index("rows"))
    made = do(
        f"call ptr {make}(ptr {kind}, i32 {count}, ptr {shape}, i32 {FLOAT64}, ptr null, "
        "ptr null, i32 0, i32 0, ptr null)"
    )
    lines.append(f"  br i1 {equal(do(f'ptrtoint ptr {made} to i64'), 0)}, label %no, label %fill")
    lines += ["no:", "  ret ptr null", "fill:"]
    done = do(f"call i64 {call}({arguments}, ptr {read(made, DATA, 'ptr')})")
    go_on_if([equal(done, 1)], "full", "drop")
    lines += [f"  ret ptr {made}", "drop:", f"  call void @Py_DecRef(ptr {made})"]
    lines += ["  br label %decline", "decline:"]
    none = do(f"inttoptr i64 {word['none']} to ptr")
    lines += [f"  call void @Py_IncRef(ptr {none})", f"  ret ptr {none}", "}", ""]
    head = f"define ptr @door_{inputs}(ptr %self, ptr %arguments, i64 %count) {{"
    return "\n".join([head, *lines])
