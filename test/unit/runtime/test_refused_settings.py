"""Settings of both nodes that do not go together: the parameter's name, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import yaml

import geared_dynamics as gd
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.runtime.joint_readings import encoders, motor_torques
from geared_dynamics.runtime.model_source import payload_tensor
from geared_dynamics.runtime.parameters import signs
from node_values import feedforward
from observer_node_arm import FILES, URDF, arm, ready, values
from shafts import shaft

FINE = values()


def tensor(**changes: Any) -> Any:
    """The payload's tensor with some values changed."""
    given = {f"payload__{name}": value for name, value in changes.items()}
    return payload_tensor(feedforward(**given).payload)


# What is prepared, place, words.
CASES: dict[str, tuple[Callable[[], object], str, str]] = {
    "sign": (lambda: signs(np.array([1.0, 0.0]), "s.{}", ["a", "b"]), "s.b", "is 0; give 1 or -1"),
    "two numbers for a centre": (
        lambda: tensor(center_of_mass=[0.0, 1.0]),
        "payload.center_of_mass",
        "has 2 numbers; give 3",
    ),
    "three numbers for a tensor": (
        lambda: tensor(inertia=[1.0] * 3),
        "payload.inertia",
        "has 3 numbers; give 6",
    ),
    "inertia of nothing": (
        lambda: ready(payload__inertia=[1.0, 0.0, 0.0, 1.0, 0.0, 1.0]),
        "payload.inertia",
        "without mass; give payload.mass",
    ),
    "sensor of a rigid joint": (
        lambda: ready(sensors__joint_3__torque_sensor_noise=0.1),
        "sensors.joint_3.torque_sensor_noise",
        "without a spring",
    ),
    "nonlinear with sensors": (
        lambda: ready(observer="nonlinear", sensors__joint_1__link_encoder_noise=1e-4),
        "observer",
        "does not support link-side sensors",
    ),
    "hold of less than three periods": (
        lambda: ready(update_rate=100.0, max_extrapolation=0.0299),
        "max_extrapolation",
        "less than 3 periods",
    ),
    "currents without constants": (
        lambda: motor_torques(shaft(), "motor_current", np.ones(1)),
        "motors.m.torque_constant",
        "is not given for m, and motor_current needs it; add it",
    ),
    "two joints, one motor": (
        lambda: encoders(undriven(), "motor", [0.0], [1.0]),
        "encoders",
        "do not determine all joint positions",
    ),
}


def undriven() -> gd.GearedModel:
    """The rigid elbow with the first of its motors alone."""
    data = yaml.safe_load((FILES / "elbow.drivetrain.yaml").read_text("utf-8"))
    data["motors"] = dict([next(iter(data["motors"].items()))])
    return gd.load_model(URDF, data)


@pytest.mark.parametrize("case", CASES)
def test_refused(case: str) -> None:
    call, place, words = CASES[case]
    with pytest.raises(GearedDynamicsError, match=words) as caught:
        call()
    assert place in caught.value.place


def test_settings_at_the_border() -> None:
    assert ready(update_rate=100.0, max_extrapolation=0.03).hold == 0.03
    assert signs(np.array([1.0, -1.0]), "s.{}", ["a", "b"]).tolist() == [1.0, -1.0]
    expected = [[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]]
    assert tensor(inertia=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).tolist() == expected
    assert FINE.observer == "kalman"


def test_torques_of_currents() -> None:
    """tau_m = sign k_t i."""
    model = arm()
    turn = motor_torques(model, "motor_current", np.array([1.0, -1.0, 1.0]))
    np.testing.assert_allclose(turn(np.array([2.0, 3.0, 4.0])), [0.2, -0.3, 0.4])
