"""From the plant node's parameters to a plant, its load and its faults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from demo_robots import elbow
from geared_dynamics.actuation.command_type import command_names
from geared_dynamics.errors import ModelError, UnknownNameError
from geared_dynamics.runtime import plant_node_settings
from geared_dynamics.runtime.plant_node_settings import PlantParameters
from node_values import parameters
from plant_arms import example


def values(model: gd.GearedModel, **changes: Any) -> PlantParameters:
    """Defaults of all parameters, some changed; ``__`` stands for a dot."""
    return parameters(PlantParameters, model, **{"engine": "equations"} | changes)


def test_defaults_are_good() -> None:
    for entry in PlantParameters.rows():
        found = entry.checked(entry.default)
        assert found == entry.default or found != found  # NaN: not given


def test_the_plant_is_as_described() -> None:
    model = elbow()
    given = values(
        model, command="motor_torque", encoder_counts=1024, command_latency=0.002, friction=False,
        initial__joint_2=0.7, timestep=5e-4,
    )  # fmt: skip
    plant, note = plant_node_settings.plant_of(given, model)
    assert not note
    assert (plant.command, plant.engine, plant.timestep) == ("motor_torque", "equations", 5e-4)
    assert plant.settings == gd.simulation.PlantSettings(
        timestep=5e-4, friction=False, encoder_counts=1024, command_latency=0.002
    )
    np.testing.assert_array_equal(plant.state.q, [0.0, 0.7, 0.0])
    assert command_names(model, given.command) == model.motor_names


def test_our_equations_move_an_arm_that_mujoco_does_not_take() -> None:
    """Asked for, MuJoCo is refused by name."""
    pytest.importorskip("mujoco")
    model = example("tx40")  # its last link is a point
    plant, note = plant_node_settings.plant_of(values(model, engine="auto"), model)
    assert plant.engine == "equations"
    assert note.startswith("our own equations move the arm, not MuJoCo: ")
    assert (
        plant_node_settings.plant_of(values(elbow(), engine="auto"), elbow())[0].engine == "mujoco"
    )
    with pytest.raises(ModelError):
        plant_node_settings.plant_of(values(model, engine="mujoco"), model)


def test_a_load_is_fixed_and_taken_off() -> None:
    model = elbow()
    inertia = [0.1, 0.01, 0.02, 0.25, 0.03, 0.3]
    given = values(
        model, payload__mass=3.0, payload__center_of_mass=[0.1, 0.0, 0.2],
        payload__inertia=inertia,
    )  # fmt: skip
    (plant, _), q = plant_node_settings.plant_of(given, model), np.array([0.1, 0.2, 0.3])
    plant_node_settings.attach_payload(plant, given, attached=True)
    tensor = [[0.1, 0.01, 0.02], [0.01, 0.25, 0.03], [0.02, 0.03, 0.3]]
    loaded = model.with_payload(3.0, [0.1, 0.0, 0.2], tensor)
    np.testing.assert_allclose(gd.mass_matrix(plant.model, q), gd.mass_matrix(loaded, q))
    plant_node_settings.attach_payload(plant, given, attached=False)
    np.testing.assert_array_equal(gd.mass_matrix(plant.model, q), gd.mass_matrix(model, q))


def test_faults_add_up_and_name_motors() -> None:
    model = elbow()
    motor = model.motor_names[1]
    given = values(model, faults__lost_part=0.25, faults__torque_limit=0.5)
    none = plant_node_settings.faults_of(given, model, ())
    assert none == gd.simulation.Faults()
    every = plant_node_settings.faults_of(given, model, plant_node_settings.FAULT_NAMES)
    assert (every.drop_measurements, every.drop_commands) == (0.25, 0.25)
    assert every.frozen_encoders == set(model.motor_names)
    assert dict(every.torque_limits) == dict.fromkeys(model.motor_names, 0.5)
    one = plant_node_settings.faults_of(
        given.replaced({"faults.motors": [motor]}), model, ("freeze_encoders",)
    )
    assert one.frozen_encoders == {motor}
    assert not one.torque_limits
    with pytest.raises(UnknownNameError, match="there is no motor 'motor_9'"):
        plant_node_settings.faults_of(given.replaced({"faults.motors": ["motor_9"]}), model, ())
