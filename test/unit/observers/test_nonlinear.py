"""The nonlinear observer: assigned poles, convergence, and the redundant coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import URDF, elastic_arm, elbow_drives
from geared_dynamics.observers.contraction import after_correction
from geared_dynamics.observers.pole_assignment import correction, measured_coordinates
from geared_dynamics.observers.readings import observed_arm, sizes_of
from geared_dynamics.observers.redundant_observer import acceleration
from geared_dynamics.observers.standing import predicted
from observer_arms import DT, TURN, drive, moved
from simulated_arms import arm

ob = gd.observers
ARMS = {
    "elbow": lambda: arm(),
    "stiff, damped": lambda: arm(factor=100.0, damping=500.0),
    "one elastic": lambda: arm(elastic=(2,)),
    "coupled motors": lambda: elastic_arm(2, joints=4, share=1.0, extra=False),
    "some elastic": lambda: elastic_arm(8, joints=4, share=0.4, extra=False),
}


def step_of(model: gd.GearedModel, dt: float = DT) -> np.ndarray:
    sizes, random = sizes_of(model), np.random.default_rng(3)
    N, n = sizes.coordinates, sizes.n
    q = random.uniform(-1, 1, n)
    z = np.concatenate([q, model.elasticity.rigid @ q, 0.5 * random.normal(size=N)])
    found = predicted(observed_arm(model), z, np.zeros(sizes.motors), np.zeros(n), dt)
    assert found is not None
    return found.whole


@pytest.mark.parametrize("name", ["elbow", "stiff, damped", "coupled motors"])
@pytest.mark.parametrize("dt", [DT, 2e-4])
def test_every_mode_decays_faster_by_the_wanted_rate(name: str, dt: float) -> None:
    """Eigenvalues of F - F G C are those of F times exp(-w dt), whatever the posture."""
    model = ARMS[name]()
    gains = ob.nonlinear_gains(model, resolution=TURN, bandwidth=20.0)
    F = step_of(model, dt)
    own, closed = np.linalg.eigvals(F), np.linalg.eigvals(after_correction(gains, F, dt))
    wanted = own * np.exp(-gains.rate * dt)
    # Pairs of nearly equal roots move by the root of what rounding does to their polynomial.
    for values, others in ((wanted, closed), (closed, wanted)):
        assert np.abs(values[:, None] - others).min(axis=1).max() < 2e-3
    assert np.abs(closed).max() < 1.0


@pytest.mark.parametrize("name", ARMS)
def test_errors_of_the_linear_arm_die_out(name: str) -> None:
    model = ARMS[name]()
    F, at = step_of(model), measured_coordinates(model)
    gains = ob.nonlinear_gains(model, resolution=TURN, bandwidth=20.0)
    closed = after_correction(gains, F, DT)
    radius = np.abs(np.linalg.eigvals(closed)).max()
    assert radius < np.exp(-0.5 * gains.rate * DT)
    assert correction(F, at, gains.rate, DT).shape == (len(F), model.structure_matrix.shape[1])


def motion(model: gd.GearedModel, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """States (steps, 2N) and torques (steps, m) over the step before each."""
    n, N = model.n, model.n + model.elasticity.count
    A = gd.elastic.structure_matrix(model)
    q = np.linspace(-0.4, 0.5, n)
    z = np.concatenate([q, model.elasticity.rigid @ q, np.zeros(N)])
    phi, states, torques = A.T @ z[:N], [], []
    tau_m = np.zeros(len(phi))
    for k in range(steps):
        states.append(z)
        torques.append(tau_m)
        goal = phi + 0.4 * np.abs(A).max(0) * np.sin(2 * np.pi * (k + 1) * DT)
        tau_m = drive(model, z, goal)
        z = moved(model, z, tau_m, np.zeros(n))
    return np.array(states), np.array(torques)


@pytest.mark.parametrize("name", ["elbow", "one elastic", "coupled motors"])
def test_convergence_from_a_tenth_of_a_radian(name: str) -> None:
    model = ARMS[name]()
    n, N = model.n, model.n + model.elasticity.count
    A = gd.elastic.structure_matrix(model)
    states, torques = motion(model, 300)
    gains = ob.nonlinear_gains(model, resolution=TURN, bandwidth=20.0)
    state: Any = None
    for z, tau_m in zip(states, torques, strict=True):
        y = gd.Measurement(A.T @ z[:N] + model.motor_zeros, tau_m)
        if state is None:
            wrong = z[:n].copy()
            wrong[model.elasticity.joint] += 0.1
            state = ob.nonlinear_start(model, gains, y, q=wrong)
        else:
            state = ob.nonlinear_step(model, gains, state, y, DT)
    assert state.health.valid
    assert np.abs(state.mean[:n] - states[-1, :n]).max() < 1e-4


def test_contraction_along_a_motion_is_a_positive_rate() -> None:
    model = arm()
    states, torques = motion(model, 60)
    gains = ob.nonlinear_gains(model, resolution=TURN, bandwidth=20.0)
    rates = ob.contraction(model, gains, states, np.roll(torques, -1, axis=0), DT)
    assert rates.shape == (58,)
    assert rates[1:-1].min() > 0.5 * gains.rate
    assert rates.max() < gains.rate
    with pytest.raises(gd.GearedDynamicsError, match="states"):
        ob.contraction(model, gains, states[:2], torques[:2], DT)


def test_redundant_coordinates_give_the_same_observer() -> None:
    model = arm(friction=True)
    N = 6
    A = gd.elastic.structure_matrix(model)
    states, torques = motion(model, 40)
    gains = ob.nonlinear_gains(model, resolution=TURN)
    readings = [gd.Measurement(A.T @ z[:N], t) for z, t in zip(states, torques, strict=True)]
    plain = ob.nonlinear_start(model, gains, readings[0], q=states[0, :3] + 0.01)
    wide = ob.redundant_start(model, plain)
    L = gd.cartesian.left_inverse(model)
    for y in readings[1:]:
        plain = ob.nonlinear_step(model, gains, plain, y, DT)
        wide = ob.redundant_step(model, gains, wide, y, DT)
    np.testing.assert_allclose(wide.mean, plain.mean, rtol=1e-9, atol=1e-9)
    assert wide.nu.shape == (45,)
    np.testing.assert_allclose(L @ wide.nu, wide.mean[N:], atol=1e-12)
    bad = ob.redundant_step(model, gains, wide, readings[-1], 1.0)
    assert not bad.health.valid


def test_the_redundant_model_needs_its_gyroscopic_forces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: as printed, without N, it is another arm."""
    from geared_dynamics.dynamics.cartesian import equations

    model = arm()
    q, v = np.array([0.3, -0.5, 0.8]), np.array([1.5, -1.2, 2.0])
    x, rate = np.concatenate([q, q]), np.concatenate([v, v])
    nu = gd.cartesian.dynamics(model, gd.State(q, v, q, v)).jacobian @ rate
    args = (observed_arm(model), x, nu, gd.cartesian.left_inverse(model), np.zeros(3), np.zeros(3))
    right = acceleration(*args)
    expected = np.concatenate(
        gd.elastic.forward_dynamics(model, gd.State(q, v, q, v), np.zeros(3))
    )
    np.testing.assert_allclose(right, expected, rtol=1e-9)
    nothing = lambda arm, bodies, nu, turn: np.zeros(nu.shape)  # noqa: E731
    monkeypatch.setattr(equations, "gyroscopic_forces", nothing)
    assert np.abs(acceleration(*args) - right).max() > 0.05


def test_an_arm_that_its_motors_do_not_show_is_refused() -> None:
    drives = elbow_drives()
    drives["joints"]["joint_1"]["passive"] = True
    for section in ("spins", "wheels", "motors"):
        if section == "spins":
            drives[section] = [s for s in drives[section] if s["wheel"] != "rotor_1"]
        else:
            drives[section] = {k: w for k, w in drives[section].items() if not k.endswith("_1")}
    model = gd.load_model(URDF / "elbow.urdf", drives)
    with pytest.raises(gd.GearedDynamicsError, match="Kalman"):
        ob.nonlinear_gains(model, resolution=TURN)
    ob.kalman_gains(model, resolution=TURN)
