"""Motors, and the friction laws of joints and rotors, as arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from geared_dynamics.arrays import Array, BoolArray, Frozen, IntArray, readonly, readonly_int
from geared_dynamics.description.drive_records import (
    EMF_PER_TORQUE,
    DrivetrainRecord,
    FrictionRecord,
    MotorRecord,
)
from geared_dynamics.description.robot_records import RobotRecord
from geared_dynamics.errors import Note, UnknownNameError
from geared_dynamics.model.facts import Follow, coordinates

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


def joined_laws(first: FrictionLaws, second: FrictionLaws, start: int) -> FrictionLaws:
    """Laws in one table, the second ones with ``start`` added to their index."""
    pairs = {f.name: (getattr(first, f.name), getattr(second, f.name)) for f in fields(first)}
    pairs["index"] = (first.index, second.index + start)
    pairs["ripple"] = (first.ripple, second.ripple + np.eye(1, 4) * first.count)
    return FrictionLaws(**{name: np.concatenate(pair) for name, pair in pairs.items()})


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
        held: Fixed joints that each motor would turn with as well, m tuples of names.
        ends: The last joint in file order that each motor moves or would move, m of them.
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
    held: tuple[tuple[str, ...], ...]
    ends: tuple[str, ...]

    @property
    def limited(self) -> BoolArray:
        """Which motors have a limit of any kind (m,)."""
        known = np.isfinite(self.limits).any(axis=1) | np.isfinite(self.thermal).any(axis=1)
        return np.asarray(known | np.array([len(rows) > 0 for rows in self.envelopes], bool))


def build_motors(
    robot: RobotRecord, drivetrain: DrivetrainRecord, A: Array, turned: list[int], zeros: Array
) -> Motors:
    """Lay out the motors of a drivetrain.

    Args:
        robot: Records, joints in file order.
        drivetrain: Records, gear trains solved.
        A: Structure matrix (n, m).
        turned: The wheel each motor turns (m,).
        zeros: What the encoders show at q = 0 (m,).
    """
    motors = drivetrain.motors
    held = held_joints(robot, drivetrain)
    return Motors(
        names=tuple(motor.name for motor in motors),
        wheel=readonly_int(turned),
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
        held=held,
        ends=last_joints(robot, A, held),
    )


def held_joints(robot: RobotRecord, drivetrain: DrivetrainRecord) -> tuple[tuple[str, ...], ...]:
    """Fixed joints that the wheel of each motor follows, m tuples of names."""
    fixed = {joint.name for joint in robot.joints if joint.kind == "fixed"}
    spins = {spin.wheel: spin.coefficients for spin in drivetrain.spins}
    return tuple(
        tuple(joint for joint, ratio in spins[motor.wheel] if ratio and joint in fixed)
        for motor in drivetrain.motors
    )


def last_joints(
    robot: RobotRecord, A: Array, held: tuple[tuple[str, ...], ...]
) -> tuple[str, ...]:
    """The last joint in file order that each motor moves, or would move were it not held (m,)."""
    names, order = coordinates(robot), [joint.name for joint in robot.joints]
    moved = [[names[j] for j in np.flatnonzero(column)] for column in A.T]
    ends = [(*some, *more) for some, more in zip(moved, held, strict=True)]
    return tuple(max(some, key=order.index, default="") for some in ends)


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


# -- What a drivetrain says that is possible and unlikely -----------------------------------------


# Two constants of one motor, measured and rounded apart, agree to a few percent.
CONSTANTS_AGREE = 0.05


def motor_doubts(motor: MotorRecord, source: str) -> Iterator[Note]:
    """Yield what a motor's entry says that is possible and unlikely."""
    place = f"{source}, motors.{motor.name}"
    k_t, k_e = motor.torque_constant, motor.back_emf_constant
    if k_t is not None and k_e is not None:
        expected = EMF_PER_TORQUE[motor.kind]
        if abs(k_e / (k_t * expected) - 1.0) > CONSTANTS_AGREE:
            whose = "a DC motor" if motor.kind == "dc" else "a brushless motor in phase amplitudes"
            yield Note(
                f"{place}.back_emf_constant",
                f"{k_e:g} V s/rad is {k_e / k_t:.4g} times the torque constant {k_t:g} N m/A;"
                f" for {whose} it must be {expected:.4g} times",
                "correct one of the two, or remove the back-EMF constant",
            )
    peak, thermal = motor.limits.current, motor.limits.thermal
    if peak is not None and thermal is not None and thermal.continuous_current > peak:
        yield Note(
            f"{place}.limits.thermal.continuous_current",
            f"{thermal.continuous_current:g} A is above the peak current {peak:g} A,"
            " so the winding never warms to its limit",
            "correct one of the two",
        )
