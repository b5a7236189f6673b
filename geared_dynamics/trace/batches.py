"""Many states at once: a program on vectors, a state in each lane.

Rows of the inputs are turned into columns by shuffles on the way in, and the results back. The
last vector overlaps the one before it, so that there is no rest; fewer states than lanes, and the
states around one that the code does not take, are the kernel's.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.native import Code, features, fused
from geared_dynamics.trace.assembly import Arithmetic
from geared_dynamics.trace.functions import Program

MANY = "many_states"  # name of the function in the object code
SHARE = 2048  # states that a thread is worth waking for


def lanes() -> int:
    """States in a vector: as wide as the processor's registers, or two of them."""
    return 8 if "+avx512f" in features().split(",") else 4


def many_states(program: Program) -> str:
    """Assembly of a function of many states: how many are done before one that is not taken."""
    width, count = lanes(), len(program.results)
    known: dict[tuple[str, int], str] = {}

    def load(array: str, k: int) -> str:
        if (array, k) not in known:  # of the table
            place = body.do(f"getelementptr double, ptr %{array}, i64 {k}")
            value = body.do(f"load double, ptr {place}, align 8")
            first = body.do(f"insertelement {body.kind()} poison, double {value}, i32 0")
            zeros = body.constant(0, "i32")
            known[array, k] = body.do(
                f"shufflevector {body.kind()} {first}, {body.kind()} poison, "
                f"{body.kind('i32')} {zeros}"
            )
        return known[array, k]

    body = Arithmetic(program, width, fused(), load)
    for name in program.inputs:
        start = body.do(f"mul i64 %k, {program.width}")
        start = body.do(f"getelementptr double, ptr %{name}, i64 {start}")
        for k, column in enumerate(columns_of(body, start, program.width)):
            known[name, k] = column
    results = body.write()
    good = body.do(f"bitcast {body.kind('i1')} {body.taken(results)} to i{width}")
    start = body.do(f"mul i64 %k, {count}")
    store_columns(body, results, body.do(f"getelementptr double, ptr %out, i64 {start}"))
    arrays = ["table", *program.inputs, "out"]
    arguments = ", ".join(f"ptr noalias %{array}" for array in arrays)
    return "\n".join(
        [
            *sorted(body.declared),
            f"define i64 @{MANY}({arguments}, i64 %count) {{",
            "entry:",
            f"  %last = sub i64 %count, {width}",
            "  %enough = icmp sge i64 %last, 0",
            "  br i1 %enough, label %loop, label %stop",
            "loop:",
            "  %k = phi i64 [ 0, %entry ], [ %next, %after ]",
            *body.lines,
            f"  %all = icmp eq i{width} {good}, -1",
            "  br i1 %all, label %after, label %stop",
            "after:",
            f"  %step = add i64 %k, {width}",
            "  %done = icmp sge i64 %step, %count",
            "  %beyond = icmp sgt i64 %step, %last",
            "  %next = select i1 %beyond, i64 %last, i64 %step",
            "  br i1 %done, label %end, label %loop",
            "end:",
            "  ret i64 %count",
            "stop:",
            "  %before = phi i64 [ 0, %entry ], [ %k, %loop ]",
            "  ret i64 %before",
            "}",
            "",
        ]
    )


def shuffled(body: Arithmetic, x: str, y: str, picks: Sequence[int], width: int) -> str:
    """Elements of two vectors of ``width``, one after the other, in an order."""
    kind = f"<{width} x double>"  # also of one element, which is no number
    order = ", ".join(f"i32 {k}" for k in picks)
    return body.do(f"shufflevector {kind} {x}, {kind} {y}, <{len(picks)} x i32> <{order}>")


def transposed(body: Arithmetic, rows: list[str]) -> list[str]:
    """Columns of a square of vectors, by exchanging blocks of 1, 2, 4 elements."""
    width, step = len(rows), 1
    while step < width:
        rows = list(rows)
        for i in range(width):
            if not i & step:
                upper, lower = rows[i], rows[i | step]
                kept = [c if not c & step else width + (c ^ step) for c in range(width)]
                other = [c | step if not c & step else width + c for c in range(width)]
                rows[i] = shuffled(body, upper, lower, kept, width)
                rows[i | step] = shuffled(body, upper, lower, other, width)
        step *= 2
    return rows


def columns_of(body: Arithmetic, start: str, count: int) -> list[str]:
    """Vectors of each of the ``count`` numbers in the rows from a place on."""
    found: list[str] = []
    for first in range(0, count, body.lanes):
        width = min(body.lanes, count - first)
        part = f"<{width} x double>"
        rows = []
        for k in range(body.lanes):
            place = body.do(f"getelementptr double, ptr {start}, i64 {k * count + first}")
            x = body.do(f"load {part}, ptr {place}, align 8")
            picks = [*range(width), *[width] * (body.lanes - width)]
            rows.append(shuffled(body, x, "poison", picks, width))
        found += transposed(body, rows)[:width]
    return found


def store_columns(body: Arithmetic, columns: list[str], start: str) -> None:
    """Write vectors of numbers as rows."""
    for first in range(0, len(columns), body.lanes):
        part = columns[first : first + body.lanes]
        width = len(part)
        filler = body.constant(0.0)
        rows = transposed(body, part + [filler] * (body.lanes - width))
        for k, x in enumerate(rows):
            place = body.do(f"getelementptr double, ptr {start}, i64 {k * len(columns) + first}")
            value = shuffled(body, x, "poison", range(width), body.lanes)
            body.lines.append(f"  store <{width} x double> {value}, ptr {place}, align 8")


@cache
def pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Threads that wait for parts of batches; a process that was forked needs its own."""
    return ThreadPoolExecutor(threads, f"batches_{process}")


class Batch:
    """A compiled function of many states."""

    def __init__(self, code: Code, table: Array, inputs: int, threads: int) -> None:
        """Keep code and table; calls release Python's lock."""
        self._kept = code, table
        self._threads = threads
        kinds = [ctypes.c_void_p] * (inputs + 2)
        self._call = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds, ctypes.c_int64)(code.address(MANY))

    def __call__(
        self, kernel: Callable[..., int], constants: Sequence[Array], inputs: list[Array], out: Any
    ) -> int:
        """Fill out (K, ..), one row a state; return a kernel's status.

        Args:
            kernel: What answers for the states that the code does not take.
            constants: Its constant arrays.
            inputs: Arrays (K, n).
            out: Result, C-contiguous.
        """
        if len(out) < lanes() or any(np.may_share_memory(x, out) for x in inputs):
            return kernel(*constants, *inputs, out)
        given = [np.ascontiguousarray(x) for x in inputs]
        cuts = parts_of(len(out), self._threads)
        if len(cuts) == 1:
            return self._part(kernel, constants, given, out)
        tasks = [
            pool(os.getpid(), self._threads - 1).submit(
                self._part, kernel, constants, [x[rows] for x in given], out[rows]
            )
            for rows in cuts[1:]
        ]
        try:
            first = self._part(kernel, constants, [x[cuts[0]] for x in given], out[cuts[0]])
        finally:  # no thread writes into ``out`` after this call
            others = [task.result() for task in tasks]
        return next((status for status in (first, *others) if status != at.OK), at.OK)

    def _part(
        self, kernel: Callable[..., int], constants: Sequence[Array], given: list[Array], out: Any
    ) -> int:
        """Fill some of the rows, in one thread."""
        count, block = len(out), lanes()
        table = self._kept[1].ctypes.data
        done = 0
        while done < count:
            places = [x[done:].ctypes.data for x in (*given, out)]
            done += self._call(table, *places, count - done)
            if done < count:
                rows = slice(done, done + block)
                status = kernel(*constants, *(x[rows] for x in given), out[rows])
                if status != at.OK:
                    return status
                done += block
        return at.OK


def parts_of(count: int, threads: int) -> list[slice]:
    """Rows of each thread, so that every state is computed as by one thread.

    Parts begin where vectors do, and none is smaller than ``SHARE``.
    """
    parts = max(1, min(threads, count // SHARE))
    size = count // (parts * lanes()) * lanes()
    starts = [k * size for k in range(parts)]
    return [slice(k, end) for k, end in zip(starts, [*starts[1:], count], strict=True)]
