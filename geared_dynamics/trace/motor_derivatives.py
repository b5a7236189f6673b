"""Exact derivatives of motor commands by the motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

import numpy as np

from geared_dynamics.actuation.motor_commands import MotorCommands, motor_commands
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import coordinates
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.model import GearedModel
from geared_dynamics.trace import functions
from geared_dynamics.trace.functions import Arrays, jacobian
from geared_dynamics.trace.graph import Number
from geared_dynamics.trace.joined import JoinedFunction, Shapes, joined_results
from geared_dynamics.trace.run import Tracer
from geared_dynamics.trace.structure import forms_of
from geared_dynamics.trace.tape import filled

COMMANDS_BY_MOTION = "motor_commands_derivatives"


@dataclass(frozen=True, eq=False)
class MotorCommandsDerivatives:
    """Motor commands of a motion, and their derivatives (..., m, n), a row for each motor.

    Attributes:
        commands: The commands themselves.
        dtorque_dq: Derivative of the electromagnetic torque [N m], motor side, by the position.
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
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    out: MotorCommandsDerivatives | None = None,
) -> MotorCommandsDerivatives:
    """Motor commands for a motion, and their exact derivatives by the motion.

    Friction, the gears' losses and balancers are part of them, as in ``motor_commands``; the
    current is taken as steady. The first call for a model takes some tenths of a second, unless
    it is compiled (``compiled``).

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n) [rad/s or m/s].
        a: Joint acceleration (..., n) [rad/s^2 or m/s^2].
        out: An earlier result of the same model and shape, which is filled and returned.

    Raises:
        ModelError: as ``motor_commands``.
        ArrayError: at a state where a torque has no derivative: where friction without smoothing
            or with levels that differ by direction, or a loss, changes its sign.
    """
    commands = motor_commands(model, q, v, a)
    n, m = coordinates(model), len(model.motor_names)

    def refuse(place: int, state: tuple[int, ...]) -> NoReturn:
        refuse_command_kink(model, place, state)

    inputs = {"q": (q, n), "v": (v, n), "a": (a, n)}
    rows = joined_results(model, COMMANDS_BY_MOTION, COMMAND_SLOPES, inputs, refuse)
    slopes = rows[..., m:].reshape(*rows.shape[:-1], m, 3, n)
    parts = tuple(slopes[..., k, :] for k in range(3))
    if out is None:
        return MotorCommandsDerivatives(commands, *parts)
    if type(out) is not MotorCommandsDerivatives:
        remedy = "give what an earlier call returned, a MotorCommandsDerivatives"
        raise ArrayError("out", f"is a {type(out).__name__}", remedy)
    if out.commands.model is not model:
        raise ArrayError("out", "is of another model", "give a result of this model")
    given = CommandArrays(out.commands._values, out.dtorque_dq, out.dtorque_dv, out.dtorque_da)
    filled(CommandArrays(commands._values, *parts), given)
    return out


class CommandArrays(NamedTuple):
    """The arrays of ``MotorCommandsDerivatives``."""

    commands: Array
    dtorque_dq: Array
    dtorque_dv: Array
    dtorque_da: Array


def trace_command_slopes(
    tracer: Tracer, arrays: Arrays, inputs: list[list[Number]]
) -> list[Number]:
    """Torques (m,), then of each motor its derivatives by q, v and a (m, 3, n)."""
    rows = functions.motor_commands(tracer, arrays, inputs)
    m = motor_count(arrays)
    torque = rows[at.TORQUE * m : (at.TORQUE + 1) * m]
    variables = [tracer.graph.symbol(x) for part in inputs for x in part]
    slopes = jacobian(tracer.graph, torque, variables)
    return [*torque, *(x for line in slopes for x in line)]


def motor_count(arrays: Arrays) -> int:
    """Number of motors of packed drives."""
    return int(arrays["drives"][at.COUNT])  # type: ignore[arg-type]


def joint_widths(*names: str) -> Callable[[Arrays], dict[str, int]]:
    """Inputs that are quantities of the joints."""
    return lambda arrays: dict.fromkeys(names, functions.coordinates(arrays))


def command_slope_shapes(arrays: Arrays) -> Shapes:
    """Outputs of ``trace_command_slopes``."""
    n, m = functions.coordinates(arrays), motor_count(arrays)
    return {"torque": (m,), "slopes": (m, 3, n)}


COMMAND_SLOPES = JoinedFunction(
    lambda model: forms_of(model, functions.DRIVEN),
    joint_widths("q", "v", "a"),
    command_slope_shapes,
    trace_command_slopes,
    kinks=True,
)


def refuse_command_kink(model: GearedModel, place: int, state: tuple[int, ...]) -> NoReturn:
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
