"""Exact derivatives by the motion: of motor commands, and of the feedforward of elastic joints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, NoReturn

import numpy as np

from geared_dynamics.actuation.motor_commands import MotorCommands, motor_commands
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.checks import flag
from geared_dynamics.dynamics.arguments import coordinates
from geared_dynamics.dynamics.elastic.flatness import (
    FRICTIONLESS,
    Method,
    enough,
    feedforward,
    plan_of,
    refuse_damping,
)
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.kernels import flatness
from geared_dynamics.kernels import flatness_layout as has
from geared_dynamics.model import GearedModel, require_model
from geared_dynamics.trace import functions
from geared_dynamics.trace.functions import Arrays, jacobian
from geared_dynamics.trace.graph import Number
from geared_dynamics.trace.joined import JoinedFunction, Shapes, filled, joined_results
from geared_dynamics.trace.run import Tracer
from geared_dynamics.trace.structure import NUMBER, Form, bodies_of, forms_of

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


# -- The feedforward of elastic joints ------------------------------------------------------------


FEEDFORWARD_DERIVATIVES = "elastic.feedforward_derivatives"


class FeedforwardDerivatives(NamedTuple):
    """Motor-side motion and motor torque, and their derivatives by q and its time derivatives.

    The last two dimensions (rows, n) are those of the path: row i is the i-th time derivative of
    q, and there are as many as the method reads (``derivatives_needed`` and one). theta is on the
    joint side of the gear, tau_m at the motors' shafts.

    Attributes:
        values: theta [rad or m], vtheta, atheta, tau_m [N m], one after the other
            (..., 3 n_e + m).
        dtheta: Derivative of theta (..., n_e, rows, n).
        dvtheta: Of its velocity (..., n_e, rows, n).
        datheta: Of its acceleration (..., n_e, rows, n).
        dtau_m: Of the motors' torque (..., m, rows, n).
    """

    values: Array
    dtheta: Array
    dvtheta: Array
    datheta: Array
    dtau_m: Array


def feedforward_derivatives(
    model: GearedModel,
    derivatives: ArrayLike,
    method: Method = "reduced",
    order: int | None = None,
    *,
    friction: bool = False,
    out: FeedforwardDerivatives | None = None,
) -> FeedforwardDerivatives:
    """Feedforward of elastic joints, and its exact derivatives by the path.

    The values are those of ``gd.elastic.feedforward``, the arguments too. The first call for an
    arm traces it, which takes seconds for six joints, unless it is compiled (``compiled``).

    Args:
        model: Geared model with elastic joints.
        derivatives: Joint position [rad or m] and its time derivatives (..., k+1, n).
        method: ``reduced``, ``expanded`` or ``exact``.
        order: Of ``expanded``.
        friction: Whether joint friction counts.
        out: An earlier result of the same shape, which is filled and returned.

    Raises:
        ArrayError: as ``feedforward``; and at a path where friction has no derivative.
        ModelError: as ``feedforward``.
    """
    friction = flag("friction", friction)
    plan = plan_of(require_model(model), method, order)
    path = enough(model, derivatives, plan, method, plan.rows)
    n, shafts = model.n, int(plan.plan[has.SHAFTS])
    flat = path.reshape(*path.shape[:-2], plan.rows * n)
    usual = (method, order, friction) == ("reduced", None, False)
    function = FEEDFORWARD_SLOPES if usual else slopes_function(method, order, friction)
    name = FEEDFORWARD_DERIVATIVES
    if not usual:
        name += f" {method} {order} {friction}"
    feedforward(model, path, method, order, friction=friction)  # refuses what has no answer

    def refuse(place: int, state: tuple[int, ...]) -> NoReturn:
        refuse_feedforward_kink(model, place, state, shafts)

    rows = joined_results(model, name, function, {"derivatives": (flat, plan.rows * n)}, refuse)
    width = rows.shape[-1] // (1 + plan.rows * n)
    slopes = rows[..., width:].reshape(*rows.shape[:-1], width, plan.rows, n)
    parts = np.split(slopes, (shafts, 2 * shafts, 3 * shafts), axis=-3)
    return filled(FeedforwardDerivatives(rows[..., :width], *parts), out)


def refuse_feedforward_kink(
    model: GearedModel, place: int, state: tuple[int, ...], shafts: int
) -> NoReturn:
    """Name the result that has no derivative."""
    where = f" of state {', '.join(map(str, state))}" if state else ""
    finding = "friction changes its sign there, so that the feedforward has no derivative"
    if place < 3 * shafts:
        finding += f" ({model.elasticity.names[place % shafts]})"
    remedy = "move off that state; friction with smoothing, the same in both directions, is smooth"
    raise ArrayError(f"derivatives{where}", finding, remedy)


# -- The functions of elastic joints that are traced ----------------------------------------------


def feedforward_forms(
    model: GearedModel, method: Method, order: int | None, friction: bool
) -> dict[str, Form]:
    """Packed arrays of a feedforward: the arm with springs, the plan, the drives."""
    made = plan_of(model, method, order)
    plan = made.plan.copy()
    places = np.zeros(len(plan), np.int8)
    for b in range(int(plan[has.SPRINGS]), int(plan[has.SPRINGS_END]), has.SPRING_SIZE):
        places[b + has.COMPLIANCE : b + has.SPRING_SIZE] = NUMBER
    drives = made.drives if friction else FRICTIONLESS
    return {
        "model": bodies_of(made.packed),
        "flat": Form(plan, places),
        "drives": Form(drives.copy(), np.zeros(len(drives), np.int8)),
    }


def reduced_forms(model: GearedModel) -> dict[str, Form]:
    """The same of the one method that code of its own has: ``reduced``."""
    refuse_damping(model, "reduced", "leave the feedforward to gd.elastic.feedforward")
    return feedforward_forms(model, "reduced", None, False)


def path_width(arrays: Arrays) -> dict[str, int]:
    """Length of the path, row after row."""
    plan = arrays["flat"]
    rows = 2 * int(plan[has.ROUNDS]) + 3  # type: ignore[arg-type]
    return {"derivatives": rows * int(plan[has.JOINTS])}  # type: ignore[arg-type]


def result_width(arrays: Arrays) -> int:
    """Length 3 n_e + m of the values."""
    plan = arrays["flat"]
    return has.MOTION_ROWS * int(plan[has.SHAFTS]) + int(plan[has.MOTORS])  # type: ignore[arg-type]


def trace_feedforward(tracer: Tracer, arrays: Arrays, inputs: list[list[Number]]) -> list[Number]:
    """Motor-side motion, then the motors' torque (3 n_e + m,)."""
    constants = [arrays[name] for name in ("model", "flat", "drives")]
    return list(tracer.run(flatness.elastic_feedforward, constants, inputs, result_width(arrays)))


def trace_feedforward_slopes(
    tracer: Tracer, arrays: Arrays, inputs: list[list[Number]]
) -> list[Number]:
    """Those, then the derivatives of each by the path, row after row."""
    values = trace_feedforward(tracer, arrays, inputs)
    variables = [tracer.graph.symbol(x) for x in inputs[0]]
    slopes = jacobian(tracer.graph, values, variables)
    return [*values, *(x for line in slopes for x in line)]


def feedforward_shapes(arrays: Arrays) -> Shapes:
    """Outputs of ``trace_feedforward``."""
    plan = arrays["flat"]
    shafts, motors = int(plan[has.SHAFTS]), int(plan[has.MOTORS])  # type: ignore[arg-type]
    widths = {"theta": shafts, "vtheta": shafts, "atheta": shafts, "tau_m": motors}
    return {name: (width,) for name, width in widths.items()}


def feedforward_slope_shapes(arrays: Arrays) -> Shapes:
    """Outputs of ``trace_feedforward_slopes``."""
    width = result_width(arrays)
    return {"values": (width,), "slopes": (width, path_width(arrays)["derivatives"])}


def slopes_function(method: Method, order: int | None, friction: bool) -> JoinedFunction:
    """Derivatives of a feedforward by one method."""
    return JoinedFunction(
        lambda model: feedforward_forms(model, method, order, friction),
        path_width,
        feedforward_slope_shapes,
        trace_feedforward_slopes,
        kinks=True,
    )


FEEDFORWARD_SLOPES = replace(slopes_function("reduced", None, False), forms=reduced_forms)
FEEDFORWARD = JoinedFunction(reduced_forms, path_width, feedforward_shapes, trace_feedforward)
