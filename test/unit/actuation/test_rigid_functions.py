"""Functions of rigid driven arms on an elastic model: the same numbers, and one warning."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import elbow
from motor_data import LINEAR_JOINT, with_motors

Q, V = np.array([0.3, -0.4, 0.8]), np.array([0.5, -0.2, 0.9])
ONES = np.ones(3)
STATE = gd.State(Q, V, current=0.1 * ONES)


def actuators(model: gd.GearedModel) -> dict[str, Any]:
    """Its motors as linear actuators."""
    return {name: gd.dc_actuator(model, name) for name in model.motor_names}


CALLS: dict[str, Callable[[gd.GearedModel], Any]] = {
    "combine_actuators": lambda m: gd.combine_actuators(m, actuators(m)).rates(np.zeros(9), ONES),
    "driven_terms": lambda m: gd.driven_terms(m, Q, V).forces,
    "driven_acceleration": lambda m: gd.driven_acceleration(m, Q, V, ONES),
    "driven_rates": lambda m: gd.driven_rates(m, Q, V, 0.1 * ONES, ONES).a,
    "driven_step": lambda m: gd.driven_step(m, STATE, ONES, 1e-4).v,
    "motion_from_torque": lambda m: gd.motion_from_torque(m, Q, V, 0.1 * ONES),
    "power_balance": lambda m: gd.power_balance(m, Q, V, ONES, 0.1 * ONES).supplied,
    "sticking": lambda m: gd.sticking(m, Q, 0 * V, 0.1 * ONES).a,
}


def motorised(model: gd.GearedModel) -> gd.GearedModel:
    """The arm with motors whose constants are given."""
    return with_motors(model, joint=LINEAR_JOINT, inductance=1e-3)


@pytest.mark.parametrize("name", CALLS)
def test_one_warning_names_the_function(name: str) -> None:
    arm = motorised(elbow())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = CALLS[name](arm)
    (warning,) = caught
    assert warning.category is gd.GearedDynamicsWarning
    assert re.match(rf"{name}: the model has elastic joints", str(warning.message))
    assert Path(warning.filename).name == Path(__file__).name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rigid = CALLS[name](motorised(gd.load_model(*files())))
    np.testing.assert_array_equal(found, rigid)


def files() -> tuple[Path, Path]:
    """The elbow without springs."""
    urdf = Path(__file__).parents[3] / "urdf" / "elbow.urdf"
    return urdf, urdf.with_suffix(".drivetrain.yaml")


def test_functions_of_elastic_arms_do_not_warn() -> None:
    arm = motorised(elbow())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state = gd.State(Q, V, Q, V, 0.1 * ONES)
        gd.simulation.elastic_step(arm, state, 1e-4, voltage=ONES)
