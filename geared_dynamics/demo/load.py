"""How much of their limits the motors of an arm use."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.actuation.commands import motor_commands
from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.rigid import inverse_dynamics
from geared_dynamics.model import GearedModel


class Load(NamedTuple):
    """Parts of limits; zero where there is no limit, or what it needs is not described.

    Attributes:
        torque: Motor torque, of the torque and current limits (k, m).
        voltage: Of the voltage limit (k, m).
    """

    torque: Array
    voltage: Array


def motor_load(model: GearedModel, torque: Array, speed: Array) -> Load:
    """Load of the motors, currents taken as steady: V = R tau / k_t + k_e omega.

    Args:
        model: Geared model.
        torque: Electromagnetic torques (k, m) [N m].
        speed: Rotor speeds (k, m) [rad/s].
    """
    motors = model.motors
    volts, amperes, most, _ = motors.limits.T
    by_current = amperes * motors.torque_constant  # NaN where the constant is not given
    tension = motors.resistance * torque / motors.torque_constant
    tension = tension + motors.back_emf_constant * speed
    return Load(part(torque, np.fmin(most, by_current)), part(tension, volts))


def part(value: Array, limit: Array) -> Array:
    """|value| / limit; 0 without a limit or a value."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(np.abs(value) / limit, nan=0.0, posinf=0.0)


def effort_of_motion(model: GearedModel, q: Array, v: Array, a: Array) -> float:
    """Largest part of any limit that a motion takes: motors' and joints', torque and speed.

    Args:
        model: Geared model.
        q: Positions (k, n) [rad or m].
        v: Velocities (k, n).
        a: Accelerations (k, n).
    """
    speed = v @ model.structure_matrix
    load = motor_load(model, motor_commands(model, q, v, a).torque, speed)
    joints = {joint.name: joint.limit for joint in model.robot.joints}
    given = [joints[name] for name in model.joint_names]
    velocity = np.array([np.inf if x is None else x.velocity or np.inf for x in given])
    effort = np.array([np.inf if x is None else x.effort or np.inf for x in given])
    parts = (
        load.torque,
        load.voltage,
        part(speed, model.motors.limits[:, 3]),
        part(v, velocity),
        part(inverse_dynamics(model, q, v, a), effort),
    )
    return max(float(found.max()) for found in parts)
