"""Limits of the motors as the plants keep them."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.simulation.motor_stage import MotorStage
from plant_arms import pendulum

LIMITS = {"voltage": 12.0, "current": 8.0, "torque": 0.7, "speed": 110.0}


@pytest.mark.parametrize("keys", [(), ("voltage",), ("current", "torque"), tuple(LIMITS)])
def test_range_is_that_of_torque_range(keys: tuple[str, ...]) -> None:
    model = pendulum(motor={"limits": {key: LIMITS[key] for key in keys}} if keys else {})
    stage = MotorStage(model, "torque")
    for speed in np.linspace(-160.0, 160.0, 41)[:, None]:
        np.testing.assert_allclose(stage.range(speed), gd.torque_range(model, speed), atol=1e-12)


def test_envelopes_are_kept() -> None:
    limits = {"envelope": [[0, 0.5], [50, 0.5], [100, 0.1]]}
    stage = MotorStage(pendulum(motor={"limits": limits}), "torque")
    for speed, most in ((0.0, 0.5), (75.0, 0.3), (120.0, 0.0)):
        drives = stage.over(np.ones(1), np.zeros(1), np.array([speed]), 1e-3, None)
        assert drives.drive[0] - drives.drag[0] * speed == pytest.approx(most)
        assert drives.limited[0]


def test_effort_is_carried_to_the_motors() -> None:
    model = pendulum()
    drives = MotorStage(model, "effort").over(np.ones(1), np.zeros(1), np.zeros(1), 1e-3, None)
    assert drives.drive[0] == pytest.approx(0.1)
