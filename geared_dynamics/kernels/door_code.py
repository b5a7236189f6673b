"""Machine code of the doors into kernels and compiled code; see ``door``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.kernels.native import Code, object_code

WORD = 8
HEAD = object.__basicsize__
KIND = HEAD - WORD  # of any object: its type
# Places in the object of an array, in words behind its head, and the flags asked of one.
DATA, DIMENSIONS, SHAPE, DTYPE, FLAGS = (HEAD + WORD * k for k in (0, 1, 2, 5, 6))
PLAIN, WRITEABLE = 0x0101, 0x0400  # C-contiguous and aligned
ENTRY = HEAD  # place of a model's records, its only slot
VALUE = HEAD  # of a float: its number
NAMES, FIRST_NAME = HEAD, HEAD + WORD  # number of a tuple's items, and the first of them
# Places in a door.
CALL, BEHIND, OPEN, PLACE, RESULT, DICT, WEAK, SIZE = (HEAD + WORD * k for k in range(8))
NEW_ARRAY = 93  # place of PyArray_New in NumPy's table of functions
FLOAT64 = 12  # its number of the type
# Constants before the inputs and arrays of zeros after them that kernels take, by inputs.
KERNELS = {1: ((1, 0), (2, 0), (1, 2)), 2: ((1, 0), (2, 0), (1, 1)), 3: ((1, 0), (2, 0), (3, 0))}
ARRAYS = 4  # most of them together
COMPILED, CLOSED = -1, -2  # ways in: straight to compiled code; none


class Known(NamedTuple):
    """Addresses that the code of the doors has in it: of objects, and of a function of NumPy's."""

    array_type: int
    dtype: int
    none: int
    out: int  # the interned name
    new_array: int
    models: int  # an array of the types of models


class Record(NamedTuple):
    """How a model answers a function; zeros until it was called for the first time."""

    way: int = CLOSED  # place in ``KERNELS``, or one of the above
    code: int = 0  # address of the kernel, or of compiled code
    table: int = 0  # numbers of compiled code
    width: int = 0  # of every input
    dimensions: int = 0  # of the result, 1 or 2
    rows: int = 0
    columns: int = 0
    size: int = 0  # numbers in the result
    arrays: tuple[int, ...] = (0,) * 3 * ARRAYS  # object, data and length of each


RECORD = (len(Record._fields) - 1 + 3 * ARRAYS) * WORD


def doors_code(known: Known) -> Code:
    """Machine code of the doors for every number of inputs.

    Without effort in the code generator it is there sooner, and a call takes 7 % more.
    """
    return Code(object_code(assembly(known), effort=1))


def assembly(known: Known) -> str:
    """Return the assembly of all doors."""
    return "\n".join(
        [
            "declare void @Py_IncRef(ptr)",
            "declare void @Py_DecRef(ptr)",
            "declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)",
            *(Assembly(inputs, known).text() for inputs in KERNELS),
        ]
    )


class Assembly:
    """Assembly of ``PyObject *enter_N(PyObject *door, PyObject **arguments, count, names)``.

    What is read of records is read where it is used: registers that wait would be stored.
    """

    def __init__(self, inputs: int, known: Known) -> None:
        """Start without lines."""
        self.inputs, self.known = inputs, known
        self.lines: list[str] = []

    # -- instructions ----

    def do(self, text: str) -> str:
        """Append an instruction; return the name of its value."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def at(self, start: str, place: int | str) -> str:
        """Address behind another one."""
        return self.do(f"getelementptr i8, ptr {start}, i64 {place}")

    def read(self, start: str, place: int | str, kind: str = "i64") -> str:
        """Value in memory."""
        return self.do(f"load {kind}, ptr {self.at(start, place)}")

    def field(self, key: str) -> str:
        """Word of the record."""
        return self.read("%record", WORD * Record._fields.index(key))

    def equal(self, a: str, b: str | int, kind: str = "i64") -> str:
        """Truth of an equality."""
        return self.do(f"icmp eq {kind} {a}, {b}")

    def there(self, pointer: str) -> str:
        """Truth of a pointer's not being null."""
        return self.do(f"icmp ne ptr {pointer}, null")

    def branch(self, truth: str, label: str, otherwise: str, begin: str) -> None:
        """Branch, and begin with one of the labels, or another."""
        self.lines += [f"  br i1 {truth}, label %{label}, label %{otherwise}", f"{begin}:"]

    def go_on_if(self, truths: Sequence[str], label: str, otherwise: str = "behind") -> None:
        """Branch to a label that begins here, or elsewhere."""
        result = truths[0]
        for truth in truths[1:]:
            result = self.do(f"and i1 {result}, {truth}")
        self.branch(result, label, otherwise, label)

    # -- parts ----

    def text(self) -> str:
        """Return the whole function."""
        room = self.do("alloca i64"), self.do("alloca ptr")
        objects = self.arguments()
        self.check_arrays(objects[1:])
        self.find_record(objects[0])
        starts = self.check_lengths(objects[1:])
        self.find_result(starts)
        self.run(objects[1:], starts, room)
        for label, place in (("behind", BEHIND), ("first", OPEN)):
            self.lines.append(f"{label}:")
            function = self.read("%door", place, "ptr")
            given = f"ptr {function}, ptr %arguments, i64 %count, ptr %names"
            self.lines.append(f"  ret ptr {self.do(f'call ptr @PyObject_Vectorcall({given})')}")
        words = "ptr %door, ptr %arguments, i64 %count, ptr %names"
        head = f"define ptr @enter_{self.inputs}({words}) {{"
        return "\n".join([head, *self.lines, "}", ""])

    def arguments(self) -> list[str]:
        """Model and inputs by position; %out is None or what a keyword of this name gives."""
        given = self.do(f"and i64 %count, {2**63 - 1}")
        self.go_on_if([self.equal(given, self.inputs + 1)], "counted")
        objects = [self.read("%arguments", WORD * k, "ptr") for k in range(self.inputs + 1)]
        none = self.do(f"inttoptr i64 {self.known.none} to ptr")
        self.branch(self.there("%names"), "named", "given", "named")
        self.go_on_if([self.equal(self.read("%names", NAMES), 1)], "name")
        self.go_on_if([self.equal(self.read("%names", FIRST_NAME), self.known.out)], "output")
        named = self.read("%arguments", WORD * (self.inputs + 1), "ptr")
        self.lines += ["  br label %given", "given:"]
        self.lines.append(f"  %out = phi ptr [ {none}, %counted ], [ {named}, %output ]")
        return objects

    def find_record(self, model: str) -> None:
        """Find the model's record, %record; elsewhere where there is none, or nothing in it."""
        kind = self.read(model, KIND)
        models = self.do(f"inttoptr i64 {self.known.models} to ptr")
        plain, compiled = (self.equal(kind, self.read(models, WORD * k)) for k in range(2))
        self.go_on_if([self.do(f"or i1 {plain}, {compiled}")], "model")
        records = self.read(model, ENTRY, "ptr")
        self.go_on_if([self.there(records)], "entry", "first")
        records, place = self.read(records, DATA, "ptr"), self.read("%door", PLACE)
        self.lines.append(f"  %record = getelementptr i8, ptr {records}, i64 {place}")
        self.go_on_if([self.do(f"icmp ne i64 {self.field('way')}, {CLOSED}")], "open")
        self.go_on_if([self.do(f"icmp ne i64 {self.field('code')}, 0")], "known", "first")

    def plain(self, array: str, flags: int, dimensions: str) -> list[str]:
        """Whether an array has our numbers and lies as it should."""
        masked = self.do(f"and i32 {self.read(array, FLAGS, 'i32')}, {flags}")
        return [
            self.equal(self.read(array, DTYPE), self.known.dtype),
            self.equal(masked, flags, "i32"),
            self.equal(self.read(array, DIMENSIONS, "i32"), dimensions, "i32"),
        ]

    def check_arrays(self, objects: list[str]) -> None:
        """Go on with plain vectors only: batches need no record."""
        kind = self.known.array_type
        self.go_on_if([self.equal(self.read(x, KIND), kind) for x in objects], "arrays")
        self.go_on_if([t for x in objects for t in self.plain(x, PLAIN, "1")], "vectors")

    def float_at(self, item: str, label: str) -> str:
        """Go on with a float only, Python's or NumPy's; return its number."""
        kind = self.read(item, KIND)
        own, other = (self.equal(kind, id(x)) for x in (float, np.float64))
        self.go_on_if([self.do(f"or i1 {own}, {other}")], label)
        return self.read(item, VALUE, "double")

    def check_lengths(self, objects: list[str]) -> list[str]:
        """Go on with inputs of the right length only; return where they begin."""
        width = self.field("width")
        lengths = [self.read(self.read(x, SHAPE, "ptr"), 0) for x in objects]
        self.go_on_if([self.equal(length, width) for length in lengths], "inputs")
        return [self.read(x, DATA, "ptr") for x in objects]

    def find_result(self, starts: list[str]) -> None:
        """Check the array of the result or make it: %holder, its %target, if it is %fresh."""
        kept = self.do(f"icmp ne i64 {self.read('%door', RESULT)}, 0")
        word = self.do("ptrtoint ptr %out to i64")
        self.branch(self.equal(word, self.known.none), "missing", "wanted", "missing")
        self.branch(kept, "behind", "make", "wanted")
        self.branch(kept, "wrapped", "array", "wrapped")
        self.go_on_if([self.equal(self.read("%out", KIND), self.read("%door", RESULT))], "slot")
        slot = self.read("%out", ENTRY, "ptr")
        self.go_on_if([self.there(slot)], "filled")
        self.lines += ["  br label %array", "array:"]
        self.lines.append(f"  %given_array = phi ptr [ %out, %wanted ], [ {slot}, %filled ]")
        self.check_result("%given_array", starts)
        self.lines += ["  br label %run", "make:"]
        make, kind = (
            self.do(f"inttoptr i64 {x} to ptr")
            for x in (self.known.new_array, self.known.array_type)
        )
        count = self.do(f"trunc i64 {self.field('dimensions')} to i32")
        shape = self.at("%record", WORD * Record._fields.index("rows"))
        made = self.do(
            f"call ptr {make}(ptr {kind}, i32 {count}, ptr {shape}, i32 {FLOAT64}, ptr null, "
            "ptr null, i32 0, i32 0, ptr null)"
        )
        self.go_on_if([self.there(made)], "made", "failed")
        self.lines += ["  br label %run", "failed:", "  ret ptr null", "run:"]
        self.lines.append(f"  %holder = phi ptr [ %given_array, %apart ], [ {made}, %made ]")
        self.lines.append("  %fresh = phi i1 [ false, %apart ], [ true, %made ]")
        self.lines.append(f"  %target = load ptr, ptr {self.at('%holder', DATA)}")

    def check_result(self, array: str, starts: list[str]) -> None:
        """Go on with a writeable array of the right shape only, apart from the inputs."""
        self.go_on_if([self.equal(self.read(array, KIND), self.known.array_type)], "result")
        count = self.do(f"trunc i64 {self.field('dimensions')} to i32")
        self.go_on_if(self.plain(array, PLAIN | WRITEABLE, count), "ranked")
        # Apart: an input of L bytes ends before a result of S bytes begins, or begins after its
        # end; as whole numbers without a sign, start - (result - L + 1) >= S + L - 1.
        length, size = (self.do(f"shl i64 {self.field(key)}, 3") for key in ("width", "size"))
        short = self.do(f"sub i64 {length}, 1")
        first = self.do(f"sub i64 {self.read(array, DATA)}, {short}")
        room = self.do(f"add i64 {size}, {short}")
        words = [self.do(f"ptrtoint ptr {start} to i64") for start in starts]
        steps = [self.do(f"sub i64 {word}, {first}") for word in words]
        truths = [self.do(f"icmp uge i64 {step}, {room}") for step in steps]
        shape = self.read(array, SHAPE, "ptr")
        truths.append(self.equal(self.read(shape, 0), self.field("rows")))
        self.go_on_if(truths, "first_fits")
        self.branch(self.equal(count, 1, "i32"), "apart", "matrix", "matrix")
        columns = self.equal(self.read(shape, WORD), self.field("columns"))
        self.branch(columns, "apart", "behind", "apart")

    def run(self, objects: list[str], starts: list[str], room: tuple[str, str]) -> None:
        """Call the code of the record and return the result; on failure go to the function."""
        code = self.do(f"inttoptr i64 {self.field('code')} to ptr")
        ways = " ".join(f"i64 {k}, label %way_{k}" for k, _ in enumerate(KERNELS[self.inputs]))
        way = self.field("way")
        self.lines += [f"  switch i64 {way}, label %compiled [ {ways} ]", "compiled:"]
        table = self.do(f"inttoptr i64 {self.field('table')} to ptr")
        given = ", ".join(f"ptr {x}" for x in (table, *starts, "%target"))
        done = self.equal(self.do(f"call i64 {code}({given})"), 1)
        self.lines.append(f"  br i1 {done}, label %good, label %bad")
        for k, (constants, zeros) in enumerate(KERNELS[self.inputs]):
            self.lines.append(f"way_{k}:")
            width, size = self.field("width"), self.field("size")
            known = [self.array(j) for j in range(constants + zeros)]
            inputs = [(*pair, width) for pair in zip(objects, starts, strict=True)]
            result = ("%holder", "%target", size)
            arrays = [*known[:constants], *inputs, *known[constants:], result]
            words = [f"ptr {place}" for place in room]
            for one in arrays:
                words += self.array_words(*one)
            ran = self.equal(self.do(f"call i32 {code}({', '.join(words)})"), 0, "i32")
            status = self.equal(self.do(f"load i64, ptr {room[0]}"), 0)
            done = self.do(f"and i1 {ran}, {status}")
            self.lines.append(f"  br i1 {done}, label %good, label %bad")
        self.lines += ["good:", "  br i1 %fresh, label %new, label %old"]
        self.lines += ["old:", "  call void @Py_IncRef(ptr %out)", "  ret ptr %out"]
        self.lines += ["new:", "  ret ptr %holder"]
        self.lines += ["bad:", "  br i1 %fresh, label %drop, label %behind"]
        self.lines += ["drop:", "  call void @Py_DecRef(ptr %holder)", "  br label %behind"]

    def array(self, k: int) -> tuple[str, str, str]:
        """Object, data and length of a record's array."""
        place = WORD * (len(Record._fields) - 1 + 3 * k)
        holder, start = (self.read("%record", place + WORD * j, "ptr") for j in range(2))
        return holder, start, self.read("%record", place + 2 * WORD)

    def array_words(self, holder: str, start: str, length: str) -> list[str]:
        """Words by which numba passes a vector."""
        return [
            *("ptr null", f"ptr {holder}", f"i64 {length}", f"i64 {WORD}"),
            *(f"ptr {start}", f"i64 {length}", f"i64 {WORD}"),
        ]
