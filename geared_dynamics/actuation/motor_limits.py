"""What the motors can give, and commands made to fit.

The limits of torque, current, envelope and speed protect motor and gear: they are kept
first. Then the voltage is kept as well as they let it be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from geared_dynamics.actuation.motor_commands import (
    Limit,
    MotorCommands,
    VoltageRange,
    voltage_range,
)
from geared_dynamics.arrays import Array, ArrayLike, BoolArray, IntArray
from geared_dynamics.checks import choice, warn_former
from geared_dynamics.dynamics.arguments import as_input, as_numbers, common_lead, finite_input
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel, require_model

Keep = Literal["direction", "each"]


class TorqueRange(NamedTuple):
    """Least and largest torque of m motors and what even the best of them exceeds.

    Attributes:
        low: Least electromagnetic torque (..., m) [N m].
        high: Largest (..., m) [N m], never below ``low``.
        unmet: Limits that no torque of the range meets (..., m), ``Limit`` as integers.
    """

    low: Array
    high: Array
    unmet: IntArray


@dataclass(frozen=True, eq=False)
class Saturated:
    """Commands that fit the limits as well as possible, motor side; arrays (..., m).

    Attributes:
        requested: The commands before.
        torque: Electromagnetic torque k_t i [N m].
        scale: Part of the wanted torques that is left (...,); 1 where nothing binds, and
            where every motor is clipped by itself.
        limited: Motors that do not give what was wanted (..., m).
        binding: Limits that cannot be met (..., m), ``Limit`` as integers; see ``unmet``.
    """

    requested: MotorCommands
    torque: Array
    scale: Array
    limited: BoolArray
    binding: IntArray

    @property
    def wanted(self) -> MotorCommands:
        """Former name of ``requested``."""
        warn_former("Saturated.wanted", "requested")
        return self.requested

    @property
    def current(self) -> Array:
        """Current i [A]."""
        wanted = self.requested
        change = (self.torque - wanted.torque) / wanted.model.motors.torque_constant
        return np.asarray(wanted.current + change)

    @property
    def voltage(self) -> Array:
        """Voltage R i + k_e s + L di/dt [V], the last as in the wanted commands."""
        wanted = self.requested
        change = self.current - wanted.current
        return np.asarray(wanted.voltage + wanted.model.motors.resistance * change)

    @property
    def unmet(self) -> dict[str, Limit]:
        """Motors whose limits these commands still exceed, in any state, and which limits.

        ``VOLTAGE`` where the back-EMF, and the d axis of a brushless motor, ask for more
        torque than the other limits allow, or exceed the voltage at any torque; ``SPEED``
        where the motion is too fast: no torque corrects that at once.
        """
        names = self.requested.model.motor_names
        bits = np.bitwise_or.reduce(self.binding.reshape(-1, len(names)), axis=0)
        return {name: Limit(int(b)) for name, b in zip(names, bits, strict=True) if b}


def torque_range(
    model: GearedModel,
    speed: ArrayLike,
    *,
    current_limit: ArrayLike | None = None,
    inductive: ArrayLike = 0.0,
) -> tuple[Array, Array]:
    """Least and largest electromagnetic torque (..., m) [N m] at a rotor speed.

    The limits of torque, current and envelope are kept first, with no torque that drives
    the rotor on beyond the speed limit. Of these torques the range has those that keep the
    voltage R i + k_e s + L di/dt within its limit, for a brushless motor with known pole
    pairs also with its d axis, -p s L i. Where none does, it is the one that comes nearest, low =
    high; ``saturate`` names that motor. Where the back-EMF alone exceeds the voltage limit,
    the range has the sign that brakes.

    Args:
        model: Geared model.
        speed: Rotor speed relative to the carrier (..., m) [rad/s].
        current_limit: Further limit of the current (..., m) [A], e.g. ``thermal_current``;
            infinite for none, as it must be for a motor without torque constant.
        inductive: L di/dt (..., m) [V], or one number for all.
    """
    require_model(model)
    s = finite_input("speed", speed, len(model.motor_names))
    given = as_numbers("inductive", inductive, "give L di/dt [V]")
    shape = given if given.ndim else np.full(s.shape[-1:], given)
    e = finite_input("inductive", shape, len(model.motor_names))
    found = ranges(model, s, current_limit, e)
    return found.low, found.high


def saturate(
    commands: MotorCommands,
    keep: Keep = "direction",
    *,
    current_limit: ArrayLike | None = None,
) -> Saturated:
    """Make commands fit the motors' limits, in the order of ``torque_range``.

    Args:
        commands: What ``motor_commands`` returned.
        keep: ``direction`` scales all torques by one factor, so that the joint torque keeps its
            direction, ``each`` clips every motor by itself. A motor whose range excludes
            zero (its back-EMF alone exceeds the voltage) is clipped in both.
        current_limit: As in ``torque_range``.

    Returns:
        The commands; look at ``unmet`` for limits that no torque could meet.
    """
    choice("keep", "way to saturate", keep, get_args(Keep))
    model, wanted = commands.model, commands.torque
    found = ranges(model, commands.speed, current_limit, commands.inductive_voltage)
    low, high = found.low, found.high
    shape = low.shape  # a current limit may bring further dimensions
    scale = np.ones(shape[:-1])
    torque = np.broadcast_to(wanted, shape)
    if keep == "direction":
        end = np.where(wanted > 0.0, high, low)
        beyond = (wanted > high) | (wanted < low)
        scaled = beyond & (wanted != 0.0) & (np.sign(end) * np.sign(wanted) >= 0.0)
        ratio = np.divide(end, wanted, out=np.ones(shape), where=scaled)
        scale = ratio.min(axis=-1, initial=1.0)
        torque = wanted * scale[..., None]
    torque = np.clip(torque, low, high)
    return Saturated(commands, torque, scale, torque != wanted, found.unmet)


def ranges(
    model: GearedModel, speed: Array, current_limit: ArrayLike | None, inductive: Array
) -> TorqueRange:
    """Torque ranges at rotor speeds and inductive voltages (..., m); see ``torque_range``."""
    least, most = protected(model, speed, current_limit)
    allowed = voltage_range(model, speed, inductive)
    low, high = torques(model, allowed)
    top_speed = model.motors.limits[:, 3]
    blocked = (low > most) | (high < least) | ~allowed.reachable
    unmet = blocked * int(Limit.VOLTAGE) + (np.abs(speed) > top_speed) * int(Limit.SPEED)
    return TorqueRange(np.clip(low, least, most), np.clip(high, least, most), unmet)


def protected(
    model: GearedModel, speed: Array, current_limit: ArrayLike | None
) -> tuple[Array, Array]:
    """Least and largest torque of all limits but the voltage's (..., m): zero is between."""
    motors = model.motors
    _, current, torque, top_speed = motors.limits.T
    if current_limit is not None:
        current = np.minimum(current, further_limit(model, speed, current_limit))
    # A motor without torque constant has no limit of its current.
    constant = np.where(np.isnan(motors.torque_constant), 1.0, motors.torque_constant)
    limit = np.minimum(np.minimum(torque, current * constant), envelope_torque(model, speed))
    most = np.where(speed > top_speed, 0.0, limit)
    least = np.where(speed < -top_speed, 0.0, -limit)
    return least, most


def further_limit(model: GearedModel, speed: Array, value: ArrayLike) -> Array:
    """Check a current limit (..., m) [A]; infinity is none."""
    limit = as_input("current_limit", value, len(model.motor_names))
    common_lead({"speed": speed, "current_limit": limit})
    if not np.all(limit >= 0.0):
        finding = "contains NaN" if np.isnan(limit).any() else "is negative"
        raise ArrayError("current_limit", finding, "give magnitudes [A], infinity for none")
    unknown = np.isnan(model.motors.torque_constant)
    blind = np.isfinite(limit) & unknown
    if blind.any():
        r = int(np.argwhere(blind)[0, -1])
        finding = (
            f"limits the current of {model.motor_names[r]!r}, whose torque constant is unknown"
        )
        remedy = "add its torque_constant, or set this limit to infinity"
        raise ArrayError(f"current_limit[..., {r}]", finding, remedy)
    return limit


def torques(model: GearedModel, allowed: VoltageRange) -> tuple[Array, Array]:
    """Torques of a range of currents; infinite stays infinite."""
    constant = model.motors.torque_constant
    known = np.where(np.isnan(constant), 1.0, constant)
    return allowed.low * known, allowed.high * known


def envelope_torque(model: GearedModel, speed: Array) -> Array:
    """Torque of the envelopes at a speed; infinite without, 0 beyond their ends."""
    result = np.full(speed.shape, np.inf)
    for k, points in enumerate(model.motors.envelopes):
        if len(points):
            result[..., k] = np.interp(
                np.abs(speed[..., k]), points[:, 0], points[:, 1], right=0.0
            )
    return result
