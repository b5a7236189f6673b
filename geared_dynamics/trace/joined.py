"""Functions whose inputs have lengths of their own: traced, compiled and played as one array.

The inputs stand one after the other in one array (..., i), so that code, batches and tapes need
not know how many there are. The names and lengths of its parts stay known for C and CasADi.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import by_own_code
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.native import Code
from geared_dynamics.model import GearedModel
from geared_dynamics.trace import graph as of
from geared_dynamics.trace.batches import Batch
from geared_dynamics.trace.functions import Arrays, Program
from geared_dynamics.trace.graph import Condition, Number
from geared_dynamics.trace.run import Tracer
from geared_dynamics.trace.structure import Form, Structure
from geared_dynamics.trace.tape import joined_inputs, played, tape

# Outputs of a function by name, and the shape of each.
Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class JoinedFunction:
    """A function of the library that can be traced, with inputs of several lengths.

    Attributes:
        forms: Packed arrays that it needs.
        inputs: Names and lengths of its inputs, of the packed arrays.
        outputs: Names and shapes of its outputs, in the order of the results.
        trace: Writes it into a tracer's graph.
        kinks: Whether it gives derivatives that may not exist where numbers that it compares
            are equal.
    """

    forms: Callable[[GearedModel], dict[str, Form]]
    inputs: Callable[[Arrays], dict[str, int]]
    outputs: Callable[[Arrays], Shapes]
    trace: Callable[[Tracer, Arrays, list[list[Number]]], list[Number]]
    kinks: bool = False

    def program(self, structure: Structure) -> Program:
        """Trace it over a structure."""
        tracer = Tracer()
        arrays = structure.symbols(tracer.graph)
        widths = self.inputs(arrays)
        given = tracer.graph.inputs("inputs", sum(widths.values()))
        results = self.trace(tracer, arrays, split(given, widths))
        guards, parts = tuple(tracer.guards), tuple(widths.items())
        return Program(tracer.graph, ("inputs",), len(given), tuple(results), guards, parts)

    def size(self, arrays: Arrays) -> int:
        """Number of its results."""
        return sum(prod(shape) for shape in self.outputs(arrays).values())


def split(given: list[Number], widths: dict[str, int]) -> list[list[Number]]:
    """Parts of an array, of these lengths."""
    ends = np.cumsum([0, *widths.values()]).tolist()
    return [given[start:end] for start, end in pairwise(ends)]


def apart_from_kinks(program: Program) -> Program:
    """The same program, which counts only where no two numbers that it compares are equal.

    Where they are equal two branches meet: whether the derivatives are the same on both, the
    tape finds out.
    """
    graph = program.graph
    guards: list[Condition] = []
    for node in graph.needed([*graph.symbols(program.results), *program.guards]):
        if graph.operations[node] in of.COMPARISONS:
            equal = graph.node(of.EQUAL, *graph.arguments[node])
            guards.append(Condition(graph, equal, negated=True))
    return replace(program, guards=(*program.guards, *guards))


def numbers(forms: dict[str, Form]) -> Arrays:
    """Packed arrays as lists."""
    return {name: list(form.numbers.tolist()) for name, form in forms.items()}


def joined_results(
    model: GearedModel,
    name: str,
    function: JoinedFunction,
    inputs: dict[str, tuple[ArrayLike, int]],
    refuse: Callable[[int, tuple[int, ...]], Any],
) -> Array:
    """Results (..., r) of a function: by the model's own code, else by a tape kept on it.

    Args:
        model: The model.
        name: Of the function.
        function: What is traced.
        inputs: By name, with their lengths.
        refuse: As of ``played``.
    """
    rows = by_own_code(model, name, inputs)
    if rows is not None:
        return rows
    given = joined_inputs(inputs)
    made = model._forms.tapes.get(name)
    if made is None:
        made = tape(model, name, function.forms(model), function.program)
    return played(model, made, given, refuse)


class JoinedCode:
    """Machine code of such a function: one state, or many."""

    def __init__(
        self, code: Code, many: Code | None, table: Array, results: int, threads: int, entry: str
    ) -> None:
        """Keep code and table; ``entry`` is the name of the function of one state."""
        self._kept, self._results = (code, table), results
        kinds = [ctypes.c_void_p] * 3
        self._one = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(code.address(entry))
        self._many = None if many is None else Batch(many, table, 1, threads)

    def __call__(self, given: Array) -> Array | None:
        """Results (..., r) for inputs (..., i); None where a state is not taken."""
        out = np.empty((*given.shape[:-1], self._results))
        if not out.size:
            return out
        rows = np.ascontiguousarray(given).reshape(-1, given.shape[-1])
        target = out.reshape(-1, self._results)
        if self._many is not None and len(rows) > 1:
            done = self._many(not_taken, (), [rows], target) == at.OK
        else:
            table = self._kept[1].ctypes.data
            start, end = rows.ctypes.data, target.ctypes.data
            steps = zip(
                range(start, start + rows.nbytes, rows.strides[0]),
                range(end, end + target.nbytes, target.strides[0]),
                strict=True,
            )
            done = all(self._one(table, x, y) == 1 for x, y in steps)
        return out if done else None


def not_taken(*_arrays: Array) -> int:
    """Say that the code does not take a state."""
    return at.NOT_FINITE
