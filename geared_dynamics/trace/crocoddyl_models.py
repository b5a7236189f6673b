"""Arms as differential action models of Crocoddyl, with exact derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.checks import choice
from geared_dynamics.dynamics.elastic.equations import forward_dynamics as elastic_forward
from geared_dynamics.dynamics.motor_side import motor_shares
from geared_dynamics.dynamics.rigid import forward_dynamics
from geared_dynamics.dynamics.state import State
from geared_dynamics.errors import ArrayError, extra
from geared_dynamics.model import GearedModel, require_model
from geared_dynamics.trace.derivatives import forward_dynamics_derivatives
from geared_dynamics.trace.elastic_derivatives import (
    forward_dynamics_derivatives as elastic_derivatives,
)

Controls = Literal["joint_torque", "motor_torque"]


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
    model: GearedModel, costs: Any, *, command_type: Controls = "motor_torque"
) -> Any:
    """Return an arm as a ``crocoddyl.DifferentialActionModelAbstract``.

    The state is (q, v), of an arm with elastic joints (q, theta, v, vtheta). The controls are
    torques at the motors' shafts, frictionless, with the motors' torque limits as a box, or forces
    on the joints with the URDF's effort limits. Derivatives of the motion are exact.

    Args:
        model: Geared model; with elastic joints it needs ``motor_torque``.
        costs: ``crocoddyl.CostModelSum`` over ``crocoddyl.StateVector(2 N)``, N the number of
            coordinates, and the controls.
        command_type: What the controls are: ``motor_torque`` or ``joint_torque``.

    Raises:
        MissingPackageError: If Crocoddyl is not installed.
        ModelError: If the motors do not move every joint.
        ArrayError: If the costs have another state or other controls.
    """
    choice("command_type", "kind of controls", command_type, get_args(Controls))
    arm = require_model(model)
    crocoddyl = extra("crocoddyl", "to_crocoddyl")
    made = elastic_equations(arm) if arm.elasticity.count else rigid_equations(arm, command_type)
    if arm.elasticity.count and command_type != "motor_torque":
        remedy = "give command_type='motor_torque'"
        raise ArrayError("command_type", "is joint_torque, and springs move the joints", remedy)
    for name, found, wanted in (
        ("costs.state.nx", costs.state.nx, 2 * made.size),
        ("costs.nu", costs.nu, len(made.limits)),
    ):
        if found != wanted:
            raise ArrayError(name, f"is {found}", f"make the costs with {wanted}")
    return model_class(crocoddyl)(made, costs)


def rigid_equations(model: GearedModel, command_type: Controls) -> ForwardEquations:
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
