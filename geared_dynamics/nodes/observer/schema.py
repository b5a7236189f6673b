"""All parameters of the observer node. docs/observer_node.md shows this table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from geared_dynamics.nodes.common.parameters import Parameter
from geared_dynamics.nodes.common.schema import AUTOSTART, GUARDS, MODEL, PAYLOAD, SYSTEM

NOT_GIVEN = float("nan")
TURN = 4.8e-5  # an encoder of 17 bits [rad]


def sensor(name: str, *values: Any, **more: Any) -> Parameter:
    """Return a parameter of a joint's own sensors.

    It began with ``joints.``, but ``joints`` is a list: ``ros2 param dump`` cannot write a list
    and a group of the same name.
    """
    made = Parameter(f"sensors.<joint>.{name}", *values, **more)
    return replace(made, former=f"joints.<joint>.{name}")


OBSERVER = (
    Parameter("observer", "string", "kalman", "which one", choices=("kalman", "nonlinear"),
              when="configure"),
    AUTOSTART,
    Parameter("joints", "strings", [], "joints of the arm; none: all of the URDF",
              when="configure"),
    Parameter("bandwidth", "double", 30.0, "up to which forces are followed (kalman), or in which "
              "errors decay (nonlinear) [Hz]", 0.1, 1000.0),
    Parameter("update_rate", "double", 1000.0, "of joint_states [1/s]", 1.0, 1e5,
              when="configure"),
    Parameter("stamps", "string", "even", "even: samples are a period apart, or several, and "
              "stamps tell that roughly; exact: they are when their stamps say",
              choices=("even", "exact"), when="configure"),
    Parameter("hold", "double", 0.05, "for how long prediction bridges what is missing; then the "
              "estimate is invalid [s]", 1e-3, 1.0, when="configure"),
    Parameter("settling_time", "double", 0.1, "after a start, until the estimate counts as valid "
              "[s]", 0.0, 10.0),
    Parameter("restart", "string", "auto", "after an estimate became invalid: by itself, or only "
              "by ~/reset", choices=("auto", "reset")),
)  # fmt: skip
ENCODERS = (
    Parameter("feedback", "string", "joint", "what joint_states holds: joint, the motors' angles "
              "over their ratios, by joint; motor, the motors' angles",
              choices=("joint", "motor"), when="configure"),
    Parameter("state_names", "strings", [], "what joint_states calls them, in the model's order; "
              "none: the joints' or the motors' names", when="configure"),
    Parameter("encoder_resolution", "double", TURN, "of the motors' encoders, motor side [rad]",
              0.0, 1.0, when="configure"),
    Parameter("encoder_noise", "double", 0.0, "beside it, standard deviation [rad]", 0.0, 1.0,
              when="configure"),
    Parameter("motors.<motor>.encoder_resolution", "double", NOT_GIVEN,
              "of one motor's; NaN: encoder_resolution [rad]", when="configure"),
    Parameter("motors.<motor>.encoder_noise", "double", NOT_GIVEN,
              "of one motor's; NaN: encoder_noise [rad]", when="configure"),
    Parameter("motors.<motor>.encoder_delay", "double", 0.0,
              "by which its reading is older than the joint state's stamp [s]", 0.0, 0.05,
              when="configure"),
    Parameter("motors.<motor>.encoder_offset", "double", 0.0,
              "what the encoder shows where the model's shows zero [rad]", when="configure"),
    Parameter("motors.<motor>.encoder_sign", "int", 1, "-1 for one that counts backwards", -1, 1,
              when="configure"),
    sensor("link_encoder_noise", "double", NOT_GIVEN,
              "of the encoder on the link, resolution included; NaN: there is none [rad or m]",
              when="configure"),
    sensor("link_encoder_delay", "double", 0.0,
              "by which its reading is older than its stamp [s]", 0.0, 0.05, when="configure"),
    sensor("link_encoder_offset", "double", 0.0,
              "what it shows at the joint's zero [rad or m]", when="configure"),
    sensor("link_encoder_sign", "int", 1, "-1 for one that counts backwards",
              -1, 1, when="configure"),
)  # fmt: skip
TORQUES = (
    Parameter("torque_source", "string", "commands", "where the motors' torques come from: the "
              "topics commands or joint_commands, or joint_states' effort",
              choices=("commands", "joint_commands", "effort"), when="configure"),
    Parameter("torque_kind", "string", "joint_torque", "what they are; joint_torque is that of "
              "the motors, by joint", choices=("joint_torque", "motor_torque", "motor_current"),
              when="configure"),
    Parameter("command_joints", "strings", [], "their order and names, joints or motors; none: "
              "the model's, or joints", when="configure"),
    Parameter("motors.<motor>.command_sign", "int", 1, "-1 for a motor that turns the other way, "
              "of motor-side torques", -1, 1, when="configure"),
    Parameter("torque_timeout", "double", 0.05, "age at which a command counts as missing; 0: the "
              "last one acts for ever [s]", 0.0, 60.0),
    Parameter("rest_torque", "string", "holding", "torque assumed where none is known and the "
              "motors rest: what holds the weight, zero, or unknown",
              choices=("holding", "zero", "unknown")),
    Parameter("motors.<motor>.stiction", "double", NOT_GIVEN,
              "level of the motor's friction at rest, within which external torques stay unknown; "
              "NaN: the model's [N m], motor side", when="configure"),
    Parameter("friction_error", "double", 0.0,
              "how far friction may be off in motion, as a part of its level at rest", 0.0, 1.0,
              when="configure"),
    sensor("torque_sensor_noise", "double", NOT_GIVEN,
              "of the torque sensor behind the spring; NaN: there is none [N m or N]",
              when="configure"),
    Parameter("torque_sensor", "string", "joint_torque", "what these sensors tell",
              choices=("joint_torque", "joint_torque_gravity_compensated"), when="configure"),
)  # fmt: skip
CONTACT = (
    Parameter("contact.frame", "string", "", "link at whose origin a contact is assumed; empty: "
              "none", when="configure"),
    Parameter("contact.moment", "bool", True, "whether it may pass a moment"),
    Parameter("contact.rate", "double", 100.0, "of ~/contact_wrench [1/s]", 1.0, 1000.0),
)  # fmt: skip

SCHEMA: tuple[Parameter, ...] = (
    *OBSERVER, *MODEL, *GUARDS, *ENCODERS, *TORQUES, *CONTACT, *PAYLOAD, *SYSTEM,
)  # fmt: skip
