"""The judgement of innovations: one event is soon over, a wrong model is told all the time."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import yaml
from scipy import stats

import geared_dynamics as gd
from geared_dynamics.observers.health import median, most_by_chance, updated_ratio
from long_cases import cases
from observer_arms import TURN
from observer_node_arm import URDF, Plant, arm, drives

ob = gd.observers
NOISE = 0.3 * TURN
KINDS = pytest.mark.parametrize("kind", ["kalman", "nonlinear"])
Change = Callable[[dict[str, Any]], None]


@functools.cache
def other(part: str, factor: float) -> gd.GearedModel:
    """The arm with stiffnesses, rotors' inertias, friction or one ratio multiplied."""
    data = yaml.safe_load(drives())
    if part == "stiffness":
        for joint in data["joints"].values():
            joint["stiffness"] *= factor
    elif part == "inertia":
        for wheel in data["wheels"].values():
            wheel["inertia"] = {key: factor * value for key, value in wheel["inertia"].items()}
    elif part == "friction":
        for motor in data["motors"].values():
            motor["friction"]["viscous"] *= factor
    else:
        data["spins"][1]["ratio"] *= factor
    return gd.load_model(URDF, data)


def followed(
    kind: str,
    model: gd.GearedModel | None = None,
    *,
    steps: int = 1500,
    rate: float = 1000.0,
    push: tuple[float, ...] = (0.0, 0.0, 0.0),
    at: float = 0.6,
    torque: float = 1.0,
    jitter: float = 0.0,
    **tuning: Any,
) -> list[Any]:
    """States along the plant's motion; a push from a time on, torques and stamps falsified."""
    model = arm() if model is None else model
    noise = tuning.pop("noise", NOISE)
    given = {"resolution": TURN, "rate": rate} | tuning
    random, plant, states = np.random.default_rng(5), Plant(), []
    if kind == "kalman":
        gains: Any = ob.kalman_gains(model, noise=noise, **given)
        start, step = ob.kalman_start, ob.kalman_step
    else:
        gains = ob.nonlinear_gains(model, **given)
        start, step = ob.nonlinear_start, ob.nonlinear_step
    for k in range(steps):
        plant.push = np.array(push) * (k >= at * rate)
        plant.step(dt=1.0 / rate)
        late = jitter * random.uniform(-1.0, 1.0)
        exact = plant.A.T @ plant.z[: plant.width] + plant.model.motor_zeros
        shown = exact + late * (plant.A.T @ plant.z[plant.width :])
        shown = TURN * np.round((shown + NOISE * random.normal(size=3)) / TURN)
        y = gd.Measurement(shown, torque * plant.tau_m)
        states.append(
            step(model, gains, states[-1], y, 1.0 / rate) if k else start(model, gains, y)
        )
    return states


def told(states: list[Any]) -> np.ndarray:
    """Which states are consistent."""
    return np.array([state.consistent for state in states])


@KINDS
@pytest.mark.parametrize("rate", [1000.0, 250.0])
def test_an_exact_model_is_consistent(kind: str, rate: float) -> None:
    assert told(followed(kind, rate=rate, steps=round(1.5 * rate))).all()


@pytest.mark.parametrize("force", [3.0, 20.0])
@pytest.mark.parametrize("rate", [1000.0, 250.0])
@pytest.mark.parametrize("joint", cases([1], [0, 2]))
def test_a_real_push_is_consistent(force: float, rate: float, joint: int) -> None:
    """The filter finds the force; a rigid joint (the third) feels it at once."""
    push = tuple(force * np.eye(3)[joint])
    states = followed("kalman", rate=rate, push=push, steps=round(rate), at=0.6)
    assert np.count_nonzero(~told(states)) < 0.03 * rate
    assert {s.health.faults for s in states} == {ob.Fault.NONE}, "honest readings"
    assert states[-1].mean[10 + joint] == pytest.approx(force, abs=0.1 * force + 0.6)


@pytest.mark.parametrize("sensor", [None, 0.1])
def test_a_real_push_is_consistent_with_sensors_on_the_links(sensor: float | None) -> None:
    model, plant, random = arm(), Plant(), np.random.default_rng(0)
    gains = ob.kalman_gains(model, resolution=TURN, link_noise=6e-6, joint_torque_noise=sensor)
    state, found = None, []
    for k in range(1000):
        plant.push = np.array([0.0, 20.0, 0.0]) * (k >= 500)
        plant.step()
        link = plant.q + 6e-6 * random.normal(size=3)
        torque = None if sensor is None else plant.spring + sensor * random.normal(size=2)
        y = gd.Measurement(plant.phi, plant.tau_m, link, torque)
        begun = state is not None
        state = (
            ob.kalman_step(model, gains, state, y, 1e-3)
            if begun
            else ob.kalman_start(model, gains, y)
        )
        found.append(state)
    assert told(found).all()
    assert {s.health.faults for s in found} == {ob.Fault.NONE}
    assert found[-1].mean[11] == pytest.approx(20.0, abs=0.3)


def test_a_dropout_is_consistent() -> None:
    model, plant = arm(), Plant()
    gains = ob.kalman_gains(model, resolution=TURN)
    state, found = ob.kalman_start(model, gains, gd.Measurement(plant.phi, plant.tau_m)), []
    for k in range(900):
        plant.step()
        y = gd.Measurement(None if 400 <= k < 430 else plant.phi, plant.tau_m)
        state = ob.kalman_step(model, gains, state, y, 1e-3)
        found.append(state)
    assert told(found).all()
    assert found[-1].health.valid


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("kalman", {"model": ("inertia", 1.1)}),
        ("kalman", {"model": ("ratio", 1.05)}),
        pytest.param("kalman", {"torque": 0.9}, marks=pytest.mark.validate),
        ("kalman", {"torque": 0.0}),
        ("kalman", {"noise": 0.02 * TURN, "resolution": 0.1 * TURN}),
        ("kalman", {"jitter": 2e-5}),
        pytest.param("nonlinear", {"model": ("inertia", 1.1)}, marks=pytest.mark.validate),
        ("nonlinear", {"model": ("ratio", 1.01)}),
        ("nonlinear", {"model": ("stiffness", 0.8)}),
        ("nonlinear", {"torque": 0.9}),
        pytest.param("nonlinear", {"torque": 0.0}, marks=pytest.mark.validate),
        pytest.param("nonlinear", {"jitter": 2e-5}, marks=pytest.mark.validate),
    ],
)
def test_what_is_wrong_is_told_all_the_time(kind: str, wrong: dict[str, Any]) -> None:
    given = dict(wrong)
    part = given.pop("model", None)
    states = followed(kind, None if part is None else other(*part), **given)
    assert all(state.health.valid for state in states)
    assert not told(states)[700:].any()


@KINDS
def test_friction_that_is_a_fifth_off_is_within_the_tuning(kind: str) -> None:
    states = followed(kind, other("friction", 1.2))
    assert told(states).all()
    assert not any(s.health.faults & ob.Fault.JUMP for s in states)


@pytest.mark.parametrize("rate", [1000.0, 250.0])
@KINDS
def test_a_wrong_stiffness_makes_no_reading_a_jump(kind: str, rate: float) -> None:
    states = followed(
        kind, other("stiffness", 0.8), rate=rate, steps=round(rate), push=(20.0, 20.0, 0.0)
    )
    assert not any(s.health.faults & ob.Fault.JUMP for s in states)


def test_the_nonlinear_observer_tells_of_a_force_that_it_does_not_estimate() -> None:
    states = followed("nonlinear", push=(0.0, 20.0, 0.0))
    consistent = told(states)
    assert consistent[:600].all()
    assert not consistent[800:].any()
    assert not ob.estimate(arm(), states[-1]).consistent


@pytest.mark.parametrize("speed", [0.3, 3.0, 30.0])
def test_slow_motion_over_the_encoders_steps_is_consistent(speed: float) -> None:
    """Each step of the encoder is a small surprise; ``speed`` in steps per second."""
    model = arm()
    gains = ob.kalman_gains(model, resolution=TURN)
    plant = Plant()
    weight = gd.gravity_forces(model, plant.q)
    tau_m = np.linalg.pinv(model.structure_matrix) @ weight
    phi = plant.A.T @ plant.z[: plant.width] + model.motor_zeros
    state, found = None, []
    for k in range(1500):
        shown = TURN * np.round((phi + speed * TURN * k * 1e-3) / TURN)
        y = gd.Measurement(shown, tau_m)
        first = state is None
        state = (
            ob.kalman_start(model, gains, y)
            if first
            else ob.kalman_step(model, gains, state, y, 1e-3)
        )
        found.append(state)
    assert told(found).all()


@pytest.mark.parametrize("used", [1, 2, 3, 6, 12])
def test_the_median_is_that_of_chi_squared(used: int) -> None:
    assert stats.chi2.cdf(median(used), used) == pytest.approx(0.5, abs=0.01)


def test_chance_stays_below_the_limit_and_a_third_more_does_not() -> None:
    """Independent instants of 200 s, as they should be and 1.3 times as large."""
    squares = np.random.default_rng(2).chisquare(3, 200_000)
    limit = most_by_chance(1000.0)
    for factor, whole in ((1.0, False), (1.3, True)):
        ratio, largest = 1.0, 0.0
        for square in factor * squares:
            ratio = updated_ratio(ratio, square, 3, 1e-3)
            largest = max(largest, ratio)
        assert (largest > limit) == whole


def test_what_no_reading_tells_changes_nothing() -> None:
    assert updated_ratio(1.3, 0.0, 0, 0.5) == 1.3
    assert updated_ratio(1.0, 1e9, 3, 5.0) == 2.0
    assert updated_ratio(2.0, 0.0, 3, 5.0) == 1.0
