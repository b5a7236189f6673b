"""Motors as arrays: electrics, friction, the gears' efficiencies, limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geared_dynamics.arrays import Array, Frozen, IntArray, readonly, readonly_int
from geared_dynamics.description.records import DrivetrainRecord, MotorRecord
from geared_dynamics.model.friction import ROTOR_SMOOTHING, FrictionLaws, friction_laws

LIMITS = ("voltage", "current", "torque", "speed")


@dataclass(frozen=True, eq=False)
class Motors(Frozen):
    """Motors in file order, m of them, motor side.

    Attributes:
        names: Their names.
        wheel: The wheel each turns (m,).
        zeros: What each encoder shows at q = 0 (m,) [rad].
        resistance: R (m,) [ohm], NaN where not given; likewise the constants.
        inductance: L (m,) [H].
        torque_constant: k_t (m,) [N m/A].
        back_emf_constant: k_e (m,) [V s/rad].
        power_factor: Electrical power over u i (m,): 1, or 3/2 for phase amplitudes.
        pole_pairs: (m,), 0 where no d-axis voltage is counted.
        efficiency: Driving and backdriving (m, 2).
        limits: Columns ``LIMITS`` (m, 4), infinite where not given.
        envelopes: Per motor, rows (speed, torque) (k, 2); k = 0 where not given.
        thermal: Continuous current [A] and time constant [s] (m, 2), infinite where not given.
        friction: Friction of the rotors.
    """

    names: tuple[str, ...]
    wheel: IntArray
    zeros: Array
    resistance: Array
    inductance: Array
    torque_constant: Array
    back_emf_constant: Array
    power_factor: Array
    pole_pairs: IntArray
    efficiency: Array
    limits: Array
    envelopes: tuple[Array, ...]
    thermal: Array
    friction: FrictionLaws


def build_motors(
    drivetrain: DrivetrainRecord, wheel_names: tuple[str, ...], zeros: Array
) -> Motors:
    """Lay out the motors of a drivetrain."""
    motors = drivetrain.motors
    return Motors(
        names=tuple(motor.name for motor in motors),
        wheel=readonly_int([wheel_names.index(motor.wheel) for motor in motors]),
        zeros=readonly(zeros),
        resistance=readonly([number(motor.resistance) for motor in motors]),
        inductance=readonly([motor.inductance for motor in motors]),
        torque_constant=readonly([number(motor.torque_constant) for motor in motors]),
        back_emf_constant=readonly([number(motor.back_emf_constant) for motor in motors]),
        power_factor=readonly([1.0 if motor.kind == "dc" else 1.5 for motor in motors]),
        pole_pairs=readonly_int([motor.pole_pairs for motor in motors]),
        efficiency=readonly(
            np.reshape([(motor.driving, motor.backdriving) for motor in motors], (-1, 2))
        ),
        limits=readonly(np.reshape([limits(motor) for motor in motors], (-1, len(LIMITS)))),
        envelopes=tuple(readonly(np.reshape(motor.limits.envelope, (-1, 2))) for motor in motors),
        thermal=readonly(np.reshape([thermal(motor) for motor in motors], (-1, 2))),
        friction=rotor_friction(motors, zeros),
    )


def rotor_friction(motors: Sequence[MotorRecord], zeros: Array) -> FrictionLaws:
    """Friction laws of the rotors; their positions are the encoders' angles."""
    return friction_laws(
        [(k, 1.0, float(zeros[k]), motor.friction) for k, motor in enumerate(motors)],
        ROTOR_SMOOTHING,
    )


def number(value: float | None) -> float:
    """Return the value, NaN where there is none."""
    return math.nan if value is None else value


def limits(motor: MotorRecord) -> list[float]:
    """Limits in the order of ``LIMITS``, infinite where not given."""
    values = [getattr(motor.limits, name) for name in LIMITS]
    return [math.inf if value is None else value for value in values]


def thermal(motor: MotorRecord) -> tuple[float, float]:
    """Continuous current and time constant."""
    given = motor.limits.thermal
    return (
        (math.inf, math.inf) if given is None else (given.continuous_current, given.time_constant)
    )
