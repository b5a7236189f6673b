"""The observers' kernels against SciPy, finite differences and dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import elastic_arm
from geared_dynamics import kernels
from geared_dynamics.dynamics.drives import packed_drives
from geared_dynamics.dynamics.elastic.equations import packed_springs
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.kernels import layout as at
from geared_dynamics.observers.kalman_gains import kalman_gains
from simulated_arms import arm

ARMS = {
    "elbow with friction": lambda: arm(friction=True),
    "some elastic": lambda: arm(elastic=(2,), friction=True),
    "coupled, branched": lambda: elastic_arm(3, joints=4, share=0.6),
    "belts": lambda: elastic_arm(5, joints=3, belts=1),
}


def constants(model: gd.GearedModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return packed(model.with_springs()), packed_springs(model), packed_drives(model)


def rates(
    model: gd.GearedModel, z: np.ndarray, tau_m: np.ndarray, force: np.ndarray
) -> np.ndarray:
    """z' from the public functions; the force on theta by H^-1."""
    n, N = model.n, len(force)
    q, theta, v, vtheta = np.split(z, [n, N, N + n])
    joints, rotors = gd.elastic.friction_forces(model, gd.State(q, v, theta, vtheta))
    a = np.concatenate(
        gd.elastic.forward_dynamics(
            model, gd.State(q, v, theta, vtheta), tau_m - rotors, tau=-joints
        )
    )
    return np.concatenate([z[N:], a + np.linalg.solve(gd.elastic.mass_matrix(model, q), force)])


def case(model: gd.GearedModel, dt: float = 1e-3) -> dict[str, np.ndarray]:
    random, n, N = np.random.default_rng(1), model.n, model.n + model.elasticity.count
    q = random.uniform(-1, 1, n)
    theta = model.elasticity.rigid @ q + 1e-3 * random.normal(size=N - n)
    state = np.concatenate([q, theta, 0.7 * random.normal(size=N), random.normal(size=N)])
    tau_m = 0.1 * random.normal(size=len(model.motor_names))
    given = np.concatenate([tau_m, np.zeros(n), [dt]])
    out = np.empty(3 * N + N + 8 * N * N)
    assert kernels.observer_transition(*constants(model), state, given, out) == at.OK
    phi, whole = out[4 * N :].reshape(2, 2 * N, 2 * N)
    return {
        "state": state,
        "given": given,
        "tau_m": tau_m,
        "next": out[: 3 * N],
        "a": out[3 * N : 4 * N],
        "phi": phi,
        "whole": whole,
    }


@pytest.mark.parametrize("name", ARMS)
def test_transition_is_the_exponential_of_the_linearised_arm(name: str) -> None:
    linalg = pytest.importorskip("scipy.linalg")
    model = ARMS[name]()
    found = case(model)
    N = len(found["a"])
    z, force = found["state"][: 2 * N], found["state"][2 * N :]
    f = rates(model, z, found["tau_m"], force)
    np.testing.assert_allclose(found["a"], f[N:], rtol=1e-10, atol=1e-9)
    step = 1e-6
    A = np.array(
        [
            (
                rates(model, z + e, found["tau_m"], force)
                - rates(model, z - e, found["tau_m"], force)
            )
            / (2 * step)
            for e in step * np.eye(2 * N)
        ]
    ).T
    whole = linalg.expm(1e-3 * A)
    np.testing.assert_allclose(found["whole"], whole, atol=1e-6 * np.abs(whole).max())
    np.testing.assert_allclose(
        found["next"][: 2 * N], z + 1e-3 * found["phi"] @ f, rtol=1e-12, atol=1e-12
    )
    both = np.eye(2 * N) + 1e-3 * A @ found["phi"]
    np.testing.assert_allclose(found["whole"], both, atol=1e-6 * np.abs(whole).max())
    np.testing.assert_array_equal(found["next"][2 * N :], force)


@pytest.mark.parametrize("dt", [1e-3, 1e-2, 0.1])
def test_a_stiff_vibration_is_exact_at_any_step(dt: float) -> None:
    """A wheel on a spring: the step is that of the closed form, far beyond the period."""
    urdf = (
        '<robot name="one"><link name="base"/><link name="load"><inertial><mass value="1"/>'
        '<inertia ixx="2" iyy="2" izz="2" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="load"/>'
        '<axis xyz="0 0 1"/></joint></robot>'
    )
    wheel = {"carrier": "base", "axis": [0, 0, 1], "mass": 0.1, "inertia": {"axial": 1e-4}}
    drives = {
        "version": 1,
        "wheels": {"r": wheel},
        "spins": [{"wheel": "r", "joint": "j", "ratio": 100}],
        "motors": {"m": {"wheel": "r"}},
        "joints": {"j": {"stiffness": 2e5}},
    }
    model = gd.load_model(urdf, drives, gravity=(0, 0, 0))
    out = np.empty(6 + 2 + 32)
    state = np.array([0.0, 1e-3, 0.0, 0.0, 0.0, 0.0])
    given = np.array([0.0, 0.0, dt])
    assert kernels.observer_transition(*constants(model), state, given, out) == at.OK
    frequency = np.sqrt(2e5 * (1 / 2.0 + 1 / 1.0))
    twist = 1e-3 * np.cos(frequency * dt)
    assert out[1] - out[0] == pytest.approx(twist, abs=1e-9)
    assert 2.0 * out[0] + 1.0 * out[1] == pytest.approx(1e-3, abs=1e-12)  # momentum


@pytest.mark.parametrize("name", ARMS)
def test_covariance_and_update_are_those_of_dense_matrices(name: str) -> None:
    model = ARMS[name]()
    gains = kalman_gains(model, resolution=1e-4, link_noise=1e-4, joint_torque_noise=0.1)
    found, k = case(model), gains.sizes.state
    N, c = gains.sizes.coordinates, gains.sizes.readings
    random = np.random.default_rng(2)
    U = np.diag(random.uniform(0.5, 2, k)) + 0.1 * random.normal(size=(k, k))
    out = np.empty(k + k * k + 2 * c)
    inputs = gains.tuning, found["state"], U.ravel(), found["given"]
    assert kernels.observer_predict(*constants(model), *inputs, out) == at.OK
    root = out[k : k + k * k].reshape(k, k)
    V = found["phi"][:, N:] @ np.linalg.inv(
        gd.elastic.mass_matrix(model, found["state"][: model.n])
    )
    F = np.eye(k)
    F[: 2 * N, : 2 * N], F[: 2 * N, 2 * N :] = found["whole"], 1e-3 * V
    G = np.zeros((k, 2 * N))
    G[: 2 * N, :N], G[2 * N :, N:] = V * gains.torque_noise, np.diag(gains.walk)
    P = F @ U.T @ U @ F.T + 1e-3 * G @ G.T
    np.testing.assert_allclose(root.T @ root, P, rtol=1e-9, atol=1e-12 * np.abs(P).max())
    assert np.abs(np.tril(root, -1)).max() == 0.0
    C, R = gains.rows, np.diag(gains.noise**2)
    used = random.random(c) < 0.7
    y = C @ out[:k] + 0.01 * random.normal(size=c)
    after = np.empty(k + k * k + 1)
    args = (gains.tuning, out[:k].copy(), root.ravel().copy(), y, used.astype(float))
    assert kernels.observer_update(*constants(model)[:2], *args, after) == at.OK
    S = (C @ P @ C.T + R)[np.ix_(used, used)]
    gain = P @ C[used].T @ np.linalg.inv(S)
    off = (y - C @ out[:k])[used]
    scale = np.abs(gain @ off).max()
    np.testing.assert_allclose(after[:k], out[:k] + gain @ off, rtol=1e-6, atol=1e-6 * scale)
    Pu = after[k:-1].reshape(k, k)
    np.testing.assert_allclose(Pu.T @ Pu, P - gain @ C[used] @ P, atol=1e-8 * np.abs(P).max())
    assert after[-1] == pytest.approx(off @ np.linalg.solve(S, off), rel=1e-6)


def test_many_states_at_once_are_each_alone() -> None:
    model = arm(friction=True)
    found = case(model)
    states = np.stack([found["state"], 0.5 * found["state"]])
    given = np.stack([found["given"]] * 2)
    out = np.empty((2, 24 + 8 * 36))
    assert kernels.observer_transition(*constants(model), states, given, out) == at.OK
    single = np.empty(24 + 8 * 36)
    for row, state in zip(out, states, strict=True):
        kernels.observer_transition(*constants(model), state, found["given"], single)
        np.testing.assert_array_equal(row, single)


def test_wrong_shapes_overlap_and_nan_are_refused() -> None:
    model = arm()
    found = case(model)
    parts, out = constants(model), np.empty(24 + 8 * 36)
    run = kernels.observer_transition
    assert run(*parts, found["state"][:-1], found["given"], out) == at.WRONG_SHAPE
    assert run(*parts, found["state"], found["given"][:-1], out) == at.WRONG_SHAPE
    assert run(*parts, found["state"], found["given"], out[:-1].copy()) == at.WRONG_SHAPE
    assert run(*parts, out[:18], found["given"], out) == at.OVERLAP
    bad = found["state"].copy()
    bad[3] = np.nan
    assert run(*parts, bad, found["given"], out) == at.NOT_FINITE
