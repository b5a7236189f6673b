"""Rotations and tensors on tuples, against NumPy and their own laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geared_dynamics.description.geometry import (
    IDENTITY3,
    apply,
    cross,
    largest_difference,
    multiply,
    rotation_about,
    rotation_from_rpy,
    rpy_from_rotation,
    transpose,
    turn_tensor,
    unit,
)

ANGLES = st.floats(-7.0, 7.0)
RIGHT = st.sampled_from([k * math.pi / 2 for k in range(-4, 5)])
# Angles whose neighbourhood of gimbal lock is where naive formulas lose eight digits.
NEAR_RIGHT = st.builds(
    lambda angle, power, sign: angle + sign * 10.0**power,
    RIGHT,
    st.integers(-17, -1),
    st.sampled_from([-1.0, 1.0]),
)
VECTORS = st.tuples(*[st.floats(-2.0, 2.0)] * 3).filter(lambda a: math.hypot(*a) > 1e-3)


@given(ANGLES, ANGLES | RIGHT | NEAR_RIGHT, ANGLES)
def test_rpy_recomposes_in_and_near_gimbal_lock(roll: float, pitch: float, yaw: float) -> None:
    rotation = rotation_from_rpy(roll, pitch, yaw)
    again = rotation_from_rpy(*rpy_from_rotation(rotation))
    assert largest_difference(rotation, again) < 1e-15


@given(RIGHT | NEAR_RIGHT, RIGHT | NEAR_RIGHT, RIGHT | NEAR_RIGHT)
def test_rpy_recomposes_at_right_angles(roll: float, pitch: float, yaw: float) -> None:
    rotation = rotation_from_rpy(roll, pitch, yaw)
    again = rotation_from_rpy(*rpy_from_rotation(rotation))
    assert largest_difference(rotation, again) < 1e-15


@given(VECTORS, ANGLES)
def test_rodrigues_is_a_rotation_about_its_axis(axis, angle: float) -> None:
    e = unit(axis)
    r = rotation_about(e, angle)
    np.testing.assert_allclose(multiply(r, transpose(r)), np.eye(3), atol=1e-15)
    np.testing.assert_allclose(np.linalg.det(r), 1.0, atol=1e-15)
    np.testing.assert_allclose(apply(r, e), e, atol=1e-15)
    np.testing.assert_allclose(np.trace(r), 1 + 2 * math.cos(angle), atol=1e-14)
    # The sense of turning: what lies across the axis goes towards e x a.
    across = np.array(cross(e, (0.3, -0.4, 0.8)))
    expected = across * math.cos(angle) + np.cross(e, across) * math.sin(angle)
    np.testing.assert_allclose(apply(r, tuple(across)), expected, atol=1e-15)


def test_no_turn_is_the_identity_exactly() -> None:
    assert rotation_about((0.6, 0.0, 0.8), 0.0) == IDENTITY3
    assert rotation_from_rpy(0.0, 0.0, 0.0) == IDENTITY3


@given(VECTORS)
def test_unit_vectors_stay_as_they_are(vector) -> None:
    e = unit(vector)
    assert math.hypot(*e) == pytest.approx(1.0, abs=5e-16)
    assert unit(e) == e


@given(VECTORS, ANGLES)
def test_turned_tensor_is_symmetric_and_similar(axis, angle: float) -> None:
    tensor = ((3.0, 0.1, 0.2), (0.1, 2.0, 0.3), (0.2, 0.3, 1.0))
    r = rotation_about(unit(axis), angle)
    turned = turn_tensor(r, tensor)
    assert turned == transpose(turned)
    np.testing.assert_allclose(turned, np.array(r) @ tensor @ np.array(r).T, atol=1e-14)
