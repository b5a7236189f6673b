"""All functions that can be traced: those of joint quantities, and those of joined inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from geared_dynamics.dynamics.drives import packed_drives
from geared_dynamics.errors import ArrayError, UnknownNameError, shown
from geared_dynamics.kernels import friction, kinematics, layout
from geared_dynamics.model import GearedModel
from geared_dynamics.trace import elastic_derivatives as elastic
from geared_dynamics.trace import functions
from geared_dynamics.trace import motor_derivatives as motors
from geared_dynamics.trace import parameter_derivatives as parameters
from geared_dynamics.trace.functions import FUNCTIONS, Arrays, Function, Program, program_of
from geared_dynamics.trace.graph import Number
from geared_dynamics.trace.joined import JoinedFunction, Shapes, apart_from_kinks
from geared_dynamics.trace.run import Tracer
from geared_dynamics.trace.structure import Form, Structure, forms_of

# -- Friction and wrenches ------------------------------------------------------------------------


def friction_forms(model: GearedModel) -> dict[str, Form]:
    """The packed model and its friction, of arms with and without motors."""
    drives = packed_drives(model)
    places = np.zeros(len(drives), np.int8)
    return forms_of(model, functions.RIGID) | {"drives": Form(drives.copy(), places)}


def trace_friction(tracer: Tracer, arrays: Arrays, inputs: list[list[Number]]) -> list[Number]:
    """Friction (n,) of the joints for v, q, tau."""
    v, q, tau = inputs
    constants = [arrays["model"], arrays["drives"]]
    return list(tracer.run(friction.friction_forces, constants, [q, v, tau], len(v)))


def wrench_inputs(arrays: Arrays) -> dict[str, int]:
    """Lengths of the position and of the wrenches on all bodies."""
    bodies = int(arrays["columns"][layout.BODIES])  # type: ignore[arg-type]
    return {"q": functions.coordinates(arrays), "f_ext": 6 * bodies}


def trace_wrenches(tracer: Tracer, arrays: Arrays, inputs: list[list[Number]]) -> list[Number]:
    """Joint force (n,) of wrenches."""
    n = functions.coordinates(arrays)
    return list(tracer.run(kinematics.external_forces, [arrays["columns"]], inputs, n))


def joint_quantity(name: str) -> Callable[[Arrays], Shapes]:
    """A quantity of the joints."""
    return lambda arrays: {name: (functions.coordinates(arrays),)}


# -- All ------------------------------------------------------------------------------------------

JOINED: dict[str, JoinedFunction] = {
    "friction_forces": JoinedFunction(
        friction_forms,
        motors.joint_widths("v", "q", "tau"),
        joint_quantity("friction"),
        trace_friction,
    ),
    "external_forces": JoinedFunction(
        lambda model: forms_of(model, ("columns",)),
        wrench_inputs,
        joint_quantity("tau"),
        trace_wrenches,
    ),
    motors.COMMANDS_BY_MOTION: motors.COMMAND_SLOPES,
    parameters.COMMANDS_BY_PARAMETERS: parameters.COMMAND_PARAMETER_SLOPES,
    parameters.ACCELERATION_BY_PARAMETERS: parameters.ACCELERATION_PARAMETER_SLOPES,
    "elastic.inverse_dynamics": elastic.INVERSE_DYNAMICS,
    "elastic.forward_dynamics": elastic.FORWARD_DYNAMICS,
    elastic.INVERSE_DERIVATIVES: elastic.INVERSE_SLOPES,
    elastic.FORWARD_DERIVATIVES: elastic.FORWARD_SLOPES,
    "elastic.feedforward": motors.FEEDFORWARD,
    motors.FEEDFORWARD_DERIVATIVES: motors.FEEDFORWARD_SLOPES,
}
ALL: dict[str, Function | JoinedFunction] = {**FUNCTIONS, **JOINED}


def forms_for(name: str, model: GearedModel) -> dict[str, Form]:
    """Packed arrays that a function needs."""
    function = ALL[name]
    if isinstance(function, JoinedFunction):
        return function.forms(model)
    return forms_of(model, function.forms)


def traced(name: str, structure: Structure, *, kinks: bool = True) -> Program:
    """Trace a function over a structure.

    Args:
        name: Of the function.
        structure: What is in its code.
        kinks: Whether the program of a derivative declines states where branches meet.
    """
    function = ALL[name]
    if not isinstance(function, JoinedFunction):
        return program_of(name, structure)
    program = function.program(structure)
    return apart_from_kinks(program) if function.kinks and kinks else program


def function_names(functions: Iterable[str], place: str) -> tuple[str, ...]:
    """Check names of functions that the function ``place`` was given."""
    try:
        names = (functions,) if isinstance(functions, str) else tuple(functions)
    except TypeError:
        remedy = f"give some of {', '.join(ALL)}"
        raise ArrayError(f"{place}: functions", f"is {shown(functions)}", remedy) from None
    for name in names:
        if not isinstance(name, str) or name not in ALL:
            refuse_untraceable(f"{place}: functions", name)
            raise UnknownNameError(f"{place}: functions", "function", name, ALL)
    return tuple(dict.fromkeys(names))


# Words in names of functions that cannot be traced, and why: the number of their steps depends on
# data, which a straight list of operations cannot follow.
UNTRACEABLE = {
    "observer": "an observer keeps memory, and the number of its steps depends on the readings",
    "kalman": "an observer keeps memory, and the number of its steps depends on the readings",
    "contact": "which contacts hold is searched for, in as many rounds as the state needs",
    "impact": "which contacts hold is searched for, in as many rounds as the state needs",
    "simulat": "the number of its steps depends on the motion",
    "controller": "a controller keeps memory from cycle to cycle",
}


def refuse_untraceable(place: str, name: object) -> None:
    """Say why a function of the library cannot be compiled or exported, where that is known."""
    if not isinstance(name, str):
        return
    for word, why in UNTRACEABLE.items():
        if word in name.lower():
            remedy = "call it from Python, and name here the functions of the arm that it calls"
            raise ArrayError(place, f"{name!r} cannot be compiled or exported: {why}", remedy)
