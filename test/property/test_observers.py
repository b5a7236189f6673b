"""Laws of the observers over random arms."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import geared_dynamics as gd
from elastic_arms import elastic_arm
from observer_arms import TURN, followed

ob = gd.observers


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_filter_follows_any_arm_from_a_wrong_start(seed: int) -> None:
    model = elastic_arm(seed, joints=2 + seed % 4, share=0.2 + 0.1 * (seed % 9))
    off, valid = followed(model, seed, 300)
    assert valid
    assert off[-50:].max() < max(0.02, 0.2 * off[0])


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), dt=st.floats(1e-5, 5e-3))
def test_prediction_of_rest_is_rest(seed: int, dt: float) -> None:
    """Where springs and motors hold the weight, nothing moves, whatever the step."""
    model = elastic_arm(seed, joints=3, share=1.0, extra=False)
    gains = ob.kalman_gains(model, resolution=TURN)
    A = gd.elastic.structure_matrix(model)
    goal = np.random.default_rng(seed).uniform(-1, 1, 3)
    y = gd.Measurement(A[3:].T @ goal + model.motor_zeros, np.zeros(3))
    rest = ob.kalman_start(model, gains, y)
    weight = gd.gravity_forces(model, rest.mean[:3])
    held = y._replace(motor_torque=np.linalg.solve(A[3:], weight))
    after = ob.kalman_step(model, gains, rest, held, dt)
    np.testing.assert_allclose(after.mean[:12], rest.mean[:12], atol=1e-8)
    assert after.nis < 1e-6
    assert np.linalg.eigvalsh(after.covariance).min() > -1e-9
