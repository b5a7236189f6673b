"""Encoders to joints and back, with coupled drives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.errors import ModelError
from geared_dynamics.runtime.joint_readings import encoders

URDF = Path(__file__).resolve().parents[3] / "urdf"


@pytest.fixture(scope="module")
def model() -> gd.GearedModel:
    """Motor 6 of this arm turns with joints 5 and 6."""
    return gd.load_model(URDF / "tx40.urdf", URDF / "tx40.drivetrain.yaml")


def test_motor_side_readings_give_the_joints_back(model: gd.GearedModel) -> None:
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(2, model.n))
    offset, sign = rng.normal(size=6), np.array([1.0, -1, 1, -1, -1, 1])
    shown = sign * gd.motor_angles(model, q) + offset
    rate = sign * gd.motor_speeds(model, v)
    found = encoders(model, "motor", offset, sign)
    assert found.names == model.motor_names
    back, speed = found.joints(shown, rate)
    np.testing.assert_allclose(back, q, atol=1e-12)
    np.testing.assert_allclose(speed, v, atol=1e-12)


def test_joint_side_readings_made_of_wrong_encoders(model: gd.GearedModel) -> None:
    """The driver turned phi' = S phi + offset into joints, as if the encoders were right."""
    rng = np.random.default_rng(2)
    q, v = rng.normal(size=(2, model.n))
    offset, sign = rng.normal(size=6), np.array([1.0, 1, -1, 1, -1, -1])
    back = np.linalg.inv(model.structure_matrix.T)
    shown = back @ (sign * gd.motor_angles(model, q) + offset - model.motor_zeros)
    rate = back @ (sign * gd.motor_speeds(model, v))
    found, speed = encoders(model, "joint", offset, sign).joints(shown, rate)
    np.testing.assert_allclose(found, q, atol=1e-12)
    np.testing.assert_allclose(speed, v, atol=1e-12)


def test_without_corrections_nothing_is_computed(model: gd.GearedModel) -> None:
    q = np.ones(6)
    found = encoders(model, "joint", np.zeros(6), np.ones(6))
    assert found.plain
    assert found.joints(q, q)[0] is q


def test_an_arm_with_too_few_motors_is_refused() -> None:
    model = gd.load_model(URDF / "elbow.urdf")
    with pytest.raises(ModelError, match="do not determine all joint positions"):
        encoders(model, "motor", np.zeros(0), np.zeros(0))


@pytest.mark.parametrize("wrong", ["sign", "offset"])
def test_one_kind_of_correction_alone_counts(model: gd.GearedModel, wrong: str) -> None:
    """Joint-side readings of encoders that count backwards, or begin elsewhere, but not both."""
    rng = np.random.default_rng(3)
    q, v = rng.normal(size=(2, model.n))
    offset, sign = np.zeros(6), np.ones(6)
    if wrong == "sign":
        sign[2] = -1.0
    else:
        offset[4] = 0.3
    back = np.linalg.inv(model.structure_matrix.T)
    shown = back @ (sign * gd.motor_angles(model, q) + offset - model.motor_zeros)
    rate = back @ (sign * gd.motor_speeds(model, v))
    made = encoders(model, "joint", offset, sign)
    assert not made.plain
    found, speed = made.joints(shown, rate)
    np.testing.assert_allclose(found, q, atol=1e-12)
    np.testing.assert_allclose(speed, v, atol=1e-12)
    assert np.abs(shown - q).max() > 1e-3
