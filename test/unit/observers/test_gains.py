"""Gains and states belong to an arm and an observer; others are refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from observer_arms import DT, TURN
from simulated_arms import arm

ob = gd.observers
GOOD = gd.Measurement(np.zeros(3), np.zeros(3))


def begun(model: gd.GearedModel) -> dict[str, Any]:
    """Gains and first states."""
    kalman = ob.kalman_gains(model, resolution=TURN)
    nonlinear = ob.nonlinear_gains(model, resolution=TURN)
    first = ob.nonlinear_start(model, nonlinear, GOOD)
    return {
        "kalman": (kalman, ob.kalman_start(model, kalman, GOOD), ob.kalman_step),
        "nonlinear": (nonlinear, first, ob.nonlinear_step),
        "redundant": (nonlinear, ob.redundant_start(model, first), ob.redundant_step),
    }


@pytest.mark.parametrize("kind", ["kalman", "nonlinear", "redundant"])
def test_gains_of_another_arm_are_refused(kind: str) -> None:
    """One with the same numbers of joints, springs and motors, of another stiffness."""
    model, other = arm(), arm(factor=0.8)
    gains, state, step = begun(model)[kind]
    with pytest.raises(gd.GearedDynamicsError, match="gains: belong to another arm"):
        step(other, gains, state, GOOD, DT)
    with pytest.raises(gd.GearedDynamicsError, match="gains: belong to another arm"):
        ob.estimate(other, state, gains)
    start = ob.kalman_start if kind == "kalman" else ob.nonlinear_start
    with pytest.raises(gd.GearedDynamicsError, match="make them from this model"):
        start(other, gains, GOOD)


@pytest.mark.parametrize("kind", ["kalman", "nonlinear", "redundant"])
def test_gains_hold_for_a_model_of_the_same_arm(kind: str) -> None:
    """Built again, or with a load: springs, ratios and zeros are the same."""
    gains, state, step = begun(arm())[kind]
    loaded = arm().with_payload(1.0)
    for model in (arm(), loaded):
        assert step(model, gains, state, GOOD, DT).health.valid


@pytest.mark.parametrize(
    ("kind", "given"), [("kalman", "nonlinear"), ("nonlinear", "kalman"), ("redundant", "kalman")]
)
def test_gains_of_another_observer_are_refused(kind: str, given: str) -> None:
    model = arm()
    found = begun(model)
    _, state, step = found[kind]
    with pytest.raises(
        gd.GearedDynamicsError, match=f"gains: are .*; make them with {kind[:5]}|nonl"
    ):
        step(model, found[given][0], state, GOOD, DT)
    with pytest.raises(gd.GearedDynamicsError, match="gains: are"):
        ob.estimate(model, state, found[given][0])


@pytest.mark.parametrize(
    ("kind", "given"),
    [("kalman", "nonlinear"), ("nonlinear", "kalman"), ("redundant", "nonlinear")],
)
def test_states_of_another_observer_are_refused(kind: str, given: str) -> None:
    model = arm()
    found = begun(model)
    gains, _, step = found[kind]
    with pytest.raises(gd.GearedDynamicsError, match=f"state: is .*; begin with {kind}_observer"):
        step(model, gains, found[given][1], GOOD, DT)


def test_a_state_of_an_arm_with_other_sizes_is_refused() -> None:
    model, other = arm(), arm(elastic=(2,))
    gains, _, step = begun(model)["kalman"]
    small = ob.kalman_gains(other, resolution=TURN)
    state = ob.kalman_start(other, small, GOOD)
    with pytest.raises(gd.GearedDynamicsError, match="state: has 12 numbers, not 18"):
        step(model, gains, state, GOOD, DT)


def test_an_estimate_needs_no_gains_to_be_judged() -> None:
    model = arm()
    for gains, state, _ in begun(model).values():
        inner = getattr(state, "inner", state)._replace(consistent=False)
        bad = state._replace(inner=inner) if hasattr(state, "inner") else inner
        assert not ob.estimate(model, bad).consistent
        assert not ob.estimate(model, bad, gains).consistent
        assert ob.estimate(model, state).consistent


@pytest.mark.parametrize("name", ["twist", "speed", "force"])
@pytest.mark.parametrize("value", ["a", [1.0, 2.0], -1.0, np.nan, np.inf])
def test_a_start_refuses_deviations_that_are_none(name: str, value: Any) -> None:
    model = arm()
    gains = ob.kalman_gains(model, resolution=TURN)
    with pytest.raises(gd.GearedDynamicsError, match=f"^{name}: "):
        ob.kalman_start(model, gains, GOOD, **{name: value})


@pytest.mark.parametrize(
    "tuning",
    [
        {"posture": "x"},
        {"posture": [0.0, 0.0]},
        {"posture": [np.nan, 0.0, 0.0]},
        {"resolution": 1e300},
        {"resolution": 7.0},
        {"noise": 1e300},
    ],
)
def test_kalman_gains_refuse(tuning: dict[str, Any]) -> None:
    with pytest.raises(gd.GearedDynamicsError, match=f"^{next(iter(tuning))}: "):
        ob.kalman_gains(arm(), **({"resolution": TURN} | tuning))


@pytest.mark.parametrize("name", ["rate", "bandwidth", "hold", "window", "noise", "resolution"])
@pytest.mark.parametrize("value", ["x", [1.0, 2.0], np.nan, -1.0])
def test_nonlinear_gains_refuse(name: str, value: Any) -> None:
    with pytest.raises(gd.GearedDynamicsError, match=f"^{name}: "):
        ob.nonlinear_gains(arm(), **({"resolution": TURN} | {name: value}))


def test_a_number_in_a_list_is_one() -> None:
    gains = ob.nonlinear_gains(arm(), resolution=TURN, rate=[1000.0])  # type: ignore[arg-type]
    assert gains.limits.longest == pytest.approx(0.005)
