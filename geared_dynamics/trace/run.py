"""A kernel's own source, run over symbols.

Of each kernel the function that numba compiles (``py_func``) runs in Python, its code as it is,
with other globals: ``math`` and NumPy's arrays make symbols and memory of symbols, the checks of
``border`` hold, and functions of the kernels are replaced in the same way. Branches on numbers
run as they do; a branch on a symbol runs the function that it stands in once for each way, and
results and writes of the two are joined by a choice. What must hold for a result to count (the
pivots of a factorisation) is kept as a guard.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from geared_dynamics.kernels import border, joint, memory
from geared_dynamics.kernels import layout as at
from geared_dynamics.trace import graph as of
from geared_dynamics.trace.graph import Condition, ExpressionGraph, Number, Symbol

PACKAGE = "geared_dynamics.kernels"
REPLACED = (border, joint, memory)  # modules of the kernels some of whose functions are replaced


class Cells:
    """Numbers and symbols behind a pointer, or an array of them; writes can be taken back."""

    __slots__ = ("cells", "log", "start")

    def __init__(self, log: list[tuple[list[Any], int, Any]], cells: list[Any], start: int = 0):
        """Look into ``cells`` from ``start`` on."""
        self.log = log
        self.cells = cells
        self.start = start

    @property
    def shape(self) -> tuple[int]:
        """Length, as an array has it."""
        return (self.size,)

    @property
    def size(self) -> int:
        """Number of elements, as an array has it."""
        return len(self.cells) - self.start

    def __getitem__(self, k: int) -> Any:
        """Read element k."""
        return self.cells[self.start + k]

    def __setitem__(self, k: int, value: Any) -> None:
        """Write element k."""
        k += self.start
        self.log.append((self.cells, k, self.cells[k]))
        self.cells[k] = value


class RunningCall:
    """A running function: the ways to take at its branches on symbols, and those it came to."""

    __slots__ = ("met", "ways")

    def __init__(self, ways: tuple[bool, ...]) -> None:
        """Take these ways first, then the first one."""
        self.ways = ways
        self.met: list[Condition] = []


class Tracer:
    """One tracing run: a graph, the functions that write into it, the guards met."""

    def __init__(self) -> None:
        """Start with an empty graph."""
        self.graph = ExpressionGraph()
        self.graph.decide = self._decide
        self.guards: list[Condition] = []
        self._log: list[tuple[list[Any], int, Any]] = []
        self._frames: list[RunningCall] = []
        self._functions: dict[Any, Callable[..., Any]] = {}
        self._twins = self._make_twins()
        self._builtins = {**vars(builtins), "int": self._int, "float": self._float}

    # -- calls -----------------------------------------------------------------------------------

    def run(self, kernel: Any, constants: Sequence[Any], inputs: Sequence[Any], width: int) -> Any:
        """Results (width,) of a kernel's entry for one state.

        Args:
            kernel: The entry, as numba has it.
            constants: Its constant arrays, numbers or symbols each.
            inputs: Its inputs (n,), numbers or symbols.
            width: Length of the result.
        """
        out = self.memory([None] * width)
        arrays = [self.memory(list(x)) for x in (*constants, *inputs)]
        self._frames.append(RunningCall(()))
        try:
            status = self.function(kernel)(*arrays, out)
        finally:
            self._frames.pop()
        if not isinstance(status, Symbol):
            if status != at.OK:
                raise ValueError(f"the kernel returned {status}")
        else:
            self._guard(self.graph.compare(of.EQUAL, status, float(at.OK)))
        return list(out.cells)

    def call(self, kernel: Any, *arguments: Any) -> Any:
        """Result of an inner function of the kernels."""
        self._frames.append(RunningCall(()))
        try:
            return self.function(kernel)(*arguments)
        finally:
            self._frames.pop()

    def memory(self, cells: list[Any]) -> Cells:
        """Cells that holds these numbers and symbols."""
        return Cells(self._log, cells)

    def function(self, kernel: Any) -> Callable[..., Any]:
        """Function of the kernels that runs over symbols."""
        source = kernel.py_func
        known = self._functions.get(source)
        if known is None:
            names: dict[str, Any] = {"__builtins__": self._builtins}
            symbolic = FunctionType(source.__code__, names, source.__name__, source.__defaults__)
            known = self._functions[source] = self._both_ways(symbolic)
            given = source.__globals__
            names.update(
                {key: self._twin(given[key]) for key in source.__code__.co_names if key in given}
            )
        return known

    # -- branches --------------------------------------------------------------------------------

    def _decide(self, condition: Condition) -> bool:
        """Take the way that is planned here, else the first."""
        frame = self._frames[-1]
        k = len(frame.met)
        frame.met.append(condition)
        return frame.ways[k] if k < len(frame.ways) else True

    def _both_ways(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function that runs once for each way through its branches on symbols."""

        def explore(ways: tuple[bool, ...], arguments: tuple[Any, ...]) -> Any:
            start, guards = len(self._log), len(self.guards)
            frame = RunningCall(ways)
            self._frames.append(frame)
            try:
                result = function(*arguments)
            finally:
                self._frames.pop()
            if len(frame.met) == len(ways):
                return result
            # It went on the first way at a branch that is not planned: run both from there.
            self._take_back(start)
            del self.guards[guards:]
            condition = frame.met[len(ways)]
            first = explore((*ways, True), arguments)
            written = self._take_back(start)
            second = explore((*ways, False), arguments)
            also = self._take_back(start)
            self._join(condition, written, also)
            if first is None and second is None:
                return None
            return self.graph.select(condition, first, second)

        return lambda *arguments: explore((), arguments)

    def _take_back(self, start: int) -> dict[tuple[int, int], tuple[list[Any], Any]]:
        """Undo the writes from ``start`` on; return what they left, by cell."""
        left = {(id(cells), k): (cells, cells[k]) for cells, k, _ in self._log[start:]}
        while len(self._log) > start:
            cells, k, before = self._log.pop()
            cells[k] = before
        return left

    def _join(self, condition: Condition, first: dict[Any, Any], second: dict[Any, Any]) -> None:
        """Write to each cell what the way taken leaves there."""
        for key in {**first, **second}:
            cells, k = (first.get(key) or second[key])[0], key[1]
            x = first[key][1] if key in first else cells[k]
            y = second[key][1] if key in second else cells[k]
            self._log.append((cells, k, cells[k]))
            # A cell that only one way fills is not read on the other.
            cells[k] = y if x is None else x if y is None else self.graph.select(condition, x, y)

    def _guard(self, truth: Condition | bool) -> bool:
        """Go on as if a condition held, and keep it."""
        if isinstance(truth, Condition):
            self.guards.append(truth)
            return True
        return truth

    # -- what stands in for the kernels' globals -------------------------------------------------

    def _twin(self, value: Any) -> Any:
        """What a global of a kernel's module is replaced by."""
        if value is math:
            return self._twins["math"]
        if value is np:
            return self._twins["numpy"]
        if isinstance(value, ModuleType):
            return Room(self, value) if value.__name__.startswith(PACKAGE) else value
        name = getattr(value, "__name__", "")
        if name in self._twins and any(getattr(room, name, None) is value for room in REPLACED):
            return self._twins[name]
        return self.function(value) if hasattr(value, "py_func") else value

    def _make_twins(self) -> dict[str, Any]:
        """By name: modules, checks of ``border``, intrinsics of ``memory``, sine and cosine."""

        def of_kind(operation: int) -> Callable[[Number], Number]:
            return lambda x: self.graph.function(operation, x)

        functions = {
            name: of_kind(getattr(of, name.upper()))
            for name in ("sin", "cos", "sqrt", "tanh", "exp", "log", "expm1")
        }

        def hypot(x: Number, y: Number) -> Number:
            return self.graph.function(of.SQRT, x * x + y * y)

        def copysign(size: Number, sign: Number) -> Number:
            below = self.graph.compare(of.LESS, sign, 0.0)
            size = abs(size)
            if isinstance(below, bool):
                return -size if below else size
            chosen: Number = self.graph.select(below, -size, size)
            return chosen

        def gather(x: Cells, _state: int, count: int, to: Cells) -> bool:
            for k in range(count):
                to[k] = x[k]
            return True

        def shifted(x: Cells, count: int) -> Cells:
            return Cells(x.log, x.cells, x.start + count)

        def positive(x: Number) -> bool:
            return self._guard(self.graph.compare(of.LESS, 0.0, x))

        def filled(count: int, value: float | None) -> Cells:
            return self.memory([value] * int(count))

        holds = {name: lambda *_: True for name in ("holds", "fits", "apart", "finite")}
        numpy = SimpleNamespace(
            empty=lambda n: filled(n, None),
            zeros=lambda n: filled(n, 0.0),
            rint=of_kind(of.ROUND),
        )
        return holds | {
            "math": SimpleNamespace(
                **functions, hypot=hypot, copysign=copysign, pi=math.pi, inf=math.inf
            ),
            "numpy": numpy,
            "sine_cosine": self._sine_cosine,
            "states": lambda _x: 1,
            "gather": gather,
            "positive": positive,
            "pointer": lambda x: x,
            "row": lambda x, _k: x,
            "shift": shifted,
            "stack_memory": lambda: filled(memory.STACK_SIZE, None),
            "keep": lambda _x, value: value,
        }

    def _sine_cosine(self, x: Any) -> tuple[Any, Any]:
        given = self._twins["math"]
        return given.sin(x), given.cos(x)

    def _int(self, x: Any) -> int:
        number = self.graph.value(x) if isinstance(x, Symbol) else x
        if number is None:
            raise TypeError("an index depends on the inputs")
        return int(number)

    def _float(self, x: Any) -> Any:
        return x if isinstance(x, Symbol) else float(x)


class Room:
    """A module of the kernels whose functions run over symbols."""

    def __init__(self, tracer: Tracer, module: ModuleType) -> None:
        """Stand in for a module."""
        self._tracer = tracer
        self._module = module

    def __getattr__(self, name: str) -> Any:
        """Return the twin of a name of the module."""
        return self._tracer._twin(getattr(self._module, name))
