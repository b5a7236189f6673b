"""The motors' windings, and the arm together with its motors: voltages in, motion out.

    M a + h - springs + joint friction = A (k_t i - rotor friction - losses)
    L di/dt + R i + k_e s = u,   s = A' v

M contains the rotors with their coupling to the links, so that H* below has what
Vukobratovic 2002 leaves out: its off-diagonal terms differ from those of the bare arm. A brushless
motor stands as its q axis. Vukobratovic 2002, eq. (20.62)-(20.73), corrected.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.actuation.friction_elements import (
    gear_losses,
    plant_at,
    warn_if_elastic,
)
from geared_dynamics.actuation.motion_from_torque import BAND, Mode, choose, limit_of, motion_at
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import (
    check_results,
    each_state,
    joint_inputs,
    motor_inputs,
)
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel, require_model

# -- The motors' windings: L di/dt + R i + k_e s = u, torque k_t i --------------------------------


class Windings(NamedTuple):
    """Constants of m motors, all given.

    Attributes:
        resistance: R (m,) [ohm].
        inductance: L (m,) [H].
        torque_constant: k_t (m,) [N m/A].
        back_emf_constant: k_e (m,) [V s/rad].
    """

    resistance: Array
    inductance: Array
    torque_constant: Array
    back_emf_constant: Array

    def steady_current(self, voltage: Array, speed: Array) -> Array:
        """Current (u - k_e s) / R once di/dt = 0 [A]."""
        return np.asarray((voltage - self.back_emf_constant * speed) / self.resistance)


def windings(model: GearedModel, motor: int | None = None) -> Windings:
    """Return the windings, of all motors or of one (1,).

    Raises:
        ModelError: naming the motor and the constant that its description lacks.
    """
    motors = model.motors
    chosen = slice(None) if motor is None else slice(motor, motor + 1)
    found = {
        "resistance": motors.resistance,
        "torque_constant": motors.torque_constant,
        "back_emf_constant": motors.back_emf_constant,
    }
    for key, values in found.items():
        for name, value in zip(motors.names[chosen], values[chosen], strict=True):
            place = f"{model.drivetrain_source}, motors.{name}.{key}"
            if np.isnan(value):
                raise ModelError(place, "is not given", "add it: the voltage acts through it")
            if key == "resistance" and value <= 0.0:
                raise ModelError(place, f"is {value:g}", "give a positive resistance [ohm]")
    columns = (
        motors.resistance,
        motors.inductance,
        motors.torque_constant,
        motors.back_emf_constant,
    )
    return Windings(*(column[chosen] for column in columns))


# -- The arm together with its motors: voltages in, motion out ------------------------------------


class DrivenTerms(NamedTuple):
    """H*(q) a + h*(q, v) = D u with inductances neglected (Vukobratovic 2002, eq. 20.72).

    Attributes:
        inertia: H* (..., n, n) [kg m^2, kg m or kg], joint side.
        forces: h*: Coriolis, gravity, springs, friction, back-EMF (..., n) [N m or N].
        input: D = A diag(k_t / R) (n, m) [N m/V or N/V], the same in every state.
    """

    inertia: Array
    forces: Array
    input: Array


class DrivenRates(NamedTuple):
    """What changes the state of an arm with its currents.

    Attributes:
        a: Joint acceleration (..., n).
        current: di/dt (..., m) [A/s]; 0 where a motor has no inductance.
    """

    a: Array
    current: Array


def driven_terms(model: GearedModel, q: ArrayLike, v: ArrayLike) -> DrivenTerms:
    """Terms of the complete model H* a + h* = D u, inductances neglected.

    Friction is smooth in the rate. The model is linear in a and u as long as nothing
    depends on a load: with gear losses, or friction that grows with the load, it is
    linear only piece by piece, and ``driven_acceleration`` solves it.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).

    Raises:
        ModelError: naming the motor or joint with a loss that depends on the load, or a
            constant that is not given.

    References:
        Vukobratovic 2002, eq. (20.71)-(20.73), with the rotors' coupling that (20.71) lacks.
    """
    require_model(model)
    warn_if_elastic(model, "driven_terms")
    refuse_losses(model)
    wires = windings(model)
    inputs = joint_inputs(model, q=q, v=v)
    lead, states = each_state(inputs)
    still = np.zeros(model.n)
    A = model.structure_matrix
    gain = wires.torque_constant / wires.resistance
    inertia, forces = [], []
    with np.errstate(over="ignore", invalid="ignore"):
        for position, rate in states:
            plant = plant_at(model, position, rate, still)
            drag = plant.rotor_base + gain * wires.back_emf_constant * plant.speed
            inertia.append(plant.mass)
            forces.append(plant.free + plant.joint_base + A @ drag)
    n = model.n
    result = DrivenTerms(
        np.reshape(inertia, (*lead, n, n)), np.reshape(forces, (*lead, n)), A * gain
    )
    check_results(inputs, *result)
    return result


def driven_acceleration(
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    voltage: ArrayLike,
    *,
    external: ArrayLike | None = None,
    mode: Mode = "smooth",
    band: float = BAND,
) -> Array:
    """Joint acceleration that voltages give, inductances neglected, losses included.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        voltage: Voltage of each motor (..., m) [V]; q axis of a brushless one.
        external: Joint force from outside (..., n) [N m or N].
        mode: As in ``motion_from_torque``.
        band: As in ``motion_from_torque``.

    Returns:
        Joint acceleration (..., n).

    Raises:
        ModelError: where a constant is not given, or a gear jams.
    """
    require_model(model)
    warn_if_elastic(model, "driven_acceleration")
    still = np.zeros(len(model.motor_names))
    return rates(model, q, v, still, voltage, external, mode, band, lag=False).a


def driven_rates(
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    current: ArrayLike,
    voltage: ArrayLike,
    *,
    external: ArrayLike | None = None,
    mode: Mode = "smooth",
    band: float = BAND,
) -> DrivenRates:
    """Joint acceleration and di/dt of the arm with its currents.

    A motor without inductance has no current of its own: its entry is not read, the
    current (u - k_e s) / R follows at once, and its rate is given as 0.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        current: Current of each motor (..., m) [A].
        voltage: Voltage of each motor (..., m) [V].
        external: Joint force from outside (..., n) [N m or N].
        mode: As in ``motion_from_torque``.
        band: As in ``motion_from_torque``.

    Raises:
        ModelError: where a constant is not given, or a gear jams.
    """
    require_model(model)
    warn_if_elastic(model, "driven_rates")
    return rates(model, q, v, current, voltage, external, mode, band, lag=True)


@np.errstate(over="ignore", invalid="ignore")
def rates(
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    current: ArrayLike,
    voltage: ArrayLike,
    external: ArrayLike | None,
    mode: Mode,
    band: float,
    *,
    lag: bool,
) -> DrivenRates:
    """Rates of every state of a batch; without ``lag`` all currents follow at once."""
    choose(mode)
    limit, wires = limit_of(mode, band), windings(model)
    lagging = (wires.inductance > 0.0) & lag
    inputs = joint_inputs(model, q=q, v=v, external=external)
    inputs |= motor_inputs(model, current=current, voltage=voltage)
    lead, states = each_state(inputs)
    accelerations, changes = [], []
    for position, rate, outside, given, tension in states:
        steady = wires.steady_current(tension, rate @ model.structure_matrix)
        flowing = np.where(lagging, given, steady)
        torque = wires.torque_constant * flowing
        accelerations.append(motion_at(model, position, rate, outside, torque, band=limit).a)
        lag_time = np.where(lagging, wires.inductance / wires.resistance, 1.0)
        changes.append((steady - flowing) / lag_time)
    result = DrivenRates(
        np.reshape(accelerations, (*lead, model.n)), np.reshape(changes, (*lead, len(lagging)))
    )
    check_results(inputs, *result)
    return result


def refuse_losses(
    model: GearedModel,
    *,
    rotors: bool = True,
    remedy: str = "use driven_acceleration or motion_from_torque",
) -> None:
    """Refuse losses that depend on the load; of the rotors' friction only if it is used."""
    source = model.drivetrain_source
    for name, loss in zip(model.motor_names, gear_losses(model), strict=True):
        if loss.any():
            raise ModelError(
                f"{source}, motors.{name}.efficiency",
                "is below 1, and gear losses make the model nonlinear",
                remedy,
            )
    every = [(model.joint_friction, "joints", model.joint_names)]
    if rotors:
        every.append((model.motors.friction, "motors", model.motor_names))
    for laws, kind, owners in every:
        for index, load in zip(laws.index, laws.load, strict=True):
            if load != 0.0:
                place = f"{source}, {kind}.{owners[index]}.friction.load"
                raise ModelError(
                    place, "makes friction depend on the load, which is nonlinear", remedy
                )
