"""Heating of motors by I2t, and the power balance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.actuation.driven_dynamics import Windings, windings
from geared_dynamics.actuation.friction_elements import ArmAtState, plant_at, warn_if_elastic
from geared_dynamics.actuation.motion_from_torque import BAND, Mode, choose, limit_of
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import (
    check_results,
    common_lead,
    each_state,
    finite_input,
    joint_inputs,
    motor_inputs,
    positive,
    real_number,
)
from geared_dynamics.dynamics.drives import balancer_forces
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel, require_model

# -- I^2 t: an estimate of how warm the motors' windings are --------------------------------------


def thermal_step(model: GearedModel, heat: ArrayLike, current: ArrayLike, dt: float) -> Array:
    """Heat of the windings after a time at a current, exact for a constant one.

    T h' = (i / i_c)^2 - h with the continuous current i_c and the time constant T of
    ``limits.thermal``: h = 0 is cold, h = 1 the end of the budget. One body of one time
    constant: an estimate, no substitute for a sensor. Motors without ``thermal`` stay at 0.

    Args:
        model: Geared model.
        heat: h before (..., m).
        current: i (..., m) [A].
        dt: Time [s].

    Returns:
        h after (..., m).
    """
    h, i = heat_of(model, heat), finite_input("current", current, len(model.motor_names))
    inputs = {"heat": h, "current": i}
    common_lead(inputs)
    stay = decay(model, "dt", dt)
    continuous = model.motors.thermal[:, 0]
    with np.errstate(over="ignore"):
        result = np.asarray(stay * h + (1.0 - stay) * (i / continuous) ** 2)
    check_results(inputs, result)
    return result


def thermal_current(model: GearedModel, heat: ArrayLike, horizon: float) -> Array:
    """Current that uses the budget up just at the end of a time.

    Give it to ``saturate`` as ``current_limit``.

    Args:
        model: Geared model.
        heat: h now (..., m), see ``thermal_step``.
        horizon: The time [s].

    Returns:
        Current (..., m) [A]: infinite for motors without ``thermal``, the continuous current
        where the budget is used up already.
    """
    h = heat_of(model, heat)
    stay = decay(model, "horizon", horizon)
    continuous = model.motors.thermal[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):  # inf, where there is no budget
        square = (1.0 - np.minimum(h, 1.0) * stay) / (1.0 - stay)
    return np.where(
        np.isinf(continuous), np.inf, continuous * np.sqrt(np.where(stay < 1.0, square, 1.0))
    )


def heat_of(model: GearedModel, heat: ArrayLike) -> Array:
    """Check the heat."""
    require_model(model)
    h = finite_input("heat", heat, len(model.motor_names))
    if np.any(h < 0.0):
        raise ArrayError("heat", "is negative", "start with 0 (cold winding)")
    return h


def decay(model: GearedModel, name: str, time: float) -> Array:
    """What is left of a heat after a time (m,)."""
    seconds = real_number(name, time, "give a time above 0 [s]", positive)
    return np.exp(-seconds / model.motors.thermal[:, 1])


# -- Where the electrical power goes: the balance of the arm and its motors -----------------------
#
#     electrical + external = kinetic and potential + springs + magnetic
#                           + copper + rotor friction + gear losses + joint friction
#                           + conversion
#
# All in W, at one instant; what stands on the right is stored or lost.


class PowerBalance(NamedTuple):
    """Powers at a state [W]; shape (...) each.

    Attributes:
        electrical: Into the windings, sum of u i (3/2 u i of a brushless motor).
        external: Of the external joint force.
        mechanical: Change of kinetic and potential energy of links and wheels.
        springs: Change of the balancers' energy.
        magnetic: Change of L i^2 / 2.
        copper: R i^2.
        rotor_friction: Of the rotors.
        gears: Lost in the gears.
        joint_friction: Of the joints.
        conversion: What the back-EMF takes and the torque does not give: zero for a motor
            with k_t = k_e (3/2 k_e), else what its two constants leave open.
    """

    electrical: Array
    external: Array
    mechanical: Array
    springs: Array
    magnetic: Array
    copper: Array
    rotor_friction: Array
    gears: Array
    joint_friction: Array
    conversion: Array

    @property
    def supplied(self) -> Array:
        """Electrical and external power [W]."""
        return np.asarray(self.electrical + self.external)

    @property
    def stored(self) -> Array:
        """Change of all stored energy [W]."""
        return np.asarray(self.mechanical + self.springs + self.magnetic)

    @property
    def lost(self) -> Array:
        """What becomes heat [W], and ``conversion``."""
        heat = self.copper + self.rotor_friction + self.gears + self.joint_friction
        return np.asarray(heat + self.conversion)

    @property
    def residual(self) -> Array:
        """Supplied - stored - lost [W]: zero where motion, currents and force belong together."""
        return np.asarray(self.supplied - self.stored - self.lost)


def power_balance(
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    current: ArrayLike,
    *,
    current_rate: ArrayLike | None = None,
    external: ArrayLike | None = None,
    mode: Mode = "smooth",
    band: float = BAND,
) -> PowerBalance:
    """Powers of a motion and the currents that go with it.

    They go together if a is ``driven_rates`` of the currents, or the currents are
    ``motor_commands`` of a; ``residual`` says how far they do.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        a: Joint acceleration (..., n).
        current: Current of each motor (..., m) [A].
        current_rate: di/dt (..., m) [A/s], zero where not given.
        external: Joint force from outside (..., n) [N m or N].
        mode: Which friction, as in ``motion_from_torque``.
        band: As in ``motion_from_torque``.

    Raises:
        ModelError: where a constant of a motor is not given.
    """
    require_model(model)
    warn_if_elastic(model, "power_balance")
    choose(mode)
    limit, wires = limit_of(mode, band), windings(model)
    inputs = joint_inputs(model, q=q, v=v, a=a, external=external)
    inputs |= motor_inputs(model, current=current, current_rate=current_rate)
    lead, states = each_state(inputs)
    found = [powers(model, wires, state, limit) for state in states]
    table = np.reshape(found, (*lead, len(PowerBalance._fields)))
    check_results(inputs, table)
    return PowerBalance(*np.moveaxis(table, -1, 0))


@np.errstate(over="ignore", invalid="ignore")
def powers(
    model: GearedModel, wires: Windings, state: tuple[Array, ...], band: float | None
) -> PowerBalance:
    """Powers at one state."""
    q, v, a, external, current, slope = state
    plant = plant_at(model, q, v, external, band)
    factor = model.motors.power_factor * current
    torque = wires.torque_constant * current
    copper = factor @ (wires.resistance * current)
    magnetic = factor @ (wires.inductance * slope)
    emf = factor @ (wires.back_emf_constant * plant.speed)
    springs = balancer_forces(model, q)
    load = plant.mass @ a + plant.free
    rotor, gears, joints = friction_powers(plant, torque, v, a)
    values = (
        copper + magnetic + emf,
        v @ external,
        v @ (load + springs + external),
        -v @ springs,
        magnetic,
        copper,
        rotor,
        gears,
        joints,
        emf - torque @ plant.speed,
    )
    return PowerBalance(*(np.asarray(value) for value in values))


def friction_powers(
    plant: ArmAtState, torque: Array, v: Array, a: Array
) -> tuple[float, float, float]:
    """What rotors, gears and joints lose; at rest nothing."""
    load = np.abs(plant.mass @ a + plant.free)
    joints = v @ (plant.joint_base + plant.joint_slope * load)
    into = torque - plant.rotor_base - plant.rotors.rows @ a - plant.rotors.drift
    m = transmitted(plant, into, v, a)
    pressed = plant.rotor_slope * np.abs(m)
    moving = np.ones(len(m), dtype=bool)
    moving[plant.resting.motor[plant.resting.motor >= 0]] = False
    rotors = plant.speed @ (plant.rotor_base + pressed)
    gears = np.where(moving, plant.speed, 0.0) @ (into - m - pressed)
    return float(rotors), float(gears), float(joints)


def transmitted(plant: ArmAtState, into: Array, v: Array, a: Array) -> Array:
    """Torque that each gear transmits where ``into`` enters it (m,).

    A self-locking gear takes the same torque in for two transmitted ones; then the arm's
    own need says which sign it has.
    """
    forward, backward = plant.toward.T
    load = plant.mass @ a + plant.free
    force = load + plant.joint_base + plant.joint_slope * np.abs(load)
    beta = plant.rotors.rows @ a + plant.rotors.drift
    if not np.isfinite(force).all():
        return np.full(len(into), np.nan)
    need = plant.motors.inverse @ (force - plant.structure @ beta)
    unique = (forward > 0.0) & (backward > 0.0)
    positive = np.where(unique, into, need) >= 0.0
    side = np.where(positive, forward, backward)
    return np.where(side != 0.0, into / np.where(side != 0.0, side, 1.0), need)
