"""A program as LLVM assembly, for one state or for several in the lanes of vectors.

    i64 NAME(ptr table, ptr input 0, .., ptr out)              1, or 0 for a state it does not take
    i64 NAME(ptr table, ptr input 0, .., ptr out, i64 count)   states done before such a one

What it does not take: results or inputs that are not finite, a guard that does not hold, an
angle beyond LIMIT. Products that only one sum uses are fused with it, here and not by the
compiler, so that one state and many, and every machine with such an instruction, give the same.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Sequence

from geared_dynamics.kernels.joint import COSINE, HALF_PI, LIMIT, SHIFTER, SINE, TWO_OVER_PI
from geared_dynamics.trace import graph as of
from geared_dynamics.trace.functions import Program
from geared_dynamics.trace.graph import Condition, Symbol

TOGETHER = 8  # angles whose sines and cosines are computed at once for one state

DECLARATIONS = {"fma": 3, "sqrt": 1, "fabs": 1, "rint": 1, "sin": 1, "cos": 1}
INTRINSICS = {of.SQRT: "sqrt", of.ABS: "fabs", of.ROUND: "rint", of.SIN: "sin", of.COS: "cos"}
LIBRARY = {of.TANH: "tanh", of.EXP: "exp", of.LOG: "log", of.EXPM1: "expm1"}
ARITHMETIC = {of.ADD: "fadd", of.SUBTRACT: "fsub", of.MULTIPLY: "fmul", of.DIVIDE: "fdiv"}
COMPARED = {of.LESS: "olt", of.AT_MOST: "ole", of.EQUAL: "oeq"}


def number(x: float) -> str:
    """A double as LLVM reads it, exactly."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


class Writer:
    """Lines of a function, on numbers or on vectors of them.

    Attributes:
        lanes: Numbers in a vector, 1 for plain numbers.
        fused: Whether the machine multiplies and adds in one instruction.
    """

    def __init__(self, lanes: int, fused: bool) -> None:
        """Start without lines."""
        self.lanes = lanes
        self.fused = fused
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self.turned: list[tuple[str, int]] = []  # angles whose sine is ours, and their lanes

    def kind(self, element: str = "double", lanes: int | None = None) -> str:
        """Type of a value of this width."""
        lanes = lanes or self.lanes
        return element if lanes == 1 else f"<{lanes} x {element}>"

    def constant(self, x: float | int, element: str = "double", lanes: int | None = None) -> str:
        """The same number in every lane."""
        lanes = lanes or self.lanes
        text = number(x) if element == "double" else str(x)
        return text if lanes == 1 else f"<{', '.join([f'{element} {text}'] * lanes)}>"

    def do(self, text: str) -> str:
        """Append an instruction; return the name of its value."""
        name = f"%t{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def call(self, name: str, *arguments: str, lanes: int | None = None) -> str:
        """Call an intrinsic on numbers or vectors."""
        lanes = lanes or self.lanes
        full = f"@llvm.{name}.{'' if lanes == 1 else f'v{lanes}'}f64"
        kind = self.kind(lanes=lanes)
        self.declared.add(f"declare {kind} {full}({', '.join([kind] * len(arguments))})")
        return self.do(f"call {kind} {full}({', '.join(f'{kind} {x}' for x in arguments)})")

    def library(self, name: str, x: str) -> str:
        """Call a function of the mathematical library, lane by lane."""
        self.declared.add(f"declare double @{name}(double)")
        if self.lanes == 1:
            return self.do(f"call double @{name}(double {x})")
        result = "poison"
        for lane in range(self.lanes):
            one = self.do(f"extractelement {self.kind()} {x}, i32 {lane}")
            value = self.do(f"call double @{name}(double {one})")
            result = self.do(f"insertelement {self.kind()} {result}, double {value}, i32 {lane}")
        return result

    # -- sine and cosine -------------------------------------------------------------------------

    def sine_cosine(self, x: str, lanes: int) -> tuple[str, str]:
        """Sine and cosine of angles up to LIMIT, within an ulp.

        With k the nearest whole number to 2 x / pi, x - k pi / 2 is exact after the first part
        of pi / 2 (k has at most 16 bits), and is kept as a number and a correction.
        """
        kind, whole = self.kind(lanes=lanes), self.kind("i64", lanes)
        self.turned.append((x, lanes))

        def value(c: float) -> str:
            return self.constant(c, lanes=lanes)

        def two(operation: str, a: str, b: str) -> str:
            return self.do(f"{operation} {kind} {a}, {b}")

        def fma(a: str, b: str, c: str) -> str:
            return self.call("fma", a, b, c, lanes=lanes)

        shifted = fma(x, value(TWO_OVER_PI), value(SHIFTER))
        k = two("fsub", shifted, value(SHIFTER))
        quarter = self.do(f"bitcast {kind} {shifted} to {whole}")
        minus = self.do(f"fneg {kind} {k}")
        first = fma(minus, value(HALF_PI[0]), x)
        second = two("fmul", minus, value(HALF_PI[1]))
        rounded = fma(minus, value(HALF_PI[1]), self.do(f"fneg {kind} {second}"))
        r = two("fadd", first, second)
        lost = two("fadd", two("fsub", first, r), second)
        low = fma(minus, value(HALF_PI[2]), two("fadd", lost, rounded))
        z = two("fmul", r, r)
        square = two("fmul", z, z)

        def series(c: Sequence[float]) -> str:
            # Pairs first: half as many operations wait for each other as one after the other.
            pairs = [fma(value(b), z, value(a)) for a, b in zip(c[::2], c[1::2], strict=True)]
            return fma(fma(pairs[2], square, pairs[1]), square, pairs[0])

        sine = two("fadd", r, fma(two("fmul", r, z), series(SINE), low))
        half = two("fmul", z, value(0.5))
        near = two("fsub", value(1.0), half)
        rest = two("fsub", two("fsub", value(1.0), near), half)
        rest = fma(self.do(f"fneg {kind} {r}"), low, rest)
        cosine = two("fadd", near, fma(square, series(COSINE), rest))
        one = self.constant(1, "i64", lanes)
        odd = self.do(f"and {whole} {quarter}, {one}")
        truth = self.kind("i1", lanes)
        swap = self.do(f"icmp ne {whole} {odd}, {self.constant(0, 'i64', lanes)}")
        pair = []
        # The second bit of the quarter is the sign of the sine, of the next one the cosine's.
        after = self.do(f"add {whole} {quarter}, {one}")
        for chosen, other, turn in ((cosine, sine, quarter), (sine, cosine, after)):
            wave = self.do(f"select {truth} {swap}, {kind} {chosen}, {kind} {other}")
            bits = self.do(f"bitcast {kind} {wave} to {whole}")
            sign = self.do(f"lshr {whole} {turn}, {one}")
            sign = self.do(f"shl {whole} {sign}, {self.constant(63, 'i64', lanes)}")
            bits = self.do(f"xor {whole} {bits}, {sign}")
            pair.append(self.do(f"bitcast {whole} {bits} to {kind}"))
        return pair[0], pair[1]

    def waves(self, angles: Sequence[str]) -> list[tuple[str, str]]:
        """Sines and cosines of angles; for one state, several angles share a vector."""
        if self.lanes > 1:
            return [self.sine_cosine(x, self.lanes) for x in angles]
        found: list[tuple[str, str]] = []
        for start in range(0, len(angles), TOGETHER):
            part = angles[start : start + TOGETHER]
            width = next(w for w in (2, 4, 8) if len(part) <= w)
            vector = self.constant(0.0, lanes=width)
            kind = self.kind(lanes=width)
            for lane, x in enumerate(part):
                vector = self.do(f"insertelement {kind} {vector}, double {x}, i32 {lane}")
            both = self.sine_cosine(vector, width)
            for lane in range(len(part)):
                sine, cosine = (self.do(f"extractelement {kind} {w}, i32 {lane}") for w in both)
                found.append((sine, cosine))
        return found


class Arithmetic(Writer):
    """The arithmetic of a program between its loads and its stores."""

    def __init__(
        self, program: Program, lanes: int, fused: bool, load: Callable[[str, int], str]
    ) -> None:
        """Write what a program needs; ``load`` writes how an input is read."""
        super().__init__(lanes, fused)
        self.program, self.load = program, load
        graph = program.graph
        self.ends = graph.symbols(program.results)
        self.nodes = graph.needed([*self.ends, *program.guards])
        self.uses = Counter(end.node for end in self.ends)
        for node in self.nodes:
            if graph.operations[node] not in of.LEAVES:
                self.uses.update(graph.arguments[node])
        self.values: dict[int, str] = {}
        self._turns: dict[int, tuple[str, str]] = {}

    def write(self) -> list[str]:
        """Write all nodes; return the results' names."""
        graph = self.program.graph
        circular = (of.SIN, of.COS)
        waiting = sorted(
            {graph.arguments[k][0] for k in self.nodes if graph.operations[k] in circular}
        )
        while waiting and self.fused:
            # Angles that need no sine which is not there yet; all of them, as a rule.
            needs = {x: graph.needed([Symbol(graph, x)]) for x in waiting}
            ready = [
                x
                for x, nodes in needs.items()
                if not any(
                    graph.operations[k] in circular and graph.arguments[k][0] in needs
                    for k in nodes
                )
            ]
            angles = [self.value(x) for x in ready]
            self._turns.update(zip(ready, self.waves(angles), strict=True))
            waiting = [x for x in waiting if x not in self._turns]
        for node in self.nodes:
            if self._stands_alone(node):
                self.value(node)
        return [self.signed(end) for end in self.ends]

    def signed(self, end: Symbol) -> str:
        """Name of a symbol's value."""
        value = self.value(end.node)
        return self.do(f"fneg {self.kind()} {value}") if end.negative else value

    def value(self, node: int) -> str:
        """Name of a node's value, written with what it needs if it is not there yet."""
        if node in self.values:
            return self.values[node]
        waiting = [node]
        while waiting:
            top = waiting[-1]
            missing = [k for k in self._parts(top) if k not in self.values]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            if top not in self.values:
                self.values[top] = self._instruction(top)
        return self.values[node]

    def _stands_alone(self, node: int) -> bool:
        """Whether a node has an instruction of its own; a fused product has none."""
        graph = self.program.graph
        return graph.operations[node] != of.MULTIPLY or self.uses[node] != 1 or not self.fused

    def _fused(self, node: int) -> int | None:
        """Which argument of a sum is a product that only this sum uses."""
        graph = self.program.graph
        if not self.fused or graph.operations[node] not in (of.ADD, of.SUBTRACT):
            return None
        a, b = graph.arguments[node]
        for k, part in ((1, b), (0, a)):
            product = graph.operations[part] == of.MULTIPLY and self.uses[part] == 1
            if product and part not in self.values:
                return k
        return None

    def _parts(self, node: int) -> tuple[int, ...]:
        """Nodes whose values an instruction reads."""
        graph = self.program.graph
        operation = graph.operations[node]
        if operation in of.LEAVES or (operation in (of.SIN, of.COS) and self.fused):
            return ()
        arguments: tuple[int, ...] = graph.arguments[node]
        k = self._fused(node)
        if k is None:
            return arguments
        return (arguments[1 - k], *graph.arguments[arguments[k]])

    def _instruction(self, node: int) -> str:
        """Write one node's instruction; return its value's name."""
        graph, kind = self.program.graph, self.kind()
        operation, arguments = graph.operations[node], graph.arguments[node]
        if operation == of.CONSTANT:
            return self.constant(arguments[0])
        if operation == of.INPUT:
            return self.load(*arguments)
        if operation in (of.SIN, of.COS) and self.fused:
            return self._turns[arguments[0]][operation == of.COS]
        parts = [self.values[k] for k in self._parts(node)]
        fused = self._fused(node)
        if fused is not None:
            other, x, y = parts
            if operation == of.SUBTRACT and fused == 0:
                other = self.do(f"fneg {kind} {other}")
            if operation == of.SUBTRACT and fused == 1:
                x = self.do(f"fneg {kind} {x}")
            return self.call("fma", x, y, other)
        if operation == of.HELD:
            return parts[0]
        if operation in ARITHMETIC:
            return self.do(f"{ARITHMETIC[operation]} {kind} {parts[0]}, {parts[1]}")
        if operation in COMPARED:
            return self.do(f"fcmp {COMPARED[operation]} {kind} {parts[0]}, {parts[1]}")
        if operation == of.SELECT:
            truth = self.kind("i1")
            return self.do(f"select {truth} {parts[0]}, {kind} {parts[1]}, {kind} {parts[2]}")
        if operation in INTRINSICS:
            return self.call(INTRINSICS[operation], parts[0])
        return self.library(LIBRARY[operation], parts[0])

    def taken(self, results: Sequence[str]) -> str:
        """Whether the results count: finite, guards and angles within their limits."""
        graph, kind = self.program.graph, self.kind()
        names = list(dict.fromkeys(results))
        exact = (*of.LEAVES, of.HELD, of.ADD, of.SUBTRACT, of.MULTIPLY, of.SIN, of.COS, of.SQRT)
        hides = any(graph.operations[node] not in exact for node in self.nodes)
        used = {graph.arguments[k] for k in self.nodes if graph.operations[k] == of.INPUT}
        for name in self.program.inputs:
            for k in range(self.program.width):
                if hides or (name, k) not in used:
                    names.append(self.load(name, k))
        while len(names) > 1:  # a sum that is not finite has such a part, or is one by itself
            pairs = zip(names[::2], names[1::2], strict=False)
            sums = [self.do(f"fadd {kind} {x}, {y}") for x, y in pairs]
            names = sums + names[len(sums) * 2 :]
        rest = self.do(f"fsub {kind} {names[0]}, {names[0]}")
        good = self.do(f"fcmp oeq {kind} {rest}, {self.constant(0.0)}")
        for angles, lanes in self.turned:
            size, limit = self.call("fabs", angles, lanes=lanes), self.constant(LIMIT, lanes=lanes)
            within = self.do(f"fcmp ole {self.kind(lanes=lanes)} {size}, {limit}")
            if lanes != self.lanes:  # those of one state: all of them
                bits = self.do(f"bitcast <{lanes} x i1> {within} to i{lanes}")
                within = self.do(f"icmp eq i{lanes} {bits}, -1")
            good = self.do(f"and {self.kind('i1')} {good}, {within}")
        for guard in self._guards():
            value = self.value(guard.node)
            if guard.negated:
                value = self.do(f"xor {self.kind('i1')} {value}, {self.constant(1, 'i1')}")
            good = self.do(f"and {self.kind('i1')} {good}, {value}")
        return good

    def _guards(self) -> list[Condition]:
        """The guards, each of them once."""
        return list({(g.node, g.negated): g for g in self.program.guards}.values())


def one_state(program: Program, name: str, fused: bool) -> str:
    """Assembly of a function of one state."""
    loads: list[str] = []
    known: dict[tuple[str, int], str] = {}

    def load(array: str, k: int) -> str:
        if (array, k) not in known:
            known[array, k] = value = f"%x{len(known)}"
            loads.append(f"  %a{len(known) - 1} = getelementptr double, ptr %{array}, i64 {k}")
            loads.append(f"  {value} = load double, ptr %a{len(known) - 1}, align 8")
        return known[array, k]

    body = Arithmetic(program, 1, fused, load)
    results = body.write()
    good = body.taken(results)
    stores = []
    for k, result in enumerate(results):
        stores.append(f"  %o{k} = getelementptr double, ptr %out, i64 {k}")
        stores.append(f"  store double {result}, ptr %o{k}, align 8")
    arrays = ["table", *program.inputs, "out"]
    arguments = ", ".join(f"ptr noalias %{array}" for array in arrays)
    head = f"define i64 @{name}({arguments}) {{"
    end = [f"  %good = zext i1 {good} to i64", "  ret i64 %good", "}"]
    return "\n".join([*sorted(body.declared), head, *loads, *body.lines, *stores, *end, ""])
