"""All observers behind one protocol: values made for one arm, equal to what they were before."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from observer_arms import DT, TURN
from simulated_arms import arm

ob = gd.observers
MAKERS = {
    "kalman": ob.kalman_observer,
    "nonlinear": ob.nonlinear_observer,
    "redundant": ob.redundant_observer,
}
KINDS = list(MAKERS)
PUSH = np.array([0.02, -0.01, 0.015])


def reading(model: gd.GearedModel, k: int) -> gd.Measurement:
    """Angles and torques of a small smooth motion."""
    q = 0.02 * np.sin(3.0 * DT * k + np.arange(model.n))
    return gd.Measurement(gd.motor_angles(model, q), PUSH * np.cos(2.0 * DT * k))


def followed(observer: Any, count: int = 12) -> Any:
    """The state after some readings, written for any observer."""
    state = observer.start(reading(observer.model, 0))
    for k in range(1, count):
        state = observer.step(state, reading(observer.model, k), DT)
    return state


@pytest.mark.parametrize("kind", KINDS)
def test_every_observer_starts_steps_estimates_and_looks_ahead(kind: str) -> None:
    observer = MAKERS[kind](arm(), resolution=TURN)
    state = followed(observer)
    found = observer.estimate(state)
    assert found.valid
    np.testing.assert_array_equal(found.q, state.mean[:3])
    later = observer.extrapolate(state, [(2e-3, PUSH), (1e-3, -PUSH)])
    assert type(later) is type(state)
    force = state.mean[12:15] if kind == "kalman" else np.zeros(3)
    plant = gd.State(state.mean[:3], state.mean[6:9], state.mean[3:6], state.mean[9:12])
    for k in range(30):
        torque = PUSH if k < 20 else -PUSH
        plant = gd.simulation.elastic_step(
            observer.model, plant, 1e-4, torque=torque, external=force
        )
    scale = np.abs(later.mean[:12]).max()
    expected = np.concatenate([plant.x, plant.rate])
    np.testing.assert_allclose(later.mean[:12], expected, atol=1e-4 * scale)
    assert np.abs(later.mean[:12] - state.mean[:12]).max() > 0.01 * scale  # control
    assert observer.restore_sensors(state).health.valid


@pytest.mark.parametrize("kind", KINDS)
def test_former_functions_give_the_same_numbers(kind: str) -> None:
    model = arm()
    observer = MAKERS[kind](model, resolution=TURN)
    gains, first = observer.gains, reading(model, 0)
    if kind == "redundant":
        state: Any = ob.redundant_start(model, ob.nonlinear_start(model, gains, first))
    else:
        state = getattr(ob, f"{kind}_start")(model, gains, measurement=first)
    for k in range(1, 12):
        state = getattr(ob, f"{kind}_step")(model, gains, state, reading(model, k), DT)
    same = followed(observer)
    np.testing.assert_array_equal(state.mean, same.mean)
    one, other = ob.estimate(model, state, gains), observer.estimate(same)
    for name in one._fields:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("kind", KINDS)
def test_an_observer_of_a_loaded_arm_has_the_same_tuning(kind: str) -> None:
    observer = MAKERS[kind](arm(), resolution=TURN)
    loaded = arm().with_payload(5.0)
    other = observer.with_model(loaded)
    assert type(other) is type(observer)
    assert other.model is loaded
    assert other.gains is observer.gains
    made = MAKERS[kind](loaded, gains=observer.gains)
    np.testing.assert_array_equal(followed(other).mean, followed(made).mean)
    assert not np.array_equal(followed(other).mean, followed(observer).mean)  # control
    with pytest.raises(gd.GearedDynamicsError, match="gains: belong to another arm"):
        observer.with_model(arm(factor=0.8))


@pytest.mark.parametrize("kind", KINDS)
def test_observers_are_values_that_can_be_sent_to_another_process(kind: str) -> None:
    observer = MAKERS[kind](arm(), resolution=TURN)
    again = pickle.loads(pickle.dumps(observer))
    np.testing.assert_array_equal(followed(again).mean, followed(observer).mean)
    made = MAKERS[kind](arm(), gains=pickle.loads(pickle.dumps(observer.gains)))
    np.testing.assert_array_equal(followed(made).mean, followed(observer).mean)
    with pytest.raises(AttributeError):
        observer.gains = None


@pytest.mark.parametrize("kind", KINDS)
def test_gains_and_what_makes_them_are_not_given_at_once(kind: str) -> None:
    gains = MAKERS[kind](arm(), resolution=TURN).gains
    with pytest.raises(gd.GearedDynamicsError, match="gains: are given in addition to resolution"):
        MAKERS[kind](arm(), gains=gains, resolution=TURN)


def test_only_the_filter_states_a_covariance() -> None:
    for kind, make in MAKERS.items():
        observer: Any = make(arm(), resolution=TURN)
        state = followed(observer)
        stated, covariance = observer.deviations(state), observer.force_covariance(state)
        if kind != "kalman":
            assert stated is None
            assert covariance is None
            continue
        found = observer.estimate(state)
        np.testing.assert_array_equal(stated.q, found.q_deviation)
        np.testing.assert_array_equal(stated.external, found.external_deviation)
        np.testing.assert_allclose(np.sqrt(np.diag(covariance)), stated.external, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_buffer_that_is_filled_again_changes_no_state(kind: str) -> None:
    """A node may give the same array in every cycle."""
    model, wanted = arm(), None
    for shared in (False, True):
        observer: Any = MAKERS[kind](model, resolution=TURN)
        angle, torque = np.zeros(3), np.zeros(3)
        state = observer.start(reading(model, 0))
        for k in range(1, 12):
            new = reading(model, k)
            if shared:
                angle[:], torque[:] = new.motor_angle, new.motor_torque
                new = gd.Measurement(angle, torque)
            state = observer.step(state, new, DT)
            np.testing.assert_array_equal(state.health.tau_m, new.motor_torque)
        before = state.health.tau_m.copy()
        torque[:] = 7.0
        np.testing.assert_array_equal(state.health.tau_m, before)
        assert all(np.all(row != 7.0) for row in state.health.past.torques)
        wanted = state.mean if wanted is None else wanted
        np.testing.assert_array_equal(state.mean, wanted)


def test_the_momentum_observer_is_made_once_for_an_arm() -> None:
    model = arm()
    q, none = np.array([0.1, 0.2, -0.3]), np.zeros(3)
    observer = ob.momentum_observer(model, 30.0)
    moving = ob.Moving(gd.State(q, none, q, none), none)
    state = observer.step(observer.start(moving), moving, DT)
    former = ob.momentum_step(model, 30.0, ob.momentum_start(model, moving), moving, DT)
    np.testing.assert_array_equal(state.residual, former.residual)
    assert observer.with_model(model.with_payload(1.0)).bandwidth == 30.0
    with pytest.raises(gd.GearedDynamicsError, match="bandwidth: is -1"):
        ob.momentum_observer(model, -1.0)
    with pytest.raises(gd.GearedDynamicsError, match="hold: is 0"):
        ob.momentum_observer(model, 30.0, hold=0.0)
