"""Arms as differential action models of Crocoddyl, with exact derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, get_args

import numpy as np

from geared_dynamics.actuation.command_type import SentType
from geared_dynamics.actuation.driven_dynamics import windings
from geared_dynamics.arrays import Array
from geared_dynamics.checks import choice
from geared_dynamics.dynamics.drives import motor_shares
from geared_dynamics.dynamics.elastic.equations import forward_dynamics as elastic_forward
from geared_dynamics.dynamics.rigid import forward_dynamics
from geared_dynamics.dynamics.state import State
from geared_dynamics.errors import ArrayError, ModelError, extra
from geared_dynamics.model import GearedModel, require_model
from geared_dynamics.trace.derivatives import forward_dynamics_derivatives
from geared_dynamics.trace.elastic_derivatives import (
    forward_dynamics_derivatives as elastic_derivatives,
)


class ForwardEquations(NamedTuple):
    """Forward dynamics of N coordinates under nu controls.

    Attributes:
        size: N: n of a rigid arm, n + n_e of one with elastic joints.
        limits: Of the controls (nu,), infinite where not given.
        acceleration: (x, rate, u) -> acceleration (N,).
        slopes: (x, rate, u) -> its derivatives by x, rate (N, N) and u (N, nu).
    """

    size: int
    limits: Array
    acceleration: Callable[[Array, Array, Array], Array]
    slopes: Callable[[Array, Array, Array], tuple[Array, Array, Array]]


def to_crocoddyl(
    model: GearedModel, costs: Any, *, command_type: SentType = "motor_torque"
) -> Any:
    """Return an arm as a ``crocoddyl.DifferentialActionModelAbstract``.

    The state is (q, v), of an arm with elastic joints (q, theta, v, vtheta). The controls are
    torques at the motors' shafts, their currents, voltages of motors without inductance, with the
    motors' limits as a box, or forces on the joints with the URDF's effort limits. Friction and
    losses are no part of it. Derivatives of the motion are exact. For motors with inductance, and
    where their heat counts, see ``to_crocoddyl_action``.

    Args:
        model: Geared model; with elastic joints its motors are the controls.
        costs: ``crocoddyl.CostModelSum`` over ``crocoddyl.StateVector(2 N)``, N the number of
            coordinates, and the controls.
        command_type: What the controls are: ``motor_torque``, ``motor_current``,
            ``motor_voltage`` or ``joint_torque``.

    Raises:
        MissingPackageError: If Crocoddyl is not installed.
        ModelError: If the motors do not move every joint, or lack constants that the controls
            need; of ``motor_voltage`` also if one has inductance.
        ArrayError: If the costs have another state or other controls.
    """
    choice("command_type", "kind of controls", command_type, get_args(SentType))
    arm = require_model(model)
    crocoddyl = extra("crocoddyl", "to_crocoddyl")
    if arm.elasticity.count and command_type == "joint_torque":
        remedy = "give command_type='motor_torque'"
        raise ArrayError("command_type", "is joint_torque, and springs move the joints", remedy)
    if command_type == "motor_voltage":
        refuse_inductance(arm)
    made = equations(arm, command_type)
    if command_type in ("motor_current", "motor_voltage"):
        made = driven(arm, made, command_type)
    check_costs(costs, 2 * made.size, len(made.limits))
    return model_class(crocoddyl)(made, costs)


def equations(model: GearedModel, command_type: SentType) -> ForwardEquations:
    """ForwardEquations of an arm, of the motors' torques but for ``joint_torque``."""
    if model.elasticity.count:
        return elastic_equations(model)
    return rigid_equations(model, command_type)


def check_costs(costs: Any, nx: int, nu: int) -> None:
    """Refuse costs of another state or other controls."""
    for name, found, wanted in (
        ("costs.state.nx", costs.state.nx, nx),
        ("costs.nu", costs.nu, nu),
    ):
        if found != wanted:
            raise ArrayError(name, f"is {found}", f"make the costs with {wanted}")


def refuse_inductance(model: GearedModel) -> None:
    """Refuse motors with inductance: their current is a state of its own."""
    wound = model.motors.inductance > 0.0
    if wound.any():
        name = model.motor_names[int(np.argmax(wound))]
        place = f"{model.drivetrain_source}, motors.{name}.inductance"
        finding = "is above 0, so that the current does not follow the voltage at once"
        remedy = "call gd.to_crocoddyl_action, whose state has the currents, or set it to 0"
        raise ModelError(place, finding, remedy)


def torque_constants(model: GearedModel) -> Array:
    """Torque constants of the motors (m,) [N m/A]; refuse motors without."""
    found = model.motors.torque_constant
    missing = np.isnan(found)
    if missing.any():
        name = model.motor_names[int(np.argmax(missing))]
        place = f"{model.drivetrain_source}, motors.{name}.torque_constant"
        raise ModelError(place, "is not given", "add it, or give command_type='motor_torque'")
    return found


def speed_rows(model: GearedModel) -> Array:
    """The motors' speeds by the rates of q, or of x (m, N)."""
    if model.elasticity.count:
        return np.asarray(model.elastic_motor_map.A.T)
    return np.asarray(model.structure_matrix.T)


def driven(model: GearedModel, made: ForwardEquations, command_type: SentType) -> ForwardEquations:
    """The same arm under currents [A], or voltages [V] of motors without inductance.

    tau_m = k_t i, and i = (u - k_e s) / R with the motors' speeds s = A' x'.
    """
    if command_type == "motor_current":
        gain = torque_constants(model)
        damping, limits = np.zeros(len(gain)), model.motors.limits[:, 1]
    else:
        motors = windings(model)
        gain = motors.torque_constant / motors.resistance
        damping, limits = gain * motors.back_emf_constant, model.motors.limits[:, 0]
    rows = speed_rows(model)

    def torque(rate: Array, u: Array) -> Array:
        return np.asarray(gain * u - damping * (rows @ rate))

    def slopes(x: Array, rate: Array, u: Array) -> tuple[Array, Array, Array]:
        by_x, by_rate, by_torque = made.slopes(x, rate, torque(rate, u))
        return by_x, by_rate - by_torque @ (damping[:, None] * rows), by_torque * gain

    return ForwardEquations(
        made.size, limits, lambda x, rate, u: made.acceleration(x, rate, torque(rate, u)), slopes
    )


# -- The arm under torques ------------------------------------------------------------------------


def rigid_equations(model: GearedModel, command_type: SentType) -> ForwardEquations:
    """ForwardEquations of a rigid arm."""
    if command_type == "joint_torque":
        A, limits = np.eye(model.n), model.limits.effort
    else:
        motor_shares(model)  # refuses joints that no motor moves
        A, limits = model.structure_matrix, model.motors.limits[:, 2]

    def slopes(q: Array, v: Array, u: Array) -> tuple[Array, Array, Array]:
        found = forward_dynamics_derivatives(model, q, v, A @ u)
        return found.da_dq, found.da_dv, found.da_dtau @ A

    return ForwardEquations(
        model.n, limits, lambda q, v, u: forward_dynamics(model, q, v, A @ u), slopes
    )


def elastic_equations(model: GearedModel) -> ForwardEquations:
    """ForwardEquations of an arm with elastic joints."""
    n = model.n

    def state(x: Array, rate: Array) -> State:
        return State(x[:n], rate[:n], x[n:], rate[n:])

    def acceleration(x: Array, rate: Array, u: Array) -> Array:
        return np.concatenate(elastic_forward(model, state(x, rate), u))

    def slopes(x: Array, rate: Array, u: Array) -> tuple[Array, Array, Array]:
        found = elastic_derivatives(model, state(x, rate), u)
        return found.da_dx, found.da_drate, found.da_dtau_m

    return ForwardEquations(
        model.with_springs().n, model.motors.limits[:, 2], acceleration, slopes
    )


def model_class(crocoddyl: Any) -> type[Any]:
    """Class of the models; Crocoddyl is imported when one is made."""

    class ArmData(crocoddyl.DifferentialActionDataAbstract):  # type: ignore[misc]
        """Data of an arm's model, with those of its costs."""

        def __init__(self, model: Any) -> None:
            """Make room for the costs' derivatives in these data."""
            crocoddyl.DifferentialActionDataAbstract.__init__(self, model)
            self.costs = model.costs.createData(crocoddyl.DataCollectorAbstract())
            self.costs.shareMemory(self)

    class ArmModel(crocoddyl.DifferentialActionModelAbstract):  # type: ignore[misc]
        """An arm: acceleration and cost, and their derivatives."""

        def __init__(self, made: ForwardEquations, costs: Any) -> None:
            """Take equations and costs."""
            nu = len(made.limits)
            crocoddyl.DifferentialActionModelAbstract.__init__(self, costs.state, nu, costs.nr)
            self.made, self.costs = made, costs
            self.u_lb, self.u_ub = -made.limits, made.limits

        def createData(self) -> Any:
            """Return room for the results."""
            return ArmData(self)

        def calc(self, data: Any, x: Array, u: Array | None = None) -> None:
            """Write acceleration and cost; without controls the cost alone."""
            if u is None:
                self.costs.calc(data.costs, x)
            else:
                data.xout = self.made.acceleration(*parts(self.made, x), np.array(u))
                self.costs.calc(data.costs, x, u)
            data.cost = data.costs.cost

        def calcDiff(self, data: Any, x: Array, u: Array | None = None) -> None:
            """Write the derivatives of both."""
            if u is None:
                self.costs.calcDiff(data.costs, x)
                return
            by_x, by_rate, by_u = self.made.slopes(*parts(self.made, x), np.array(u))
            data.Fx = np.hstack([by_x, by_rate])
            data.Fu = by_u
            self.costs.calcDiff(data.costs, x, u)

    return ArmModel


def parts(made: ForwardEquations, x: Array) -> tuple[Array, Array]:
    """Position and velocity in a state of Crocoddyl."""
    whole = np.array(x, np.float64)
    return whole[: made.size], whole[made.size :]
