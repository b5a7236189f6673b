"""Modes with held rotors where springs stand in series, and what has no modes."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.errors import ArrayError, ModelError

ARM = (
    '<robot name="one"><link name="base"/><link name="l"><inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name="j" type="continuous"><parent link="base"/><child link="l"/>'
    '<axis xyz="0 0 1"/></joint></robot>'
)
WHEEL = {"carrier": "base", "axis": [0, 0, 1], "mass": 0.1, "inertia": {"axial": 1e-9}}


def belted(belt: float) -> gd.GearedModel:
    """A rotor, a belt, a pulley almost without inertia, a spring of 100 N m/rad, a link."""
    return gd.load_model(
        ARM,
        {
            "version": 1,
            "wheels": {"rotor": WHEEL, "pulley": WHEEL},
            "spins": [{"wheel": name, "joint": "j", "ratio": 1} for name in ("rotor", "pulley")],
            "motors": {"m": {"wheel": "rotor"}},
            "joints": {"j": {"stiffness": 100.0}},
            "springs": {"belt": {"between": ["rotor", "pulley"], "stiffness": belt}},
        },
    )


@pytest.mark.parametrize("belt", [1.0, 100.0, 1e4])
def test_brakes_hold_what_motors_turn(belt: float) -> None:
    """Behind a held rotor both springs give: 1/k = 1/belt + 1/100."""
    slowest = gd.elastic.modes(belted(belt), [0.0], rotors="held").frequency[0]
    np.testing.assert_allclose(slowest, np.sqrt(1 / (1 / belt + 1 / 100)), rtol=1e-6)
    pole = gd.elastic.poles(belted(belt), [0.0], rotors="held")[0]
    np.testing.assert_allclose(abs(pole), slowest, rtol=1e-6)


@pytest.mark.parametrize("function", [gd.elastic.modes, gd.elastic.poles])
def test_rotors_without_inertia_have_no_modes(function: object) -> None:
    """The coupling is named, and what to do."""
    with pytest.raises(ModelError, match=r"coupling 'none'.*with_coupling"):
        function(belted(1.0).with_coupling("none"), [0.0])  # type: ignore[operator]


def test_a_spline_that_overflows_says_so() -> None:
    """Finite points, derivatives that are not."""
    spline = gd.trajectory.rest_to_rest([-1e308], [1e308], 1.0, continuous=2)
    with pytest.raises(ArrayError, match="overflows"):
        spline.derivatives(0.3, 2)
