"""Exact derivatives of motor commands and of the forward dynamics by the model's parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, NoReturn

import numpy as np

from geared_dynamics.actuation.motor_commands import motor_commands
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import by_own_code, coordinates
from geared_dynamics.dynamics.packing import columns_of
from geared_dynamics.dynamics.regressor import regressor
from geared_dynamics.dynamics.rigid import forward_dynamics, mass_matrix
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels import drive as drives
from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.kernels import friction, inverse, kinematics, layout
from geared_dynamics.model import GearedModel
from geared_dynamics.trace import functions
from geared_dynamics.trace.functions import Arrays, jacobian, solved
from geared_dynamics.trace.graph import Number
from geared_dynamics.trace.joined import JoinedFunction, Shapes, filled, joined_results
from geared_dynamics.trace.motor_derivatives import joint_widths, motor_count
from geared_dynamics.trace.run import Tracer
from geared_dynamics.trace.structure import Form, forms_of

# -- Motor commands by the parameters -------------------------------------------------------------


class MotorParameterDerivatives(NamedTuple):
    """Motor torques and their derivatives by the parameters.

    Attributes:
        torque: Electromagnetic torque (..., m) [N m], motor side.
        dtorque_dpi: Its derivative (..., m, p), columns as in ``parameter_names``. Divided by the
            torque constant it is that of the current, which times the resistance is that of the
            voltage.
    """

    torque: Array
    dtorque_dpi: Array


def motor_commands_parameter_derivatives(
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    out: MotorParameterDerivatives | None = None,
) -> MotorParameterDerivatives:
    r"""Motor torques for a motion, and their exact derivatives by the parameters.

    With tau = Y \pi the joint force, and J the rotors' inertias, which are among the parameters
    and also act between the motor and the losses of its gear,

        d torque/d\pi = (d torque/d tau) Y + (d torque/dJ) (dJ/d\pi),

    with friction that grows with the load, the gears' losses and balancers.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n) [rad/s or m/s].
        a: Joint acceleration (..., n) [rad/s^2 or m/s^2].
        out: An earlier result of the same shape, which is filled and returned.

    Raises:
        ModelError: as ``motor_commands``.
        ArrayError: at a state where a torque has no derivative: where a loss, or friction that
            grows with the load, changes its sign.
    """
    n, m = coordinates(model), len(model.motor_names)
    motor_commands(model, q, v, a)  # refuses what has no answer

    def refuse(place: int, state: tuple[int, ...]) -> NoReturn:
        where = f" of state {', '.join(map(str, state))}" if state else ""
        motor = place if place < m else (place - m) // columns_of(model).count
        finding = f"the torque of motor {model.motor_names[motor]!r} has no derivative by the "
        finding += "parameters: friction that grows with the load, or a loss, changes its sign"
        raise ArrayError(f"v or a{where}", finding, "move off that state")

    inputs = {"q": (q, n), "v": (v, n), "a": (a, n)}
    rows = joined_results(model, COMMANDS_BY_PARAMETERS, COMMAND_PARAMETER_SLOPES, inputs, refuse)
    slopes = rows[..., m:].reshape(*rows.shape[:-1], m, -1)
    return filled(MotorParameterDerivatives(rows[..., :m], slopes), out)


def command_parameter_forms(model: GearedModel) -> dict[str, Form]:
    """Packed arrays of the drives and the regressor, and the columns of the motors' rotors."""
    columns = columns_of(model).wheels
    counted = model.coupling != "none"
    own = [float(columns[wheel]) if counted else -1.0 for wheel in model.motors.wheel]
    rotors = Form(np.array(own), np.zeros(len(own), np.int8))
    return forms_of(model, (*functions.DRIVEN, "columns")) | {"rotors": rotors}


def trace_command_parameters(
    tracer: Tracer, arrays: Arrays, inputs: list[list[Number]]
) -> list[Number]:
    """Torques (m,), then their derivatives by the parameters (m p,).

    The joint force and the rotors' inertia are taken as sums with zeros that the graph cannot
    see through: derivatives by these are those by the sums.
    """
    graph, n, m = tracer.graph, functions.coordinates(arrays), motor_count(arrays)
    zeros = [graph.symbol(0.0)]
    for _ in range(n + m):
        zeros.append(graph.symbol(graph.held(zeros[-1])))
    beside, own = zeros[1 : n + 1], zeros[n + 1 :]
    torque = torque_beside(tracer, arrays, inputs, beside, own)
    slopes = jacobian(graph, torque, [*beside, *own])
    Y = functions.regressor_rows(tracer, arrays, inputs)
    count = len(Y) // n
    result = list(torque)
    for r, line in enumerate(slopes):
        row: list[Number] = [0.0] * count
        for i, factor in enumerate(line[:n]):
            of_joint = Y[i * count : (i + 1) * count]
            row = [x + factor * y for x, y in zip(row, of_joint, strict=True)]
        column = int(arrays["rotors"][r])  # type: ignore[arg-type]
        if column >= 0:
            row[column] = row[column] + line[n + r]
        result += row
    return result


def torque_beside(
    tracer: Tracer,
    arrays: Arrays,
    inputs: list[list[Number]],
    beside: Sequence[Number],
    own: Sequence[Number],
) -> list[Number]:
    """Torques (m,) where a force (n,) is added to the joints', inertia (m,) to the rotors'."""
    q, v, a = (tracer.memory(list(x)) for x in inputs)
    n, m = functions.coordinates(arrays), motor_count(arrays)
    model, springs = (tracer.memory(list(arrays[name])) for name in ("model", "springs"))
    packed = list(arrays["drives"])
    for r in range(m):
        packed[drives.motor_at.py_func(packed, r) + at.INERTIA] += own[r]
    drive = tracer.memory(packed)
    bodies = int(arrays["model"][layout.BODIES])  # type: ignore[arg-type]
    work = tracer.memory([None] * (bodies * inverse.SIZE))
    force = tracer.memory([0.0] * n)
    tracer.call(inverse.one_state, model, q, v, a, work, force)
    if drives.needs_springs.py_func(arrays["springs"]):
        room = tracer.memory([None] * (2 * n + bodies * kinematics.SIZE))
        tracer.call(drives.subtract_springs, model, springs, n, q, room, force)
    load = tracer.memory([x + y for x, y in zip(force.cells, beside, strict=True)])
    need = tracer.memory(list(load.cells))
    tracer.call(friction.add_joint_friction, drive, q, v, load, need)
    out = tracer.memory([None] * (at.RESULT_ROWS * m))
    for r in range(m):
        alpha = tracer.call(drives.carrier_alpha, drive, r, work, inverse.SIZE, inverse.ALPHA)
        tracer.call(drives.one_motor, drive, r, n, q, v, a, need, alpha, out)
    return list(out.cells[at.TORQUE * m : (at.TORQUE + 1) * m])


def command_parameter_shapes(arrays: Arrays) -> Shapes:
    """Outputs of ``trace_command_parameters``."""
    m, p = motor_count(arrays), int(arrays["columns"][layout.PARAMETERS])  # type: ignore[arg-type]
    return {"torque": (m,), "dtorque_dpi": (m, p)}


COMMANDS_BY_PARAMETERS = "motor_commands_parameter_derivatives"
COMMAND_PARAMETER_SLOPES = JoinedFunction(
    command_parameter_forms,
    joint_widths("q", "v", "a"),
    command_parameter_shapes,
    trace_command_parameters,
    kinks=True,
)

# -- The forward dynamics by the parameters -------------------------------------------------------


class ParameterDerivatives(NamedTuple):
    """Joint acceleration and its derivative by the parameters.

    Attributes:
        a: Joint acceleration (..., n) [rad/s^2 or m/s^2].
        da_dpi: Its derivative (..., n, p), columns as in ``parameter_names``.
    """

    a: Array
    da_dpi: Array


def forward_dynamics_parameter_derivatives(
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    *,
    out: ParameterDerivatives | None = None,
) -> ParameterDerivatives:
    r"""Joint acceleration under a force, and its exact derivative by the parameters.

    With the regressor Y, tau = Y(q, v, a) pi = ID(q, v, a), so that at the acceleration a

        da/dpi = -M^{-1} Y(q, v, a).

    The inverse dynamics is linear in pi: its derivative by them is ``regressor`` itself. For an
    arm with elastic joints give ``model.with_springs()``, x and the force on x.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n) [rad/s or m/s].
        tau: Generalised joint force (..., n) [N m or N], joint side.
        out: An earlier result of the same shape, which is filled and returned.

    Raises:
        ModelError: if the mass matrix is not positive definite.
    """
    n = coordinates(model)
    inputs = {"q": (q, n), "v": (v, n), "tau": (tau, n)}
    rows = by_own_code(model, ACCELERATION_BY_PARAMETERS, inputs)
    if rows is not None:
        da = rows[..., n:].reshape(*rows.shape[:-1], n, -1)
        return filled(ParameterDerivatives(rows[..., :n], da), out)
    acceleration = forward_dynamics(model, q, v, tau)
    Y = regressor(model, q, v, acceleration)
    slopes = np.asarray(-np.linalg.solve(mass_matrix(model, q), Y), np.float64)
    return filled(ParameterDerivatives(acceleration, slopes), out)


def trace_acceleration_parameters(
    tracer: Tracer, arrays: Arrays, inputs: list[list[Number]]
) -> list[Number]:
    """Acceleration (n,), then its derivative by the parameters (n p,)."""
    graph, n = tracer.graph, functions.coordinates(arrays)
    q, v, _ = inputs
    a = [graph.held(x) for x in functions.forward_dynamics(tracer, arrays, inputs)]
    rows = functions.regressor_rows(tracer, arrays, [q, v, a])
    matrix = functions.mass_matrix(tracer, arrays, [q])
    count = len(rows) // n
    columns = [solved(tracer, matrix, [-x for x in rows[k::count]]) for k in range(count)]
    return [*a, *(x for line in zip(*columns, strict=True) for x in line)]


def acceleration_parameter_shapes(arrays: Arrays) -> Shapes:
    """Outputs of ``trace_acceleration_parameters``."""
    n, p = functions.coordinates(arrays), int(arrays["columns"][layout.PARAMETERS])  # type: ignore[arg-type]
    return {"a": (n,), "da_dpi": (n, p)}


ACCELERATION_BY_PARAMETERS = "forward_dynamics_parameter_derivatives"
ACCELERATION_PARAMETER_SLOPES = JoinedFunction(
    lambda model: forms_of(model, (*functions.PLANNED, "columns")),
    joint_widths("q", "v", "tau"),
    acceleration_parameter_shapes,
    trace_acceleration_parameters,
)
