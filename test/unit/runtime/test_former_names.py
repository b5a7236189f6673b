"""Names of earlier releases are still taken, and lead to the present ones."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import geared_dynamics as gd
from geared_dynamics.actuation.motor_limits import Saturated
from geared_dynamics.control.safety import Mode
from geared_dynamics.observers.contacts import ContactWrench
from geared_dynamics.observers.observer import ModelObserver
from geared_dynamics.observers.payload_estimate import Payload
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.observer_settings import ObserverParameters
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


class Stub:
    """What stands for an object of which a property reads one attribute."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


@pytest.mark.parametrize(
    ("kind", "former", "present"),
    [
        (Saturated, "wanted", "requested"),
        (Payload, "seen", "identifiable"),
        (ContactWrench, "seen", "directions"),
    ],
)
def test_attributes_have_a_former_name(kind: type, former: str, present: str) -> None:
    value = object()
    with pytest.warns(DeprecationWarning, match=rf"\.{former} is now called {present}"):
        assert getattr(kind, former).fget(Stub(**{present: value})) is value


def test_a_method_of_observers_has_a_former_name() -> None:
    given = object(), object()
    observer = Stub(extrapolate=lambda *arguments: arguments)
    with pytest.warns(DeprecationWarning, match=r"Observer.ahead is now called extrapolate"):
        assert ModelObserver.ahead(observer, *given) == given  # type: ignore[arg-type,type-var]


def test_the_former_argument_of_the_safety_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it leads to; a nominal cycle needs no such command and does not look at it."""
    step = import_module("geared_dynamics.control.safety.step")  # the package has its function
    monkeypatch.setattr(step, "nominal_step", lambda *_: None)
    monkeypatch.setattr(step, "full_step", lambda *arguments: arguments)
    given: tuple[Any, ...] = tuple(object() for _ in range(5))
    former, brake = object(), object()
    with pytest.warns(DeprecationWarning, match="nominal of safety.step is now called open_loop"):
        found = step.step(*given, brake=brake, nominal=former)
    assert found == (*given, former, brake)
    assert step.step(*given, former, brake) == found
