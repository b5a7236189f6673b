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

from geared_dynamics.actuation.commands import Limit, motor_commands
from geared_dynamics.actuation.limits import saturate
from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.control.laws import Demand
from geared_dynamics.control.terms import Terms
from geared_dynamics.control.values import Output, Side
from geared_dynamics.dynamics.balancers import balancer_forces
from geared_dynamics.dynamics.rigid import forward_dynamics
from geared_dynamics.errors import ModelError
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
        bounded: Whether voltages are clipped once more, with the measured back-EMF.
    """

    model: GearedModel
    side: Side
    saturation: Saturation
    wound: bool
    balanced: bool
    bounded: bool


def drives(model: GearedModel, terms: Terms, side: Side, saturation: Saturation) -> Drives:
    """Prepare the output side."""
    refuse_unknown(model, side)
    return Drives(
        model=model if terms.use_friction else without_friction(model),
        side=side,
        saturation=saturation,
        wound=bool(np.any(model.motors.inductance > 0.0)),
        balanced=bool(model.balancers.names),
        bounded=saturation != "none" and bool(np.isfinite(model.motors.limits[:, 0]).any()),
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
    jerk = jerk if given.wound else None
    commands = motor_commands(model, q, rate, a, jerk=jerk)
    exceeded = commands.binding
    fits = given.saturation == "none" or not np.count_nonzero(exceeded)
    source = commands if fits else saturate(commands, given.saturation)  # type: ignore[arg-type]
    if given.side == "motor_torque":
        return Output(source.torque, torque, exceeded)
    motors = model.motors
    if given.side == "motor_current":
        return Output(source.torque / motors.torque_constant, torque, exceeded)
    speed = commands.speed if v is None else v @ model.structure_matrix
    if jerk is None:  # the same, and quicker
        command = motors.resistance * (source.torque / motors.torque_constant)
        command += motors.back_emf_constant * speed
    else:
        command = source.voltage + motors.back_emf_constant * (speed - commands.speed)
    if given.bounded:
        bound = motors.limits[:, 0]
        command = np.maximum(np.minimum(command, bound), -bound)
    return Output(command, torque, exceeded)


def refuse_unknown(model: GearedModel, side: Side) -> None:
    """Raise for motors whose constants the side needs and nobody gave."""
    needed = {"motor_current": 1, "motor_voltage": 2}.get(side, 0)
    for key in ("torque_constant", "resistance")[:needed]:
        missing = np.isnan(getattr(model.motors, key))
        if missing.any():
            name = model.motor_names[int(np.argmax(missing))]
            place = f"{model.drivetrain.source}, motors.{name}.{key}"
            raise ModelError(place, f"is not given, and {side} needs it", "add it")


def limit_names(model: GearedModel, exceeded: IntArray) -> dict[str, Limit]:
    """Motors whose limits were exceeded, and which limits.

    Args:
        model: Geared model.
        exceeded: Of an ``Output`` (m,), or empty.
    """
    return {model.motor_names[k]: Limit(int(bits)) for k, bits in enumerate(exceeded) if bits}
