"""Functions of a model as functions of CasADi, for optimal control."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from geared_dynamics.errors import UnknownNameError, extra
from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.model import GearedModel, require_model
from geared_dynamics.trace import functions
from geared_dynamics.trace import graph as of
from geared_dynamics.trace.c_code import fixed
from geared_dynamics.trace.functions import FUNCTIONS, Arrays
from geared_dynamics.trace.graph import Condition, ExpressionGraph, Number
from geared_dynamics.trace.joined import Shapes, numbers
from geared_dynamics.trace.joined_functions import JOINED, refuse_untraceable
from geared_dynamics.trace.run import Tracer
from geared_dynamics.trace.structure import Form, forms_of

COMMANDS = {
    "torque": at.TORQUE,
    "current": at.CURRENT,
    "voltage": at.VOLTAGE,
    "speed": at.SPEED,
    "angle": at.ANGLE,
    "shaft_torque": at.SHAFT,
    "transmitted_torque": at.TRANSMITTED,
}


@dataclass(frozen=True)
class CasadiFunction:
    """A function of the library as CasADi can have it.

    Attributes:
        forms: Packed arrays that it needs.
        inputs: Names and lengths of its inputs.
        outputs: Names and shapes of its outputs, in the order of the results.
        trace: Writes it into a tracer's graph.
        unknown: Outputs that a model lacks constants for, and are left out.
    """

    forms: Callable[[GearedModel], dict[str, Form]]
    inputs: Callable[[GearedModel], dict[str, int]]
    outputs: Callable[[GearedModel], Shapes]
    trace: Callable[[Tracer, Arrays, list[list[Number]]], list[Number]]
    unknown: Callable[[GearedModel], tuple[str, ...]] = lambda _: ()


def to_casadi(model: GearedModel, function: str = "inverse_dynamics") -> Any:
    """Return a function of the model as a ``casadi.Function`` of scalar operations (SX).

    Inputs and outputs have the names and the order of the function of the same name; vectors are
    columns. It can be differentiated, mapped and compiled as CasADi does with any. Where a mass
    matrix is not positive definite, or a spring is used up, results are NaN. Derivatives of
    friction and losses at a point where they jump or have a kink are those of one side.

    Args:
        model: Geared model; its numbers are constants of the function.
        function: Name, of ``inverse_dynamics``, ``mass_matrix``, ``bias_forces``,
            ``gravity_forces``, ``forward_dynamics``, ``friction_forces``, ``motor_commands``
            (without jerk; current and voltage where the motors' constants are given),
            ``inverse_dynamics_derivatives``, ``forward_dynamics_derivatives``,
            ``motor_commands_derivatives``, ``motor_commands_parameter_derivatives``,
            ``forward_dynamics_parameter_derivatives``, ``external_forces``, and of elastic arms
            ``elastic.inverse_dynamics``, ``elastic.forward_dynamics``, ``elastic.feedforward``
            and their derivatives.

    Raises:
        MissingPackageError: If CasADi is not installed.
        UnknownNameError: If there is no such function.
        ModelError: If the function has no meaning for the model.
    """
    if not isinstance(function, str) or function not in KNOWN:
        refuse_untraceable("to_casadi: function", function)
        raise UnknownNameError("to_casadi: function", "function", function, KNOWN)
    require_model(model)
    casadi = extra("casadi", "to_casadi")
    kind = KNOWN[function]
    forms = kind.forms(model)
    tracer = Tracer()
    widths = kind.inputs(model)
    given = [tracer.graph.inputs(name, width) for name, width in widths.items()]
    results = kind.trace(tracer, fixed(forms).symbols(tracer.graph), given)
    symbols = {name: casadi.SX.sym(name, width) for name, width in widths.items()}
    values = written(casadi, tracer.graph, results, tracer.guards, symbols)
    outputs, start, unknown = {}, 0, kind.unknown(model)
    for key, shape in kind.outputs(model).items():
        count = int(np.prod(shape))
        part = casadi.vertcat(casadi.SX(0, 1), *values[start : start + count])
        start += count
        if key not in unknown:
            # CasADi has no more than two dimensions, and lays matrices out by columns.
            rows, columns = shape[0], int(np.prod(shape[1:]))
            whole = part if len(shape) == 1 else casadi.reshape(part, columns, rows).T
            outputs[key] = whole
    name, ends = function.replace(".", "_"), list(outputs.values())
    return casadi.Function(name, list(symbols.values()), ends, list(symbols), list(outputs))


def written(
    casadi: Any,
    graph: ExpressionGraph,
    results: list[Number],
    guards: list[Condition],
    inputs: dict[str, Any],
) -> list[Any]:
    """Results as expressions of CasADi; NaN where a guard does not hold."""
    called = {
        of.ADD: lambda x, y: x + y,
        of.SUBTRACT: lambda x, y: x - y,
        of.MULTIPLY: lambda x, y: x * y,
        of.DIVIDE: lambda x, y: x / y,
        of.LESS: lambda x, y: x < y,
        of.AT_MOST: lambda x, y: x <= y,
        of.EQUAL: lambda x, y: x == y,
        of.SELECT: casadi.if_else,
        of.HELD: lambda x: x,
        of.SIN: casadi.sin,
        of.COS: casadi.cos,
        of.SQRT: casadi.sqrt,
        of.TANH: casadi.tanh,
        of.EXP: casadi.exp,
        of.LOG: casadi.log,
        of.EXPM1: casadi.expm1,
        of.ABS: casadi.fabs,
    }
    ends = graph.symbols(results)
    made: dict[int, Any] = {}
    for node in graph.needed([*ends, *guards]):
        operation, arguments = graph.operations[node], graph.arguments[node]
        if operation == of.CONSTANT:
            made[node] = casadi.SX(arguments[0])
        elif operation == of.INPUT:
            made[node] = inputs[arguments[0]][arguments[1]]
        else:
            made[node] = called[operation](*(made[part] for part in arguments))
    good = casadi.SX(1)
    for guard in {(guard.node, guard.negated) for guard in guards}:
        good = casadi.logic_and(good, made[guard[0]] == (0 if guard[1] else 1))
    values = [-made[end.node] if end.negative else made[end.node] for end in ends]
    return [casadi.if_else(good, x, np.nan) for x in values] if guards else values


# -- The functions --------------------------------------------------------------------------------


def traced(name: str, outputs: Callable[[GearedModel], Shapes]) -> CasadiFunction:
    """Function that can also be compiled."""
    found = FUNCTIONS[name]
    return CasadiFunction(
        lambda model: forms_of(model, found.forms),
        lambda model: dict.fromkeys(found.inputs, model.n),
        outputs,
        found.trace,
    )


def joint_quantities(*names: str) -> Callable[[GearedModel], Shapes]:
    """One quantity of the joints, then matrices of theirs."""

    def shapes(model: GearedModel) -> Shapes:
        return {name: (model.n,) * (1 if k == 0 else 2) for k, name in enumerate(names)}

    return shapes


def all_commands(tracer: Tracer, arrays: Arrays, inputs: list[list[Number]]) -> list[Number]:
    """Rows of ``COMMANDS`` one after the other."""
    rows = functions.motor_commands(tracer, arrays, inputs)
    m = len(rows) // at.RESULT_ROWS
    return [x for row in COMMANDS.values() for x in rows[row * m : (row + 1) * m]]


def unknown_commands(model: GearedModel) -> tuple[str, ...]:
    """Commands that the constants of some motor are missing for."""
    motors = model.motors
    if np.isnan(motors.torque_constant).any():
        return ("current", "voltage")
    return ("voltage",) if np.isnan(motors.resistance).any() else ()


def from_joined(name: str) -> CasadiFunction:
    """Function of inputs with several lengths."""
    found = JOINED[name]
    return CasadiFunction(
        found.forms,
        lambda model: found.inputs(numbers(found.forms(model))),
        lambda model: found.outputs(numbers(found.forms(model))),
        found.trace,
    )


KNOWN: dict[str, CasadiFunction] = {
    "inverse_dynamics": traced("inverse_dynamics", joint_quantities("tau")),
    "mass_matrix": traced("mass_matrix", lambda model: {"M": (model.n, model.n)}),
    "bias_forces": traced("bias_forces", joint_quantities("tau")),
    "gravity_forces": traced("gravity_forces", joint_quantities("tau")),
    "forward_dynamics": traced("forward_dynamics", joint_quantities("a")),
    "motor_commands": CasadiFunction(
        lambda model: forms_of(model, functions.DRIVEN),
        lambda model: dict.fromkeys(("q", "v", "a"), model.n),
        lambda model: {name: (len(model.motor_names),) for name in COMMANDS},
        all_commands,
        unknown_commands,
    ),
    "inverse_dynamics_derivatives": traced(
        "inverse_dynamics_derivatives", joint_quantities("tau", "dtau_dq", "dtau_dv", "dtau_da")
    ),
    "forward_dynamics_derivatives": traced(
        "forward_dynamics_derivatives", joint_quantities("a", "da_dq", "da_dv", "da_dtau")
    ),
    **{name: from_joined(name) for name in JOINED},
}
