"""Motors that a DC machine cannot be made of, and the one that can."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.actuation.driven_dynamics import windings
from shafts import URDF, WHEEL, shaft

WOUND = {"resistance": 0.5, "torque_constant": 0.1, "inductance": 1e-3}


def of_inertia(axial: float) -> gd.GearedModel:
    """A load that a rotor of this inertia turns at ratio 100."""
    return gd.load_model(
        URDF,
        {
            "version": 1,
            "wheels": {"rotor": {**WHEEL, "inertia": {"axial": axial}}},
            "spins": [{"wheel": "rotor", "joint": "joint", "ratio": 100}],
            "motors": {"m": {"wheel": "rotor", **WOUND}},
        },
    )


def test_a_rotor_without_inertia_is_no_shaft() -> None:
    """Its speed would have no equation of motion of its own: x'' = torque / 0."""
    assert gd.dc_actuator(of_inertia(1e-9), "m").order == 3
    with pytest.raises(gd.GearedDynamicsError, match=r"motors\.m\.wheel: has no inertia; add"):
        gd.dc_actuator(of_inertia(0.0), "m")


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_a_resistance_that_no_winding_has(value: float) -> None:
    """From code; files cannot have it."""
    model = shaft(**WOUND)
    assert windings(model).resistance.tolist() == [0.5]
    wrong = replace(model, motors=replace(model.motors, resistance=np.array([value])))
    with pytest.raises(gd.GearedDynamicsError, match=r"resistance: is -?[01]; give a positive"):
        windings(wrong)


@pytest.mark.parametrize("missing", ["resistance", "torque_constant"])
def test_a_constant_that_is_not_given(missing: str) -> None:
    model = shaft(**WOUND)
    for key in (missing, "back_emf_constant"):
        absent = replace(model, motors=replace(model.motors, **{key: np.array([np.nan])}))
        with pytest.raises(gd.GearedDynamicsError, match=rf"motors\.m\.{key}: is not given"):
            windings(absent)
        with pytest.raises(gd.GearedDynamicsError, match=rf"motors\.m\.{key}: is not given"):
            windings(absent, 0)


def test_one_motor_of_two() -> None:
    model = shaft({**WOUND, "resistance": 2.0}, **WOUND)
    assert windings(model).resistance.tolist() == [0.5, 2.0]
    assert windings(model, 1).resistance.tolist() == [2.0]
    assert windings(model, 0).inductance.tolist() == [1e-3]
    current = windings(model).steady_current(np.array([1.0, 1.0]), np.array([0.0, 5.0]))
    np.testing.assert_allclose(current, [1.0 / 0.5, (1.0 - 0.1 * 5.0) / 2.0])
