"""From parameter values to a plant, its start, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, cast

from geared_dynamics.arrays import Array
from geared_dynamics.control.values import Side
from geared_dynamics.errors import MissingPackageError, ModelError, UnknownNameError
from geared_dynamics.model import GearedModel
from geared_dynamics.nodes.common.parameters import Values
from geared_dynamics.nodes.common.values import numbers, payload_place, payload_tensor
from geared_dynamics.nodes.plant.schema import AUTO
from geared_dynamics.simulation.plants import Faults, Plant, PlantSettings
from geared_dynamics.simulation.plants.electrics import CommandKind
from geared_dynamics.simulation.plants.plant import Engine

KINDS: Mapping[Side, CommandKind] = {
    "joint_torque": "effort",
    "motor_torque": "torque",
    "motor_current": "current",
    "motor_voltage": "voltage",
}
# Faults that a service of the same name switches on and off.
DROP_STATES, DROP_COMMANDS = "drop_states", "drop_commands"
FREEZE, SATURATE = "freeze_encoders", "saturate_motors"
FAULT_NAMES = (DROP_STATES, DROP_COMMANDS, FREEZE, SATURATE)


def plant_of(values: Values, model: GearedModel) -> tuple[Plant, str]:
    """Return the plant that the parameters describe, at its start, and a note on its engine.

    Raises:
        GearedDynamicsError: for an arm without motors, a step that is not stable, and so on.
    """
    side = cast(Side, values["command"])
    options: dict[str, Any] = {
        name: values[name]
        for name in (
            "friction", "saturate", "end_stops", "angle_noise", "speed_noise", "current_noise",
            "command_latency", "measurement_latency", "seed",
        )
    }  # fmt: skip
    settings = PlantSettings(
        timestep=cast(float, values["timestep"]) or None,
        encoder_counts=cast(int, values["encoder_counts"]) or None,
        **options,
    )
    engine, note = cast(Any, values["engine"]), ""

    def built(engine: Engine) -> Plant:
        return Plant(model, command=KINDS[side], engine=engine, settings=settings)

    if engine != AUTO:
        plant = built(engine)
    else:
        try:
            plant = built("mujoco")
        except (MissingPackageError, ModelError) as error:
            plant, note = (
                built("equations"),
                f"our own equations move the arm, not MuJoCo: {error}",
            )
    plant.reset(start_of(values, model))
    return plant, note


def start_of(values: Values, model: GearedModel) -> Array:
    """Where the arm begins (n,)."""
    return numbers(values, "initial.{}", model.joint_names)


def command_names(values: Values, model: GearedModel) -> tuple[str, ...]:
    """Whose commands they are: joints or motors."""
    joints = values["command"] == "joint_torque"
    return model.joint_names if joints else model.motor_names


def attach_payload(plant: Plant, values: Values, attached: bool) -> None:
    """Fix the load of ``payload.*`` to the arm while it moves, or take it off.

    Raises:
        GearedDynamicsError: for a load that there cannot be.
    """
    if not attached:
        plant.load(0.0)
        return
    mass, tensor = cast(float, values["payload.mass"]), payload_tensor(values)
    link = payload_place(plant.model, values).link if mass else None
    plant.load(mass, cast("list[float]", values["payload.center_of_mass"]), tensor, link=link)


def faults_of(values: Values, model: GearedModel, active: Collection[str]) -> Faults:
    """Faults that are switched on.

    Args:
        values: The parameters with their amounts.
        model: The arm.
        active: Names in ``FAULT_NAMES``.

    Raises:
        UnknownNameError: for a motor that there is none of.
    """
    part = cast(float, values["faults.lost_part"])
    named = cast("list[str]", values["faults.motors"])
    for name in named:
        if name not in model.motor_names:
            raise UnknownNameError("faults.motors", "motor", name, model.motor_names)
    motors = named or list(model.motor_names)
    faults = Faults(
        drop_measurements=part if DROP_STATES in active else 0.0,
        drop_commands=part if DROP_COMMANDS in active else 0.0,
    )
    if FREEZE in active:
        faults = faults.frozen(*motors)
    if SATURATE in active:
        limit = cast(float, values["faults.torque_limit"])
        faults = replace(faults, torque_limits=dict.fromkeys(motors, limit))
    return faults
