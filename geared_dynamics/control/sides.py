"""From the joint force that a law asks for to what is sent: torque, current or voltage.

The motors' losses depend on how the force comes about. Of a force tau without friction,

    a* = M(q)^-1 (tau + balancers - C(q, v*) v* - g(q))

is the motion that it causes at (q, v*), v* the velocity at which friction is taken, and
``motor_commands`` of (q, v*, a*) has tau on the joints again, with the joints' and rotors'
friction, the gears' losses and the rotors' inertia in front of them. The back-EMF is that of
the measured speed. L di/dt needs the reference's jerk; without it the current counts as steady.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from geared_dynamics.actuation.commands import Limit, MotorCommands, motor_commands
from geared_dynamics.actuation.limits import saturate
from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.control.laws import Demand
from geared_dynamics.control.terms import Terms
from geared_dynamics.control.values import Output, Side
from geared_dynamics.dynamics.balancers import balancer_forces
from geared_dynamics.dynamics.rigid import forward_dynamics
from geared_dynamics.model import GearedModel
from geared_dynamics.model.friction import JOINT_SMOOTHING, ROTOR_SMOOTHING, friction_laws

Saturation = Literal["each", "direction", "none"]
NOTHING: IntArray = np.zeros(0, np.int64)
NOTHING.setflags(write=False)


@dataclass(frozen=True, eq=False)
class Drives:
    """The motors as the output needs them; made by ``drives``.

    Attributes:
        model: The model whose friction counts: without any where that is switched off.
        side: What is sent.
        saturation: How commands beyond the motors' limits are made to fit.
        wound: Whether a motor has inductance, so that the jerk counts.
        balanced: Whether balancers count.
    """

    model: GearedModel
    side: Side
    saturation: Saturation
    wound: bool
    balanced: bool


def drives(model: GearedModel, terms: Terms, side: Side, saturation: Saturation) -> Drives:
    """Prepare the output side."""
    return Drives(
        model=model if terms.use_friction else without_friction(model),
        side=side,
        saturation=saturation,
        wound=bool(np.any(model.motors.inductance > 0.0)),
        balanced=bool(model.balancers.names),
    )


def without_friction(model: GearedModel) -> GearedModel:
    """The same arm with joints and rotors that do not rub; its gears keep their losses."""
    motors = replace(model.motors, friction=friction_laws((), ROTOR_SMOOTHING))
    return replace(model, joint_friction=friction_laws((), JOINT_SMOOTHING), motors=motors)


def output(given: Drives, demand: Demand, v: Array | None, jerk: Array | None) -> Output:
    """What to send for a law's demand.

    Args:
        given: The prepared motors.
        demand: What the law asks for.
        v: Measured joint velocity (n,); None: that of the demand.
        jerk: The reference's jerk (n,), or None.
    """
    torque = demand.torque
    if given.side == "joint_torque":
        return Output(torque, torque, NOTHING)
    model, q, rate = given.model, demand.q, demand.rate
    net = demand.net + balancer_forces(model, q) if given.balanced else demand.net
    a = forward_dynamics(model, q, rate, net)
    commands = motor_commands(model, q, rate, a, jerk=jerk if given.wound else None)
    exceeded = commands.binding
    command = fitted(given, commands, exceeded)
    if given.side == "motor_voltage" and v is not None and v is not rate:
        motors = model.motors
        command = command + motors.back_emf_constant * ((v - rate) @ model.structure_matrix)
        if given.saturation != "none":
            bound = motors.limits[:, 0]
            command = np.clip(command, -bound, bound)
    return Output(command, torque, exceeded)


def fitted(given: Drives, commands: MotorCommands, exceeded: IntArray) -> Array:
    """The commands' values on the side that is sent, within the motors' limits (m,)."""
    chosen = given.side.removeprefix("motor_")
    # A speed beyond its limit is no fault of the torque; ``saturate`` knows what to do with it.
    if given.saturation == "none" or not exceeded.any():
        return np.asarray(getattr(commands, chosen))
    return np.asarray(getattr(saturate(commands, given.saturation), chosen))


def limit_names(model: GearedModel, exceeded: IntArray) -> dict[str, Limit]:
    """Motors whose limits were exceeded, and which limits.

    Args:
        model: Geared model.
        exceeded: Of an ``Output`` (m,), or empty.
    """
    return {model.motor_names[k]: Limit(int(bits)) for k, bits in enumerate(exceeded) if bits}
