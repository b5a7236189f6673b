"""What a kernel must not do where it runs over symbols: each is an error, no wrong code."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from geared_dynamics.kernels import layout as at
from geared_dynamics.trace import graph as of
from geared_dynamics.trace.functions import jacobian
from geared_dynamics.trace.graph import ExpressionGraph
from geared_dynamics.trace.run import Tracer


def traced(kernel: Any) -> list[Any]:
    """Run a function of a model, an input and a result over symbols."""
    tracer = Tracer()
    q = tracer.graph.inputs("q", 2)
    return list(tracer.run(SimpleNamespace(py_func=kernel), [[1.0]], [q], 2))


def value(graph: ExpressionGraph, x: Any, given: float) -> float:
    """What an expression of one input is worth."""
    if not isinstance(x, of.Symbol):
        return float(x)
    operation, arguments = graph.operations[x.node], graph.arguments[x.node]
    if operation == of.CONSTANT:
        number = arguments[0]
    elif operation == of.INPUT:
        number = given
    else:
        parts = [value(graph, of.Symbol(graph, k), given) for k in arguments]
        number = {**of.FUNCTIONS, **PLAIN}[operation](*parts)
    return -number if x.negative else number


PLAIN: dict[int, Callable[..., float]] = {
    of.ADD: operator.add,
    of.SUBTRACT: operator.sub,
    of.MULTIPLY: operator.mul,
    of.DIVIDE: operator.truediv,
    of.LESS: operator.lt,
    of.EQUAL: operator.eq,
    of.SELECT: lambda truth, x, y: x if truth else y,
}


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("asked", [0.0, 100.0, 101.0, 7.0])
def test_a_status_is_asked_for_half_way_to_the_next_one(asked: float, sign: float) -> None:
    """No state is one at which it could be another: see ``joined.apart_from_kinks``."""
    graph = ExpressionGraph()
    x = graph.input("q", 0)
    inner = graph.select(x < 0.5, 100.0, 0.0)
    status = graph.select(x < 0.25, 101.0, inner) * sign
    for negated in (False, True):
        truth = status != sign * asked if negated else status == sign * asked
        chosen = graph.select(truth, 2.0, 3.0)
        for given, is_now in ((0.1, 101.0), (0.3, 100.0), (0.9, 0.0)):
            expected = 2.0 if (is_now == asked) != negated else 3.0
            assert value(graph, chosen, given) == expected
    operations = {graph.operations[node] for node in graph.needed([graph.symbol(chosen)])}
    assert (of.EQUAL in operations) == (asked in (100.0, 7.0))


@pytest.mark.parametrize("operation", sorted(set(of.FUNCTIONS) - {of.ROUND}))
@pytest.mark.parametrize("x", [0.3, 1.7, -0.6])
def test_the_derivative_of_every_function(operation: int, x: float) -> None:
    """Of f(u) with u = x / (x^2 + 3) + 0.8, against differences of order 4."""
    graph = ExpressionGraph()
    symbol = graph.symbol(graph.input("q", 0))
    inner = symbol / (symbol * symbol + 3.0) + 0.8
    y = graph.function(operation, inner)
    ((slope,),) = jacobian(graph, [y], [symbol])
    step = 1e-3
    ahead, behind = (
        (value(graph, y, x + k * step), value(graph, y, x - k * step)) for k in (1, 2)
    )
    expected = (8.0 * (ahead[0] - ahead[1]) - (behind[0] - behind[1])) / (12.0 * step)
    assert value(graph, slope, x) == pytest.approx(expected, rel=1e-9, abs=1e-11)


def test_a_status_other_than_ok_is_refused() -> None:
    with pytest.raises(ValueError, match="the kernel returned 7"):
        traced(lambda _model, _q, _out: 7)


def test_an_index_that_depends_on_inputs_is_refused() -> None:
    def kernel(_model: Any, q: Any, out: Any) -> int:
        out[int(q[0])] = 1.0
        return at.OK

    with pytest.raises(TypeError, match="an index depends on the inputs"):
        traced(kernel)


def test_a_truth_that_depends_on_inputs_is_refused() -> None:
    graph = ExpressionGraph()
    x, y = graph.inputs("q", 2)
    with pytest.raises(TypeError, match="a truth that depends on its inputs"):
        graph.select(x < y, True, x < 0.0)
    assert graph.select(x < y, True, True) is True


def branching(_model: Any, q: Any, out: Any) -> int:
    """Writes on both ways, on one, before a branch and in one within another."""
    out[0], out[1], out[2] = 1.0, 2.0 * q[0], 3.0
    if q[0] < 1.0:
        out[0] = out[1] + 4.0
        if q[0] < -1.0:
            out[1] = 5.0
            out[0] += q[0]
        else:
            out[2] = q[0] - 6.0
    else:
        out[2] = out[0] + q[0]
    out[3] = out[0] - out[1] + 7.0 * out[2]
    return at.OK


@pytest.mark.parametrize("x", [-3.0, -1.0, 0.25, 1.0, 2.5])
def test_what_branches_write_is_kept_of_the_way_taken(x: float) -> None:
    tracer = Tracer()
    q = tracer.graph.inputs("q", 1)
    found = tracer.run(SimpleNamespace(py_func=branching), [[1.0]], [q], 4)
    expected = [0.0] * 4
    branching(None, [x], expected)
    assert [value(tracer.graph, each, x) for each in found] == expected


def test_symbols_have_no_value_outside_of_a_run() -> None:
    x, y = ExpressionGraph().inputs("q", 2)
    with pytest.raises(TypeError, match="a symbol has no value"):
        float(x)
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(x < y)


def test_known_numbers_and_signs_decide_a_comparison() -> None:
    """Equal ones too; a symbol only where its sign and that of the number differ."""
    graph = ExpressionGraph()
    for x, y in ((2.0, 2.0), (0.0, 0.0), (-1.0, 3.0), (3.0, -1.0)):
        assert graph.compare(of.LESS, x, y) is (x < y)
        assert graph.compare(of.AT_MOST, x, y) is (x <= y)
        assert graph.compare(of.EQUAL, x, y) is (x == y)
        assert graph.compare(of.EQUAL, x, y, negated=True) is (x != y)
    mass, other = graph.input("table", 0), graph.input("table", 1)
    graph.sign[mass.node] = 1
    assert graph.compare(of.LESS, 0.0, mass) is True
    assert graph.compare(of.LESS, -mass, 0.0) is True
    assert graph.compare(of.EQUAL, mass, -1.0) is False
    for undecided in (graph.compare(of.LESS, mass, 1.0), graph.compare(of.LESS, other, 0.0)):
        assert isinstance(undecided, of.Condition)
