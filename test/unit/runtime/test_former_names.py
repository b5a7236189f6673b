"""Names of earlier releases are still taken, and lead to the present ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import geared_dynamics as gd
from geared_dynamics.control.safety import Mode
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.observer_parameters import ObserverParameters
from geared_dynamics.runtime.parameters import Parameter, ParameterError

URDF = Path(__file__).resolve().parents[3] / "urdf"
ROWS: dict[str, Parameter] = {
    entry.name: entry
    for kind in (FeedforwardParameters, ObserverParameters)
    for entry in kind.rows()
}


def elbow() -> gd.GearedModel:
    """The elbow arm."""
    return gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")


@pytest.mark.parametrize(
    ("name", "former"),
    [
        ("safety.open_loop_time", "safety.blind_time"),
        ("safety.open_loop_end", "safety.blind_end"),
        ("max_extrapolation", "hold"),
    ],
)
def test_parameters_have_a_former_name(name: str, former: str) -> None:
    assert ROWS[name].former == former
    assert former not in ROWS


@pytest.mark.parametrize(
    ("name", "former", "present"),
    [
        ("safety.on_position_limit", "ramp_down", "ramp_to_gravity"),
        ("safety.on_emergency_stop", "ramp_down", "ramp_to_gravity"),
        ("stamps", "even", "uniform"),
    ],
)
def test_values_have_a_former_name(name: str, former: str, present: str) -> None:
    assert ROWS[name].checked(former) == present
    assert ROWS[name].checked(present) == present
    assert former not in ROWS[name].choices
    with pytest.raises(ParameterError, match=present):
        ROWS[name].checked(f"{former}_")


def test_modes_have_a_former_name() -> None:
    assert (Mode.BLIND, Mode.RAMPING, Mode.ZEROING) == (
        Mode.OPEN_LOOP,
        Mode.RAMPING_TO_GRAVITY,
        Mode.RAMPING_TO_ZERO,
    )
    assert Mode.BLIND.name == "OPEN_LOOP"


@pytest.mark.parametrize(
    ("former", "present", "value"),
    [("blind_time", "open_loop_time", 0.3), ("blind_end", "open_loop_end", "zero")],
)
def test_options_of_a_policy_have_a_former_name(former: str, present: str, value: Any) -> None:
    with pytest.warns(DeprecationWarning, match=f"{former} is now called {present}"):
        policy = gd.control.safety.default_policy(elbow(), **{former: value})
    assert getattr(policy, present) == value
    with pytest.warns(DeprecationWarning, match=f"Policy.{former} is now called {present}"):
        assert getattr(policy, former) == value


def test_the_former_reaction_of_a_policy() -> None:
    with pytest.warns(DeprecationWarning, match="'ramp_down' is now called 'ramp_to_gravity'"):
        policy = gd.control.safety.default_policy(elbow(), on_bad_command="ramp_down")
    assert policy.on_bad_command == "ramp_to_gravity"
