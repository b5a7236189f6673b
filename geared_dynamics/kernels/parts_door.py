"""Doors of functions of contacts: numbers behind the arrays, a result of several named parts.

They are as those of ``door``: what they take goes from Python to the kernel without a detour, all
else to the function behind. The arguments are a model, its prepared contacts, arrays (n,) of one
state, and numbers, by place or by name. The record stands on the prepared contacts. The result
is one array; the parts are views of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from geared_dynamics.kernels import door
from geared_dynamics.kernels.direct import numbers_as_read
from geared_dynamics.kernels.door_code import (
    BEHIND,
    CALL,
    DATA,
    ENTRY,
    FIRST_NAME,
    FLOAT64,
    KIND,
    NAMES,
    NEW_ARRAY,
    OPEN,
    PLACE,
    PLAIN,
    WORD,
    WRITEABLE,
    Assembly,
    Known,
)
from geared_dynamics.kernels.memory import Array
from geared_dynamics.kernels.native import Code, object_code

Function = TypeVar("Function", bound=Callable[..., Any])

SET_BASE = 282  # place in NumPy's table of functions
NAMED = 3  # most numbers by name
CONSTANTS = 2  # arrays that a kernel takes before the inputs; one of zeros comes after them


class PartsCall(NamedTuple):
    """What a function takes and returns.

    Attributes:
        place: Its place among the records of the contacts.
        inputs: Number of arrays (n,).
        numbers: Names and defaults of its numbers, first those that may be given by place.
        by_place: How many these are.
        order: The kernel's numbers: places in ``numbers``; -1: zero.
        rough: Place of the coefficient of friction.
        result: Type of the result.
    """

    place: int
    inputs: int
    numbers: tuple[tuple[str, float], ...]
    by_place: int
    order: tuple[int, ...]
    rough: int
    result: type


class PartsRecord(NamedTuple):
    """How prepared contacts answer a function; zeros until it was called for the first time."""

    model: int = 0  # the object
    code: int = 0  # address of the kernel
    rough: int = 0  # whether there is a law of friction for all of them
    width: int = 0  # of every input
    length: int = 0  # of the result
    arrays: tuple[int, ...] = ()  # object, data and length of constants and zeros
    parts: tuple[int, ...] = ()  # of each: first byte, dimensions, rows, columns


PARTS_AT = len(PartsRecord._fields) - 2 + 3 * (CONSTANTS + 1)  # where they begin [words]
PARTS = 6  # most of them
PLACES = 2  # functions
RECORD = (PARTS_AT + 4 * PARTS) * WORD


class PartsAnswer(NamedTuple):
    """A kernel that answers a function for prepared contacts.

    Attributes:
        kernel: The kernel, as the package has it.
        model: The model.
        constants: Its constant arrays.
        zeros: Length of the input of zeros after those that the function takes.
        rough: Whether friction has a law for all contacts.
        width: Length of every input.
        shapes: Of the parts of the result.
    """

    kernel: Any
    model: object
    constants: tuple[Array, ...]
    zeros: int
    rough: bool
    width: int
    shapes: tuple[tuple[int, ...], ...]


def parts_door(
    call: PartsCall, kind: type, answer: Callable[[Any], PartsAnswer | None]
) -> Callable[[Function], Function]:
    """Return a decorator that puts a door in front of ``f(model, contacts, input 0, ..)``.

    Args:
        call: What the function takes and returns.
        kind: Type of prepared contacts; the slot ``entry`` is the first behind its head.
        answer: Kernel that answers, known after the function has answered once; None: none.
    """

    def decorate(function: Function) -> Function:
        able = not door.fault() and numbers_as_read() and door.entry_as_read(kind)
        return make_door(function, call, kind, answer) if able else function

    return decorate


def make_door(
    function: Function,
    call: PartsCall,
    kind: type,
    answer: Callable[[Any], PartsAnswer | None],
) -> Function:
    """Return the door of a function."""

    def first(*arguments: Any, **named: Any) -> Any:
        """Answer for contacts that have no record yet, then make it."""
        value = function(*arguments, **named)
        made = answer(arguments[1])
        if made is not None and made.model is arguments[0]:
            set_record(arguments[1], call.place, made)
        return value

    names = tuple(sys.intern(name) for name, _ in call.numbers)
    code = Code(object_code(PartsAssembly(call, kind, names).whole(), effort=0))
    places = {CALL: code.address("enter"), BEHIND: id(function), OPEN: id(first)}
    made = door.dressed(function, places | {PLACE: call.place * RECORD})
    door.KEPT.append((first, code, names, call, kind))
    return made


def set_record(ready: Any, place: int, answer: PartsAnswer) -> None:
    """Let prepared contacts answer a function by a kernel."""
    address = door.native_address(answer.kernel)
    if not address or len(answer.shapes) > PARTS:
        return
    records: Any = getattr(ready, "entry", None)
    if records is None:
        records = np.zeros((PLACES, RECORD // WORD), np.int64).view(door.DoorRecords)
        records.kept = {}
        object.__setattr__(ready, "entry", records)
    arrays = *answer.constants, np.zeros(answer.zeros)
    words = tuple(word for x in arrays for word in (id(x), x.ctypes.data, x.size))
    parts, length = [], 0
    for shape in answer.shapes:
        rows, columns = (*shape, 0, 0)[:2]
        parts += [WORD * length, len(shape), rows, columns]
        length += int(np.prod(shape))
    parts += [0] * (4 * PARTS - len(parts))
    record = PartsRecord(
        id(answer.model), address, int(answer.rough), answer.width, length, words, tuple(parts)
    )
    records.kept[str(place)] = (arrays, answer.model)
    records[place] = [*record[:-2], *record.arrays, *record.parts]


def exact(value: float) -> str:
    """Return a number as LLVM writes all of its digits."""
    return f"0x{np.float64(value).view(np.uint64):016X}"


class PartsAssembly(Assembly):
    """Assembly of one door, as of ``Assembly``."""

    def __init__(self, call: PartsCall, kind: type, names: tuple[str, ...]) -> None:
        """Start without lines."""
        new_array, self.set_base = door.numpy_functions(NEW_ARRAY, SET_BASE)
        known = Known(id(np.ndarray), id(np.dtype(np.float64)), id(None), 0, new_array, 0)
        super().__init__(call.inputs, known)
        self.call, self.kind, self.names = call, kind, names

    def whole(self) -> str:
        """Return the assembly of the door."""
        return "\n".join(
            [
                "declare void @Py_IncRef(ptr)",
                "declare void @Py_DecRef(ptr)",
                "declare ptr @PyType_GenericAlloc(ptr, i64)",
                "declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)",
                self.text(),
            ]
        )

    def word(self, place: int, kind: str = "i64") -> str:
        """Word of the record."""
        return self.read("%record", WORD * place, kind)

    def field(self, key: str) -> str:
        """Word of the record by its name."""
        return self.word(PartsRecord._fields.index(key))

    def text(self) -> str:
        """Return the function."""
        room = self.do("alloca i64"), self.do("alloca ptr")
        self.numbers = self.do(f"alloca [{len(self.names)} x double]")
        objects = [self.read("%arguments", WORD * k, "ptr") for k in self.counted()]
        self.check_arrays(objects[2:])
        self.read_numbers()
        self.find_contacts(objects)
        starts = self.check_lengths(objects[2:])
        self.call_kernel(objects[2:], starts, room)
        self.hand_over()
        for label, place in (("behind", BEHIND), ("first", OPEN)):
            self.lines.append(f"{label}:")
            function = self.read("%door", place, "ptr")
            given = f"ptr {function}, ptr %arguments, i64 %count, ptr %names"
            self.lines.append(f"  ret ptr {self.do(f'call ptr @PyObject_Vectorcall({given})')}")
        head = "define ptr @enter(ptr %door, ptr %arguments, i64 %count, ptr %names) {"
        return "\n".join([head, *self.lines, "}", ""])

    def counted(self) -> range:
        """Go on with a right number of arguments only, %given of them by place."""
        least = self.inputs + 2
        self.lines.append(f"  %given = and i64 %count, {2**63 - 1}")
        enough = self.do(f"icmp uge i64 %given, {least}")
        few = self.do(f"icmp ule i64 %given, {least + self.call.by_place}")
        self.go_on_if([enough, few], "counted")
        return range(least)

    def read_numbers(self) -> None:
        """Fill the numbers: defaults, those by place, those by name."""
        for k, (_, default) in enumerate(self.call.numbers):
            self.store(exact(default), WORD * k)
        first = self.inputs + 2
        for k in range(self.call.by_place):
            self.branch(self.do(f"icmp ugt i64 %given, {first + k}"), f"p{k}", f"e{k}", f"p{k}")
            item = self.read("%arguments", WORD * (first + k), "ptr")
            self.store(self.float_at(item, f"f{k}"), WORD * k)
            self.lines += [f"  br label %e{k}", f"e{k}:"]
        self.branch(self.there("%names"), "named", "read", "named")
        self.lines.append(f"  %many = load i64, ptr {self.at('%names', NAMES)}")
        self.go_on_if([self.do(f"icmp ule i64 %many, {NAMED}")], "some")
        placed = self.do(f"sub i64 %given, {first}")
        for j in range(NAMED):
            self.branch(self.do(f"icmp ugt i64 %many, {j}"), f"n{j}", "read", f"n{j}")
            name, which = self.read("%names", FIRST_NAME + WORD * j), str(len(self.names))
            for i, known in enumerate(self.names):
                which = self.do(f"select i1 {self.equal(name, id(known))}, i64 {i}, i64 {which}")
            found = self.do(f"icmp ult i64 {which}, {len(self.names)}")
            # One that is given by place as well is an error, which the function raises.
            self.go_on_if([found, self.do(f"icmp uge i64 {which}, {placed}")], f"k{j}")
            place = self.do(f"add i64 {self.do('shl i64 %given, 3')}, {WORD * j}")
            value = self.float_at(self.read("%arguments", place, "ptr"), f"g{j}")
            self.store(value, self.do(f"shl i64 {which}, 3"))
        self.lines += ["  br label %read", "read:"]

    def store(self, value: str, place: int | str) -> None:
        """Set one of the numbers."""
        self.lines.append(f"  store double {value}, ptr {self.at(self.numbers, place)}")

    def find_contacts(self, objects: list[str]) -> None:
        """Find the contacts' record, %record, of this model, with a law for the friction."""
        self.go_on_if([self.equal(self.read(objects[1], KIND), id(self.kind))], "contacts")
        records = self.read(objects[1], ENTRY, "ptr")
        self.go_on_if([self.there(records)], "entry", "first")
        records, place = self.read(records, DATA, "ptr"), self.read("%door", PLACE)
        self.lines.append(f"  %record = getelementptr i8, ptr {records}, i64 {place}")
        self.go_on_if([self.do(f"icmp ne i64 {self.field('code')}, 0")], "known", "first")
        own = self.equal(self.do(f"ptrtoint ptr {objects[0]} to i64"), self.field("model"))
        mu = self.read(self.numbers, WORD * self.call.rough, "double")
        slick = self.do(f"fcmp oeq double {mu}, {exact(0.0)}")
        rough = self.do(f"icmp ne i64 {self.field('rough')}, 0")
        self.go_on_if([own, self.do(f"or i1 {slick}, {rough}")], "own")

    def new_array(self, words: str) -> str:
        """Return a new array, null where there is no memory."""
        make = self.do(f"inttoptr i64 {self.known.new_array} to ptr")
        kind = self.do(f"inttoptr i64 {self.known.array_type} to ptr")
        return self.do(f"call ptr {make}(ptr {kind}, {words})")

    def call_kernel(self, objects: list[str], starts: list[str], room: tuple[str, str]) -> None:
        """Make the result %whole and let the kernel fill it; on failure go to the function."""
        place = PartsRecord._fields.index("length")
        length = self.at("%record", WORD * place)
        whole = self.new_array(
            f"i32 1, ptr {length}, i32 {FLOAT64}, ptr null, ptr null, i32 0, i32 0, ptr null"
        )
        self.go_on_if([self.there(whole)], "whole", "failed")
        start, size, width = self.read(whole, DATA, "ptr"), self.word(place), self.field("width")
        first = len(PartsRecord._fields) - 2
        known = [
            (self.word(k, "ptr"), self.word(k + 1, "ptr"), self.word(k + 2))
            for k in range(first, first + 3 * (CONSTANTS + 1), 3)
        ]
        inputs = [(*pair, width) for pair in zip(objects, starts, strict=True)]
        words = [f"ptr {x}" for x in room]
        for array in (*known[:CONSTANTS], *inputs, known[-1]):
            words += self.array_words(*array)
        for k in self.call.order:
            value = self.read(self.numbers, WORD * k, "double") if k >= 0 else exact(0.0)
            words.append(f"double {value}")
        words += self.array_words(whole, start, size)
        code = self.do(f"inttoptr i64 {self.field('code')} to ptr")
        ran = self.equal(self.do(f"call i32 {code}({', '.join(words)})"), 0, "i32")
        status = self.equal(self.do(f"load i64, ptr {room[0]}"), 0)
        self.go_on_if([ran, status], "good", "bad")
        self.whole_result = whole, start

    def hand_over(self) -> None:
        """Return the tuple of the parts."""
        whole, start = self.whole_result
        count = len(self.call.result._fields)  # type: ignore[attr-defined]
        kind = self.do(f"inttoptr i64 {id(self.call.result)} to ptr")
        made = self.do(f"call ptr @PyType_GenericAlloc(ptr {kind}, i64 {count})")
        self.go_on_if([self.there(made)], "tuple", "drop")
        set_base = self.do(f"inttoptr i64 {self.set_base} to ptr")
        for k in range(count):
            place = PARTS_AT + 4 * k
            data = self.at(start, self.word(place))
            dimensions = self.do(f"trunc i64 {self.word(place + 1)} to i32")
            shape = self.at("%record", WORD * (place + 2))
            part = self.new_array(
                f"i32 {dimensions}, ptr {shape}, i32 {FLOAT64}, ptr null, ptr {data}, i32 0, "
                f"i32 {PLAIN | WRITEABLE}, ptr null"
            )
            self.go_on_if([self.there(part)], f"part{k}", "lost")
            self.lines.append(f"  call void @Py_IncRef(ptr {whole})")
            self.do(f"call i32 {set_base}(ptr {part}, ptr {whole})")
            self.lines.append(f"  store ptr {part}, ptr {self.at(made, FIRST_NAME + WORD * k)}")
        self.lines += [f"  call void @Py_DecRef(ptr {whole})", f"  ret ptr {made}"]
        self.lines += ["lost:", f"  call void @Py_DecRef(ptr {made})", "  br label %drop"]
        self.lines += ["drop:", f"  call void @Py_DecRef(ptr {whole})", "  br label %failed"]
        self.lines += ["failed:", "  ret ptr null"]
        self.lines += ["bad:", f"  call void @Py_DecRef(ptr {whole})", "  br label %behind"]
