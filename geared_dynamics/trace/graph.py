"""Expressions as a graph of operations, each of them once.

A ``Symbol`` is a node with a sign: ``-x`` costs nothing, and x - y and y - x share a node.
Making a node folds constants and takes it from those there are, so that common parts of
expressions are computed once; what no result needs is left out (``needed``). Zero times anything
is zero here: whether the inputs are finite, the caller checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

# Operations. A constant's argument is its number, an input's its name and index.
CONSTANT, INPUT, HELD, ADD, SUBTRACT, MULTIPLY, DIVIDE, LESS, AT_MOST, EQUAL, SELECT = range(11)
SIN, COS, SQRT, TANH, EXP, LOG, EXPM1, ABS, ROUND = range(11, 20)
LEAVES = (CONSTANT, INPUT)
COMPARISONS = (LESS, AT_MOST, EQUAL)
FUNCTIONS: dict[int, Callable[[float], float]] = {
    SIN: math.sin,
    COS: math.cos,
    SQRT: math.sqrt,
    TANH: math.tanh,
    EXP: math.exp,
    LOG: math.log,
    EXPM1: math.expm1,
    ABS: abs,
    ROUND: lambda x: float(round(x)),
}
ODD, EVEN = (SIN, TANH, ROUND), (COS, ABS)  # f(-x) = -f(x), f(-x) = f(x)


class Symbol:
    """A node of a graph with a sign; its arithmetic makes further nodes."""

    __slots__ = ("graph", "negative", "node")

    def __init__(self, graph: ExpressionGraph, node: int, negative: bool = False) -> None:
        """Name a node."""
        self.graph = graph
        self.node = node
        self.negative = negative

    def __neg__(self) -> Symbol:
        """Return -x."""
        return Symbol(self.graph, self.node, not self.negative)

    def __add__(self, other: Number) -> Number:
        """Return x + y."""
        return self.graph.add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Number) -> Number:
        """Return x - y."""
        return self.graph.add(self, -other)

    def __rsub__(self, other: Number) -> Number:
        """Return y - x."""
        return self.graph.add(other, -self)

    def __mul__(self, other: Number) -> Number:
        """Return x y."""
        return self.graph.multiply(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Number:
        """Return x / y."""
        return self.graph.divide(self, other)

    def __rtruediv__(self, other: Number) -> Number:
        """Return y / x."""
        return self.graph.divide(other, self)

    def __abs__(self) -> Number:
        """Return the magnitude."""
        return self.graph.function(ABS, self)

    def __lt__(self, other: Number) -> Truth:
        """Compare x < y."""
        return self.graph.compare(LESS, self, other)

    def __le__(self, other: Number) -> Truth:
        """Compare x <= y."""
        return self.graph.compare(AT_MOST, self, other)

    def __gt__(self, other: Number) -> Truth:
        """Compare x > y."""
        return self.graph.compare(LESS, other, self)

    def __ge__(self, other: Number) -> Truth:
        """Compare x >= y."""
        return self.graph.compare(AT_MOST, other, self)

    def __eq__(self, other: object) -> Truth:  # type: ignore[override]
        """Compare x = y."""
        return self.graph.compare(EQUAL, self, other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> Truth:  # type: ignore[override]
        """Compare x != y."""
        return self.graph.compare(EQUAL, self, other, negated=True)  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]

    def __float__(self) -> float:
        """Refuse: the value of a symbol is not known."""
        raise TypeError("a symbol has no value")


class Condition:
    """A comparison of symbols. Whoever traces decides what ``if`` takes it for."""

    __slots__ = ("graph", "negated", "node")

    def __init__(self, graph: ExpressionGraph, node: int, negated: bool = False) -> None:
        """Name a comparison, or its opposite."""
        self.graph = graph
        self.node = node
        self.negated = negated

    def __bool__(self) -> bool:
        """Ask which way to go."""
        return self.graph.decide(self)


Number: TypeAlias = "Symbol | float"
Truth: TypeAlias = "Condition | bool"


def undecided(_condition: Condition) -> bool:
    """Refuse a branch outside of a tracing run."""
    raise TypeError("a comparison of symbols is neither true nor false")


class ExpressionGraph:
    """The nodes, arguments before what uses them.

    Attributes:
        operations: What each node does.
        arguments: Nodes that it takes; of a leaf see ``CONSTANT``.
        sign: +1 or -1 of the nodes of which it is known.
        decide: Which way a tracing run goes at a condition.
    """

    def __init__(self) -> None:
        """Start without nodes."""
        self.operations: list[int] = []
        self.arguments: list[tuple[Any, ...]] = []
        self.sign: dict[int, int] = {}
        self.decide: Callable[[Condition], bool] = undecided
        self._known: dict[tuple[Any, ...], int] = {}

    def node(self, operation: int, *arguments: Any) -> int:
        """Return the node of an operation, made if there is none yet."""
        key = (operation, *arguments)
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self.operations)
            self.operations.append(operation)
            self.arguments.append(arguments)
        return number

    def input(self, name: str, index: int) -> Symbol:
        """Element of an array that is given later."""
        return Symbol(self, self.node(INPUT, name, index))

    def inputs(self, name: str, count: int) -> list[Number]:
        """First elements of such an array."""
        return [self.input(name, k) for k in range(count)]

    def held(self, x: Number) -> Number:
        """The same number behind a node: constant to derivatives, opaque to simplification."""
        if not isinstance(x, Symbol):
            return x
        return Symbol(self, self.node(HELD, x.node), x.negative)

    def symbol(self, x: Number) -> Symbol:
        """Symbol of a number: its magnitude and sign."""
        if isinstance(x, Symbol):
            return x
        x = float(x)
        return Symbol(self, self.node(CONSTANT, abs(x)), x < 0.0)

    def unsigned(self, x: Symbol) -> int:
        """Node that has the sign of x in it."""
        if not x.negative:
            return x.node
        return self.node(SUBTRACT, self.node(CONSTANT, 0.0), x.node)

    def value(self, x: Number) -> float | None:
        """The number that x is, None if it is not constant."""
        if not isinstance(x, Symbol):
            return float(x)
        if self.operations[x.node] != CONSTANT:
            return None
        number = float(self.arguments[x.node][0])
        return -number if x.negative else number

    # -- arithmetic ------------------------------------------------------------------------------

    def add(self, x: Number, y: Number) -> Number:
        """Return x + y."""
        first, second = self.value(x), self.value(y)
        if first is not None and second is not None:
            return first + second
        if first == 0.0:
            return y
        if second == 0.0:
            return x
        a, b = self.symbol(x), self.symbol(y)
        if a.node == b.node:
            return self.multiply(2.0, a) if a.negative == b.negative else 0.0
        if a.node > b.node:
            a, b = b, a
        operation = ADD if a.negative == b.negative else SUBTRACT
        return Symbol(self, self.node(operation, a.node, b.node), a.negative)

    def multiply(self, x: Number, y: Number) -> Number:
        """Return x y."""
        factor, other = self.value(x), self.value(y)
        if factor is not None and other is not None:
            return factor * other
        if factor is None and other is not None:
            return self.multiply(other, x)
        if factor is not None:
            scaled = self._scaled(factor, self.symbol(y))
            if scaled is not None:
                return scaled
        a, b = self.symbol(x), self.symbol(y)
        low, high = min(a.node, b.node), max(a.node, b.node)
        return Symbol(self, self.node(MULTIPLY, low, high), a.negative != b.negative)

    def _scaled(self, factor: float, y: Symbol) -> Number | None:
        """Product of a number and a symbol where it needs no node of its own."""
        if factor == 0.0:
            return 0.0
        if abs(factor) == 1.0:
            return y if factor > 0.0 else -y
        if self.operations[y.node] == MULTIPLY:
            for part, rest in (self.arguments[y.node], self.arguments[y.node][::-1]):
                if self.operations[part] == CONSTANT:
                    number = factor * self.arguments[part][0]
                    return self.multiply(-number if y.negative else number, Symbol(self, rest))
        return None

    def divide(self, x: Number, y: Number) -> Number:
        """Return x / y."""
        above, below = self.value(x), self.value(y)
        if below is not None and below != 0.0:
            return self.multiply(1.0 / below, x) if above is None else above / below
        if above == 0.0:
            return 0.0
        if above is None:  # what one divisor divides shares its inverse
            return self.multiply(x, self.divide(1.0, y))
        a, b = self.symbol(x), self.symbol(y)
        return Symbol(self, self.node(DIVIDE, a.node, b.node), a.negative != b.negative)

    def function(self, operation: int, x: Number) -> Number:
        """Value of one of the FUNCTIONS at x."""
        number = self.value(x)
        if number is not None:
            return FUNCTIONS[operation](number)
        argument = self.symbol(x)
        if operation in ODD:
            return Symbol(self, self.node(operation, argument.node), argument.negative)
        if operation in EVEN:
            if operation == ABS and argument.node in self.sign:
                return Symbol(self, argument.node, self.sign[argument.node] < 0)
            return Symbol(self, self.node(operation, argument.node))
        return Symbol(self, self.node(operation, self.unsigned(argument)))

    # -- comparisons and choices -----------------------------------------------------------------

    def known_sign(self, x: Number) -> int | None:
        """Sign of x where it is known: 1, 0, -1."""
        number = self.value(x)
        if number is not None:
            return (number > 0.0) - (number < 0.0)
        symbol = self.symbol(x)
        sign = self.sign.get(symbol.node)
        return sign if sign is None or not symbol.negative else -sign

    def compare(self, operation: int, x: Number, y: Number, negated: bool = False) -> Truth:
        """Compare x with y; a number where both are known, or their signs settle it."""
        if operation == EQUAL:
            operation, x, y = self._apart(x, y)
        first, second = self.value(x), self.value(y)
        if first is None and second is None:
            below = above = None
        else:
            below, above = self.known_sign(x), self.known_sign(y)
        if first is not None and second is not None:
            below, above = (first > second) - (first < second), 0
        if below is not None and above is not None and (below != above or above == 0 == below):
            holds = {LESS: below < above, AT_MOST: below <= above, EQUAL: below == above}
            return holds[operation] != negated
        a, b = self.symbol(x), self.symbol(y)
        return Condition(self, self.node(operation, self.unsigned(a), self.unsigned(b)), negated)

    def _apart(self, x: Number, y: Number) -> tuple[int, Number, Number]:
        """How x = y is asked of an x that takes few values, such as a status.

        Half way to the next value: x is equal to y in most states then, and none of them is one
        where two branches meet.
        """
        if isinstance(y, Symbol):
            x, y = y, x
        number = self.value(y)
        values = None if number is None else self._values(self.symbol(x))
        if number is None or values is None or len(values) == 1 or number not in values:
            return EQUAL, x, y
        if number == values[0]:
            return LESS, x, 0.5 * (number + values[1])
        if number == values[-1]:
            return LESS, 0.5 * (number + values[-2]), x
        return EQUAL, x, y

    def _values(self, x: Symbol) -> list[float] | None:
        """All values of a constant, or of a choice of constants; None of anything else."""
        found: set[float] = set()
        waiting, seen = [x.node], set[int]()
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            if self.operations[node] == CONSTANT:
                found.add(self.arguments[node][0])
            elif self.operations[node] == SELECT:
                waiting += self.arguments[node][1:]
            else:
                return None
        return sorted(-value if x.negative else value for value in found)

    def select(self, condition: Condition, x: Any, y: Any) -> Any:
        """Return x where a condition holds, else y; tuples element by element."""
        if condition.negated:
            condition, x, y = Condition(self, condition.node), y, x
        if isinstance(x, tuple):
            return tuple(self.select(condition, *pair) for pair in zip(x, y, strict=True))
        if x is y:
            return x
        if isinstance(x, (bool, Condition)) or isinstance(y, (bool, Condition)):
            raise TypeError("a traced function gives a truth that depends on its inputs")
        number = self.value(x)
        if number is not None and number == self.value(y):
            return x
        a, b = self.symbol(x), self.symbol(y)
        if a.negative == b.negative:
            if a.node == b.node:
                return a
            return Symbol(self, self.node(SELECT, condition.node, a.node, b.node), a.negative)
        choice = self.node(SELECT, condition.node, self.unsigned(a), self.unsigned(b))
        return Symbol(self, choice)

    # -- what results need -----------------------------------------------------------------------

    def needed(self, results: Iterable[Symbol | Condition]) -> list[int]:
        """Nodes that some results need, arguments first."""
        found: set[int] = set()
        waiting = [result.node for result in results]
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                if self.operations[node] not in LEAVES:
                    waiting.extend(self.arguments[node])
        return sorted(found)

    def symbols(self, results: Sequence[Number]) -> list[Symbol]:
        """Results as symbols, numbers among them too."""
        return [self.symbol(result) for result in results]
