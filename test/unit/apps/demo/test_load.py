"""Parts of the motors' limits."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from demo_robots import brisk6, elbow
from geared_dynamics.apps.demo_motion import motor_load, part


def test_parts_agree_with_the_motor_commands() -> None:
    model = brisk6()
    q, v, a = np.random.default_rng(0).normal(size=(3, 20, 6))
    given = gd.motor_commands(model, q, v, a)
    load = motor_load(model, given.torque, v @ model.structure_matrix)
    np.testing.assert_allclose(load.voltage, np.abs(given.voltage) / 48.0, rtol=1e-9)
    most = np.minimum(model.motors.limits[:, 2], 60.0 * 0.42)
    np.testing.assert_allclose(load.torque[:, :3], np.abs(given.torque[:, :3]) / most[:3])


def test_motors_without_limits_have_no_load() -> None:
    model = elbow()
    load = motor_load(model, np.ones((4, 3)), np.ones((4, 3)))
    assert not load.torque.any()
    assert not load.voltage.any()


def test_part_of_a_limit() -> None:
    found = part(np.array([-2.0, 1.0, 3.0]), np.array([4.0, np.inf, np.nan]))
    assert found.tolist() == pytest.approx([0.5, 0.0, 0.0])
