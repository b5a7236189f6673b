"""All parameters of the observer node. docs/observer_node.md shows this table."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from math import nan
from typing import Literal

from geared_dynamics.runtime.joint_readings import Feedback
from geared_dynamics.runtime.node_parameters import (
    LifecycleParameters,
    ParameterGroup,
    PerJoint,
    PerMotor,
    SignPerJoint,
    SignPerMotor,
    at_configure,
    row,
)

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
