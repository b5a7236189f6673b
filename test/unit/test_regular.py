"""The mass matrix is tested when a model is loaded."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.load import REGULAR, weakest_direction


def test_two_joints_on_one_axis_with_nothing_between() -> None:
    """Each joint moves something; together they have a motion that moves nothing."""
    bare = {"a": 0.0, "alpha": 0.0, "d": 0.0, "mass": 0.0}
    solid = {"a": 0.3, "alpha": 0.0, "d": 0.0, "mass": 1.0, "tensor": np.eye(3)}
    with pytest.raises(gd.GearedDynamicsError, match="along joints joint_1, joint_2"):
        gd.from_dh([bare, solid, solid])


def test_weakest_of_several_postures() -> None:
    regular, weak, singular = np.eye(3), np.eye(3), np.eye(3)
    weak[0, 1] = weak[1, 0] = 1.0 - 1e-9
    singular[1, 2] = singular[2, 1] = 1.0
    ones = np.ones((3, 3))
    assert weakest_direction(np.stack([regular, weak, regular]), ones)[0] > REGULAR
    smallest, along = weakest_direction(np.stack([regular, singular, weak]), ones)
    assert abs(smallest) < REGULAR
    np.testing.assert_allclose(np.abs(along), [0.0, np.sqrt(0.5), np.sqrt(0.5)], atol=1e-12)
