"""The motors' windings: L di/dt + R i + k_e s = u, torque k_t i."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel


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
            place = f"{model.drivetrain.source}, motors.{name}.{key}"
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
