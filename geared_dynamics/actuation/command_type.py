"""What the numbers of commands and of measured efforts mean, and their one conversion to torques.

One vocabulary for what controllers send, drives report and recordings hold. With the structure
matrix A and the motors' constants k

    joint_torque         tau (n,) [N m or N], joint side
    gravity_compensated  tau - g(q) (n,): what is left where somebody else adds gravity
    motor_torque         tau_m (m,) [N m] at the motors' shafts, tau = A tau_m
    motor_current        i (m,) [A], tau_m = k i
    motor_voltage        u (m,) [V], u = R i + L di/dt + k_e s: no torque follows from it alone

Losses of the gears are not taken off: tau = A tau_m is what the motors give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, BoolArray, Frozen, readonly
from geared_dynamics.checks import is_finite
from geared_dynamics.dynamics.arguments import one_state
from geared_dynamics.dynamics.rigid import gravity_forces
from geared_dynamics.errors import ArrayError, ModelError, UnknownNameError
from geared_dynamics.model import GearedModel, require_model

# What can be sent, and what can be measured.
SentType = Literal["joint_torque", "motor_torque", "motor_current", "motor_voltage"]
EffortType = Literal["joint_torque", "gravity_compensated", "motor_current", "motor_torque"]
CommandType = SentType | EffortType
# Also by the names that plants had first.
CommandName = CommandType | Literal["effort", "torque", "current", "voltage"]
COMMANDS: tuple[CommandType, ...] = get_args(SentType)
EFFORTS: tuple[CommandType, ...] = get_args(EffortType)
GRAVITY_COMPENSATED = "joint_torque_gravity_compensated"  # as nodes' parameters spell it
ALIASES: dict[str, CommandType] = {GRAVITY_COMPENSATED: "gravity_compensated"}
# Names that plants had first; elsewhere "torque" would be ambiguous.
SHORT_NAMES: dict[str, CommandType] = {
    "effort": "joint_torque",
    "torque": "motor_torque",
    "current": "motor_current",
    "voltage": "motor_voltage",
}
# Constants of the motors that a type needs beside the torque.
CONSTANTS = {
    "motor_current": ("torque_constant",),
    "motor_voltage": ("torque_constant", "resistance"),
}
SIDES = ("joint_torque", "motor_torque")  # of the gears
NEGLIGIBLE = 1e-12  # part of the largest element that is rounding


def as_command_type(
    place: str,
    value: object,
    valid: Sequence[CommandType] = COMMANDS,
    aliases: Mapping[str, CommandType] = ALIASES,
) -> CommandType:
    """Return a type by its name or by an alias.

    Args:
        place: The argument's or the parameter's name.
        value: As the user gave it.
        valid: The types that make sense there.
        aliases: Other names that are valid there.

    Raises:
        UnknownNameError: for any other.
    """
    name = aliases.get(value, value) if isinstance(value, str) else value
    if not isinstance(name, str) or name not in valid:
        raise UnknownNameError(place, "command type", value, valid)
    return cast(CommandType, name)


def is_of_motors(command_type: str) -> bool:
    """Whether there is a number for each motor, and not one for each joint."""
    return command_type.startswith("motor_")


def command_names(model: GearedModel, command_type: str) -> tuple[str, ...]:
    """Names of the motors (m,) or of the joints (n,), in the order of the numbers."""
    return model.motor_names if is_of_motors(command_type) else model.joint_names


def require_constants(
    model: GearedModel, command_type: str, remedy: str = "add it", needed: BoolArray | None = None
) -> None:
    """Raise where a motor's constant is missing that a type of commands needs.

    Args:
        model: Geared model.
        command_type: Of the commands.
        remedy: What to do about it.
        needed: Motors whose constants count (m,); all of them if not given.

    Raises:
        ModelError: naming the motors.
    """
    for key in CONSTANTS.get(command_type, ()):
        missing = np.isnan(getattr(model.motors, key))
        if needed is not None:
            missing = missing & needed
        names = [name for name, gone in zip(model.motor_names, missing, strict=True) if gone]
        if names:
            place = f"{model.drivetrain_source}, motors.{names[0]}.{key}"
            finding = f"is not given for {', '.join(names)}, and {command_type} needs it"
            raise ModelError(place, finding, remedy)


# -- From numbers of a type to torques on either side of the gears; NaN stays where it belongs ----


@dataclass(frozen=True, eq=False)
class Affine(Frozen):
    """An affine map y = T x + t that keeps NaN where it belongs; made by ``affine``.

    Attributes:
        turn: T (k, l).
        shift: t (k,).
        touched: Which y need which x (k, l).
    """

    turn: Array
    shift: Array
    touched: Array

    def __call__(self, x: Array) -> Array:
        """Return y (..., k); NaN where one of the x (..., l) that it needs is not finite."""
        if x.ndim == 1 and is_finite(x):
            return np.asarray(self.turn.dot(x) + self.shift)
        gone = ~np.isfinite(x)
        if not gone.any():
            return np.asarray(x @ self.turn.T + self.shift)
        y = np.where(gone, 0.0, x) @ self.turn.T + self.shift
        return np.where(gone @ self.touched.T > 0.0, np.nan, y)


def affine(turn: Array, shift: Array) -> Affine:
    """Make the map."""
    return Affine(readonly(turn), readonly(shift), readonly((turn != 0.0).astype(float)))


@dataclass(frozen=True, eq=False)
class TorqueMap(Frozen):
    """y = T c + S g(q) for numbers c (..., k) of a type; made by ``torque_map``.

    Attributes:
        linear: T, from each number to each torque.
        unknown: Numbers whose factor is not known (k,).
        carried: S, from gravity forces to torques (l, n); None where c lacks no gravity.
        model: The model whose gravity forces these are.
    """

    linear: Affine
    unknown: BoolArray
    carried: Array | None
    model: GearedModel

    def __call__(self, c: Array, q: Array | None = None) -> Array:
        """Return torques (..., l); NaN where a number that one needs is not known.

        Args:
            c: Commands or measured efforts (..., k).
            q: Joint position (..., n), for efforts that lack gravity.
        """
        if self.unknown.any():
            c = np.where(self.unknown, np.nan, c)
        torque = self.linear(c)
        if self.carried is None:
            return torque
        if q is None:
            raise ArrayError("q", "is not given", "efforts that lack gravity need it")
        return np.asarray(torque + gravity_forces(self.model, q) @ self.carried.T)


def torque_map(
    model: GearedModel,
    source: CommandType,
    to: Literal["joint_torque", "motor_torque"],
    *,
    gains: ArrayLike | None = None,
    signs: ArrayLike | None = None,
) -> TorqueMap:
    """Prepare the conversion of commands or measured efforts to torques.

    Args:
        model: Geared model.
        source: What the numbers are; any type but ``motor_voltage``.
        to: The side of the gears on which the torques are wanted.
        gains: Factors of the numbers (k,); if not given 1, and the motors' torque constants
            for currents. NaN: not known.
        signs: Of the numbers (k,), -1 for a motor that counts backwards; 1 if not given.

    Raises:
        UnknownNameError: for another type.
        ArrayError: for gains or signs of another size.
    """
    require_model(model)
    source = as_command_type("source", source, EFFORTS)
    if to not in SIDES:
        raise UnknownNameError("to", "command type", to, SIDES)
    count = len(command_names(model, source))
    factor = np.ones(count)
    if gains is not None:
        factor = one_state("gains", gains, count, missing=True)
    elif source == "motor_current":
        factor = np.asarray(model.motors.torque_constant)
    unknown = np.isnan(factor)
    unknown.setflags(write=False)
    factor = np.where(unknown, 1.0, factor) * (
        1.0 if signs is None else one_state("signs", signs, count)
    )
    across = np.eye(len(factor))
    if is_of_motors(source) and to == "joint_torque":
        across = model.structure_matrix
    elif not is_of_motors(source) and to == "motor_torque":
        across = motor_inverse(model)
    carried = readonly(across) if source == "gravity_compensated" else None
    return TorqueMap(affine(across * factor, np.zeros(len(across))), unknown, carried, model)


def motor_inverse(model: GearedModel) -> Array:
    """S (m, n), tau_m = S tau of least norm, of least squares where motors are missing."""
    turn = model.motor_map.inverse
    return np.where(np.abs(turn) > NEGLIGIBLE * np.abs(turn).max(initial=0.0), turn, 0.0)


# -- From a motor's torque to what is sent --------------------------------------------------------


def command_of_torque(
    model: GearedModel,
    command_type: CommandType,
    torque: Array,
    speed: Array,
    inductive: Array | float = 0.0,
) -> Array:
    """Command with which motors give a torque.

    Args:
        model: Geared model.
        command_type: Of the command; ``joint_torque``: A tau_m.
        torque: At the motors' shafts (m,) [N m].
        speed: Of the rotors (m,) [rad/s].
        inductive: L di/dt (m,) [V].
    """
    if command_type == "joint_torque":
        return np.asarray(model.structure_matrix @ torque)
    if command_type == "motor_torque":
        return torque
    motors = model.motors
    current = torque / motors.torque_constant
    if command_type == "motor_current":
        return np.asarray(current)
    return np.asarray(motors.resistance * current + motors.back_emf_constant * speed + inductive)
