"""From parameter values to the observer, its sensors and its rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from geared_dynamics.actuation.command_type import (
    EFFORTS,
    Affine,
    TorqueMap,
    affine,
    as_command_type,
    is_of_motors,
    require_constants,
    torque_map,
)
from geared_dynamics.arrays import Array, BoolArray, Frozen
from geared_dynamics.model import GearedModel
from geared_dynamics.observers import (
    Observer,
    kalman_observer,
    nonlinear_observer,
)
from geared_dynamics.observers.standing import motor_levels
from geared_dynamics.runtime.joint_readings import motor_angle_map
from geared_dynamics.runtime.model_source import loaded
from geared_dynamics.runtime.observer_parameters import ObserverParameters
from geared_dynamics.runtime.parameters import ParameterError, ranged, signs

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
        found = np.full(self.model.elasticity.count, np.nan)
        for joint, shaft in enumerate(self.shafts):
            if shaft >= 0:
                found[shaft] = tau[joint]
        return found


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
    torques = sensor_noise(parameters, model)
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


def sensor_noise(parameters: ObserverParameters, model: GearedModel) -> Array:
    """Noise of the torque sensors by spring (n_e,), NaN where there is none."""
    found = np.full(model.elasticity.count, np.nan)
    for joint, shaft in enumerate(shafts_of(parameters, model)):
        if shaft >= 0:
            found[shaft] = parameters.sensors.torque_sensor_noise[joint]
    return found
