"""Contraction: rates of the nonlinear observer in use, along a motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import elastic_arm
from geared_dynamics.observers.contraction import after_correction, steps
from geared_dynamics.observers.readings import observed_arm
from geared_dynamics.observers.standing import predicted
from observer_arms import DT, TURN, drive, moved
from simulated_arms import arm

ob = gd.observers


def motion(model: gd.GearedModel, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """States (steps, 2N) and torques (steps, m) over the step after each, quickly moving."""
    n, N = model.n, model.n + model.elasticity.count
    A = gd.elastic.structure_matrix(model)
    q = np.linspace(-0.4, 0.5, n)
    z = np.concatenate([q, model.elasticity.rigid @ q, np.zeros(N)])
    start, states, torques = A.T @ z[:N], [], []
    for k in range(steps):
        goal = start + 0.4 * np.abs(A).max(0) * np.sin(4 * np.pi * k * DT)
        states.append(z)
        torques.append(drive(model, z, goal))
        z = moved(model, z, torques[-1], np.zeros(n), parts=1)
    return np.array(states), np.array(torques)


def followed(
    model: gd.GearedModel, gains: Any, states: np.ndarray, torques: np.ndarray, error: np.ndarray
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Errors (t, 2N) before each correction of an observer that runs, and the gains it used."""
    N = gains.sizes.coordinates
    shown = states[:, :N] @ gains.structure.T + gains.zeros
    state = ob.nonlinear_start(model, gains, gd.Measurement(shown[0], torques[0]))
    state = state._replace(mean=states[0] + error)
    errors, used = [], []
    for z, y, tau in zip(states[1:], shown[1:], torques, strict=False):
        state = ob.nonlinear_step(model, gains, state, gd.Measurement(y, tau), DT)
        errors.append(state.mean - z)
        used.append(state.gain)
    return np.array(errors), used


@pytest.mark.parametrize("bandwidth", [5.0, 30.0])
def test_rates_are_those_of_the_observer_that_runs(bandwidth: float) -> None:
    """A small error shrinks as the product of the same steps with the same gains says."""
    model = arm()
    states, torques = motion(model, 200)
    gains = ob.nonlinear_gains(model, resolution=TURN, bandwidth=bandwidth)
    error = 1e-6 * np.random.default_rng(0).normal(size=12)
    errors, used = followed(model, gains, states, torques, error)
    taken = list(steps(model, gains, states, torques, DT, 1))
    fresh = {id(step.gain) for step in taken}
    assert 3 < len(fresh) < 100, "gains are kept for some steps"
    for step, own in zip(taken, used, strict=True):
        np.testing.assert_allclose(step.gain, own, rtol=1e-3, atol=1e-3 * np.abs(own).max())
    before = error
    for k, step in enumerate(taken[:40]):
        C = gains.seen.inverse @ gains.structure
        before = step.whole @ before
        before = before - step.gain @ (C @ before[:6])
        np.testing.assert_allclose(errors[k], before, atol=0.02 * np.abs(before).max())


@pytest.mark.parametrize("bandwidth", [5.0, 30.0])
def test_no_error_shrinks_more_slowly_than_the_rates_say(bandwidth: float) -> None:
    model = arm()
    states, torques = motion(model, 200)
    gains = ob.nonlinear_gains(model, resolution=TURN, bandwidth=bandwidth)
    rates = ob.contraction(model, gains, states, torques, DT)
    assert rates.shape == (198,)
    sizes = []
    for seed in range(5):
        error = 1e-6 * np.random.default_rng(seed).normal(size=12)
        errors, _ = followed(model, gains, states, torques, error)
        sizes.append(np.linalg.norm(errors[[60, -1]], axis=1))
    shrunk = np.array([late / early for early, late in sizes])
    # The norm W is one of the whole state: beside it stand the posture's changes of W.
    assert np.log(shrunk).max() < -0.5 * rates[60:].sum() * DT
    assert rates.mean() < gains.rate


def test_a_kept_gain_costs_decay_and_the_rates_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: rates with fresh gains are others than those of the observer in use."""
    import geared_dynamics.observers.nonlinear as nonlinear

    model = arm()
    states, torques = motion(model, 120)
    gains = ob.nonlinear_gains(model, resolution=TURN, bandwidth=5.0)
    used = ob.contraction(model, gains, states, torques, DT)
    monkeypatch.setattr(nonlinear, "FRESH", 0.0)
    fresh = ob.contraction(model, gains, states, torques, DT)
    assert np.abs(used - fresh).max() > 0.05 * gains.rate


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_with_rigid_joints_the_eigenvalues_are_near_only(seed: int) -> None:
    """Decay rates of each mode beside the wanted, for arms with both kinds of joints."""
    model = elastic_arm(seed, 5, share=0.4, extra=False, damping=3.0)
    random, n = np.random.default_rng(0), model.n
    gains = ob.nonlinear_gains(model, resolution=TURN, bandwidth=30.0)
    assert gains.seen.rigid.size
    assert gains.seen.elastic.size
    worst = 0.0
    for _ in range(5):
        q = random.uniform(-1, 1, n)
        z = np.r_[q, model.elasticity.rigid @ q, random.normal(size=gains.sizes.coordinates)]
        step = predicted(observed_arm(model), z, np.zeros(gains.sizes.motors), np.zeros(n), DT)
        assert step is not None
        logs = [
            np.log(np.linalg.eigvals(M).astype(complex)) / DT / gains.rate
            for M in (step.whole, after_correction(gains, step.whole, DT))
        ]
        worst = max(worst, np.abs(logs[1][:, None] - (logs[0] - 1.0)).min(axis=0).max())
    assert 1e-3 < worst < 0.25


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dt", 0.0),
        ("dt", -DT),
        ("dt", np.nan),
        ("dt", 1.0),
        ("dt", "a"),
        ("dt", None),
        ("states", np.zeros((2, 12))),
        ("states", np.zeros((4, 11))),
        ("states", np.full((4, 12), np.nan)),
        ("states", np.arange(48.0).reshape(4, 12)),
        ("tau_m", np.zeros((3, 3))),
        ("tau_m", np.zeros(3)),
        ("tau_m", "a"),
        ("gains", None),
    ],
)
def test_what_is_none_is_refused(name: str, value: Any) -> None:
    model = arm()
    given = {
        "gains": ob.nonlinear_gains(model, resolution=TURN),
        "states": np.zeros((4, 12)),
        "tau_m": np.zeros((4, 3)),
        "dt": DT,
        name: value,
    }
    with pytest.raises(gd.GearedDynamicsError, match=name):
        ob.contraction(model, **given)
