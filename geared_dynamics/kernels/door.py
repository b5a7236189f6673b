"""Public functions that call kernels and compiled code without a detour.

A call through numba's dispatcher costs more than the arithmetic behind it, and so does a Python
function in front of it. A ``Door`` is a callable object as C extensions have them (its class is
made at run time, by CPython's PyType_FromSpec): its code, LLVM assembly for CPython's and NumPy's
interfaces, looks at the arguments, calls the kernel or the code that a model has for this
function, and returns the result. Whatever it does not take as it is (other types, shapes,
strides, keywords, overlapping memory, a status of the kernel) goes to the Python function that
stands behind it, whose conversions and errors are those of any call.

What a model has for each function stands in its attribute ``entry`` (``DoorRecords``).
The places that are read of objects are compared once with what Python and numba say of them
(``fault``). Where they differ, and on other Pythons than CPython with its lock, there is no door,
and the functions are those behind.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import sysconfig
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from types import MethodType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from llvmlite import ir
from numba import types

from geared_dynamics.kernels.door_code import (
    ARRAYS,
    BEHIND,
    CALL,
    DATA,
    DICT,
    DIMENSIONS,
    DTYPE,
    ENTRY,
    FIRST_NAME,
    FLAGS,
    HEAD,
    KERNELS,
    KIND,
    NAMES,
    NEW_ARRAY,
    OPEN,
    PLACE,
    PLAIN,
    RECORD,
    RESULT,
    SHAPE,
    SIZE,
    WEAK,
    WORD,
    WRITEABLE,
    Known,
    Record,
    doors_code,
)
from geared_dynamics.kernels.memory import Array
from geared_dynamics.kernels.native import OLDEST, Code, version

Function = TypeVar("Function", bound=Callable[..., Any])

# Functions that have a door: their order is that of the records.
ENTRIES = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "gravity_forces",
    "bias_forces",
    "torque_terms",
    "motor_commands",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
    "regressor",
)


class DoorRecords(np.ndarray[Any, Any]):
    """Records of a model's functions, with what must live as long."""

    kept: dict[str, object]


def set_record(model: Any, name: str, record: Record, kept: object = None) -> None:
    """Let a model answer a function as a record says.

    Args:
        model: The model.
        name: The function, of ``ENTRIES``.
        record: Addresses and shapes.
        kept: What has to live as long as the model.
    """
    records: Any = getattr(model, "entry", None)
    if records is None:
        records = np.zeros((len(ENTRIES), RECORD // WORD), np.int64).view(DoorRecords)
        records.kept = {}
        object.__setattr__(model, "entry", records)
    before = records.kept.get(name)
    records.kept[name] = (before, kept)  # a thread in Python code may hold what was there
    records[ENTRIES.index(name)] = [*record[:-1], *record.arrays]


class KernelAnswer(NamedTuple):
    """A kernel that answers a function for a model.

    Attributes:
        kernel: The kernel, as the package has it.
        constants: Its constant arrays.
        zeros: Number of inputs after those that the function takes; they are zero.
        shape: Of the result.
        width: Length of every input.
    """

    kernel: Any
    constants: tuple[Array, ...]
    zeros: int
    shape: tuple[int, ...]
    width: int


def record_of(answer: KernelAnswer, inputs: int) -> tuple[Record, object]:
    """Return the record of a kernel, and what must live with it."""
    address = native_address(answer.kernel)
    zeros = (np.zeros(answer.width),) * answer.zeros
    arrays = (*answer.constants, *zeros)
    if not address or len(arrays) > ARRAYS:
        return Record(), None
    words = [word for x in arrays for word in (id(x), x.ctypes.data, x.size)]
    words += [0] * (3 * ARRAYS - len(words))
    way = KERNELS[inputs].index((len(answer.constants), answer.zeros))
    return Record(way, address, 0, *shape_words(answer.shape, answer.width), tuple(words)), arrays


def shape_words(shape: tuple[int, ...], width: int) -> tuple[int, int, int, int, int]:
    """Width of the inputs, and of a result: dimensions, rows, columns, size."""
    rows, columns = shape if len(shape) == 2 else (*shape, 1)
    return width, len(shape), rows, columns, rows * columns


def native_address(kernel: Any) -> int:
    """Where the machine code of a kernel for one state lies; 0 if it has none."""
    for kinds, compiled in getattr(kernel, "overloads", {}).items():
        if kinds[-1].ndim == 1:
            name = compiled.fndesc.llvm_func_name
            return int(compiled.library.get_pointer_to_function(name))
    return 0


# -- Making doors --------------------------------------------------------------------------------


def door(
    name: str,
    inputs: int,
    answer: Callable[[Any], KernelAnswer] | None = None,
    result: type | None = None,
) -> Callable[[Function], Function]:
    """Return a decorator that puts a door in front of ``f(model, input 0, .., *, out=None)``.

    Args:
        name: The function's name among ``ENTRIES``.
        inputs: Number of inputs (n,).
        answer: Kernel that answers for a model that has no compiled code, known after the
            function has answered once; None: only compiled code does.
        result: Type of ``out`` where that is no array but has one in its first slot; without
            ``out`` the function answers.
    """

    def decorate(function: Function) -> Function:
        return function if fault() else make_door(function, name, inputs, answer, result)

    return decorate


def make_door(
    function: Function,
    name: str,
    inputs: int,
    answer: Callable[[Any], KernelAnswer] | None,
    result: type | None,
) -> Function:
    """Return the door of a function."""

    def first(*arguments: Any, **named: Any) -> Any:
        """Answer a model that has no record yet, then make the record."""
        value = function(*arguments, **named)
        model = arguments[0]
        if name not in getattr(getattr(model, "entry", None), "kept", ()):
            record: tuple[Record, object] = Record(), None
            if answer is not None:
                record = record_of(answer(model), inputs)
            set_record(model, name, *record)
        return value

    places = {
        CALL: code().address(f"enter_{inputs}"),
        BEHIND: id(function),
        OPEN: id(first),
        PLACE: ENTRIES.index(name) * RECORD,
        RESULT: 0 if result is None else id(result),
    }
    KEPT.append((first, result))
    return dressed(function, places)


def dressed(function: Function, places: Mapping[int, int]) -> Function:
    """Return a door with the look of a function, with these words at its places."""
    made: Any = new_door()
    for place, word in places.items():
        ctypes.c_size_t.from_address(id(made) + place).value = word
    KEPT.append((made, function))
    for key in (*functools.WRAPPER_ASSIGNMENTS, "__defaults__", "__kwdefaults__"):
        setattr(made, key, getattr(function, key, None))
    made.__wrapped__ = function
    return made


KEPT: list[object] = []  # doors live as long as the process, as functions of a module do


@cache
def models() -> Any:
    """Return the words of the types of models that doors take; one array for all doors."""
    return np.zeros(2, np.int64)


@cache
def code() -> Code:
    """Machine code of the doors."""
    name = sys.intern("out")
    KEPT.append(name)
    identities = id(np.ndarray), id(np.dtype(np.float64)), id(None), id(name)
    new_array = numpy_functions(NEW_ARRAY)[0]
    return doors_code(Known(*identities, new_array, models().ctypes.data))


def admit(kind: type, place: int) -> None:
    """Let the doors take models of a type: plain ones in place 0, compiled ones in place 1.

    The slot ``entry`` must be the first behind the head of its instances.
    """
    if not fault() and entry_as_read(kind):
        KEPT.append(kind)
        models()[place] = id(kind)


@cache
def numpy_functions(*places: int) -> tuple[int, ...]:
    """Addresses of functions by their places in NumPy's table."""
    core: Any = import_module(
        "numpy._core._multiarray_umath" if hasattr(np, "_core") else "numpy.core._multiarray_umath"
    )
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )(core._ARRAY_API, None)
    table = ctypes.cast(pointer, ctypes.POINTER(ctypes.c_void_p))
    return tuple(int(table[place] or 0) for place in places)


# -- The type of doors, by CPython's PyType_FromSpec ---------------------------------------------


class TypeMember(ctypes.Structure):
    """CPython's PyMemberDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class TypeSlot(ctypes.Structure):
    """CPython's PyType_Slot."""

    _fields_ = (("slot", ctypes.c_int), ("function", ctypes.c_void_p))


class TypeSpec(ctypes.Structure):
    """CPython's PyType_Spec."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(TypeSlot)),
    )


PY_SSIZE, READ_ONLY = 19, 1  # of a member
TP_CALL, TP_MEMBERS = 50, 72  # numbers of slots
VECTORCALL, NO_CONSTRUCTOR, DEFAULT = 1 << 11, 1 << 7, 1 << 18  # flags of a type


@cache
def door_type() -> type:
    """Type of the doors; like functions they have a signature, help, and pickle by name."""
    offsets = {"__vectorcalloffset__": CALL, "__dictoffset__": DICT, "__weaklistoffset__": WEAK}
    members = (TypeMember * 4)(
        *(TypeMember(k.encode(), PY_SSIZE, x, READ_ONLY) for k, x in offsets.items())
    )
    call = ctypes.cast(ctypes.pythonapi.PyVectorcall_Call, ctypes.c_void_p).value
    slots = (TypeSlot * 3)(
        TypeSlot(TP_CALL, call), TypeSlot(TP_MEMBERS, ctypes.cast(members, ctypes.c_void_p).value)
    )
    name = b"geared_dynamics.kernels.door.Door"
    spec = TypeSpec(name, SIZE, 0, DEFAULT | VECTORCALL | NO_CONSTRUCTOR, slots)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.POINTER(TypeSpec))(
        ("PyType_FromSpec", ctypes.pythonapi)
    )
    kind: Any = make(ctypes.byref(spec))
    KEPT.append((members, slots, name, spec))
    kind.__reduce__ = lambda self: self.__qualname__
    kind.__repr__ = lambda self: f"<function {self.__qualname__} at {id(self):#x}>"
    kind.__get__ = lambda self, owner, _=None: self if owner is None else MethodType(self, owner)
    return kind


def new_door() -> object:
    """Return a door whose places are zero."""
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_ssize_t)(
        ("PyType_GenericAlloc", ctypes.pythonapi)
    )
    made: object = make(door_type(), 0)
    return made


# -- Whether objects lie in memory as the doors read them ----------------------------------------


@cache
def fault() -> str:
    """Return why there can be no door in this Python; empty if there can."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return f"this Python ({sys.implementation.name}) has other objects than CPython's"
    if version() < OLDEST:
        return f"LLVM {version()} is older than {OLDEST}"
    if HEAD != 2 * WORD or not arrays_as_read():
        return f"objects of NumPy {np.__version__} lie in memory in another way than is read"
    return "" if kernels_as_called() else "numba calls its functions in another way"


def word(start: int, place: int, kind: Any = ctypes.c_size_t) -> int:
    """Read a number in memory."""
    return int(kind.from_address(start + place).value or 0)


def arrays_as_read() -> bool:
    """Whether arrays lie in memory as is read here."""
    array = np.zeros((3, 5))
    lengths = word(id(array), SHAPE)
    found = (
        word(id(array), KIND),
        word(id(array), DATA),
        word(id(array), DIMENSIONS, ctypes.c_int),
        word(lengths, 0),
        word(lengths, WORD),
        word(id(array), DTYPE),
        word(id(array), FLAGS, ctypes.c_int) & (PLAIN | WRITEABLE),
    )
    kind, dtype = id(np.ndarray), id(np.dtype(np.float64))
    return found == (kind, array.ctypes.data, 2, 3, 5, dtype, PLAIN | WRITEABLE)


def entry_as_read(kind: type) -> bool:
    """Whether the slot ``entry`` of a type's instances and tuples lie in memory as is read."""
    holder: object = object.__new__(kind)
    names = ("out",)
    empty = word(id(holder), ENTRY)
    object.__setattr__(holder, "entry", names)
    filled = word(id(holder), ENTRY), word(id(names), NAMES), word(id(names), FIRST_NAME)
    return (empty, *filled) == (0, id(names), 1, id(names[0]))


def kernels_as_called() -> bool:
    """Whether numba passes arrays to its functions as is done here."""
    from numba.core.registry import cpu_target

    context = cpu_target.target_context
    array = types.Array(types.float64, 1, "C")
    kind = context.call_conv.get_function_type(types.int64, [array])
    words = [isinstance(x, ir.PointerType) for x in kind.args]
    numbers = all(isinstance(x, ir.PointerType) or x == ir.IntType(64) for x in kind.args)
    layout = [True, True, *(True, True, False, False, True, False, False)]
    return words == layout and numbers and kind.return_type == ir.IntType(32)
