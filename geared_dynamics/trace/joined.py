"""Functions whose inputs have lengths of their own: traced, compiled, or played as tapes.

The inputs stand one after the other in one array (..., i), so that code, batches and tapes need
not know how many there are. The names and lengths of its parts stay known for C and CasADi.
Programs of models that are not compiled are tapes, which ``kernels.tape`` plays.
"""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple, TypeVar

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import (
    by_own_code,
    common_lead,
    convert_and_call,
    finite_input,
)
from geared_dynamics.dynamics.packing import sealed
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels import tape as on
from geared_dynamics.kernels.native import Code
from geared_dynamics.model import GearedModel
from geared_dynamics.trace import graph as of
from geared_dynamics.trace.batches import Batch
from geared_dynamics.trace.functions import Arrays, Program
from geared_dynamics.trace.graph import Condition, Number
from geared_dynamics.trace.run import Tracer
from geared_dynamics.trace.structure import Form, Structure, structure_of

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


# -- Programs as tapes ----------------------------------------------------------------------------


OPERATIONS = {
    of.ADD: on.ADD,
    of.SUBTRACT: on.SUBTRACT,
    of.MULTIPLY: on.MULTIPLY,
    of.DIVIDE: on.DIVIDE,
    of.LESS: on.LESS,
    of.AT_MOST: on.AT_MOST,
    of.EQUAL: on.EQUAL,
    of.SIN: on.SIN,
    of.COS: on.COS,
    of.SQRT: on.SQRT,
    of.TANH: on.TANH,
    of.EXP: on.EXP,
    of.LOG: on.LOG,
    of.EXPM1: on.EXPM1,
    of.ABS: on.ABS,
    of.ROUND: on.ROUND,
}
KEPT = 16  # structures whose instructions are kept in this process


class Instructions(NamedTuple):
    """A tape without the numbers of a model: constants of the program, and what follows them."""

    constants: Array
    rest: Array
    counts: tuple[int, int, int]


_known: OrderedDict[tuple[str, bytes], Instructions] = OrderedDict()


def tape(
    model: GearedModel,
    name: str,
    forms: dict[str, Form],
    program: Callable[[Structure], Program],
) -> Array:
    """Return a tape, made and kept on the model; the instructions are those of its structure.

    Args:
        model: On which it is kept.
        name: Of the function.
        forms: Packed arrays that the function needs.
        program: Traces it over a structure.
    """
    structure = structure_of(forms, dense=False)
    table, key = structure.table(forms), (name, structure.digest())
    known = _known.get(key)
    if known is None:
        known = _known[key] = instructions_of(program(structure), len(table))
        while len(_known) > KEPT:
            _known.popitem(last=False)
    header = [len(table) + len(known.constants), *known.counts]
    made = sealed(np.concatenate([header, table, known.constants, known.rest]))
    return model._forms.tapes.setdefault(name, made)


def instructions_of(program: Program, numbers: int) -> Instructions:
    """Write a program as ``kernels.tape`` plays it; ``numbers`` is the length of its table."""
    graph = program.graph
    one = graph.node(of.CONSTANT, 1.0)
    results = graph.symbols(program.results)
    nodes = sorted({*graph.needed(results), one})
    starts = {name: k * program.width for k, name in enumerate(program.inputs)}
    size = starts["table"] = len(program.inputs) * program.width
    places: dict[int, int] = {}
    constants: list[float] = []
    lines: list[tuple[int, int, int]] = []
    for node in nodes:
        if graph.operations[node] == of.INPUT:
            name, k = graph.arguments[node]
            places[node] = starts[name] + k
        elif graph.operations[node] == of.CONSTANT:
            places[node] = size + numbers + len(constants)
            constants.append(graph.arguments[node][0])
    start = size + numbers + len(constants)

    def write(what: int, first: int, second: int) -> int:
        lines.append((what, first, second))
        return start + len(lines) - 1

    for node in nodes:
        operation = graph.operations[node]
        if operation in of.LEAVES:
            continue
        parts = [places[part] for part in graph.arguments[node]]
        if operation == of.HELD:
            places[node] = parts[0]
        elif operation == of.SELECT:
            truth, x, y = parts
            chosen = write(on.WHERE, truth, x)
            left = write(on.WHERE, write(on.SUBTRACT, places[one], truth), y)
            places[node] = write(on.ADD, chosen, left)
        else:
            places[node] = write(OPERATIONS[operation], parts[0], parts[-1])
    ends = [(places[end.node], -1.0 if end.negative else 1.0) for end in results]
    rest = np.concatenate([np.ravel(lines), np.ravel(ends)])
    return Instructions(np.array(constants), rest, (len(lines), len(results), size))


# -- Playing a tape -------------------------------------------------------------------------------


def joined_inputs(inputs: dict[str, tuple[ArrayLike, int]]) -> Array:
    """Inputs by name with their widths, checked, in one array (..., sum of widths)."""
    arrays = {name: finite_input(name, value, width) for name, (value, width) in inputs.items()}
    lead = common_lead(arrays)
    parts = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in arrays.values()]
    return np.concatenate(parts, axis=-1)


def played(
    model: GearedModel, made: Array, given: Array, refuse: Callable[[int, tuple[int, ...]], Any]
) -> Array:
    """Results (..., r) of a tape.

    Args:
        model: The model.
        made: Its tape.
        given: Inputs (..., i), one after the other.
        refuse: Is called with the place of a result that has no derivative at a state, and the
            state's index.
    """
    width = int(made[on.RESULTS])
    inputs = {"inputs": (given, given.shape[-1])}
    rows = convert_and_call("tape_values", model, inputs, (width + 1,), constants=(made,))
    if rows[..., width].any():
        state = tuple(int(k) for k in np.argwhere(rows[..., width] != 0.0)[0])
        refuse(int(rows[(*state, width)]) - 1, state)
    return rows[..., :width]


Result = TypeVar("Result", bound="tuple[Array, ...]")


def filled(result: Result, out: Result | None) -> Result:
    """Return a result, in the arrays of an earlier one where that is given."""
    if out is None:
        return result
    if type(out) is not type(result):
        remedy = f"give what an earlier call returned, a {type(result).__name__}"
        raise ArrayError("out", f"is a {type(out).__name__}", remedy)
    for name, mine, new in zip(type(result)._fields, out, result, strict=True):  # type: ignore[attr-defined]
        if mine.shape != new.shape:
            raise ArrayError(f"out.{name}", f"has shape {mine.shape}", f"give shape {new.shape}")
        mine[...] = new
    return out
