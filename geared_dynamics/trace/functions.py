"""The functions that are traced: their kernels, inputs and results; and derivatives of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from geared_dynamics.dynamics.packing import columns_of
from geared_dynamics.kernels import drive as drives
from geared_dynamics.kernels import (
    drive_layout,
    elimination,
    inverse,
    layout,
    mass,
    regressor,
    terms,
)
from geared_dynamics.model import GearedModel
from geared_dynamics.trace import graph as of
from geared_dynamics.trace.graph import Condition, ExpressionGraph, Number, Symbol
from geared_dynamics.trace.run import Tracer
from geared_dynamics.trace.structure import Structure


@dataclass(frozen=True, eq=False)
class Program:
    """A traced function of some inputs (n,) and a table.

    Attributes:
        graph: Where its nodes are.
        inputs: Names of the inputs.
        width: Length of each.
        results: What it gives, the rows of its result one after the other.
        guards: What must hold for the results to count.
        parts: What the first input holds one after the other: names and lengths; empty where
            each input is one quantity.
    """

    graph: ExpressionGraph
    inputs: tuple[str, ...]
    width: int
    results: tuple[Number, ...]
    guards: tuple[Condition, ...]
    parts: tuple[tuple[str, int], ...] = ()

    def operations(self) -> int:
        """Number of operations, leaves apart."""
        nodes = self.graph.needed([*self.graph.symbols(self.results), *self.guards])
        return sum(self.graph.operations[node] > 1 for node in nodes)


Arrays = dict[str, list[Number]]


@dataclass(frozen=True)
class Function:
    """A function of the library that can be traced.

    Attributes:
        inputs: Its arguments, joint side (n,).
        forms: Packed arrays that it needs.
        shape: Of its result for one state.
        trace: Writes it into a tracer's graph.
        kernels: Which kernels give the same, for batches.
    """

    inputs: tuple[str, ...]
    forms: tuple[str, ...]
    shape: Callable[[GearedModel], tuple[int, ...]]
    trace: Callable[[Tracer, Arrays, Sequence[list[Number]]], list[Number]]
    kernels: tuple[str, ...] = ()


def program_of(name: str, structure: Structure) -> Program:
    """Trace a function over a structure."""
    tracer, function = Tracer(), FUNCTIONS[name]
    arrays = structure.symbols(tracer.graph)
    n = coordinates(arrays)
    inputs = [tracer.graph.inputs(key, n) for key in function.inputs]
    results = function.trace(tracer, arrays, inputs)
    return Program(tracer.graph, function.inputs, n, tuple(results), tuple(tracer.guards))


def coordinates(arrays: Arrays) -> int:
    """Number of coordinates of a packed model, the first of the arrays."""
    return int(next(iter(arrays.values()))[layout.COORDINATES])  # type: ignore[arg-type]


def inverse_dynamics(
    tracer: Tracer, arrays: Arrays, inputs: Sequence[list[Number]]
) -> list[Number]:
    """Force (n,) of q, v, a; v and a may be left out, and are then zero."""
    n = coordinates(arrays)
    q, v, a = [*inputs, [0.0] * n, [0.0] * n][:3]
    return list(tracer.run(inverse.inverse_dynamics, [arrays["model"]], [q, v, a], n))


def mass_matrix(tracer: Tracer, arrays: Arrays, inputs: Sequence[list[Number]]) -> list[Number]:
    """M (n n,) of q."""
    n = coordinates(arrays)
    return list(tracer.run(mass.mass_matrix, [arrays["model"]], inputs, n * n))


def forward_dynamics(
    tracer: Tracer, arrays: Arrays, inputs: Sequence[list[Number]]
) -> list[Number]:
    """Acceleration (n,) of q, v, tau: by the factorised mass matrix, or by the plan."""
    n, model, plan = coordinates(arrays), arrays["model"], arrays["plan"]
    if plan:
        return list(tracer.run(elimination.eliminate, [model, plan], inputs, n))
    return list(tracer.run(mass.forward_dynamics, [model], inputs, n))


def motor_commands(tracer: Tracer, arrays: Arrays, inputs: Sequence[list[Number]]) -> list[Number]:
    """Rows of ``drive_layout``, (RESULT_ROWS m,), of q, v, a."""
    constants = [arrays["model"], arrays["drives"], arrays["springs"]]
    count = int(arrays["drives"][drive_layout.COUNT])  # type: ignore[arg-type]
    width = drive_layout.RESULT_ROWS * count
    return list(tracer.run(drives.motor_commands, constants, inputs, width))


def torque_terms(tracer: Tracer, arrays: Arrays, inputs: Sequence[list[Number]]) -> list[Number]:
    """Rows of ``kernels.terms``, (ROWS n,), of q, v, a."""
    width = terms.ROWS * coordinates(arrays)
    return list(tracer.run(terms.torque_terms, [arrays["model"]], inputs, width))


def regressor_rows(tracer: Tracer, arrays: Arrays, inputs: Sequence[list[Number]]) -> list[Number]:
    """Regressor (n p,), by rows, of q, v, a."""
    form = arrays["columns"]
    width = coordinates(arrays) * int(form[layout.PARAMETERS])  # type: ignore[arg-type]
    return list(tracer.run(regressor.joint_regressor, [form], inputs, width))


def inverse_slopes(tracer: Tracer, arrays: Arrays, inputs: Sequence[list[Number]]) -> list[Number]:
    """Force (n,), then its derivatives (n n,) by q, v and a."""
    tau = inverse_dynamics(tracer, arrays, inputs)
    variables = [tracer.graph.symbol(x) for part in inputs for x in part]
    return [*tau, *blocks(jacobian(tracer.graph, tau, variables), len(tau))]


def forward_slopes(tracer: Tracer, arrays: Arrays, inputs: Sequence[list[Number]]) -> list[Number]:
    """Acceleration (n,), then its derivatives (n n,) by q, v and tau.

    With tau = ID(q, v, a) and its derivatives at this a:

        da/dq = -M^-1 dID/dq,   da/dv = -M^-1 dID/dv,   da/dtau = M^-1.
    """
    n, graph = coordinates(arrays), tracer.graph
    q, v, _ = inputs
    a = [graph.held(x) for x in forward_dynamics(tracer, arrays, inputs)]
    force = inverse_dynamics(tracer, arrays, [q, v, a])
    variables = [graph.symbol(x) for x in (*q, *v)]
    slopes = jacobian(graph, force, variables)
    matrix = mass_matrix(tracer, arrays, [q])
    columns = [solved(tracer, matrix, [-line[k] for line in slopes]) for k in range(2 * n)]
    columns += [solved(tracer, matrix, [float(i == k) for i in range(n)]) for k in range(n)]
    return [*a, *blocks([list(line) for line in zip(*columns, strict=True)], n)]


def solved(tracer: Tracer, matrix: list[Number], column: list[Number]) -> list[Number]:
    """Solution x of M x = column, M (n n,) symmetric and positive definite."""
    x = tracer.memory(list(column))
    tracer.call(mass.solve, len(column), tracer.memory(list(matrix)), x)
    return list(x.cells)


def blocks(rows: list[list[Number]], n: int) -> list[Number]:
    """Square blocks that stand side by side in (n, k n), one after the other."""
    starts = range(0, len(rows[0]) if rows else 0, n)
    return [x for start in starts for line in rows for x in line[start : start + n]]


def one_row(model: GearedModel) -> tuple[int, ...]:
    """Shape of a quantity of the joints."""
    return (model.n,)


def with_slopes(model: GearedModel) -> tuple[int, ...]:
    """Shape of a quantity of the joints above three matrices."""
    return (1 + 3 * model.n, model.n)


RIGID, PLANNED, DRIVEN = ("model",), ("model", "plan"), ("model", "drives", "springs")
FUNCTIONS: dict[str, Function] = {
    "inverse_dynamics": Function(
        ("q", "v", "a"), RIGID, one_row, inverse_dynamics, ("inverse_dynamics",)
    ),
    "mass_matrix": Function(("q",), RIGID, lambda m: (m.n, m.n), mass_matrix, ("mass_matrix",)),
    "bias_forces": Function(("q", "v"), RIGID, one_row, inverse_dynamics),
    "gravity_forces": Function(("q",), RIGID, one_row, inverse_dynamics),
    "forward_dynamics": Function(
        ("q", "v", "tau"), PLANNED, one_row, forward_dynamics, ("forward_dynamics", "eliminate")
    ),
    "motor_commands": Function(
        ("q", "v", "a"),
        DRIVEN,
        lambda m: (drive_layout.RESULT_ROWS, len(m.motor_names)),
        motor_commands,
        ("motor_commands",),
    ),
    "inverse_dynamics_derivatives": Function(
        ("q", "v", "a"), RIGID, with_slopes, inverse_slopes, ("inverse_dynamics_slopes",)
    ),
    "forward_dynamics_derivatives": Function(
        ("q", "v", "tau"), PLANNED, with_slopes, forward_slopes
    ),
    "torque_terms": Function(
        ("q", "v", "a"), RIGID, lambda m: (terms.ROWS, m.n), torque_terms, ("torque_terms",)
    ),
    "regressor": Function(
        ("q", "v", "a"),
        ("columns",),
        lambda m: (m.n, columns_of(m).count),
        regressor_rows,
        ("joint_regressor",),
    ),
}


# -- Exact derivatives of a graph's results, backwards from each of them --------------------------
#
# For a result y, every node x has the adjoint dy/dx: that of an operation's argument gains the
# operation's adjoint times its partial derivative. One sweep from y down gives a row.


def jacobian(
    graph: ExpressionGraph, results: Sequence[Number], variables: Sequence[Symbol]
) -> list[list[Number]]:
    """Derivatives of results, a row each, by variables, a column each.

    A variable may be any node: what it is made of counts as constant, as behind a held node.
    """
    columns = {variable.node: k for k, variable in enumerate(variables)}
    ends = graph.symbols(results)
    moving = set(columns)
    for node in graph.needed(ends):
        if graph.operations[node] in of.LEAVES or node in moving:
            continue
        if any(part in moving for part in differentiable(graph, node)):
            moving.add(node)
    return [row(graph, end, columns, variables, moving) for end in ends]


def row(
    graph: ExpressionGraph,
    end: Symbol,
    columns: dict[int, int],
    variables: Sequence[Symbol],
    moving: set[int],
) -> list[Number]:
    """Derivatives of one result; only nodes that are moving have adjoints."""
    adjoint: dict[int, Number] = {end.node: -1.0 if end.negative else 1.0}
    for node in reversed(graph.needed([end])):
        above = adjoint.get(node)
        if above is None or node in columns or node not in moving:
            continue
        for part, partial in partials(graph, node):
            if part in moving:
                adjoint[part] = adjoint.get(part, 0.0) + partial * above
    found = [adjoint.get(variable.node, 0.0) for variable in variables]
    return [-x if v.negative else x for x, v in zip(found, variables, strict=True)]


def differentiable(graph: ExpressionGraph, node: int) -> tuple[int, ...]:
    """Arguments of a node that its derivative goes through."""
    operation, arguments = graph.operations[node], graph.arguments[node]
    if operation in of.COMPARISONS or operation in (of.ROUND, of.HELD):
        return ()
    return arguments[1:] if operation == of.SELECT else arguments


def partials(graph: ExpressionGraph, node: int) -> list[tuple[int, Number]]:
    """Arguments of a node and its derivatives by them; where a function jumps, zero."""
    operation, arguments = graph.operations[node], graph.arguments[node]
    own = Symbol(graph, node)
    if not differentiable(graph, node):
        return []
    if operation == of.SELECT:
        chosen = Condition(graph, arguments[0])
        return [
            (arguments[1], graph.select(chosen, 1.0, 0.0)),
            (arguments[2], graph.select(chosen, 0.0, 1.0)),
        ]
    x = Symbol(graph, arguments[0])
    if len(arguments) == 2:
        y = Symbol(graph, arguments[1])
        if operation == of.MULTIPLY:
            return [(x.node, 2.0 * x)] if x.node == y.node else [(x.node, y), (y.node, x)]
        if operation == of.DIVIDE:
            return [(x.node, 1.0 / y), (y.node, -(own / y))]
        return [(x.node, 1.0), (y.node, -1.0 if operation == of.SUBTRACT else 1.0)]
    return [(x.node, slope(graph, operation, x, own))]


def slope(graph: ExpressionGraph, operation: int, x: Symbol, own: Symbol) -> Number:
    """Derivative of a function of one number x, whose value is ``own``."""
    if operation == of.SIN:
        return graph.function(of.COS, x)
    if operation == of.COS:
        return -graph.function(of.SIN, x)
    if operation == of.SQRT:
        return 0.5 / own
    if operation == of.TANH:
        return 1.0 - own * own
    if operation == of.EXP:
        return own
    if operation == of.EXPM1:
        return own + 1.0
    if operation == of.LOG:
        return 1.0 / x
    below = graph.compare(of.LESS, x, 0.0)
    if isinstance(below, bool):
        return -1.0 if below else 1.0
    choice: Number = graph.select(below, -1.0, 1.0)
    return choice
