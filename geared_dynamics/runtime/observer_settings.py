"""From parameter values to the observer, its sensors and its rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from geared_dynamics.actuation.command_type import (
    EFFORTS,
    GRAVITY_COMPENSATED,
    Affine,
    TorqueMap,
    affine,
    as_command_type,
    command_names,
    is_of_motors,
    require_constants,
    torque_map,
)
from geared_dynamics.arrays import Array, BoolArray, Frozen
from geared_dynamics.model import GearedModel
from geared_dynamics.observers import (
    KalmanGains,
    NonlinearGains,
    kalman_gains,
    nonlinear_gains,
)
from geared_dynamics.observers.standing import motor_levels
from geared_dynamics.runtime.joint_readings import motor_angles
from geared_dynamics.runtime.model_source import loaded, numbers, signs
from geared_dynamics.runtime.observer_restart import check_encoders, deviations, ranged
from geared_dynamics.runtime.parameters import (
    AUTOSTART,
    GUARDS,
    MODEL,
    PAYLOAD,
    SYSTEM,
    Parameter,
    ParameterError,
    Values,
)

# -- All parameters of the observer node. docs/observer_node.md shows this table ------------------


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
              "stamps show it roughly; exact: sample times are the stamps",
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
              "Standard deviation of the link encoder, resolution included [rad or m]. "
        "NaN means that there is no encoder.",
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
              "last one acts indefinitely [s]", 0.0, 60.0),
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
              "Standard deviation of the joint torque sensor [N m or N]. "
        "NaN means that there is no sensor.",
              when="configure"),
    Parameter("torque_sensor", "string", "joint_torque", "Contents of these sensors' values.",
              choices=("joint_torque", GRAVITY_COMPENSATED, "gravity_compensated"),
              when="configure"),
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


# -- From parameter values to the observer, its sensors and its rules -----------------------------


AnyGains = KalmanGains | NonlinearGains
SLOWEST_HOLD = 3.0  # periods that ``hold`` has to bridge at least


@dataclass(frozen=True, eq=False)
class ObserverSetup(Frozen):
    """All that a cycle needs; exchanged as a whole.

    Attributes:
        model: With its payload.
        gains: Of the observer.
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
    gains: AnyGains
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
        found = np.full(self.model.elasticity.count, np.nan)
        for joint, shaft in enumerate(self.shafts):
            if shaft >= 0:
                found[shaft] = tau[joint]
        return found


def prepared(values: Values, bare: GearedModel) -> ObserverSetup:
    """Prepare from a model without payload.

    Raises:
        GearedDynamicsError: what does not go together.
    """
    model = loaded(bare, values)
    motors, joints = model.motor_names, model.joint_names
    period = 1.0 / cast(float, values["update_rate"])
    hold = cast(float, values["hold"])
    if hold < SLOWEST_HOLD * period:
        finding = f"is {hold:g} s, less than {SLOWEST_HOLD:g} periods of update_rate"
        raise ParameterError("hold", finding, f"give at least {SLOWEST_HOLD * period:g}")
    offsets = ranged(values, "motors.{}.encoder_offset", motors, -np.inf, "give a finite number")
    link_signs = signs(values, "sensors.{}.link_encoder_sign", joints)
    link_offsets = ranged(
        values, "sensors.{}.link_encoder_offset", joints, -np.inf, "give a finite number"
    )
    return ObserverSetup(
        model=model,
        gains=gains_of(values, model),
        angles=motor_angles(
            model,
            cast(Any, values["feedback"]),
            offsets,
            signs(values, "motors.{}.encoder_sign", motors),
        ),
        torques=motor_torques(
            model,
            str(values["torque_kind"]),
            signs(values, "motors.{}.command_sign", motors),
        ),
        holding=torque_map(model, "joint_torque", "motor_torque"),
        link=affine(np.diag(link_signs), -link_signs * link_offsets),
        shafts=shafts_of(values, model),
        delays=numbers(values, "motors.{}.encoder_delay", motors),
        link_delays=numbers(values, "sensors.{}.link_encoder_delay", joints),
        has_links=np.isfinite(numbers(values, "sensors.{}.link_encoder_noise", joints)),
        period=period,
        even=values["stamps"] == "even",
        hold=hold,
        settling=cast(float, values["settling_time"]),
        auto=values["restart"] == "auto",
        rest_torque=str(values["rest_torque"]),
        compensated=values["torque_sensor"] != "joint_torque",
    )


def motor_torques(model: GearedModel, torque_kind: str, signs: Array) -> TorqueMap:
    """The motors' torques tau_m (m,) [N m] of what the parameter ``torque_kind`` names.

    Args:
        model: Geared model.
        torque_kind: The parameter.
        signs: Of the motors (m,), for numbers of motors.

    Raises:
        ModelError: where a torque constant is missing.
    """
    source = as_command_type("torque_kind", torque_kind, EFFORTS)
    require_constants(model, source, "add it, or set torque_kind to motor_torque")
    return torque_map(model, source, "motor_torque", signs=signs if is_of_motors(source) else None)


def gains_of(values: Values, model: GearedModel) -> AnyGains:
    """The observer's gains."""
    motors, joints = model.motor_names, model.joint_names
    resolution, noise = (
        own_or_common(values, name, motors) for name in ("encoder_resolution", "encoder_noise")
    )
    common: dict[str, Any] = {
        "resolution": resolution,
        "noise": noise,
        "bandwidth": values["bandwidth"],
        "rate": values["update_rate"],
        "hold": values["hold"],
    }
    links = deviations(values, "sensors.{}.link_encoder_noise", joints)
    torques = sensor_noise(values, model)
    check_encoders(motors, resolution, noise, str(values["observer"]))
    if values["observer"] == "nonlinear":
        if np.isfinite(links).any() or np.isfinite(torques).any():
            finding = "the nonlinear observer does not support link-side sensors"
            raise ParameterError("observer", finding, "choose kalman, or set their noise to NaN")
        return nonlinear_gains(model, **common)
    return kalman_gains(
        model,
        link_noise=links,
        joint_torque_noise=torques,
        stiction=stiction(values, model),
        friction_error=cast(float, values["friction_error"]),
        **common,
    )


def stiction(values: Values, model: GearedModel) -> Array:
    """Level of each motor's friction at rest (m,) [N m], the model's where none is given."""
    remedy = "give a level that is not negative [N m], or NaN: the model's holds"
    name = "motors.{}.stiction"
    given = ranged(values, name, model.motor_names, 0.0, remedy, none=True)
    return np.where(np.isnan(given), motor_levels(model), given)


def own_or_common(values: Values, name: str, motors: tuple[str, ...]) -> Array:
    """Each motor's number, or the one of all (m,)."""
    remedy = f"give a number that is not negative, or NaN: {name} holds"
    own = ranged(values, f"motors.{{}}.{name}", motors, 0.0, remedy, none=True)
    return np.where(np.isnan(own), cast(float, values[name]), own)


def shafts_of(values: Values, model: GearedModel) -> tuple[int, ...]:
    """The spring that each joint's torque sensor is at; -1 for joints without one."""
    noise = deviations(values, "sensors.{}.torque_sensor_noise", model.joint_names)
    springs = {int(joint): shaft for shaft, joint in enumerate(model.elasticity.joint)}
    found = []
    for joint, (name, value) in enumerate(zip(model.joint_names, noise, strict=True)):
        if np.isfinite(value) and joint not in springs:
            finding = "is given for a joint without a spring"
            raise ParameterError(f"sensors.{name}.torque_sensor_noise", finding, "leave it NaN")
        found.append(springs[joint] if np.isfinite(value) else -1)
    return tuple(found)


def sensor_noise(values: Values, model: GearedModel) -> Array:
    """Noise of the torque sensors by spring (n_e,), NaN where there is none."""
    noise = numbers(values, "sensors.{}.torque_sensor_noise", model.joint_names)
    found = np.full(model.elasticity.count, np.nan)
    for joint, shaft in enumerate(shafts_of(values, model)):
        if shaft >= 0:
            found[shaft] = noise[joint]
    return found


def state_names(values: Values, model: GearedModel) -> tuple[str, ...]:
    """What joint_states calls what it holds, in the model's order."""
    motors = values["feedback"] == "motor"
    own = model.motor_names if motors else model.joint_names
    return given_names(values, "state_names", own)


def torque_names(values: Values, model: GearedModel) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """What the source of torques calls them in its order, and their places in the model's order.

    As for the feedforward node, ``command_joints`` may have the model's names in another order,
    or other names in the order of ``joints``.
    """
    motors = is_of_motors(str(values["torque_kind"]))
    own = command_names(model, str(values["torque_kind"]))
    listed = tuple(cast("list[str]", values["joints"]))
    usual = listed if listed and not motors else own
    called = given_names(values, "command_joints", usual)
    ordered = called if set(called) == set(own) else usual
    return called, tuple(own.index(name) for name in ordered)


def given_names(values: Values, name: str, usual: tuple[str, ...]) -> tuple[str, ...]:
    """Names of a parameter, or the usual ones."""
    given = tuple(cast("list[str]", values[name])) or usual
    if len(set(given)) != len(given) or len(given) != len(usual):
        finding = f"has {len(given)} names, and there are {len(usual)}: {', '.join(usual)}"
        raise ParameterError(name, finding, "give each a name of its own")
    return given
