"""Parameters of the observer node, and from their values to the observer, sensors and rules."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from math import nan
from typing import Any, Literal

import numpy as np

from geared_dynamics.actuation.command_type import Affine, TorqueMap, affine, torque_map
from geared_dynamics.arrays import Array, BoolArray, Frozen
from geared_dynamics.model import GearedModel
from geared_dynamics.observers import Observer, kalman_observer, nonlinear_observer
from geared_dynamics.observers.standing import motor_levels
from geared_dynamics.runtime.common_parameters import LifecycleParameters
from geared_dynamics.runtime.joint_readings import Feedback, motor_angle_map, motor_torques
from geared_dynamics.runtime.model_source import loaded
from geared_dynamics.runtime.parameters import (
    ParameterError,
    ParameterGroup,
    PerJoint,
    PerMotor,
    SignPerJoint,
    SignPerMotor,
    at_configure,
    ranged,
    row,
    signs,
)

# -- All parameters; docs/observer_node.md shows this table ---------------------------------------


TURN = 4.8e-5  # an encoder of 17 bits [rad]
# Those of a joint's sensors began with ``joints.``, but ``joints`` is a list: ``ros2 param dump``
# cannot write a list and a group of the same name.
sensor = functools.partial(at_configure, former="joints.<joint>.{}")


@dataclass(frozen=True, kw_only=True, eq=False)
class MotorParameters(ParameterGroup):
    """Encoders, commands and friction of the motors."""

    encoder_resolution: PerMotor = at_configure(
        nan, "Resolution of this motor's encoder, motor side [rad]. NaN uses encoder_resolution."
    )
    encoder_noise: PerMotor = at_configure(
        nan,
        "Standard deviation of this encoder's noise, motor side [rad]. NaN uses encoder_noise.",
    )
    encoder_delay: PerMotor = at_configure(
        0.0, "Delay from the encoder reading to the stamp of its joint state [s].", 0.0, 0.05
    )
    encoder_offset: PerMotor = at_configure(
        0.0, "Encoder reading at the zero position of the model, motor side [rad]."
    )
    encoder_sign: SignPerMotor = at_configure(
        1, "Sign of the encoder: 1, or -1 if it counts backwards.", -1, 1
    )
    command_sign: SignPerMotor = at_configure(
        1, "Sign of motor-side torques: 1, or -1 if the motor turns the other way.", -1, 1
    )
    stiction: PerMotor = at_configure(
        nan,
        "Friction torque of the motor at standstill, below which external torques cannot be "
        "observed, motor side [N m]. NaN uses the friction of the model.",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SensorParameters(ParameterGroup):
    """Sensors on the links and on the link side of the springs."""

    link_encoder_noise: PerJoint = sensor(
        nan,
        "Standard deviation of the link encoder, resolution included [rad or m]. "
        "NaN means that the joint has no link encoder.",
    )
    link_encoder_delay: PerJoint = sensor(
        0.0, "Delay from the link encoder's reading to its stamp [s].", 0.0, 0.05
    )
    link_encoder_offset: PerJoint = sensor(
        0.0, "Reading of the link encoder at the zero position of the joint [rad or m]."
    )
    link_encoder_sign: SignPerJoint = sensor(
        1, "Sign of the link encoder: 1, or -1 if it counts backwards.", -1, 1
    )
    torque_sensor_noise: PerJoint = sensor(
        nan,
        "Standard deviation of the joint torque sensor [N m or N]. "
        "NaN means that the joint has no torque sensor.",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ContactParameters(ParameterGroup):
    """A contact at a frame."""

    frame: str = at_configure(
        "", "Link at whose origin a contact is assumed. Empty means no contact."
    )
    moment: bool = row(True, "If true, the contact may transmit a moment.")
    rate: float = row(100.0, "Rate of ~/contact_wrench [1/s].", 1.0, 1000.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class ObserverParameters(LifecycleParameters):
    """All parameters of the observer node."""

    observer: Literal["kalman", "nonlinear"] = at_configure(
        "kalman", "Type of the observer, see docs/observers.md."
    )
    joints: tuple[str, ...] = at_configure(
        [], "Joints of the arm. Empty means all joints of the URDF."
    )
    bandwidth: float = row(
        30.0,
        "Bandwidth of the external force (kalman) or of the errors (nonlinear) [Hz].",
        0.1,
        1000.0,
    )
    update_rate: float = at_configure(1000.0, "Rate of joint_states [1/s].", 1.0, 1e5)
    stamps: Literal["uniform", "exact"] = at_configure(
        "uniform",
        "Sample times: exact uses the stamps, uniform assigns them to multiples of the period.",
        former_choices=(("even", "uniform"),),
    )
    max_extrapolation: float = at_configure(
        0.05,
        "Maximum time for which missing readings are replaced by prediction; after that the "
        "estimate is invalid [s].",
        1e-3,
        1.0,
        former="hold",
    )
    settling_time: float = row(
        0.1, "Time after a start until the estimate counts as valid [s].", 0.0, 10.0
    )
    restart: Literal["auto", "reset"] = row(
        "auto",
        "Restart after the estimate became invalid: auto restarts the observer, reset waits for "
        "~/reset.",
    )
    feedback: Feedback = at_configure(
        "joint",
        "Contents of joint_states: joint for motor angles divided by the ratios, motor for motor "
        "angles.",
    )
    state_names: tuple[str, ...] = at_configure(
        [], "Names in joint_states, in the order of the model. Empty uses the names of the model."
    )
    encoder_resolution: float = at_configure(
        TURN, "Resolution of the motor encoders, motor side [rad].", 0.0, 1.0
    )
    encoder_noise: float = at_configure(
        0.0,
        "Standard deviation of the motor encoders' noise in addition to their resolution, motor "
        "side [rad].",
        0.0,
        1.0,
    )
    torque_source: Literal["commands", "joint_commands", "effort"] = at_configure(
        "commands",
        "Source of the motor torques: the topic commands or joint_commands, or effort, the field "
        "of joint_states.",
    )
    torque_kind: Literal["joint_torque", "motor_torque", "motor_current"] = at_configure(
        "joint_torque",
        "Type of the received torques; joint_torque is the motor torque mapped to the joints.",
    )
    command_joints: tuple[str, ...] = at_configure(
        [], "Names of the received torques, in their order. Empty uses the names of the model."
    )
    torque_timeout: float = row(
        0.05,
        "Age above which a received torque counts as missing [s]. 0 disables the check.",
        0.0,
        60.0,
    )
    rest_torque: Literal["holding", "zero", "unknown"] = row(
        "holding",
        "Motor torque assumed at standstill if none is received: holding the weight, zero, or "
        "unknown.",
    )
    friction_error: float = at_configure(
        0.0,
        "Expected error of the friction model in motion, as a fraction of the friction at rest.",
        0.0,
        1.0,
    )
    torque_sensor: Literal[
        "joint_torque", "joint_torque_gravity_compensated", "gravity_compensated"
    ] = at_configure("joint_torque", "Type of the values of the joint torque sensors.")
    motors: MotorParameters
    sensors: SensorParameters
    contact: ContactParameters


# -- From their values to what the loop needs -----------------------------------------------------


SLOWEST_HOLD = 3.0  # periods that ``max_extrapolation`` has to bridge at least


@dataclass(frozen=True, eq=False)
class ObserverSetup(Frozen):
    """All that a cycle needs; exchanged as a whole.

    Attributes:
        model: With its payload.
        observer: Its gains, and the model that it follows.
        angles: Joint states' positions to motors' angles.
        torques: Commands or efforts to motors' torques.
        holding: Forces on the joints to motors' torques at rest.
        link: Links' encoders to joint positions.
        shafts: Of each joint with a torque sensor the spring, else -1 (n,).
        delays: Of the motors' encoders (m,) [s].
        link_delays: Of the links' (n,) [s].
        has_links: Which joints have an encoder on the link (n,).
        period: Of the joint states [s].
        even: Whether they are taken evenly, whatever their stamps say of it.
        hold: How long prediction bridges [s].
        settling: After a start, until an estimate is valid [s].
        auto: Whether the observer starts again by itself.
        rest_torque: What is assumed where no torque is known.
        compensated: Whether torque sensors lack gravity.
    """

    model: GearedModel
    observer: Observer[Any]
    angles: Affine
    torques: TorqueMap
    holding: TorqueMap
    link: Affine
    shafts: tuple[int, ...]
    delays: Array
    link_delays: Array
    has_links: BoolArray
    period: float
    even: bool
    hold: float
    settling: float
    auto: bool
    rest_torque: str
    compensated: bool

    @property
    def has_torques(self) -> bool:
        """Whether there is a torque sensor."""
        return any(shaft >= 0 for shaft in self.shafts)

    def at_springs(self, tau: Array) -> Array:
        """Numbers by joint (n,) as numbers by spring (n_e,), NaN where there is no sensor."""
        return at_springs(self.model, self.shafts, tau)


def observer_setup(parameters: ObserverParameters, bare: GearedModel) -> ObserverSetup:
    """Prepare from a model without payload.

    Raises:
        GearedDynamicsError: what does not go together.
    """
    model, own, sensors = loaded(bare, parameters), parameters.motors, parameters.sensors
    motors, joints = model.motor_names, model.joint_names
    period = 1.0 / parameters.update_rate
    if parameters.max_extrapolation < SLOWEST_HOLD * period:
        place, found = "max_extrapolation", parameters.max_extrapolation
        finding = f"is {found:g} s, less than {SLOWEST_HOLD:g} periods of update_rate"
        raise ParameterError(place, finding, f"set at least {SLOWEST_HOLD * period:g} s")
    remedy = "give a finite number"
    offsets = ranged(own.encoder_offset, "motors.{}.encoder_offset", motors, -np.inf, remedy)
    link_signs = signs(sensors.link_encoder_sign, "sensors.{}.link_encoder_sign", joints)
    name = "sensors.{}.link_encoder_offset"
    link_offsets = ranged(sensors.link_encoder_offset, name, joints, -np.inf, remedy)
    encoder_signs = signs(own.encoder_sign, "motors.{}.encoder_sign", motors)
    command_signs = signs(own.command_sign, "motors.{}.command_sign", motors)
    return ObserverSetup(
        model=model,
        observer=observer_of(parameters, model),
        angles=motor_angle_map(model, parameters.feedback, offsets, encoder_signs),
        torques=motor_torques(model, parameters.torque_kind, command_signs),
        holding=torque_map(model, "joint_torque", "motor_torque"),
        link=affine(np.diag(link_signs), -link_signs * link_offsets),
        shafts=shafts_of(parameters, model),
        delays=own.encoder_delay,
        link_delays=sensors.link_encoder_delay,
        has_links=np.isfinite(sensors.link_encoder_noise),
        period=period,
        even=parameters.stamps == "uniform",
        hold=parameters.max_extrapolation,
        settling=parameters.settling_time,
        auto=parameters.restart == "auto",
        rest_torque=parameters.rest_torque,
        compensated=parameters.torque_sensor != "joint_torque",
    )


def observer_of(parameters: ObserverParameters, model: GearedModel) -> Observer[Any]:
    """The observer with its gains."""
    motors, joints = model.motor_names, model.joint_names
    resolution, noise = (
        own_or_common(parameters, name, motors) for name in ("encoder_resolution", "encoder_noise")
    )
    common: dict[str, Any] = {
        "resolution": resolution,
        "noise": noise,
        "bandwidth": parameters.bandwidth,
        "rate": parameters.update_rate,
        "hold": parameters.max_extrapolation,
    }
    links = deviations(parameters.sensors.link_encoder_noise, "link_encoder_noise", joints)
    shafts = shafts_of(parameters, model)
    torques = at_springs(model, shafts, parameters.sensors.torque_sensor_noise)
    check_encoders(motors, resolution, noise, parameters.observer)
    if parameters.observer == "nonlinear":
        if np.isfinite(links).any() or np.isfinite(torques).any():
            finding = "the nonlinear observer does not support link-side sensors"
            raise ParameterError("observer", finding, "choose kalman, or set their noise to NaN")
        return nonlinear_observer(model, **common)
    return kalman_observer(
        model,
        link_noise=links,
        joint_torque_noise=torques,
        stiction=stiction(parameters, model),
        friction_error=parameters.friction_error,
        **common,
    )


def stiction(parameters: ObserverParameters, model: GearedModel) -> Array:
    """Level of each motor's friction at rest (m,) [N m], the model's where none is given."""
    remedy = "set a level of zero or more [N m], or NaN for that of the model"
    level = parameters.motors.stiction
    ranged(level, "motors.{}.stiction", model.motor_names, 0.0, remedy, none=True)
    return np.where(np.isnan(level), motor_levels(model), level)


def own_or_common(parameters: ObserverParameters, name: str, motors: tuple[str, ...]) -> Array:
    """Each motor's number, or the one of all (m,)."""
    remedy = f"set a number of zero or more, or NaN to use the parameter {name}"
    own: Array = getattr(parameters.motors, name)
    ranged(own, f"motors.{{}}.{name}", motors, 0.0, remedy, none=True)
    return np.where(np.isnan(own), getattr(parameters, name), own)


def check_encoders(
    motors: tuple[str, ...], resolution: Array, noise: Array, observer: str
) -> None:
    """Refuse encoders without any error: by resolution, or for the Kalman filter by noise."""
    nothing = resolution == 0.0
    if observer == "kalman":
        nothing &= noise == 0.0
    for name in np.array(motors)[nothing]:
        place, finding = f"motors.{name}.encoder_resolution", "is 0"
        finding += ", and encoder_noise as well" if observer == "kalman" else ""
        remedy = "set it, or the parameter encoder_resolution for all motors"
        raise ParameterError(place, finding, remedy)


def deviations(found: Array, name: str, joints: tuple[str, ...]) -> Array:
    """Standard deviations (n,) of sensors, above zero; NaN where there is none."""
    remedy = "set a number above zero, or NaN if there is no sensor"
    return ranged(found, f"sensors.{{}}.{name}", joints, np.finfo(float).tiny, remedy, none=True)


def shafts_of(parameters: ObserverParameters, model: GearedModel) -> tuple[int, ...]:
    """The spring that each joint's torque sensor is at; -1 for joints without one."""
    name = "torque_sensor_noise"
    noise = deviations(parameters.sensors.torque_sensor_noise, name, model.joint_names)
    springs = {int(joint): shaft for shaft, joint in enumerate(model.elasticity.joint)}
    found = []
    for joint, (name, value) in enumerate(zip(model.joint_names, noise, strict=True)):
        if np.isfinite(value) and joint not in springs:
            finding = "is given for a joint without a spring"
            raise ParameterError(f"sensors.{name}.torque_sensor_noise", finding, "leave it NaN")
        found.append(springs[joint] if np.isfinite(value) else -1)
    return tuple(found)


def at_springs(model: GearedModel, shafts: tuple[int, ...], values: Array) -> Array:
    """Numbers by joint (n,) as numbers by spring (n_e,), NaN where there is no sensor."""
    found = np.full(model.elasticity.count, np.nan)
    for joint, shaft in enumerate(shafts):
        if shaft >= 0:
            found[shaft] = values[joint]
    return found
