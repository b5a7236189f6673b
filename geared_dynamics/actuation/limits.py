"""What the motors can give, and commands made to fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from geared_dynamics.actuation.commands import MotorCommands
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import finite_input
from geared_dynamics.errors import ArrayError, UnknownNameError
from geared_dynamics.model import GearedModel, require_model

Keep = Literal["direction", "each"]
BoolArray = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


@dataclass(frozen=True, eq=False)
class Saturated:
    """Commands that fit the limits, motor side; arrays (..., m).

    Attributes:
        wanted: The commands before.
        torque: Electromagnetic torque k_t i [N m].
        scale: Part of the wanted torques that is left (...,); 1 where nothing binds, and
            where every motor is clipped by itself.
        limited: Motors that do not give what was wanted (..., m).
    """

    wanted: MotorCommands
    torque: Array
    scale: Array
    limited: BoolArray

    @property
    def current(self) -> Array:
        """Current i [A]."""
        wanted = self.wanted
        change = (self.torque - wanted.torque) / wanted.model.motors.torque_constant
        return np.asarray(wanted.current + change)

    @property
    def voltage(self) -> Array:
        """Voltage R i + k_e s + L di/dt [V], the last as in the wanted commands."""
        wanted = self.wanted
        change = self.current - wanted.current
        return np.asarray(wanted.voltage + wanted.model.motors.resistance * change)


def torque_range(
    model: GearedModel,
    speed: ArrayLike,
    *,
    current_limit: ArrayLike | None = None,
    inductive: ArrayLike = 0.0,
) -> tuple[Array, Array]:
    """Least and largest electromagnetic torque (..., m) [N m] at a rotor speed.

    From the limits of torque, current, voltage and envelope; beyond the speed limit no
    torque drives the rotor on. The voltage counts with R i + k_e s + L di/dt, of a
    brushless motor with known pole pairs also its d axis, -p s L i. Where the back-EMF alone
    exceeds the voltage limit, both ends of the range have the sign that brakes.

    Args:
        model: Geared model.
        speed: Rotor speed relative to the carrier (..., m) [rad/s].
        current_limit: Further limit of the current (..., m) [A], e.g. ``thermal_current``.
        inductive: L di/dt (..., m) [V].
    """
    require_model(model)
    motors = model.motors
    s = finite_input("speed", speed, len(motors.names))
    voltage, current, torque, top_speed = motors.limits.T
    if current_limit is not None:
        extra = finite_input("current_limit", current_limit, len(motors.names))
        if np.any(extra < 0.0):
            raise ArrayError("current_limit", "is negative", "give magnitudes [A]")
        current = np.minimum(current, extra)
    constant = np.where(np.isnan(motors.torque_constant), np.inf, motors.torque_constant)
    low, high = current_range(model, s, voltage, np.asarray(inductive, np.float64))
    limit = np.minimum(torque, envelope_torque(model, s))
    with np.errstate(invalid="ignore"):  # inf * 0 of a motor without torque constant
        low, high = np.maximum(low, -current) * constant, np.minimum(high, current) * constant
    low, high = np.clip(low, -limit, limit), np.clip(high, -limit, limit)
    high = np.where(s > top_speed, np.minimum(high, 0.0), high)
    low = np.where(s < -top_speed, np.maximum(low, 0.0), low)
    return low, high


def saturate(
    commands: MotorCommands,
    keep: Keep = "direction",
    *,
    current_limit: ArrayLike | None = None,
) -> Saturated:
    """Make commands fit the motors' limits.

    Args:
        commands: What ``motor_commands`` returned.
        keep: ``direction`` scales all torques by one factor, so that the joint torque keeps its
            direction, ``each`` clips every motor by itself. A motor whose range excludes
            zero (its back-EMF alone exceeds the voltage) is clipped in both.
        current_limit: As in ``torque_range``.
    """
    if keep not in get_args(Keep):
        raise UnknownNameError("keep", "way to saturate", keep, get_args(Keep))
    model, wanted = commands.model, commands.torque
    low, high = torque_range(
        model, commands.speed, current_limit=current_limit, inductive=inductive_voltage(commands)
    )
    scale = np.ones(wanted.shape[:-1])
    torque = wanted
    if keep == "direction":
        end = np.where(wanted > 0.0, high, low)
        beyond = ((wanted > high) | (wanted < low)) & (end * wanted >= 0.0)
        ratio = np.divide(end, wanted, out=np.ones_like(wanted), where=beyond)
        scale = ratio.min(axis=-1, initial=1.0)
        torque = wanted * scale[..., None]
    torque = np.clip(torque, low, high)
    return Saturated(commands, torque, scale, torque != wanted)


def current_range(
    model: GearedModel, speed: Array, voltage: Array, inductive: Array
) -> tuple[Array, Array]:
    """Currents that the voltage allows: (R i + k_e s + e)^2 + (p s L i)^2 <= u_max^2.

    Where no current does (d axis and back-EMF together), the one that needs least voltage.
    """
    motors = model.motors
    known = np.isfinite(voltage) & ~np.isnan(motors.resistance)
    r = np.where(known, motors.resistance, 1.0)
    emf = np.where(known, motors.back_emf_constant, 0.0) * speed + inductive
    limit = np.where(known, voltage, 0.0)
    square = r**2 + (motors.pole_pairs * speed * motors.inductance) ** 2
    middle = -r * emf / square
    half = np.sqrt(np.maximum(middle**2 - (emf**2 - limit**2) / square, 0.0))
    free = np.broadcast_to(~known, middle.shape)
    return np.where(free, -np.inf, middle - half), np.where(free, np.inf, middle + half)


def envelope_torque(model: GearedModel, speed: Array) -> Array:
    """Torque of the envelopes at a speed; infinite without, 0 beyond their ends."""
    result = np.full(speed.shape, np.inf)
    for k, points in enumerate(model.motors.envelopes):
        if len(points):
            result[..., k] = np.interp(
                np.abs(speed[..., k]), points[:, 0], points[:, 1], right=0.0
            )
    return result


def inductive_voltage(commands: MotorCommands) -> Array:
    """L di/dt in the commands' voltage."""
    motors = commands.model.motors
    if not np.any(motors.inductance):
        return np.zeros_like(commands.torque)
    resistive = motors.resistance * commands.current
    return np.asarray(commands.voltage - resistive - motors.back_emf_constant * commands.speed)
