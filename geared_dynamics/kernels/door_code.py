"""Machine code of the doors into kernels and compiled code; see ``door``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from geared_dynamics.kernels.native import Code, object_code

WORD = 8
HEAD = object.__basicsize__
KIND = HEAD - WORD  # of any object: its type
# Places in the object of an array, in words behind its head, and the flags asked of one.
DATA, DIMENSIONS, SHAPE, DTYPE, FLAGS = (HEAD + WORD * k for k in (0, 1, 2, 5, 6))
PLAIN, WRITEABLE = 0x0101, 0x0400  # C-contiguous and aligned
ENTRY = HEAD  # place of a model's records, its only slot
NAMES, FIRST_NAME = HEAD, HEAD + WORD  # number of a tuple's items, and the first of them
# Places in a door.
CALL, SHARED, BEHIND, OPEN, PLACE, RESULT, ROWS, DICT, WEAK, SIZE = (
    HEAD + WORD * k for k in range(10)
)
NEW_ARRAY = 93  # place of PyArray_New in NumPy's table of functions
FLOAT64 = 12  # its number of the type
# Constants before the inputs and arrays of zeros after them that kernels take, by inputs.
KERNELS = {1: ((1, 0), (2, 0), (1, 2)), 2: ((1, 0), (2, 0), (1, 1)), 3: ((1, 0), (2, 0), (3, 0))}
ARRAYS = 4  # most of them together
COMPILED, CLOSED = -1, -2  # ways in: straight to compiled code; none


class Common(NamedTuple):
    """What all doors compare with: identities of objects, and a function of NumPy's."""

    array_type: int
    dtype: int
    none: int
    out: int
    new_array: int
    model: int
    compiled_model: int


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


@cache
def doors_code() -> Code:
    """Machine code of the doors for every number of inputs."""
    return Code(object_code(assembly()))


def assembly() -> str:
    """Return the assembly of all doors."""
    return "\n".join(
        [
            "declare void @Py_IncRef(ptr)",
            "declare void @Py_DecRef(ptr)",
            "declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)",
            *(Assembly(inputs, rows).text() for inputs in KERNELS for rows in (False, True)),
        ]
    )


class Assembly:
    """Assembly of ``PyObject *enter(PyObject *door, PyObject **arguments, count, names)``."""

    def __init__(self, inputs: int, rows: bool) -> None:
        """Start without lines.

        Args:
            inputs: Number of inputs.
            rows: Whether the result is an array in another object's slot.
        """
        self.inputs, self.rows = inputs, rows
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

    def equal(self, a: str, b: str | int, kind: str = "i64") -> str:
        """Truth of an equality."""
        return self.do(f"icmp eq {kind} {a}, {b}")

    def go_on_if(self, truths: Sequence[str], label: str, otherwise: str = "behind") -> None:
        """Branch to a label that begins here, or elsewhere."""
        result = truths[0]
        for truth in truths[1:]:
            result = self.do(f"and i1 {result}, {truth}")
        self.lines.append(f"  br i1 {result}, label %{label}, label %{otherwise}")
        self.lines.append(f"{label}:")

    # -- parts ----

    def text(self) -> str:
        """Return the whole function."""
        name = f"enter_{self.inputs}_{'rows' if self.rows else 'array'}"
        lines = self.lines
        result, fault = self.do("alloca i64"), self.do("alloca ptr")
        shared = self.read("%door", SHARED, "ptr")
        self.common = {key: self.read(shared, WORD * k) for k, key in enumerate(Common._fields)}
        objects, out = self.arguments()
        record = self.record(objects[0])
        self.check_inputs(objects[1:], record)
        starts = [self.read(x, DATA, "ptr") for x in objects[1:]]
        self.find_result(out, starts, record)
        lines.append("run:")
        made = "" if self.rows else ", [ %made, %fill ]"
        holds = self.do(f"phi ptr [ %array, %apart ]{made}")
        target = self.do(f"phi ptr [ %target, %apart ]{made.replace('%made', '%room')}")
        self.run(objects[1:], starts, record, (holds, target), (result, fault))
        lines.append("behind:")
        function = self.read("%door", BEHIND, "ptr")
        self.leave(function)
        lines.append("first:")
        self.leave(self.read("%door", OPEN, "ptr"))
        head = f"define ptr @{name}(ptr %door, ptr %arguments, i64 %count, ptr %names) {{"
        return "\n".join([head, *lines, "}", ""])

    def leave(self, function: str) -> None:
        """Go on in a Python function, with the same arguments."""
        given = "ptr %arguments, i64 %count, ptr %names"
        value = self.do(f"call ptr @PyObject_Vectorcall(ptr {function}, {given})")
        self.lines.append(f"  ret ptr {value}")

    def arguments(self) -> tuple[list[str], str]:
        """Model, inputs and ``out``: by position, but for a keyword ``out``."""
        given = self.do("and i64 %count, 9223372036854775807")
        self.go_on_if([self.equal(given, self.inputs + 1)], "counted")
        objects = [self.read("%arguments", WORD * k, "ptr") for k in range(self.inputs + 1)]
        without = self.do("icmp eq ptr %names, null")
        self.lines.append(f"  br i1 {without}, label %known, label %named")
        self.lines.append("named:")
        one = self.equal(self.read("%names", NAMES), 1)
        self.go_on_if([one], "name")
        is_out = self.equal(self.read("%names", FIRST_NAME), self.common["out"])
        self.go_on_if([is_out], "output")
        given_out = self.read("%arguments", WORD * (self.inputs + 1), "ptr")
        named = self.do(f"ptrtoint ptr {given_out} to i64")
        self.lines += ["  br label %known", "known:"]
        none = self.common["none"]
        start = self.do(f"phi i64 [ {none}, %counted ], [ {named}, %output ]")
        return objects, self.do(f"inttoptr i64 {start} to ptr")

    def record(self, model: str) -> dict[str, str]:
        """Words of the model's record; elsewhere where there is none."""
        kind = self.read(model, KIND)
        plain = self.equal(kind, self.common["model"])
        compiled = self.equal(kind, self.common["compiled_model"])
        self.go_on_if([self.do(f"or i1 {plain}, {compiled}")], "model")
        holder = self.read(model, ENTRY, "ptr")
        self.go_on_if([self.do(f"icmp ne ptr {holder}, null")], "entry", "first")
        record = self.at(self.read(holder, DATA, "ptr"), self.read("%door", PLACE))
        words = {key: self.read(record, WORD * k) for k, key in enumerate(Record._fields[:-1])}
        words["record"] = record
        open_ = self.do(f"icmp ne i64 {words['code']}, 0")
        closed = self.equal(words["way"], CLOSED)
        self.go_on_if([self.do(f"xor i1 {closed}, true")], "here")
        self.go_on_if([open_], "open", "first")
        return words

    def plain(self, array: str, flags: int, dimensions: str) -> list[str]:
        """Whether an array has our numbers and lies as it should."""
        masked = self.do(f"and i32 {self.read(array, FLAGS, 'i32')}, {flags}")
        return [
            self.equal(self.read(array, DTYPE), self.common["dtype"]),
            self.equal(masked, flags, "i32"),
            self.equal(self.read(array, DIMENSIONS, "i32"), dimensions, "i32"),
        ]

    def check_inputs(self, objects: list[str], record: dict[str, str]) -> None:
        """Go on with plain arrays of the right length only."""
        kind = self.common["array_type"]
        self.go_on_if([self.equal(self.read(x, KIND), kind) for x in objects], "arrays")
        self.go_on_if([t for x in objects for t in self.plain(x, PLAIN, "1")], "vectors")
        lengths = [self.read(self.read(x, SHAPE, "ptr"), 0) for x in objects]
        self.go_on_if([self.equal(length, record["width"]) for length in lengths], "inputs")

    def find_result(self, out: str, starts: list[str], record: dict[str, str]) -> None:
        """Check the result that is given, or make one: %array and %target, or %made and %room."""
        nothing = self.equal(self.do(f"ptrtoint ptr {out} to i64"), self.common["none"])
        otherwise = "behind" if self.rows else "make"
        self.go_on_if([self.do(f"xor i1 {nothing}, true")], "given", otherwise)
        if self.rows:
            same = self.equal(self.read(out, KIND), self.read("%door", RESULT))
            self.go_on_if([same], "holding")
            self.lines.append(f"  %array = load ptr, ptr {self.at(out, ENTRY)}")
            self.go_on_if([self.do("icmp ne ptr %array, null")], "held")
        else:
            self.lines.append(f"  %array = getelementptr i8, ptr {out}, i64 0")
        self.out = out
        kind = self.equal(self.read("%array", KIND), self.common["array_type"])
        self.go_on_if([kind], "result")
        count = self.do(f"trunc i64 {record['dimensions']} to i32")
        self.go_on_if(self.plain("%array", PLAIN | WRITEABLE, count), "ranked")
        shape, two = self.read("%array", SHAPE, "ptr"), self.equal(record["dimensions"], 2)
        last = self.do(f"select i1 {two}, i64 8, i64 0")
        columns = self.do(f"select i1 {two}, i64 {record['columns']}, i64 {record['rows']}")
        self.lines.append(f"  %target = load ptr, ptr {self.at('%array', DATA)}")
        truths = [
            self.equal(self.read(shape, 0), record["rows"]),
            self.equal(self.read(shape, last), columns),
        ]
        begin = self.do("ptrtoint ptr %target to i64")
        size = self.do(f"shl i64 {record['size']}, 3")
        end = self.do(f"add i64 {begin}, {size}")
        length = self.do(f"shl i64 {record['width']}, 3")
        for start in starts:
            # Apart: the input ends before the result begins, or begins after its end.
            first = self.do(f"ptrtoint ptr {start} to i64")
            before = self.do(f"icmp ule i64 {self.do(f'add i64 {first}, {length}')}, {begin}")
            after = self.do(f"icmp uge i64 {first}, {end}")
            truths.append(self.do(f"or i1 {before}, {after}"))
        self.go_on_if(truths, "apart")
        self.lines.append("  br label %run")
        if self.rows:
            return
        self.lines.append("make:")
        make = self.do(f"inttoptr i64 {self.common['new_array']} to ptr")
        kind = self.do(f"inttoptr i64 {self.common['array_type']} to ptr")
        count = self.do(f"trunc i64 {record['dimensions']} to i32")
        shape = self.at(record["record"], WORD * Record._fields.index("rows"))
        self.lines.append(
            f"  %made = call ptr {make}(ptr {kind}, i32 {count}, ptr {shape}, i32 {FLOAT64}, "
            "ptr null, ptr null, i32 0, i32 0, ptr null)"
        )
        self.go_on_if([self.do("icmp ne ptr %made, null")], "fill", "failed")
        self.lines.append(f"  %room = load ptr, ptr {self.at('%made', DATA)}")
        self.lines += ["  br label %run", "failed:", "  ret ptr null"]

    def run(
        self,
        objects: list[str],
        starts: list[str],
        record: dict[str, str],
        result: tuple[str, str],
        room: tuple[str, str],
    ) -> None:
        """Call the code of the record, and return its result."""
        code = self.do(f"inttoptr i64 {record['code']} to ptr")
        ways = " ".join(f"i64 {k}, label %way_{k}" for k, _ in enumerate(KERNELS[self.inputs]))
        self.lines += [f"  switch i64 {record['way']}, label %compiled [ {ways} ]", "compiled:"]
        table = self.do(f"inttoptr i64 {record['table']} to ptr")
        given = ", ".join(f"ptr {x}" for x in (table, *starts, result[1]))
        good = self.equal(self.do(f"call i64 {code}({given})"), 1)
        self.lines.append(f"  br i1 {good}, label %good, label %bad")
        for k, (constants, zeros) in enumerate(KERNELS[self.inputs]):
            self.lines.append(f"way_{k}:")
            known = [self.known(record["record"], j) for j in range(constants + zeros)]
            arrays = known[:constants]
            arrays += [(*pair, record["width"]) for pair in zip(objects, starts, strict=True)]
            arrays += [*known[constants:], (*result, record["size"])]
            words = [f"ptr {room[0]}", f"ptr {room[1]}"]
            for holder, start, length in arrays:
                words += ["ptr null", f"ptr {holder}", f"i64 {length}", f"i64 {WORD}"]
                words += [f"ptr {start}", f"i64 {length}", f"i64 {WORD}"]
            ran = self.equal(self.do(f"call i32 {code}({', '.join(words)})"), 0, "i32")
            status = self.equal(self.do(f"load i64, ptr {room[0]}"), 0)
            good = self.do(f"and i1 {ran}, {status}")
            self.lines.append(f"  br i1 {good}, label %good, label %bad")
        if self.rows:
            self.lines += ["good:", f"  call void @Py_IncRef(ptr {self.out})"]
            self.lines += [f"  ret ptr {self.out}", "bad:", "  br label %behind"]
            return
        self.lines.append("good:")
        own = self.do(f"icmp eq ptr {result[0]}, {self.out}")
        self.go_on_if([own], "old", "new")
        self.lines += [f"  call void @Py_IncRef(ptr {result[0]})", "  br label %new", "new:"]
        self.lines += [f"  ret ptr {result[0]}", "bad:"]
        own = self.do(f"icmp eq ptr {result[0]}, {self.out}")
        self.go_on_if([own], "kept", "drop")
        self.lines += ["  br label %behind", "drop:", f"  call void @Py_DecRef(ptr {result[0]})"]
        self.lines.append("  br label %behind")

    def known(self, record: str, k: int) -> tuple[str, str, str]:
        """Object, data and length of a record's array."""
        place = WORD * (len(Record._fields) - 1 + 3 * k)
        holder, start = (self.read(record, place + WORD * j, "ptr") for j in range(2))
        return holder, start, self.read(record, place + 2 * WORD)
