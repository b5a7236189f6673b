"""Steps of driven arms as action models of Crocoddyl: current and heat are states."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.actuation.driven_dynamics import windings
from geared_dynamics.arrays import Array
from geared_dynamics.checks import flag
from geared_dynamics.dynamics.arguments import positive, real_number
from geared_dynamics.errors import extra
from geared_dynamics.model import GearedModel, require_model
from geared_dynamics.trace.crocoddyl_models import (
    ForwardEquations,
    check_costs,
    equations,
    speed_rows,
)


def to_crocoddyl_action(model: GearedModel, costs: Any, dt: float, *, heat: bool = False) -> Any:
    """Return a step of an arm under voltages as a ``crocoddyl.ActionModelAbstract``.

    The state is (q, v, i), with ``heat`` (q, v, i, h), of an arm with elastic joints with x for q.
    The controls are the motors' voltages, held for the step, with their limits as a box:

        i+ = (L i + dt (u - k_e A' v)) / (L + dt R),   a = FD(q, v, A k_t i+)
        v+ = v + dt a,   q+ = q + dt v+,   h+ = c h + (1 - c) (i+ / i_c)^2,   c = exp(-dt / T)

    The current is implicit in the step, so that it may be longer than L / R. Friction and losses
    are no part of it. Limits of current and heat are costs of the state, such as a
    ``crocoddyl.ActivationModelQuadraticBarrier``. Derivatives are exact; costs count dt times,
    at the end once.

    Args:
        model: Geared model whose motors have resistance and torque constant.
        costs: ``crocoddyl.CostModelSum`` over ``crocoddyl.StateVector(2 N + m)``, with ``heat``
            2 N + 2 m, and m controls.
        dt: Length of the step [s].
        heat: Whether the motors' heat (``gd.thermal_step``) is a state.

    Raises:
        MissingPackageError: If Crocoddyl is not installed.
        ModelError: If the motors do not move every joint, or lack constants.
        ArrayError: If the costs have another state or other controls, or dt is no time above 0.
    """
    arm, heat = require_model(model), flag("heat", heat)
    dt = real_number("dt", dt, "give a time above 0 [s]", positive)
    crocoddyl = extra("crocoddyl", "to_crocoddyl_action")
    made = equations(arm, "motor_torque")
    motors, thermal = windings(arm), arm.motors.thermal
    whole = motors.inductance + dt * motors.resistance
    step = DrivenStep(
        made,
        dt,
        stay=motors.inductance / whole,
        per_volt=dt / whole,
        torque=motors.torque_constant,
        emf=motors.back_emf_constant[:, None] * speed_rows(arm),
        continuous=thermal[:, 0] if heat else None,
        cooling=np.exp(-dt / thermal[:, 1]),
        limits=arm.motors.limits[:, 0],
    )
    check_costs(costs, step.size, len(whole))
    return action_class(crocoddyl)(step, costs)


class DrivenStep(NamedTuple):
    """A step of N coordinates with m currents, perhaps m heats.

    Attributes:
        made: Equations of the arm under the motors' torques.
        dt: Length of the step [s].
        stay: What is left of a current (m,).
        per_volt: Current by a volt (m,) [A/V].
        torque: Torque constants (m,) [N m/A].
        emf: Back-EMF by the rates of q, or of x (m, N) [V s/rad or V s/m].
        continuous: Continuous currents (m,) [A], infinite without a budget; None without heat.
        cooling: What is left of a heat (m,).
        limits: Of the voltages (m,) [V].
    """

    made: ForwardEquations
    dt: float
    stay: Array
    per_volt: Array
    torque: Array
    emf: Array
    continuous: Array | None
    cooling: Array
    limits: Array

    @property
    def size(self) -> int:
        """Number of states."""
        return 2 * self.made.size + len(self.torque) * (1 if self.continuous is None else 2)

    def parts(self, state: Array) -> tuple[Array, Array, Array, Array]:
        """Position, velocity, currents, heats."""
        N, m = self.made.size, len(self.torque)
        x, rate, current, heat = np.split(np.array(state, np.float64), (N, 2 * N, 2 * N + m))
        return x, rate, current, heat

    def current_after(self, rate: Array, current: Array, u: Array) -> Array:
        """Currents at the end of the step."""
        return np.asarray(self.stay * current + self.per_volt * (u - self.emf @ rate))

    def after(self, state: Array, u: Array) -> Array:
        """State at the end of the step."""
        x, rate, current, heat = self.parts(state)
        i = self.current_after(rate, current, u)
        faster = rate + self.dt * self.made.acceleration(x, rate, self.torque * i)
        after = [x + self.dt * faster, faster, i]
        if self.continuous is not None:
            after.append(self.cooling * heat + (1.0 - self.cooling) * (i / self.continuous) ** 2)
        return np.concatenate(after)

    def slopes(self, state: Array, u: Array) -> tuple[Array, Array]:
        """Derivatives of ``after`` by the state and by the voltages."""
        x, rate, current, _ = self.parts(state)
        i, dt, N, m = (
            self.current_after(rate, current, u),
            self.dt,
            self.made.size,
            len(self.torque),
        )
        by_x, by_rate, by_torque = self.made.slopes(x, rate, self.torque * i)
        by_i = by_torque * self.torque
        i_rate = -self.per_volt[:, None] * self.emf
        zero = np.zeros((N, self.size - 2 * N - m))
        # Of velocity and current, by x, rate, current, heat and the voltages.
        v_by = [dt * by_x, np.eye(N) + dt * (by_rate + by_i @ i_rate), dt * by_i * self.stay]
        v = np.hstack([*v_by, zero, dt * by_i * self.per_volt])
        i_by = [np.zeros((m, N)), i_rate, np.diag(self.stay)]
        currents = np.hstack([*i_by, np.zeros((m, zero.shape[1])), np.diag(self.per_volt)])
        q = dt * v
        q[:, :N] += np.eye(N)
        rows = [q, v, currents]
        if self.continuous is not None:
            heats = (2.0 * (1.0 - self.cooling) * i / self.continuous**2)[:, None] * currents
            heats[:, 2 * N + m : 2 * N + 2 * m] += np.diag(self.cooling)
            rows.append(heats)
        whole = np.vstack(rows)
        return whole[:, : self.size], whole[:, self.size :]


def action_class(crocoddyl: Any) -> type[Any]:
    """Class of the steps; Crocoddyl is imported when one is made."""

    class StepData(crocoddyl.ActionDataAbstract):  # type: ignore[misc]
        """Data of a step, with those of its costs."""

        def __init__(self, model: Any) -> None:
            """Make room for both."""
            crocoddyl.ActionDataAbstract.__init__(self, model)
            self.costs = model.costs.createData(crocoddyl.DataCollectorAbstract())

    class ArmStep(crocoddyl.ActionModelAbstract):  # type: ignore[misc]
        """A step of an arm under voltages: next state and cost, and their derivatives."""

        def __init__(self, step: DrivenStep, costs: Any) -> None:
            """Take step and costs."""
            nu = len(step.limits)
            crocoddyl.ActionModelAbstract.__init__(self, costs.state, nu, costs.nr)
            self.step, self.costs = step, costs
            self.u_lb, self.u_ub = -step.limits, step.limits

        def createData(self) -> Any:
            """Return room for the results."""
            return StepData(self)

        def calc(self, data: Any, x: Array, u: Array | None = None) -> None:
            """Write next state and cost; without controls the cost alone."""
            if u is None:
                self.costs.calc(data.costs, x)
                data.xnext, data.cost = x, data.costs.cost
                return
            data.xnext = self.step.after(x, np.array(u))
            self.costs.calc(data.costs, x, u)
            data.cost = self.step.dt * data.costs.cost

        def calcDiff(self, data: Any, x: Array, u: Array | None = None) -> None:
            """Write the derivatives of both."""
            if u is None:
                self.costs.calcDiff(data.costs, x)
                data.Lx, data.Lxx = data.costs.Lx, data.costs.Lxx
                return
            data.Fx, data.Fu = self.step.slopes(x, np.array(u))
            self.costs.calcDiff(data.costs, x, u)
            for key in ("Lx", "Lu", "Lxx", "Lxu", "Luu"):
                setattr(data, key, self.step.dt * getattr(data.costs, key))

    return ArmStep
