"""Laws of elastic arms: rigid limit, energy, passivity, linearity, round trips."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import geared_dynamics as gd
from elastic_arms import elastic_arm, elbow, state
from naive.measure import holds

ROUNDING = 1e-13  # of the largest element: sums of the same products in another order
DRIFT = 1e-6  # of the energy in motion, asked for; the integrator leaves less
SEEDS = range(8)
Motion = Callable[[float, np.ndarray], np.ndarray]


def mixed(seed: int) -> gd.GearedModel:
    """A random arm with elastic and rigid joints."""
    return elastic_arm(seed, 2 + seed % 5, share=0.6, branched=seed % 2 == 0, belts=seed % 3)


def close(found: np.ndarray, expected: np.ndarray, tolerance: float = ROUNDING) -> None:
    """Compare by the largest element."""
    assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def locked(model: gd.GearedModel) -> np.ndarray:
    """E (n + n_e, n) with x = E q where theta = q."""
    return np.vstack([np.eye(model.n), model.elasticity.rigid])


@pytest.mark.parametrize("seed", SEEDS)
def test_theta_equal_to_q_is_the_rigid_arm(seed: int) -> None:
    """M = M_link + S + S' + B, and the forces likewise, without any force of the springs."""
    model = mixed(seed)
    q, _, v, _, a, _ = state(model, seed)
    E, R = locked(model), model.elasticity.rigid
    close(E.T @ gd.elastic.mass_matrix(model, q) @ E, gd.mass_matrix(model, q))
    C = gd.elastic.coriolis_matrix(model, gd.State(q, v, vtheta=R @ v))
    close(E.T @ C @ E, gd.coriolis_matrix(model, q, v))
    pair = gd.elastic.inverse_dynamics(model, gd.State(q, v, R @ q, R @ v), a, R @ a)
    close(E.T @ np.concatenate(pair), gd.inverse_dynamics(model, q, v, a))
    close(
        gd.elastic.kinetic_energy(model, gd.State(q, v, vtheta=R @ v)),
        gd.kinetic_energy(model, q, v),
    )
    close(gd.elastic.potential_energy(model, gd.State(q, v, R @ q)), gd.potential_energy(model, q))
    close(gd.elastic.motor_speeds(model, gd.State(q, v, vtheta=R @ v)), gd.motor_speeds(model, v))
    close(gd.elastic.motor_angles(model, gd.State(q, v, R @ q)), gd.motor_angles(model, q))


@pytest.mark.parametrize("seed", SEEDS)
def test_round_trip(seed: int) -> None:
    model = mixed(seed)
    q, theta, v, vtheta = state(model, seed, 2)
    tau_m, tau = np.random.default_rng(seed).normal(size=(2, model.n))
    pair = gd.elastic.forward_dynamics(model, gd.State(q, v, theta, vtheta), tau_m, tau=tau)
    link, shaft = gd.elastic.inverse_dynamics(model, gd.State(q, v, theta, vtheta), *pair)
    te = np.abs(gd.elastic.joint_torque(model, gd.State(q, v, theta, vtheta))).max()
    A = gd.elastic.structure_matrix(model)
    assert_allclose(np.r_[link - tau, shaft], A @ tau_m, rtol=0, atol=1e-9 * te)
    found = gd.elastic.motor_torques(model, link - tau, shaft)
    assert_allclose(found, tau_m, rtol=0, atol=1e-9 * te)


@pytest.mark.parametrize("seed", SEEDS)
def test_external_forces_reach_the_links(seed: int) -> None:
    model = mixed(seed)
    q, theta, v, vtheta = state(model, seed, 2)
    random = np.random.default_rng(seed)
    tau_m, f_ext = random.normal(size=model.n), random.normal(size=(len(model.body_names), 6))
    force = gd.external_forces(model, q, f_ext)
    found = gd.elastic.forward_dynamics(model, gd.State(q, v, theta, vtheta), tau_m, f_ext)
    expected = gd.elastic.forward_dynamics(model, gd.State(q, v, theta, vtheta), tau_m, tau=force)
    close(np.concatenate(found), np.concatenate(expected))
    with_both = gd.elastic.inverse_dynamics(model, gd.State(q, v, theta, vtheta), *found, f_ext)
    without = gd.elastic.inverse_dynamics(model, gd.State(q, v, theta, vtheta), *found)
    te = np.abs(gd.elastic.joint_torque(model, gd.State(q, v, theta, vtheta))).max()
    assert_allclose(with_both[0], without[0] - force, rtol=0, atol=1e-12 * te)


@pytest.mark.parametrize("seed", SEEDS)
def test_regressor_holds_for_links_and_shafts(seed: int) -> None:
    """The parameters of the rigid arm give the forces on x as well."""
    model = mixed(seed)
    arm = model.with_springs()
    q, theta, v, vtheta = state(model, seed, 2)
    x, rate = np.r_[q, theta], np.r_[v, vtheta]
    Y = gd.regressor(arm, x, rate, 0 * x)
    assert gd.parameter_names(arm) == gd.parameter_names(model)
    close(
        Y @ gd.parameters(model),
        gd.elastic.bias_forces(model, gd.State(q, v, vtheta=vtheta)),
        1e-12,
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["complete", "uncoupled", "spong_truncated"])
def test_power_balance(seed: int, kind: str) -> None:
    """d(T + U)/dt = tau_m' phi' - D (theta' - v)^2, for every choice of the model."""
    model = mixed(seed).with_elasticity(kind)  # type: ignore[arg-type]
    q, theta, v, vtheta = state(model, seed, 2)
    tau_m = np.random.default_rng(seed).normal(size=model.n)
    a, atheta = gd.elastic.forward_dynamics(model, gd.State(q, v, theta, vtheta), tau_m)
    rate, change = np.r_[v, vtheta], np.r_[a, atheta]
    H, C = (
        gd.elastic.mass_matrix(model, q),
        gd.elastic.coriolis_matrix(model, gd.State(q, v, vtheta=vtheta)),
    )
    # T' = x'' H x'' + x'' C x', as H' - 2 C is skew.
    kinetic = rate @ (H @ change + C @ rate)
    still = gd.elastic.spring_forces(model, gd.State(q, 0 * v, theta, 0 * vtheta))
    potential = gd.gravity_forces(model, q) @ v - still @ rate
    relative = model.elasticity.stretch @ rate
    lost = relative @ (model.elasticity.damping * relative)
    power = gd.elastic.motor_speeds(model, gd.State(q, v, vtheta=vtheta)) @ tau_m - lost
    scale = np.abs(rate * (H @ change)).max()
    assert kinetic + potential == pytest.approx(power, abs=1e-11 * scale)


def swing(model: gd.GearedModel, tau_m: np.ndarray) -> Motion:
    """Right-hand side of the motion (q, theta, v, vtheta)."""
    n = model.n

    def right(_: float, y: np.ndarray) -> np.ndarray:
        q, theta, v, vtheta = y.reshape(4, n)
        a, atheta = gd.elastic.forward_dynamics(model, gd.State(q, v, theta, vtheta), tau_m)
        return np.concatenate([v, vtheta, a, atheta])

    return right


def test_undamped_arm_keeps_its_energy_for_ten_seconds() -> None:
    model = elbow()
    start = np.array([0.3, -0.5, 0.8, 0.31, -0.49, 0.79, 1.0, -0.5, 0.7, 0.8, -0.6, 0.9])
    run = solve_ivp(swing(model, np.zeros(3)), (0, 10.0), start, "DOP853", rtol=1e-11, atol=1e-12)
    q, theta, v, vtheta = run.y.T.reshape(-1, 4, 3).transpose(1, 0, 2)
    kinetic = gd.elastic.kinetic_energy(model, gd.State(q, v, vtheta=vtheta))
    total = kinetic + gd.elastic.potential_energy(model, gd.State(q, v, theta))
    assert np.ptp(kinetic) > 1.0
    drift = np.abs(total - total[0]).max() / np.abs(total[0])
    assert holds("elastic elbow, drift of the energy in 10 s", drift, DRIFT)


def rigid_limit_error(factor: float, seconds: float = 0.05) -> float:
    """Distance of the elastic from the rigid arm after a while, springs loaded to match."""
    model = elbow(factor=factor)
    tau_m = np.array([0.05, 0.2, 0.1])
    tau = np.array([120, 100, 80]) * tau_m
    q, v = np.array([0.3, -0.5, 0.8]), np.array([0.4, -0.3, 0.5])

    def rigid(_: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[3:], gd.forward_dynamics(model, y[:3], y[3:], tau)])

    a = rigid(0.0, np.r_[q, v])[3:]
    link, _ = gd.elastic.inverse_dynamics(model, gd.State(q, v, q, v), a, a)
    theta = q + link / model.elasticity.stiffness
    options = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-13}
    stiff = solve_ivp(rigid, (0, seconds), np.r_[q, v], **options).y[:3, -1]
    soft = solve_ivp(
        swing(model, tau_m), (0, seconds), np.concatenate([q, theta, v, v]), **options
    )
    return float(np.abs(soft.y[:3, -1] - stiff).max())


def test_rigid_limit_falls_as_one_over_stiffness() -> None:
    """The angles: vibrations left by the unmatched rate are smaller still, as K^-1.5."""
    errors = np.array([rigid_limit_error(factor) for factor in (10.0, 100.0, 1000.0)])
    ratios = errors[:-1] / errors[1:]
    off = float(np.abs(np.log10(ratios) - 1.0).max())
    assert holds("rigid limit, power of 1/K, off 1 (springs x 10, 100, 1000)", off, 0.3)
    assert np.all((ratios > 5.0) & (ratios < 20.0)), errors


def test_stiff_springs_leave_the_modes_of_the_rigid_arm() -> None:
    """Slow modes under gravity converge to those of M and dg/dq, as 1/K."""
    q = np.array([0.4, -np.pi / 2, 0.0])  # hanging: no mode falls over
    expected = rigid_squares(elbow(), q)
    errors = []
    for factor in (10.0, 100.0, 1000.0):
        found = gd.elastic.modes(elbow(factor=factor), q, gravity=True).squares[:3]
        errors.append(np.abs(np.sort(found) - expected).max())
    assert errors[0] < 0.01 * expected.max()
    assert_allclose(np.divide(errors[:-1], errors[1:]), 10.0, rtol=0.1)


def rigid_squares(model: gd.GearedModel, q: np.ndarray) -> np.ndarray:
    """Squared frequencies of the rigid arm under gravity, dg/dq by a plain difference."""
    step = 1e-5
    K = np.column_stack(
        [
            (gd.gravity_forces(model, q + step * e) - gd.gravity_forces(model, q - step * e))
            / (2 * step)
            for e in np.eye(3)
        ]
    )
    return np.sort(np.linalg.eigvals(np.linalg.solve(gd.mass_matrix(model, q), K)).real)
