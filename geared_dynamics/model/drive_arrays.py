"""Friction laws of joints and rotors as arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from geared_dynamics.arrays import Array, Frozen, IntArray, readonly, readonly_int
from geared_dynamics.description.drive_records import FrictionRecord, MotorRecord
from geared_dynamics.description.robot_records import DrivetrainRecord, RobotRecord
from geared_dynamics.errors import UnknownNameError
from geared_dynamics.model.topology import Follow

# -- Friction laws of joints and rotors as arrays -------------------------------------------------


# Rates within which control rounds off the jump of Coulomb friction, where a file gives
# none: well below what an encoder resolves in a control cycle, on either side of a gear.
JOINT_SMOOTHING = 1e-3  # [rad/s or m/s]
ROTOR_SMOOTHING = 0.1  # [rad/s]


@dataclass(frozen=True, eq=False)
class FrictionLaws(Frozen):
    """Friction laws, one a row, k of them; see ``FrictionRecord`` for the formula.

    Row i sees the rate x' and position x of coordinate ``index[i]`` (joint side) or motor
    ``index[i]``: x = multiplier q + shift, and adds multiplier times its force there.

    Attributes:
        index: Coordinate or motor (k,).
        multiplier: A mimic joint's multiplier (k,), else 1.
        shift: Position at q = 0 (k,) [rad or m].
        viscous: (k,) [N m s/rad or N s/m].
        coulomb: For positive and negative rates (k, 2) [N m or N].
        static: Breakaway level (k, 2); equal to ``coulomb`` without Stribeck effect.
        stribeck_speed: (k,), 1 without Stribeck effect.
        load: Part of the load's magnitude (k,).
        offset: Constant force (k,) [N m or N].
        smoothing: Rate within which control smooths the sign (k,), 0: not at all.
        ripple: Rows (law, order, amplitude, phase) (r, 4).
    """

    index: IntArray
    multiplier: Array
    shift: Array
    viscous: Array
    coulomb: Array
    static: Array
    stribeck_speed: Array
    load: Array
    offset: Array
    smoothing: Array
    ripple: Array

    @property
    def count(self) -> int:
        """Number of laws."""
        return len(self.index)


def friction_laws(
    entries: Iterable[tuple[int, float, float, FrictionRecord]], smoothing: float
) -> FrictionLaws:
    """Lay out laws given as (index, multiplier, shift, record).

    Args:
        entries: The laws; one that is all zero is left out.
        smoothing: For records that give none.
    """
    rows = [entry for entry in entries if entry[3] != FrictionRecord()]
    laws = [record for *_, record in rows]
    coulomb = [both(law.coulomb, law.coulomb_negative) for law in laws]
    static = [
        pair if law.static is None else both(law.static, law.static_negative)
        for law, pair in zip(laws, coulomb, strict=True)
    ]
    ripple = [
        (k, wave.order, wave.amplitude, wave.phase)
        for k, law in enumerate(laws)
        for wave in law.ripple
    ]
    return FrictionLaws(
        index=readonly_int([index for index, *_ in rows]),
        multiplier=readonly([row[1] for row in rows]),
        shift=readonly([row[2] for row in rows]),
        viscous=readonly([law.viscous for law in laws]),
        coulomb=readonly(np.reshape(coulomb, (-1, 2))),
        static=readonly(np.reshape(static, (-1, 2))),
        stribeck_speed=readonly([law.stribeck_speed or 1.0 for law in laws]),
        load=readonly([law.load for law in laws]),
        offset=readonly([law.offset for law in laws]),
        smoothing=readonly(
            [smoothing if law.smoothing is None else law.smoothing for law in laws]
        ),
        ripple=readonly(np.reshape(ripple, (-1, 4))),
    )


def both(positive: float, negative: float | None) -> tuple[float, float]:
    """Return the values for both directions."""
    return positive, positive if negative is None else negative


def joint_friction(
    robot: RobotRecord,
    drivetrain: DrivetrainRecord,
    follow: dict[str, Follow],
    frozen: frozenset[str],
) -> FrictionLaws:
    """Friction of every movable joint, mimics included; the drivetrain's replaces the URDF's."""
    given = {j.name: j.friction for j in robot.joints if j.name in follow}
    for entry in drivetrain.joints:
        if entry.name in frozen:
            continue
        if entry.name not in given:
            place = f"{drivetrain.source}, joints.{entry.name}"
            raise UnknownNameError(place, "movable joint", entry.name, given)
        if entry.friction is not None:
            given[entry.name] = entry.friction
    return friction_laws(
        [
            (motion.dof, motion.multiplier, motion.offset, given[name] or FrictionRecord())
            for name, motion in follow.items()
        ],
        JOINT_SMOOTHING,
    )


def linear_friction(laws: FrictionLaws, n: int) -> Array:
    """Viscous and Coulomb friction and offset (3, n) of the coordinates, for identification.

    c+ for v > 0 and -c- for v < 0 are (c+ + c-)/2 sign(v) + (c+ - c-)/2. A mimic joint's
    friction acts on its leader's coordinate: b k^2 and c |k|.
    """
    result = np.zeros((3, n))
    k = laws.multiplier
    mean, difference = laws.coulomb.mean(axis=1), (laws.coulomb @ [0.5, -0.5])
    np.add.at(result[0], laws.index, laws.viscous * k * k)
    np.add.at(result[1], laws.index, mean * np.abs(k))
    np.add.at(result[2], laws.index, (difference + laws.offset) * k)
    return result


# -- Motors as arrays: electrics, friction, the gears' efficiencies, limits -----------------------


LIMITS = ("voltage", "current", "torque", "speed")


@dataclass(frozen=True, eq=False)
class Motors(Frozen):
    """Motors in file order, m of them, motor side.

    Attributes:
        names: Their names.
        wheel: The wheel each turns (m,).
        zeros: What each encoder shows at q = 0 (m,) [rad].
        resistance: R (m,) [ohm], NaN where not given, as the constants.
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
