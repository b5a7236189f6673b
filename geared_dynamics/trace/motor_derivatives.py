"""Exact derivatives of motor commands, and of the forward dynamics by the model's parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, NoReturn

import numpy as np

from geared_dynamics.actuation.motor_commands import MotorCommands, motor_commands
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import coordinates
from geared_dynamics.dynamics.regressor import regressor
from geared_dynamics.dynamics.rigid import forward_dynamics, mass_matrix
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.model import GearedModel
from geared_dynamics.trace import functions
from geared_dynamics.trace.functions import Program, jacobian
from geared_dynamics.trace.run import Tracer
from geared_dynamics.trace.structure import Structure, forms_of
from geared_dynamics.trace.tape import filled, joined_inputs, played, tape

COMMANDS = "motor_commands_derivatives"


# -- Motor commands by the motion -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MotorCommandsDerivatives:
    """Motor commands of a motion, and their derivatives (..., m, n), a row for each motor.

    Attributes:
        commands: The commands themselves.
        dtorque_dq: Derivative of the electromagnetic torque by the position.
        dtorque_dv: By the velocity.
        dtorque_da: By the acceleration.
    """

    commands: MotorCommands
    dtorque_dq: Array
    dtorque_dv: Array
    dtorque_da: Array

    @property
    def dcurrent_dq(self) -> Array:
        """Derivative of the current by the position."""
        return self._current(self.dtorque_dq)

    @property
    def dcurrent_dv(self) -> Array:
        """Derivative of the current by the velocity."""
        return self._current(self.dtorque_dv)

    @property
    def dcurrent_da(self) -> Array:
        """Derivative of the current by the acceleration."""
        return self._current(self.dtorque_da)

    @property
    def dvoltage_dq(self) -> Array:
        """Derivative of the voltage R i + k_e s by the position, the current taken as steady."""
        return self._voltage(self.dcurrent_dq)

    @property
    def dvoltage_dv(self) -> Array:
        """By the velocity: R di/dv + k_e A'."""
        model = self.commands.model
        emf = model.motors.back_emf_constant[:, None] * model.structure_matrix.T
        return self._voltage(self.dcurrent_dv) + emf

    @property
    def dvoltage_da(self) -> Array:
        """By the acceleration."""
        return self._voltage(self.dcurrent_da)

    def _current(self, slope: Array) -> Array:
        """What a slope of the torque is of the current."""
        _ = self.commands.current  # refuses motors whose constant is not given
        return np.asarray(slope / self.commands.model.motors.torque_constant[:, None])

    def _voltage(self, slope: Array) -> Array:
        """What a slope of the current is of the voltage across the resistance."""
        _ = self.commands.voltage  # refuses motors whose resistance is not given
        return np.asarray(self.commands.model.motors.resistance[:, None] * slope)


def motor_commands_derivatives(
    model: GearedModel, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> MotorCommandsDerivatives:
    """Motor commands for a motion, and their exact derivatives by the motion.

    Friction, the gears' losses and balancers are part of them, as in ``motor_commands``; the
    current is taken as steady. The first call for a model takes some tenths of a second.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        a: Joint acceleration (..., n).

    Raises:
        ModelError: as ``motor_commands``.
        ArrayError: at a state where a torque has no derivative: where friction without smoothing
            or with levels that differ by direction, or a loss, changes its sign.
    """
    commands = motor_commands(model, q, v, a)
    n, m = coordinates(model), len(model.motor_names)
    given = joined_inputs({"q": (q, n), "v": (v, n), "a": (a, n)})
    made = model._forms.tapes.get(COMMANDS)
    if made is None:
        forms = forms_of(model, functions.DRIVEN)
        made = tape(model, COMMANDS, forms, lambda structure: commands_program(structure, n))

    def refuse(place: int, state: tuple[int, ...]) -> NoReturn:
        refuse_kink(model, place, state)

    rows = played(model, made, given, refuse)
    slopes = rows[..., m:].reshape(*rows.shape[:-1], m, 3, n)
    return MotorCommandsDerivatives(commands, *(slopes[..., k, :] for k in range(3)))


def commands_program(structure: Structure, n: int) -> Program:
    """Torques (m,), then of each motor its derivatives by q, v and a (m, 3, n)."""
    tracer = Tracer()
    given = tracer.graph.inputs("inputs", 3 * n)
    arrays = structure.symbols(tracer.graph)
    rows = functions.motor_commands(tracer, arrays, [given[k * n : (k + 1) * n] for k in range(3)])
    m = len(rows) // at.RESULT_ROWS
    torque = rows[at.TORQUE * m : (at.TORQUE + 1) * m]
    variables = [tracer.graph.symbol(x) for x in given]
    slopes = jacobian(tracer.graph, torque, variables)
    results = [*torque, *(x for line in slopes for x in line)]
    return Program(tracer.graph, ("inputs",), 3 * n, tuple(results), tuple(tracer.guards))


def refuse_kink(model: GearedModel, place: int, state: tuple[int, ...]) -> NoReturn:
    """Name the motor whose torque has no derivative, and by what."""
    n, m = model.n, len(model.motor_names)
    where = f" of state {', '.join(map(str, state))}" if state else ""
    if place < m:
        motor, name, what = place, "v", "jumps"
    else:
        motor, rest = divmod(place - m, 3 * n)
        name = "qva"[rest // n]
        what = f"has no derivative by {name} of {model.joint_names[rest % n]}"
    finding = f"the torque of motor {model.motor_names[motor]!r} {what}: friction or a loss "
    finding += "changes its sign there"
    remedy = "move off that state; friction with smoothing, the same in both directions, is smooth"
    raise ArrayError(f"{name}{where}", finding, remedy)


# -- The forward dynamics by the parameters -------------------------------------------------------


class ParameterDerivatives(NamedTuple):
    """Joint acceleration and its derivative by the parameters.

    Attributes:
        a: Joint acceleration (..., n).
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
        v: Joint velocity (..., n).
        tau: Generalised joint force (..., n) [N m or N], joint side.
        out: An earlier result of the same shape, which is filled and returned.

    Raises:
        ModelError: if the mass matrix is not positive definite.
    """
    a = forward_dynamics(model, q, v, tau)
    Y = regressor(model, q, v, a)
    slopes = np.asarray(-np.linalg.solve(mass_matrix(model, q), Y), np.float64)
    return filled(ParameterDerivatives(a, slopes), out)
