"""A payload's ten parameters: what is a rigid body, and what is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import geared_dynamics as gd
from geared_dynamics.model.inertia import payload_parameters

SIZES = st.floats(-2.0, 2.0).filter(lambda x: x == 0.0 or abs(x) > 1e-6)
NOTHING = np.zeros((3, 3))


@given(mass=st.floats(1e-3, 1e3), com=st.tuples(SIZES, SIZES, SIZES))
def test_point_masses_anywhere_are_bodies(mass: float, com: tuple[float, ...]) -> None:
    own = payload_parameters(mass, com, NOTHING)
    np.testing.assert_allclose(own[:4], [mass, *(mass * np.array(com))], rtol=1e-15)


@given(mass=st.floats(1e-3, 1e3), com=st.tuples(SIZES, SIZES, SIZES), length=st.floats(0.01, 2.0))
def test_thin_rods_anywhere_are_bodies(mass: float, com: tuple[float, ...], length: float) -> None:
    payload_parameters(mass, com, np.diag([1.0, 1.0, 0.0]) * mass * length**2 / 12.0)


@pytest.mark.parametrize("moments", [(1e-3, 1e-3, 3e-3), (-1e-9, 1e-3, 1e-3), (0.0, 0.0, 1e-9)])
def test_impossible_tensors_are_refused_also_far_from_the_link(
    moments: tuple[float, ...],
) -> None:
    with pytest.raises(gd.GearedDynamicsError, match=r"negative principal|triangle"):
        payload_parameters(1.0, (0.5, -0.4, 0.3), np.diag(moments))
