"""What a caller can get wrong where arm and motors move together, in one table."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from shafts import shaft

WARM = {"thermal": {"continuous_current": 5.0, "time_constant": 1.0}}
WOUND = {"resistance": 0.5, "torque_constant": 0.1, "inductance": 1e-3, "limits": WARM}
LOSSY = {**WOUND, "efficiency": {"driving": 0.8, "backdriving": 0.6}}
Z, HUGE = [0.0], [1.7e308]
Call = Callable[[gd.GearedModel], Any]


def combined(model: gd.GearedModel) -> gd.CombinedSystem:
    """The model with its own motor as a linear actuator."""
    return gd.combine_actuators(model, {"m": gd.dc_actuator(model, "m")})


# What is called; the argument that is too large.
OVERFLOW: dict[str, tuple[Call, str]] = {
    "motion": (lambda m: gd.motion_from_torque(m, Z, Z, HUGE), "torque"),
    "motion, 1e307": (lambda m: gd.motion_from_torque(m, Z, Z, [1e307]), "torque"),
    "motion, exact": (lambda m: gd.motion_from_torque(m, Z, Z, HUGE, mode="exact"), "torque"),
    "sticking": (lambda m: gd.sticking(m, Z, Z, HUGE), "torque"),
    "acceleration": (lambda m: gd.driven_acceleration(m, Z, Z, HUGE), "voltage"),
    "rates": (lambda m: gd.driven_rates(m, Z, Z, Z, HUGE), "voltage"),
    "rates, current": (lambda m: gd.driven_rates(m, Z, Z, HUGE, Z), "current"),
    "step": (lambda m: gd.driven_step(m, gd.State(Z, Z, current=HUGE), Z, 1e-3), "current"),  # type: ignore[arg-type]
    "power": (lambda m: gd.power_balance(m, Z, Z, Z, [1e200]), "current"),
    "power, acceleration": (lambda m: gd.power_balance(m, Z, [1.0], HUGE, Z), "a"),
    "heat": (lambda m: gd.thermal_step(m, Z, [1e200], 1.0), "current"),
    "range": (lambda m: gd.torque_range(m, [1e308], inductive=[1.79e308]), "inductive"),
}
ONLY_WOUND: dict[str, tuple[Call, str]] = {
    "terms": (lambda m: gd.driven_terms(m, Z, HUGE), "v"),
    "input": (lambda m: combined(m).rates(np.zeros(3), HUGE), "u"),
    "acceleration of the system": (lambda m: combined(m).acceleration(np.zeros(3), HUGE), "u"),
    "terms of the system": (lambda m: combined(m).terms([0.0, 0.0, 1.7e308]), "x"),
}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """An error says it all: NumPy must not warn as well."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


@pytest.mark.parametrize("name", OVERFLOW)
@pytest.mark.parametrize("motor", [WOUND, LOSSY], ids=["lossless", "lossy"])
def test_overflow_is_named(name: str, motor: dict[str, Any]) -> None:
    call, culprit = OVERFLOW[name]
    limits = {**WARM, "voltage": 24.0}
    words = rf"^{culprit}: is so large that the result overflows"
    with pytest.raises(gd.GearedDynamicsError, match=words):
        call(shaft(**{**motor, "limits": limits, "kind": "brushless", "pole_pairs": 4}))


@pytest.mark.parametrize("name", ONLY_WOUND)
def test_overflow_of_a_linear_arm_is_named(name: str) -> None:
    call, culprit = ONLY_WOUND[name]
    words = rf"^{culprit}: is so large that the result overflows"
    with pytest.raises(gd.GearedDynamicsError, match=words):
        call(shaft(**WOUND))


def test_large_is_not_too_large() -> None:
    """What a float can hold is given."""
    model = shaft(**LOSSY)
    a = gd.motion_from_torque(model, Z, Z, [1e300])
    np.testing.assert_allclose(a, 1e100 * gd.motion_from_torque(model, Z, Z, [1e200]), rtol=1e-12)
    slow = shaft(**{**WOUND, "limits": {"voltage": 10.0}})
    np.testing.assert_allclose(gd.torque_range(slow, [1e200]), -2e198, rtol=1e-12)


ACTUATOR = {"C": [[0, 1], [0, -2]], "f": [0, -10], "d": [0, 3], "angle": [1, 0], "speed": [0, 1]}


def step(model: gd.GearedModel, **changed: Any) -> Any:
    """A step with changed arguments."""
    given = {
        "state": gd.State(*np.zeros((2, 1)), current=np.zeros(1)),
        "voltage": Z,
        "dt": 1e-3,
        **changed,
    }
    return gd.driven_step(model, **given)


def heat(model: gd.GearedModel, dt: Any) -> Any:
    return gd.thermal_step(model, Z, Z, dt)


def peak(model: gd.GearedModel, horizon: Any) -> Any:
    return gd.thermal_current(model, Z, horizon)


def exact(model: gd.GearedModel, band: Any) -> Any:
    return gd.motion_from_torque(model, Z, Z, Z, mode="exact", band=band)


def rates(model: gd.GearedModel, external: Any) -> Any:
    return combined(model).rates(np.zeros(3), Z, external)


def actuator(_: gd.GearedModel, **changed: Any) -> Any:
    return gd.LinearActuator(**{**ACTUATOR, **changed})


NO_NUMBER = {"text": "a", "None": None, "array": [1.0, 2.0], "complex": 1j, "10**400": 10**400}
TABLE: dict[str, tuple[Call, str]] = {
    **{
        f"{name}, {kind}": (partial(call, **{name: value}), f"^{name}: is ")
        for name, call in (
            ("dt", step),
            ("dt", heat),
            ("horizon", peak),
            ("band", exact),
            ("limit", actuator),
        )
        for kind, value in {**NO_NUMBER, "NaN": np.nan, "below zero": -1}.items()
    },
    "dt of heat": (partial(heat, dt="a"), "^dt: is 'a'; give a time above 0"),
    "complex C": (partial(actuator, C=[[0, 1j], [0, 1]]), "^C: is not an array of real"),
    "complex d": (partial(actuator, d=[0, 1j]), "^d: is not an array of real"),
    "batch of external forces": (partial(rates, external=[[0.0], [0.0]]), r"^external: has shape"),
    "a number for an actuator": (
        lambda m: gd.combine_actuators(m, {"m": 3}),  # type: ignore[dict-item]
        r"^actuators\['m'\]: is a int; give a LinearActuator",
    ),
    "a list of actuators": (
        lambda m: gd.combine_actuators(m, [3]),  # type: ignore[arg-type]
        "^actuators: is a list; give a mapping",
    ),
    "two arrays for a state": (
        partial(step, state=(Z, Z)),
        "^state: is of type tuple, not a gd.State",
    ),
    "a number for a state": (partial(step, state=3), "^state: is of type int, not a gd.State"),
    "text in a state": (partial(step, state="qvi"), "^state: is of type str, not a gd.State"),
}


@pytest.mark.parametrize("name", TABLE)
def test_bad_calls(name: str) -> None:
    call, words = TABLE[name]
    with pytest.raises(gd.GearedDynamicsError, match=words):
        call(shaft(**WOUND))


def test_a_plain_tuple_is_no_state() -> None:
    """Its third array was the current once; of a ``State`` it is theta."""
    with pytest.raises(
        gd.GearedDynamicsError, match=r"state: is of type tuple.*driven_step\(model"
    ):
        gd.driven_step(shaft(**WOUND), (Z, [0.3], Z), [2.0], 1e-3)  # type: ignore[arg-type]
    with pytest.raises(
        gd.GearedDynamicsError, match=r"gd.DrivenState: .*gd.State\(q, v, current="
    ):
        gd.DrivenState(Z, Z, Z)


@pytest.mark.parametrize("seed", range(30))
def test_actuators_in_other_coordinates(seed: int) -> None:
    """x = S z with any regular S: the same actuator."""
    random = np.random.default_rng(seed)
    S = random.normal(size=(3, 3)) * 10.0 ** random.uniform(-3, 3, 3)
    T = np.linalg.inv(S)
    C, f, d = np.array([[0, 1, 0], [0, -1, 5], [0, -3, -7]]), [0, -100, 0], [0, 0, 2]
    found = gd.LinearActuator(T @ C @ S, T @ f, T @ d, S[0], S[1])
    np.testing.assert_allclose(found.inertia, 0.01, rtol=1e-9)
    with pytest.raises(
        gd.GearedDynamicsError, match="speed: does not equal the time derivative of the angle"
    ):
        gd.LinearActuator(T @ C @ S, T @ f, T @ [1e-3, 0, 2], S[0], S[1])
