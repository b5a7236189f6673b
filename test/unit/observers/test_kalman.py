"""The Kalman filter: what it estimates, its start, its gains, its consistency."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import elastic_arm
from geared_dynamics import kernels
from geared_dynamics.kernels import layout
from geared_dynamics.observers.readings import at_rest
from observer_arms import DT, TURN, drive, followed, moved
from simulated_arms import arm

ob = gd.observers


def along(
    model: gd.GearedModel,
    observer: gd.GearedModel,
    steps: int,
    push: float = 0.0,
    load: int = 200,
    **tuning: Any,
) -> tuple[np.ndarray, np.ndarray, Any]:
    """Means (steps, k), true states and the last state; a push on joint 2 from ``load`` on."""
    A = gd.elastic.structure_matrix(model)[3:]
    gains = ob.kalman_gains(observer, resolution=TURN, noise=0.3 * TURN, **tuning)
    q = np.array([0.2, -0.4, 0.6])
    z = np.concatenate([q, q, np.zeros(6)])
    z[:6] = at_rest(model, A.T @ q)
    random, state, means, true = np.random.default_rng(0), None, [], []
    tau_m = np.zeros(3)
    for k in range(steps):
        shown = A.T @ z[3:6] + 0.3 * TURN * random.normal(size=3)
        y = gd.Measurement(TURN * np.round(shown / TURN), tau_m, z[:3].copy())
        start = state is None
        state = ob.kalman_start(observer, gains, y) if start else ob.kalman_step(
            observer, gains, state, y, DT
        )  # fmt: skip
        means.append(state.mean)
        true.append(z)
        goal = A.T @ q + 0.3 * np.abs(A).max(0) * np.sin(2 * np.pi * (k + 1) * DT)
        tau_m = drive(model, z, goal)
        z = moved(model, z, tau_m, np.array([0.0, push * (k >= load), 0.0]), parts=2)
    return np.array(means), np.array(true), state


def test_position_and_velocity_behind_the_springs() -> None:
    model = arm(friction=True)
    means, true, state = along(model, model, 600)
    off = means[200:, :12] - true[200:]
    twist = np.sqrt(np.mean((true[200:, 3:6] - true[200:, :3]) ** 2, axis=0))
    assert np.all(np.sqrt(np.mean(off[:, :3] ** 2, axis=0)) < 0.02 * twist)
    assert np.abs(off[:, 6:9]).max() < 0.02
    assert state.health.valid
    found = ob.estimate(model, state)
    np.testing.assert_array_equal(found.torsion, found.theta - found.q)
    te = gd.elastic.joint_torque(model, gd.State(found.q, found.v, found.theta, found.vtheta))
    np.testing.assert_allclose(found.joint_torque, te)


def test_a_ratio_one_percent_off_shows() -> None:
    """Negative control: the encoders then tell of another arm."""
    model = arm()
    other = gd.load_model(*_wrong())
    good, true, _ = along(model, model, 400)
    wrong, _, _ = along(model, other, 400)
    fine = np.abs(good[200:, :3] - true[200:, :3]).max()
    assert np.abs(wrong[200:, :3] - true[200:, :3]).max() > 20 * fine


def _wrong() -> tuple[Any, Any]:
    from elastic_arms import URDF, elbow_drives

    drives = elbow_drives(2.0)
    drives["spins"][1]["ratio"] *= 1.01
    return URDF / "elbow.urdf", drives


def test_an_external_force_is_found() -> None:
    model = arm()
    means, _, _ = along(model, model, 400, push=5.0)
    assert np.abs(means[100:200, 12:15]).max() < 0.6
    np.testing.assert_allclose(means[260:, 13], 5.0, atol=0.6)


def test_wrong_stiffness_costs_what_it_must_and_a_link_encoder_saves() -> None:
    model, soft = arm(), arm(factor=0.8)
    alone, true, first = along(model, soft, 500)
    both, _, second = along(model, soft, 500, link_noise=2e-6)
    twist = np.abs(true[200:, 3:6] - true[200:, :3]).max()
    off = np.abs(alone[200:, :3] - true[200:, :3]).max()
    assert 0.1 * twist < off < 0.35 * twist
    assert np.abs(both[200:, :3] - true[200:, :3]).max() < 0.05 * off
    assert first.health.valid
    assert second.health.valid
    assert not ob.estimate(soft, second, ob.kalman_gains(soft, resolution=TURN)).consistent


@pytest.mark.parametrize("seed", [1, 4, 7])
def test_random_arms_from_wrong_starts(seed: int) -> None:
    model = elastic_arm(seed, joints=2 + seed % 4, share=0.5)
    off, valid = followed(model, seed, 400)
    assert valid
    assert off[0] > 1e-2
    assert off[300:].max() < 2e-3


@pytest.mark.validate
def test_a_thousand_random_arms() -> None:
    lost = []
    for seed in range(1000):
        model = elastic_arm(seed, joints=2 + seed % 5, share=0.3 + 0.1 * (seed % 8))
        off, valid = followed(model, seed, 2000)
        if not valid or not off[-1] < 5e-3:
            lost.append(seed)
    assert lost == []


def test_normalised_error_is_within_its_bounds() -> None:
    """Exact model, noise as assumed, plant by ``elastic_step``; 95 % bounds of chi squared."""
    model = arm(damping=2.0)
    gains = ob.kalman_gains(model, resolution=0.0, noise=TURN)
    runs = np.array([_nees(model, gains, seed, 60) for seed in range(12)])[:, 20:]
    mean = runs.mean()
    low, high = 15 - 1.96 * np.sqrt(30 / 12), 15 + 1.96 * np.sqrt(30 / 12)
    assert low < mean < high
    doubled = ob.kalman_gains(model, resolution=0.0, noise=0.25 * TURN)
    wrong = np.array([_nees(model, gains, seed, 60, filter_gains=doubled) for seed in range(12)])[
        :, 20:
    ]
    assert wrong.mean() > high, "negative control: the filter thinks the encoders are better"


def _nees(
    model: gd.GearedModel, gains: Any, seed: int, steps: int, filter_gains: Any = None
) -> list[float]:
    random, tuned = np.random.default_rng(seed), gains if filter_gains is None else filter_gains
    A = gd.elastic.structure_matrix(model)[3:]
    P = np.concatenate([np.full(6, 0.02), np.full(6, 0.3), gains.walk])
    mean = np.concatenate([random.uniform(-0.5, 0.5, 3), np.zeros(15)])
    mean[3:6] = mean[:3]
    truth = mean + P * random.normal(size=18)
    state = ob.kalman_start(model, tuned, gd.Measurement(A.T @ truth[3:6], np.zeros(3)))
    state = state._replace(mean=mean, root=np.diag(P).ravel())
    found = []
    for _ in range(steps):
        torque = 0.05 * random.normal(size=3)
        white = gains.torque_noise / np.sqrt(DT) * random.normal(size=6)
        end = gd.simulation.elastic_step(
            model,
            gd.State(truth[:3], truth[6:9], truth[3:6], truth[9:12]),
            DT,
            torque=torque + np.linalg.solve(A, white[3:]),
            external=truth[12:15] + white[:3],
        )
        walk = gains.walk * np.sqrt(DT) * random.normal(size=6)
        truth = np.concatenate([end.x, end.rate, truth[12:] + walk])
        shown = A.T @ truth[3:6] + gains.noise[:3] * random.normal(size=3)
        state = ob.kalman_step(model, tuned, state, gd.Measurement(shown, torque), DT)
        off = (truth - state.mean)[:15]
        found.append(float(off @ np.linalg.solve(state.covariance[:15, :15], off)))
    return found


def test_start_holds_the_weight_and_takes_the_links_readings() -> None:
    model = arm()
    gains = ob.kalman_gains(model, resolution=TURN)
    phi = gd.elastic.motor_angles(
        model, gd.State(np.zeros(3), np.zeros(3), np.array([0.3, -0.5, 0.8]))
    )
    x = ob.kalman_start(model, gains, gd.Measurement(phi, np.zeros(3))).mean[:6]
    np.testing.assert_allclose(x[3:], [0.3, -0.5, 0.8], atol=1e-12)
    K = model.elasticity.stiffness
    np.testing.assert_allclose(K * (x[3:] - x[:3]), gd.gravity_forces(model, x[:3]), atol=1e-6)
    shown = gd.Measurement(phi, np.zeros(3), [0.1, np.nan, 0.2])
    x = ob.kalman_start(model, gains, shown).mean[:3]
    np.testing.assert_array_equal(x[[0, 2]], [0.1, 0.2])


def test_a_state_is_a_value() -> None:
    model = arm()
    gains = ob.kalman_gains(model, resolution=TURN)
    y = gd.Measurement(np.zeros(3), np.zeros(3))
    state = ob.kalman_start(model, gains, y)
    before = state.mean.copy(), state.root.copy()
    first = ob.kalman_step(model, gains, state, y, DT)
    second = ob.kalman_step(model, gains, state, y, DT)
    np.testing.assert_array_equal(state.mean, before[0])
    np.testing.assert_array_equal(state.root, before[1])
    np.testing.assert_array_equal(first.mean, second.mean)
    assert np.all(np.linalg.eigvalsh(first.covariance) > -1e-12)


@pytest.mark.parametrize(
    ("tuning", "says"),
    [
        ({"resolution": 0.0}, "resolution"),
        ({"resolution": -1.0}, "resolution"),
        ({"resolution": [1e-4, 1e-4]}, "resolution"),
        ({"resolution": TURN, "bandwidth": 0.0}, "bandwidth"),
        ({"resolution": TURN, "bandwidth": np.nan}, "bandwidth"),
        ({"resolution": TURN, "bandwidth": 1e160}, r"bandwidth: is 1e\+160; .* below 1e\+06"),
        ({"resolution": TURN, "noise": "x"}, "noise"),
        ({"resolution": TURN, "link_noise": 0.0}, "link_noise"),
        ({"resolution": TURN, "link_noise": [1.0, 2.0]}, "link_noise"),
        ({"resolution": TURN, "rate": 0.0}, "rate"),
        ({"resolution": TURN, "hold": -1.0}, "hold"),
        ({"resolution": TURN, "jump": 0.0}, "jump"),
    ],
)
def test_gains_refuse_what_is_none(tuning: dict[str, Any], says: str) -> None:
    with pytest.raises(gd.GearedDynamicsError, match=says):
        ob.kalman_gains(arm(), **tuning)


def test_a_torque_sensor_behind_a_play_is_refused() -> None:
    model = arm(backlash=1e-3)
    ob.kalman_gains(model, resolution=TURN)
    with pytest.raises(gd.GearedDynamicsError, match="backlash"):
        ob.kalman_gains(model, resolution=TURN, joint_torque_noise=0.1)


def test_a_rigid_arm_is_refused() -> None:
    from elastic_arms import URDF

    model = gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")
    with pytest.raises(gd.GearedDynamicsError, match="no joint of this arm is elastic"):
        ob.kalman_gains(model, resolution=TURN)


def test_rigid_joints_in_the_same_arm() -> None:
    model = arm(elastic=(2,), friction=True)
    gains = ob.kalman_gains(model, resolution=TURN)
    A = gd.elastic.structure_matrix(model)
    z = np.concatenate([[0.2, -0.4, 0.6, -0.4], np.zeros(4)])
    y = gd.Measurement(A.T @ z[:4], np.zeros(3))
    state = ob.kalman_start(model, gains, y)
    z[:4] = state.mean[:4]
    for k in range(300):
        tau_m = drive(model, z, A.T @ z[:4] + 0.1 * np.sin(0.01 * k))
        z = moved(model, z, tau_m, np.zeros(3), parts=2)
        shown = TURN * np.round(A.T @ z[:4] / TURN)
        state = ob.kalman_step(model, gains, state, gd.Measurement(shown, tau_m), DT)
    assert state.health.valid
    assert np.abs(state.mean[:4] - z[:4]).max() < 1e-5


@pytest.mark.parametrize("kernel", ["observer_predict", "observer_update"])
def test_an_estimate_without_a_finite_successor_is_held(
    kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = arm()
    gains = ob.kalman_gains(model, resolution=TURN)
    y = gd.Measurement(gd.elastic.structure_matrix(model)[3:].T @ np.zeros(3), np.zeros(3))
    state = ob.kalman_start(model, gains, y)
    assert ob.kalman_step(model, gains, state, y, DT).health.valid, "negative control"
    if kernel == "observer_predict":  # its square is not finite
        state = state._replace(mean=state.mean + 1e200 * (np.arange(len(state.mean)) >= 6))
    else:
        monkeypatch.setattr(kernels, kernel, lambda *_: layout.OVERFLOW)
    found = ob.kalman_step(model, gains, state, y, DT)
    assert found.health.faults == ob.Fault.DIVERGED | ob.Fault.HELD
    assert not found.health.valid
    np.testing.assert_array_equal(found.mean, state.mean)
    np.testing.assert_array_equal(found.root, state.root)
