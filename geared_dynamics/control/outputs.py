"""From a law's joint force to what is sent, and what joints and motors can give at most."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from geared_dynamics.actuation.command_type import (
    CommandType,
    command_of_torque,
    require_constants,
)
from geared_dynamics.actuation.motor_commands import Limit, MotorCommands, motor_commands
from geared_dynamics.actuation.motor_limits import saturate
from geared_dynamics.arrays import Array, ArrayLike, IntArray
from geared_dynamics.control.laws import Demand
from geared_dynamics.control.terms import Output, Terms
from geared_dynamics.dynamics.drives import balancer_forces
from geared_dynamics.dynamics.rigid import forward_dynamics, gravity_forces
from geared_dynamics.model import GearedModel
from geared_dynamics.model.drive_arrays import JOINT_SMOOTHING, ROTOR_SMOOTHING, friction_laws

# -- From the joint force that a law asks for to what is sent: torque, current or voltage ---------
#
# The motors' losses depend on how the force comes about. Of a force tau without friction,
#
#     a* = M(q)^-1 (tau + balancers - C(q, v*) v* - g(q))
#
# is the motion that it causes at (q, v*), v* the velocity at which friction is taken, and
# ``motor_commands`` of (q, v*, a*) has tau on the joints again, with the joints' and rotors'
# friction, the gears' losses and the rotors' inertia in front of them. The back-EMF is that of
# the measured speed. L di/dt needs the reference's jerk; without it the current counts as steady.


Saturation = Literal["each", "direction", "none"]
NOTHING: IntArray = np.zeros(0, np.int64)
NOTHING.setflags(write=False)


@dataclass(frozen=True, eq=False)
class OutputStage:
    """The motors as the output needs them; made by ``drives``.

    Attributes:
        model: The model whose friction counts: without any where that is switched off.
        command_type: What commands are.
        saturation: How commands beyond the motors' limits are made to fit.
        wound: Whether a motor has inductance, so that the jerk counts.
        balanced: Whether balancers count.
        bounded: Whether voltages are clipped once more, with the measured back-EMF.
    """

    model: GearedModel
    command_type: CommandType
    saturation: Saturation
    wound: bool
    balanced: bool
    bounded: bool


def drives(
    model: GearedModel, terms: Terms, command_type: CommandType, saturation: Saturation
) -> OutputStage:
    """Prepare the output side."""
    require_constants(model, command_type)
    return OutputStage(
        model=model if terms.use_friction else without_friction(model),
        command_type=command_type,
        saturation=saturation,
        wound=bool(np.any(model.motors.inductance > 0.0)),
        balanced=bool(model.balancers.names),
        bounded=saturation != "none" and bool(np.isfinite(model.motors.limits[:, 0]).any()),
    )


def without_friction(model: GearedModel) -> GearedModel:
    """The same arm with joints and rotors that do not rub; its gears keep their losses."""
    motors = replace(model.motors, friction=friction_laws((), ROTOR_SMOOTHING))
    return replace(model, joint_friction=friction_laws((), JOINT_SMOOTHING), motors=motors)


def output(given: OutputStage, demand: Demand, v: Array | None, jerk: Array | None) -> Output:
    """What to send for a law's demand.

    Args:
        given: The prepared motors.
        demand: What the law asks for.
        v: Measured joint velocity (n,); None: that of the demand.
        jerk: The reference's jerk (n,), or None.
    """
    torque = demand.torque
    if given.command_type == "joint_torque":
        return Output(torque, torque, NOTHING)
    model, q, rate = given.model, demand.q, demand.rate
    net = demand.net + balancer_forces(model, q) if given.balanced else demand.net
    a = forward_dynamics(model, q, rate, net)
    jerk = jerk if given.wound else None
    commands = motor_commands(model, q, rate, a, jerk=jerk)
    exceeded = commands.binding
    fits = given.saturation == "none" or not np.count_nonzero(exceeded)
    source = commands if fits else saturate(commands, given.saturation)  # type: ignore[arg-type]
    speed = commands.speed if v is None else v @ model.structure_matrix
    inductive = 0.0 if jerk is None else commands.inductive_voltage
    command = command_of_torque(model, given.command_type, source.torque, speed, inductive)
    if given.bounded and given.command_type == "motor_voltage":
        bound = model.motors.limits[:, 0]
        command = np.maximum(np.minimum(command, bound), -bound)
    return Output(command, torque, exceeded)


def limit_names(model: GearedModel, exceeded: IntArray) -> dict[str, Limit]:
    """Motors whose limits were exceeded, and which limits.

    Args:
        model: Geared model.
        exceeded: Of an ``Output`` (m,), or empty.
    """
    return {model.motor_names[k]: Limit(int(bits)) for k, bits in enumerate(exceeded) if bits}


# -- What joints and motors can give, from URDF and drivetrain ------------------------------------


TINY = 1e-9  # [N m or N] per kilogram: a joint that carries nothing
POSTURES = 256  # at which a load's weight is looked at


def command_limits(model: GearedModel, command_type: CommandType) -> Array:
    """Largest commands (n,) or (m,), infinite where nothing says any.

    Args:
        model: Geared model.
        command_type: What commands are.
    """
    voltage, current, torque, _ = model.motors.limits.T
    constant = model.motors.torque_constant
    known = np.isfinite(constant)
    per_ampere = np.where(known, constant, 1.0)
    by_current = np.where(known, current * per_ampere, np.inf)
    if command_type == "motor_voltage":
        return np.asarray(voltage)
    if command_type == "motor_current":
        return np.asarray(np.minimum(current, np.where(known, torque / per_ampere, np.inf)))
    shaft = np.asarray(np.minimum(torque, by_current))
    if command_type == "motor_torque":
        return shaft
    A = np.abs(model.structure_matrix)
    turned = A.any(axis=1)
    with np.errstate(invalid="ignore"):
        together = np.where(A > 0.0, A * shaft, 0.0).sum(axis=1)
    return np.asarray(np.minimum(model.limits.effort, np.where(turned, together, np.inf)))


class Weights(NamedTuple):
    """Forces on the joints (k, n) from loads on a link, in k postures.

    Attributes:
        kilogram: From 1 kg at the link's origin [N/kg or N m/kg].
        moment: From a first moment of 1 kg m along each of the link's axes (k, n, 3).
    """

    kilogram: Array
    moment: Array


@functools.lru_cache(maxsize=64)
def weights(model: GearedModel, link: str | None = None) -> Weights:
    """Return what loads weigh on the joints, over random postures within the joints' limits.

    Args:
        model: Geared model without the load.
        link: That carries it; None: the only tip.
    """
    low, high = model.limits.lower, model.limits.upper
    low, high = (np.where(np.isinf(x), np.copysign(math.pi, x), x) for x in (low, high))
    q = np.random.default_rng(0).uniform(low, high, (POSTURES, model.n))
    bare = gravity_forces(model, q)
    own = gravity_forces(model.with_payload(1.0, link=link), q)
    shifted = [gravity_forces(model.with_payload(1.0, axis, link=link), q) for axis in np.eye(3)]
    return Weights(own - bare, np.stack([one - own for one in shifted], axis=-1))


def holdable_mass(
    model: GearedModel, com: ArrayLike = (0.0, 0.0, 0.0), link: str | None = None
) -> float:
    """Largest mass [kg] whose weight alone the joints hold, inf for any.

    m max_q |w_i(q) + W_i(q) c| <= limit_i for every joint i, with ``weights`` w and W. The arm's
    own weight is left out: balancers may carry it, and an arm that just carries itself in its
    worst posture could else carry nothing in any other.

    Args:
        model: Geared model without the load.
        com: The load's centre of mass c in the link's frame (3,) [m].
        link: That carries it; None: the only tip.
    """
    found = weights(model, link)
    worst = np.abs(found.kilogram + found.moment @ np.asarray(com, np.float64)).max(axis=0)
    limit = command_limits(model, "joint_torque")
    bounds = [most / w for most, w in zip(limit.tolist(), worst.tolist(), strict=True) if w > TINY]
    return min(bounds, default=math.inf)


def extent(model: GearedModel) -> float:
    """Length [m] beyond that of any arm and what it carries: distances of its joints, and 1 m."""
    return 1.0 + float(np.linalg.norm(model.tree.position, axis=1).sum())


# -- What is sent for the motor torques of an elastic arm -----------------------------------------


BITS = {"motor_torque": Limit.TORQUE, "motor_current": Limit.CURRENT}


def elastic_output(
    model: GearedModel,
    command_type: CommandType,
    limits: Array,
    torque: Array,
    speed: Array,
    commands: MotorCommands | None,
    clip: bool,
) -> Output:
    """The command for motor torques, in its type.

    Args:
        model: Geared model with elastic joints.
        command_type: What commands are.
        limits: Largest commands (m,) or (n,).
        torque: At the motors' shafts (m,) [N m].
        speed: Of the rotors (m,) [rad/s].
        commands: Of the planned motion, for limits and the windings' inductance; None: none.
        clip: Whether commands beyond the limits are clipped.
    """
    joint = model.structure_matrix @ torque
    exceeded: IntArray = np.zeros(len(torque), np.int64)
    if commands is not None:
        exceeded = commands.binding
    inductive = 0.0 if commands is None else commands.inductive_voltage
    command = command_of_torque(model, command_type, torque, speed, inductive)
    if command_type != "joint_torque":
        bit = int(BITS.get(command_type, Limit.VOLTAGE))
        exceeded = exceeded | bit * (np.abs(command) > limits)
    if clip:
        command = np.clip(command, -limits, limits)
    return Output(np.asarray(command), joint, exceeded)
