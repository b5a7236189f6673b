"""Expressions, names and numbers as C99 writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.model import GearedModel
from geared_dynamics.trace import graph as of
from geared_dynamics.trace.functions import Program

LONGEST_NAME = 60  # letters of the robot's name that names in C begin with
BINARY = {of.ADD: "+", of.SUBTRACT: "-", of.MULTIPLY: "*", of.DIVIDE: "/"}
COMPARED = {of.LESS: "<", of.AT_MOST: "<=", of.EQUAL: "=="}
CALLED = {
    of.SIN: "sin",
    of.COS: "cos",
    of.SQRT: "sqrt",
    of.TANH: "tanh",
    of.EXP: "exp",
    of.LOG: "log",
    of.EXPM1: "expm1",
    of.ABS: "fabs",
    of.ROUND: "rint",
}


class Field(NamedTuple):
    """A field of the struct of parameters, by name: its value in the model and its unit."""

    value: float
    unit: str


class Export(NamedTuple):
    """What is exported.

    Attributes:
        prefix: Of all names.
        model: The model.
        precision: ``double`` or ``float``.
        programs: Functions by name.
        tables: Parameters that each of them reads.
        fields: All parameters; empty where the numbers are constants.
    """

    prefix: str
    model: GearedModel
    precision: str
    programs: dict[str, Program]
    tables: dict[str, tuple[str, ...]]
    fields: dict[str, Field]

    def called(self, name: str) -> str:
        """Name of a function in C."""
        return f"{self.prefix}_{name.replace('.', '_')}"

    def signature(self, name: str) -> str:
        """Head of a function."""
        program = self.programs[name]
        inputs = [f"const {self.precision} {key}[{n}]" for key, n in arguments(program)]
        if self.fields:
            inputs.insert(0, f"const {self.prefix}_parameters *parameters")
        out = f"{self.precision} out[{len(program.results)}]"
        return f"int {self.called(name)}({', '.join([*inputs, out])})"


def identifier(name: str) -> str:
    """Name that C takes, and a file system: its beginning, if it is long."""
    found = re.sub(r"\W", "_", name[:LONGEST_NAME], flags=re.ASCII).lower()
    return found if found[:1].isalpha() else f"arm_{found}"


def comment(text: str) -> str:
    """A name that ends no comment."""
    return re.sub(r"[^ -~]|\*/|/\*|\?\?", "_", text)


def absolute(text: str, precision: str) -> str:
    """Magnitude of an expression."""
    return f"fabs{'f' if precision == 'float' else ''}({text})"


def literal(x: float, precision: str) -> str:
    """A number as C reads it."""
    if np.isnan(x):
        return "NAN" if precision == "float" else "(double)NAN"
    if np.isinf(x):
        return "INFINITY" if precision == "float" else "(double)INFINITY"
    if precision == "float":
        text = repr(float(np.float32(x)))
        return f"{np.format_float_positional(np.float32(x)) if 'e' not in text else text}F"
    return x.hex()


def arguments(program: Program) -> list[tuple[str, int]]:
    """Inputs of a function in C: names and lengths."""
    return list(program.parts) or [(name, program.width) for name in program.inputs]


def places(program: Program, table: Sequence[str]) -> Callable[[str, int], str]:
    """How an element of an input, or of the table of parameters, is written."""
    if program.parts:
        elements = [f"{name}[{k}]" for name, width in program.parts for k in range(width)]
        return lambda key, k: f"parameters->{table[k]}" if key == "table" else elements[k]
    return lambda key, k: f"parameters->{table[k]}" if key == "table" else f"{key}[{k}]"


def body(program: Program, precision: str, table: Sequence[str]) -> Iterator[str]:
    """Lines of a function; ``table`` names the parameters that it reads of the struct."""
    graph, place = program.graph, places(program, table)
    ends = graph.symbols(program.results)
    nodes = graph.needed([*ends, *program.guards])
    names: dict[int, str] = {}
    read = [place(*graph.arguments[k]) for k in nodes if graph.operations[k] == of.INPUT]
    used = {text.partition("[")[0].partition("->")[0] for text in read}
    given = [*(["parameters"] if table else []), *(key for key, _ in arguments(program))]
    yield from (f"(void){key};" for key in given if key not in used)
    for node in nodes:
        operation, inner = graph.operations[node], graph.arguments[node]
        if operation == of.CONSTANT:
            names[node] = literal(inner[0], precision)
        elif operation == of.INPUT:
            names[node] = place(*inner)
        else:
            names[node] = f"t{node}"
            kind = "int" if operation in of.COMPARISONS else precision
            parts = [names[k] for k in inner]
            yield f"const {kind} t{node} = {expression(operation, parts, precision)};"
    for k, end in enumerate(ends):
        yield f"out[{k}] = {'-' if end.negative else ''}{names[end.node]};"
    guards = {(g.node, g.negated) for g in program.guards}
    conditions = [f"{'!' if negated else ''}{names[node]}" for node, negated in sorted(guards)]
    yield f"return ({' && '.join(conditions)}) ? 0 : 1;" if conditions else "return 0;"


def expression(operation: int, parts: Sequence[str], precision: str) -> str:
    """Right side of an assignment."""
    if operation in BINARY:
        return f"{parts[0]} {BINARY[operation]} {parts[1]}"
    if operation in COMPARED:
        return f"{parts[0]} {COMPARED[operation]} {parts[1]}"
    if operation == of.SELECT:
        return f"{parts[0]} ? {parts[1]} : {parts[2]}"
    if operation == of.HELD:
        return parts[0]
    return f"{CALLED[operation]}{'f' if precision == 'float' else ''}({parts[0]})"
