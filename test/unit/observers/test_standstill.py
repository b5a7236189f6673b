"""Standstill within the friction band: what friction holds is no force, and the filter says so."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics import kernels
from geared_dynamics.dynamics.drives import packed_drives
from geared_dynamics.dynamics.elastic.equations import packed_springs
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.observer_layout import GROUPS
from long_cases import cases
from observer_arms import DT, TURN
from simulated_arms import arm

pytest.importorskip("mujoco")
pytest.importorskip("scipy")
ob = gd.observers
BENCHMARKS = str(Path(__file__).resolve().parents[3] / "benchmarks")
STIFFNESS = np.array([9e3, 7e3, 3e3])


@pytest.fixture(scope="module")
def bench() -> Any:
    sys.path.insert(0, BENCHMARKS)
    try:
        return importlib.import_module("observer_standstill")
    finally:
        sys.path.remove(BENCHMARKS)


def held(model: gd.GearedModel, extra: tuple[float, ...], steps: int, **tuning: Any) -> Any:
    """State of the filter on a standing arm whose motors hold ``extra`` above gravity (n,)."""
    A, q = gd.elastic.structure_matrix(model)[model.n :], np.array([0.3, -0.5, 0.8])
    weight = gd.gravity_forces(model, q)
    shown = A.T @ (q + weight / model.elasticity.stiffness) + model.motor_zeros
    y = gd.Measurement(TURN * np.round(shown / TURN), np.linalg.solve(A, weight + extra))
    gains = ob.kalman_gains(model, resolution=TURN, noise=0.3 * TURN, **tuning)
    state = ob.kalman_start(model, gains, y)
    for _ in range(steps):
        state = ob.kalman_step(model, gains, state, y, DT)
    return state, q


def test_a_torque_that_friction_holds_is_within_the_stated_deviation(bench: Any) -> None:
    """4 N m above gravity at joint 2, of 5 that friction may hold: taken for a force."""
    model = bench.model_of(np.full(3, 0.05))
    state, q = held(model, (0.0, 4.0, 0.0), 400)
    found = ob.estimate(model, state)
    assert abs(found.external[1]) > 3.9, "negative control: there is something to state"
    level = bench.on_joints(np.full(3, 0.05))
    assert np.all(np.abs(found.external) <= 3.0 * found.external_deviation)
    assert np.all(np.abs(found.q - q) <= 3.0 * found.q_deviation)
    assert np.all(found.external_deviation <= level)
    assert np.all(found.q_deviation <= 1.5 * level / STIFFNESS)
    assert found.valid
    assert found.consistent
    assert found.resting.all()


@pytest.mark.parametrize("number", cases([4], [16]))
def test_random_standstills_after_a_motion(bench: Any, number: int) -> None:
    """Both plants; all instants at which they stand, and those on the way there."""
    ends, instants, alarms = [], [], []
    for seed in range(5001, 5001 + number):
        seen = bench.followed(bench.standstill(seed))
        assert seen.valid.all()
        standing = seen.standing  # an arm may slip on to the end
        ends.append(seen.ratios[:2, standing].max(initial=0.0))
        instants.append(seen.ratios[:2, bench.SETTLED :].reshape(2, -1))
        alarms.append(seen.raised[bench.SETTLED :].any())
        assert np.all(seen.deviation[standing, 12:15] <= seen.level)
        assert np.all(seen.deviation[standing, :3] <= 1.5 * seen.level / STIFFNESS)
        assert seen.consistent[standing].all()
    assert np.max(ends) <= 3.0
    assert np.count_nonzero(ends) >= 0.75 * number
    every = np.concatenate(instants, axis=1)
    assert np.mean(every <= 3.0) > 0.99
    assert every.max() <= 6.0
    assert not any(alarms)


def test_a_filter_that_takes_friction_at_rest_for_known_is_wrong(bench: Any) -> None:
    """Negative control: what the covariance of the gains alone says of the same arms."""
    case = bench.standstill(5001)
    seen = bench.followed(case._replace(changes=("unaware",)))
    assert seen.ratios[:2, -1].max() > 10.0


@pytest.mark.parametrize("seed", cases([5000, 5001, 5002], [5003, 5004, 5005]))
def test_a_contact_of_twice_the_level_is_found(bench: Any, seed: int) -> None:
    case, joint = bench.touched(seed)
    seen = bench.followed(case)
    assert not seen.raised[bench.SETTLED : bench.PUSHED].any(), "what friction holds is no contact"
    assert seen.raised[bench.PUSHED : bench.PUSHED + bench.WITHIN, joint].any()
    assert seen.valid.all()


def test_friction_at_rest_changes_no_estimate_and_no_gain() -> None:
    model = arm(friction=True)
    one, _ = held(model, (0.3, -0.4, 0.2), 60)
    other, _ = held(model, (0.3, -0.4, 0.2), 60, stiction=0.1)
    np.testing.assert_array_equal(one.mean, other.mean)
    np.testing.assert_array_equal(one.root, other.root)
    assert np.all(other.friction_deviations[12:15] > 1.5 * one.friction_deviations[12:15])


def test_without_friction_the_covariance_is_that_of_the_gains() -> None:
    state, _ = held(arm(), (0.0, 0.0, 0.0), 20)
    U = state.root.reshape(18, 18)
    np.testing.assert_array_equal(state.covariance, U.T @ U)
    np.testing.assert_array_equal(state.friction_deviations, 0.0)
    assert not ob.estimate(arm(), state).resting.any()


def test_friction_that_the_model_has_not_can_be_stated() -> None:
    model = arm()
    state, _ = held(model, (0.0, 4.0, 0.0), 400, stiction=[0.0, 0.05, 0.0])
    assert ob.estimate(model, state).resting[1]
    assert 5.0 / 3.0**0.5 < state.deviations[13] < 1.2 * 5.0  # of a level of 5 N m
    assert np.all(state.friction_deviations[[12, 14]] < state.friction_deviations[13])


def test_sensors_on_the_links_determine_what_friction_hides() -> None:
    """The error that friction makes of q is then gone, and so is what is stated of it."""
    model = arm(friction=True)
    A, q = gd.elastic.structure_matrix(model)[3:], np.array([0.3, -0.5, 0.8])
    weight = gd.gravity_forces(model, q)
    theta = q + weight / model.elasticity.stiffness
    y = gd.Measurement(A.T @ theta, np.linalg.solve(A, weight + 0.5), q, weight)
    gains = ob.kalman_gains(model, resolution=TURN, link_noise=2e-6, joint_torque_noise=0.05)
    state = ob.kalman_start(model, gains, y)
    for _ in range(400):
        state = ob.kalman_step(model, gains, state, y, DT)
    alone, _ = held(model, (0.5, 0.5, 0.5), 400)
    assert np.all(state.friction_deviations[:3] < 0.1 * alone.friction_deviations[:3])
    assert np.all(np.abs(state.mean[:3] - q) < 3.0 * state.deviations[:3])


def test_moving_off_leaves_nothing_open() -> None:
    """In motion smooth friction is known: the stated deviations are those of the gains."""
    model = arm(friction=True)
    gains = ob.kalman_gains(model, resolution=TURN)
    A = gd.elastic.structure_matrix(model)[3:]
    state = ob.kalman_start(model, gains, gd.Measurement(np.zeros(3), np.zeros(3)))
    for k in range(1, 300):
        shown = A.T @ np.full(3, 0.5 * k * DT)
        state = ob.kalman_step(model, gains, state, gd.Measurement(shown, np.zeros(3)), DT)
    assert np.all(np.abs(state.mean[6:9] - 0.5) < 0.1)
    assert state.friction_deviations.max() < 1e-6
    doubtful = ob.kalman_gains(model, resolution=TURN, friction_error=0.2)
    for k in range(300, 400):
        shown = A.T @ np.full(3, 0.5 * k * DT)
        state = ob.kalman_step(model, doubtful, state, gd.Measurement(shown, np.zeros(3)), DT)
    assert state.friction_deviations[12:15].min() > 0.05


@pytest.mark.parametrize(
    ("name", "value"),
    [("stiction", -1.0), ("stiction", [1.0, 2.0]), ("stiction", np.nan), ("stiction", "a"),
     ("friction_error", -0.1), ("friction_error", 1.1), ("friction_error", np.nan)],
)  # fmt: skip
def test_levels_that_are_none_are_refused(name: str, value: Any) -> None:
    with pytest.raises(gd.GearedDynamicsError, match=name):
        ob.kalman_gains(arm(), resolution=TURN, **{name: value})


def test_the_rows_of_friction_follow_the_dense_equations() -> None:
    """Prediction row+ = F row + share dt V r' band, update row+ = (1 - K C) row."""
    model = arm(friction=True)
    gains = ob.kalman_gains(model, resolution=1e-4)
    parts = packed(model.with_springs()), packed_springs(model), packed_drives(model)
    k, N, c, p = 18, 6, gains.sizes.readings, len(gains.stiction)
    random = np.random.default_rng(3)
    U, rows = np.diag(np.full(k, 1e-5)), random.normal(size=(GROUPS * p, k))
    mean = np.concatenate([random.uniform(-1, 1, 3), np.zeros(15)])
    mean[3:6] = mean[:3] + gd.gravity_forces(model, mean[:3]) / model.elasticity.stiffness
    A = gd.elastic.structure_matrix(model)
    tau_m = np.linalg.solve(A[3:], gd.gravity_forces(model, mean[:3]))
    given = np.concatenate([tau_m, np.zeros(3), [DT], [2.0, 0.0], gains.stiction.ravel()])
    factor = np.concatenate([U.ravel(), rows.ravel()])
    out = np.empty(k + len(factor) + 2 * c)
    assert kernels.observer_predict(*parts, gains.tuning, mean, factor, given, out) == at.OK
    whole = np.empty(3 * N + N + 8 * N * N)
    assert kernels.observer_transition(*parts, mean, given[:7], whole) == at.OK
    phi, F = whole[4 * N :].reshape(2, 2 * N, 2 * N)
    V = phi[:, N:] @ np.linalg.inv(gd.elastic.mass_matrix(model, mean[:3]))
    step = np.eye(k)
    step[: 2 * N, : 2 * N], step[: 2 * N, 2 * N :] = F, DT * V
    after = out[k + k * k : -2 * c].reshape(GROUPS, p, k)
    push = after - (rows @ step.T).reshape(GROUPS, p, k)
    level, along = gains.stiction[:, 0], gains.stiction[:, 4:]
    full = DT * (level[:, None] * along) @ V.T  # at rest the band is the level
    atol = 1e-9 * np.abs(after).max()
    np.testing.assert_allclose(push[0, :, : 2 * N], full / np.sqrt(3.0), rtol=1e-3, atol=atol)
    np.testing.assert_allclose(push[3, :, : 2 * N], full / np.sqrt(12.0), rtol=2e-2, atol=atol)
    np.testing.assert_allclose(push[[1, 2, 4, 5]], 0.0, atol=atol)
    factor, used = out[k : -2 * c].copy(), (np.arange(c) < 3).astype(float)
    y, updated = np.zeros(c), np.empty(k + len(factor) + 1)
    args = (gains.tuning, out[:k].copy(), factor, y, used)
    assert kernels.observer_update(*parts[:2], *args, updated) == at.OK
    P = factor[: k * k].reshape(k, k).T @ factor[: k * k].reshape(k, k)
    C = gains.rows[:3]
    gain = P @ C.T @ np.linalg.inv(C @ P @ C.T + np.diag(gains.noise[:3] ** 2))
    wanted = after.reshape(-1, k) @ (np.eye(k) - gain @ C).T
    found = updated[k + k * k : -1].reshape(-1, k)
    np.testing.assert_allclose(found, wanted, atol=1e-8 * np.abs(wanted).max())


def test_rows_that_belong_to_no_law_are_refused() -> None:
    model = arm(friction=True)
    gains = ob.kalman_gains(model, resolution=1e-4)
    parts = packed(model.with_springs()), packed_springs(model), packed_drives(model)
    c = gains.sizes.readings
    factor, given = np.zeros((18 + GROUPS + 1) * 18), np.zeros(7 + 2 + 9)
    out = np.empty(18 + len(factor) + 2 * c)
    found = kernels.observer_predict(*parts, gains.tuning, np.zeros(18), factor, given, out)
    assert found == at.WRONG_SHAPE


def coasting(model: gd.GearedModel, speed: float, extra: float, steps: int) -> np.ndarray:
    """Speeds (steps + 1,) of rotor 2 as predicted from one, its torque so far above gravity."""
    A, q = gd.elastic.structure_matrix(model), np.array([0.3, -0.5, 0.8])
    weight = gd.gravity_forces(model, q)
    z = np.concatenate([q, q + weight / model.elasticity.stiffness, np.zeros(6)])
    z[10] = speed / A[4, 1]
    tau_m = np.linalg.solve(A[3:], weight) + extra * np.eye(3)[1]
    parts = packed(model.with_springs()), packed_springs(model), packed_drives(model)
    gains = ob.kalman_gains(model, resolution=TURN, stiction=0.0)
    given, out = np.concatenate([tau_m, np.zeros(3), [DT]]), np.empty(18 + 18 * 18 + 18)
    found, factor, state = [speed], np.zeros(18 * 18), np.concatenate([z, np.zeros(6)])
    for _ in range(steps):
        assert kernels.observer_predict(*parts, gains.tuning, state, factor, given, out) == at.OK
        state = out[:18].copy()
        found.append(float(A[4, 1] * state[10]))
    return np.array(found)


def test_what_comes_to_rest_is_predicted_at_rest(bench: Any) -> None:
    """With a smooth sign that is flat at some smoothing rates it jumps to and fro for ever."""
    speeds = coasting(bench.model_of(np.full(3, 0.08)), 0.33, 0.0, 30)
    assert np.abs(speeds[10:]).max() < 0.02


def test_what_is_torn_off_is_not_held_by_the_slope_at_rest(bench: Any) -> None:
    level, model = 0.04, bench.model_of(np.full(3, 0.04))
    A = gd.elastic.structure_matrix(model)
    H = gd.elastic.mass_matrix(model, np.array([0.3, -0.5, 0.8]))
    ease = (A.T @ np.linalg.solve(H, A))[1, 1]
    speed = coasting(model, 0.0, 5.0 * level, 1)[-1]
    assert speed == pytest.approx(DT * ease * 4.5 * level, rel=0.15)


@pytest.mark.parametrize("stiction", [None, 0.0])
def test_what_friction_holds_is_no_stuck_encoder(bench: Any, stiction: float | None) -> None:
    """A prediction that creeps where friction holds the rotor; also of a filter without any."""
    model = bench.model_of(np.full(3, 0.05))
    state, _ = held(model, (0.0, 4.0, 0.0), 60, stiction=stiction)
    gains = ob.kalman_gains(model, resolution=TURN, noise=0.3 * TURN, stiction=stiction)
    travel = np.where(np.arange(gains.sizes.readings) == 1, 1.12 * gains.limits.stuck, 0.0)
    state = state._replace(health=state.health._replace(travel=travel))
    tau_m = state.health.tau_m
    state = ob.kalman_step(
        model, gains, state, gd.Measurement(state.health.reading[:3], tau_m), DT
    )
    assert ob.Fault.STUCK not in state.health.faults
