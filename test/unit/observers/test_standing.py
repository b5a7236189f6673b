"""Arms that start from rest and stop, rotors held by friction: the observers stay with them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics import kernels
from geared_dynamics.dynamics.drives import packed_drives
from geared_dynamics.dynamics.elastic.equations import packed_springs
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.observer_layout import FIELDS
from geared_dynamics.observers import nonlinear
from geared_dynamics.observers.pole_assignment import partial
from geared_dynamics.observers.readings import at_rest, observed_arm
from geared_dynamics.observers.standing import derivative, fixed, predicted, rows
from geared_dynamics.simulation.equations_engine import EquationsMechanism
from long_cases import cases
from observer_arms import DT, TURN, moved, rubbing, wanted
from simulated_arms import arm

ob = gd.observers


class Smooth:
    """The model as plant: the sign of a rate is smooth, and what stands creeps."""

    def __init__(self, model: gd.GearedModel, x: np.ndarray) -> None:
        self.model, self.z = model, np.concatenate([x, np.zeros(len(x))])

    def advance(self, tau_m: np.ndarray, push: Any = (0.0, 0.0, 0.0)) -> None:
        self.z = moved(self.model, self.z, tau_m, np.asarray(push), parts=8)


class Sticking(Smooth):
    """The package's plant: what stands stands."""

    def __init__(self, model: gd.GearedModel, x: np.ndarray) -> None:
        super().__init__(model, x)
        self.arm = EquationsMechanism(model, DT / 5)
        self.arm.place(x, np.zeros(len(x)))
        self.arm._B = np.hstack([self.arm._B, np.eye(len(x), 3)])  # forces on the joints, too

    def advance(self, tau_m: np.ndarray, push: Any = (0.0, 0.0, 0.0)) -> None:
        for _ in range(5):
            self.arm.advance(np.concatenate([tau_m, push]), np.zeros(6))
        self.z = np.concatenate([self.arm.x, self.arm.rate])


PLANTS = {"smooth": Smooth, "sticking": Sticking}


@functools.cache
def recorded(
    coulomb: float, plant: str, joints: float = 0.0, seconds: float = 1.8
) -> tuple[gd.GearedModel, np.ndarray, np.ndarray, np.ndarray]:
    """Model, true states (t, 12), readings and torques (t, 3) of the motion."""
    model = rubbing(coulomb, joints)
    A, S = gd.elastic.structure_matrix(model), model.structure_matrix
    body = PLANTS[plant](model, at_rest(model, np.zeros(3)))
    offset, inverse = A.T @ body.z[:6], np.linalg.inv(S)
    inertia = 1.0 / np.diag(A.T @ np.linalg.solve(gd.elastic.mass_matrix(model, np.zeros(3)), A))
    tau_m, states, readings, torques = inverse @ gd.gravity_forces(model, body.z[:3]), [], [], []
    for k in range(round(seconds / DT)):
        states.append(body.z)
        readings.append(TURN * np.round(A.T @ body.z[:6] / TURN))
        torques.append(tau_m)
        q, v, a = wanted(k * DT)
        behind = 1600.0 * (S.T @ q + offset - A.T @ body.z[:6])
        slower = 56.0 * (S.T @ v - A.T @ body.z[6:])
        tau_m = inverse @ gd.inverse_dynamics(model, q, v, a) + inertia * (behind + slower)
        body.advance(tau_m)
    return model, np.array(states), np.array(readings), np.array(torques)


def followed(
    bandwidth: float, coulomb: float, plant: str, joints: float = 0.0
) -> tuple[np.ndarray, list[ob.NonlinearState]]:
    """Largest errors of the links (t,) [rad] and states of the nonlinear observer."""
    model, states, readings, torques = recorded(coulomb, plant, joints)
    gains = ob.nonlinear_gains(model, resolution=TURN, bandwidth=bandwidth)
    found = [ob.nonlinear_start(model, gains, gd.Measurement(readings[0], torques[0]))]
    for y, tau_m in zip(readings[1:], torques[1:], strict=True):
        found.append(ob.nonlinear_step(model, gains, found[-1], gd.Measurement(y, tau_m), DT))
    means = np.array([state.mean[:3] for state in found])
    return np.abs(means - states[:, :3]).max(axis=1), found


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("bandwidth", [10.0, 30.0])
@pytest.mark.parametrize("coulomb", cases([0.1], [0.01]))
def test_it_stays_with_an_arm_that_starts_from_rest(
    plant: str, bandwidth: float, coulomb: float
) -> None:
    """Started and stopped, all three rotors held at both ends."""
    off, found = followed(bandwidth, coulomb, plant)
    assert all(state.health.valid and state.consistent for state in found)
    assert found[20].standing.all()
    assert found[-1].standing.all()
    assert not found[800].standing.any()
    assert off.max() < 1e-5


@pytest.mark.parametrize("bandwidth", [10.0, 30.0])
@pytest.mark.parametrize("coulomb", cases([0.07], [0.02]))
def test_the_filter_states_what_friction_hides_from_rest_to_rest(
    bandwidth: float, coulomb: float
) -> None:
    """Also where rotors move off, while what that leaves behind swings and dies out."""
    model, states, readings, torques = recorded(coulomb, "sticking")
    gains = ob.kalman_gains(model, resolution=TURN, bandwidth=bandwidth)
    state = ob.kalman_start(model, gains, gd.Measurement(readings[0], torques[0]))
    off, stated = [], []
    for y, tau_m, true in zip(readings[1:], torques[1:], states[1:], strict=True):
        state = ob.kalman_step(model, gains, state, gd.Measurement(y, tau_m), DT)
        assert state.health.valid
        off.append(np.abs(state.mean[:3] - true[:3]))
        stated.append(state.deviations[:3])
    assert np.max(np.array(off)[100:] / np.array(stated)[100:]) <= 3.0
    level = coulomb * np.array([120.0, 100.0, 80.0]) / model.elasticity.stiffness
    assert np.all(stated[100] <= level), "not inflated at rest"
    assert np.all(stated[800] < 1e-5), "nor in motion"


@pytest.mark.parametrize("bandwidth", [10.0, 30.0])
@pytest.mark.parametrize("coulomb", cases([0.1], [0.01]))
def test_the_filter_stays_with_an_arm_whose_friction_is_smooth(
    bandwidth: float, coulomb: float
) -> None:
    """The model itself as plant: what rests creeps, so that its encoder shows the spring."""
    model, states, readings, torques = recorded(coulomb, "smooth")
    observer = ob.kalman_observer(model, resolution=TURN, bandwidth=bandwidth)
    state, off, stated = observer.start(gd.Measurement(readings[0], torques[0])), [], []
    for y, tau_m, true in zip(readings[1:], torques[1:], states[1:], strict=True):
        state = observer.step(state, gd.Measurement(y, tau_m), DT)
        assert state.health.valid
        assert state.consistent
        off.append(np.abs(state.mean[:3] - true[:3]))
        stated.append(state.deviations[:3])
    assert np.max(off) < 5e-5
    assert np.max(np.array(off)[100:] / np.array(stated)[100:]) <= 3.0


def test_without_telling_what_stands_the_arm_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: with one gain for all, friction at rest counts as the springs' torque."""
    nothing = lambda model, step, rate, before, *rest: np.zeros(len(before), bool)  # noqa: E731
    monkeypatch.setattr(nonlinear, "stands", nothing)
    off, _ = followed(30.0, 0.1, "sticking")
    assert off.max() > 5e-5


@pytest.mark.parametrize("bandwidth", [10.0, 30.0])
def test_a_link_that_sticks_beside_free_rotors_is_told_by_them(bandwidth: float) -> None:
    """Friction on the link side, 1 N m: without an estimate it hides 0.33 mrad of joint 3."""
    off, found = followed(bandwidth, 0.0, "sticking", 1.0)
    assert all(state.health.valid for state in found)
    assert off.max() < 6e-5


def test_what_friction_hides_of_a_standing_rotor_is_stated() -> None:
    """Level over stiffness while it stands, and nothing is claimed while it slides."""
    model = recorded(0.1, "sticking")[0]
    _, found = followed(30.0, 0.1, "sticking")
    level = 0.1 * np.array([120.0, 100.0, 80.0]) / model.elasticity.stiffness
    still, moving = (ob.estimate(model, found[k]).q_deviation for k in (20, 800))
    np.testing.assert_allclose(still, level, rtol=1e-12)
    assert np.isnan(moving).all()
    wide = ob.redundant_start(model, found[20])
    np.testing.assert_array_equal(ob.estimate(model, wide).q_deviation, still)
    assert np.isnan(ob.estimate(model, found[20]).external_deviation).all()


def disturbed(plant: str, band: float, coulomb: float, torque: float, push: float) -> Any:
    """Errors of joint 2 [rad], states and flags where its torque or an external one jumps."""
    real, lean = rubbing(0.1), rubbing(coulomb)
    A, S = gd.elastic.structure_matrix(real), real.structure_matrix
    body = PLANTS[plant](real, at_rest(real, S.T @ np.array([0.2, -0.4, 0.6])))
    hold, second = np.linalg.solve(S, gd.gravity_forces(real, body.z[:3])), np.eye(3)[1]
    gains, state = ob.nonlinear_gains(lean, resolution=TURN, bandwidth=band), None
    off, states = [], []
    for k in range(350):
        acting = k >= 100
        y = TURN * np.round(A.T @ body.z[:6] / TURN)
        measurement = gd.Measurement(y, tau_m := hold + acting * torque * second)
        if state is None:
            state = ob.nonlinear_start(lean, gains, measurement)
        else:
            state = ob.nonlinear_step(lean, gains, state, measurement, DT)
        off.append(abs(state.mean[1] - body.z[1]))
        states.append(state)
        body.advance(tau_m, acting * push * second)
    flagged = [s.health.behind or not (s.consistent and s.health.valid) for s in states]
    return lean, np.array(off), states, np.array(flagged)


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("band", [10.0, 30.0])
@pytest.mark.parametrize("push", cases([9.0, -60.0], [30.0]))
def test_a_push_on_standing_rotors_is_flagged_within_three_deviations(
    push: float, band: float, plant: str
) -> None:
    model, off, states, flagged = disturbed(plant, band, 0.1, 0.0, push)
    assert not flagged[20:100].any()
    stated = ob.estimate(model, states[90]).q_deviation[1]
    assert off[100:].max() > 1.4 * stated, "a push that is worth a flag"
    assert off[~flagged].max() <= 3.0 * stated


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize(("torque", "held"), [(0.015, True), (0.03, False), (0.06, False)])
def test_a_torque_that_friction_of_the_model_does_not_hold_is_flagged(
    torque: float, held: bool, plant: str
) -> None:
    """The rotor stands, by 0.1 N m of which the model knows 0.02."""
    _, off, _, flagged = disturbed(plant, 30.0, 0.02, torque, 0.0)
    assert flagged[110:].all() != held
    assert flagged[110:].any() != held
    assert off[~flagged].max() < 1e-5


def test_the_redundant_observer_stays_with_it_as_well() -> None:
    model, _, readings, torques = recorded(0.05, "sticking", seconds=0.4)
    gains = ob.nonlinear_gains(model, resolution=TURN)
    begin = slice(130, 300)  # where the rotors start to move, one after the other
    y = [gd.Measurement(*row) for row in zip(readings[begin], torques[begin], strict=True)]
    plain = ob.nonlinear_start(model, gains, y[0])
    wide = ob.redundant_start(model, plain)
    kinds = set()
    for measurement in y[1:]:
        plain = ob.nonlinear_step(model, gains, plain, measurement, DT)
        wide = ob.redundant_step(model, gains, wide, measurement, DT)
        kinds.add(tuple(plain.standing))
    assert len(kinds) > 3
    np.testing.assert_allclose(wide.mean, plain.mean, rtol=1e-8, atol=1e-9)


def test_a_standing_rotor_without_readings_stays_where_it_is() -> None:
    model, states, readings, torques = recorded(0.05, "sticking")
    gains = ob.nonlinear_gains(model, resolution=TURN, hold=0.5)
    state = ob.nonlinear_start(model, gains, gd.Measurement(readings[0], torques[0]))
    for k in range(1, 40):
        state = ob.nonlinear_step(model, gains, state, gd.Measurement(readings[k], torques[k]), DT)
    creep = state.mean.copy()
    creep[9:] += 0.05 / np.array([120.0, 100.0, 80.0])  # half the smoothing rate
    state = state._replace(mean=creep)
    for _ in range(400):
        state = ob.nonlinear_step(model, gains, state, gd.Measurement(None, torques[0]), DT)
    assert state.health.valid
    assert np.abs(state.mean[:6] - states[40, :6]).max() < 1e-5


LAWS = {
    "rotors": lambda: rubbing(0.05),
    "rotors and joints": lambda: arm(friction=True),
    "breakaway": lambda: rubbing(0.03, stribeck={"static": 0.06, "speed": 2.0}),
    "not smoothed": lambda: rubbing(0.05, smoothing=0.0),
}


def step_of(model: gd.GearedModel, z: np.ndarray, tau_m: np.ndarray, stay: float = 1.0) -> Any:
    count = model.joint_friction.count + model.motors.friction.count
    found = predicted(observed_arm(model), z, tau_m, np.zeros(3), DT, np.full(count, stay))
    assert found is not None
    return found


def laws_of(model: gd.GearedModel) -> tuple[np.ndarray, ...]:
    """Level in motion, at breakaway, Stribeck's speed and smoothing of each law."""
    both = (model.joint_friction, model.motors.friction)
    return tuple(
        np.concatenate(
            [getattr(laws, name).T.reshape(-1, laws.count)[0] for laws in both if laws.count]
        )
        for name in ("coulomb", "static", "stribeck_speed", "smoothing")
    )


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("stay", [1.0, 0.0])
def test_friction_of_a_step_is_what_its_equations_say(name: str, stay: float) -> None:
    """Sliding: the law at the mean rate. Standing: what keeps the rate, or the level."""
    model = LAWS[name]()
    coulomb, static, speed, smoothing = laws_of(model)
    random, R = np.random.default_rng(1), rows(model)
    N, joints = R.shape[1], model.joint_friction.count
    seen = {"slides": 0, "held": 0, "overcome": 0}
    for size in np.geomspace(1e-6, 0.3, 40):
        q = random.uniform(-1, 1, 3)
        z = np.concatenate([at_rest(model, model.structure_matrix.T @ q), np.zeros(N)])
        z[N:] = size * random.normal(size=N)
        weight = np.linalg.solve(model.structure_matrix, gd.gravity_forces(model, z[:3]))
        step = step_of(model, z, weight + 0.05 * random.normal(size=3), stay)
        force = np.linalg.lstsq(step.spread.T, -step.lost, rcond=None)[0]
        np.testing.assert_allclose(step.spread.T @ force, -step.lost, atol=1e-12)
        before, after = R @ z[N:], R @ step.mean[N:]
        mean = R @ (step.mean[:N] - z[:N]) / DT
        for e in range(len(R)):
            at_speed = coulomb[e] + (static[e] - coulomb[e]) * np.exp(-((mean[e] / speed[e]) ** 2))
            if e >= joints and abs(before[e]) < 3.0 * smoothing[e]:
                start = coulomb[e] + (static[e] - coulomb[e]) * np.exp(
                    -((before[e] / speed[e]) ** 2)
                )
                if step.held[e]:
                    assert abs(force[e]) < start
                    assert after[e] == pytest.approx(stay * before[e], abs=1e-8)
                    seen["held"] += 1
                else:
                    assert abs(force[e]) == pytest.approx(start, rel=1e-6)
                    seen["overcome"] += 1
            elif smoothing[e] > 0.0:
                law = at_speed * np.tanh(mean[e] / smoothing[e])
                assert force[e] == pytest.approx(law, abs=1e-6 * static[e])
                seen["slides"] += 1
            else:  # the sign itself: a number within its level where the mean rate is zero
                jump = abs(mean[e]) < 1e-7
                assert jump or force[e] == pytest.approx(coulomb[e] * np.sign(mean[e]), rel=1e-6)
                seen["held" if jump else "slides"] += 1
    assert seen["slides"] > 10
    assert name == "not smoothed" or seen["held"] > 3
    assert abs(step.whole - np.eye(2 * N)).max() > 0.0


@pytest.mark.parametrize("name", [*LAWS, "rigid joints"])
def test_derivative_of_a_step_with_friction(name: str) -> None:
    model = arm(elastic=(2,), friction=True) if name == "rigid joints" else LAWS[name]()
    random, R = np.random.default_rng(2), rows(model)
    N, worst, kinds = R.shape[1], 0.0, 0
    for size in (1e-5, 1e-4, 1e-3, 0.3):
        q = random.uniform(-1, 1, 3)
        z = np.concatenate([at_rest(model, model.structure_matrix.T @ q), np.zeros(N)])
        z[N:] = size * random.normal(size=N)
        weight = np.linalg.solve(model.structure_matrix, gd.gravity_forces(model, z[:3]))
        step, found = step_of(model, z, weight), np.zeros((2 * N, 2 * N))
        for i in range(2 * N):
            e = np.zeros(2 * N)
            e[i] = 1e-7 if i < N else 1e-6
            ends = [step_of(model, z + way * e, weight).mean for way in (1.0, -1.0)]
            found[:, i] = (ends[0] - ends[1]) / (2.0 * e[i])
        F, scale = derivative(model, step), np.abs(found).max(axis=0)
        worst = max(worst, (np.abs(F - found) / scale).max())
        kinds += np.abs(F - step.whole).max() > 1e-3
    assert kinds > 0, "friction changes the derivative somewhere"
    assert worst < 0.02


def test_what_corrects_a_standing_rotor_reaches_no_link() -> None:
    model = rubbing(0.05)
    gains = ob.nonlinear_gains(model, resolution=TURN)
    step = step_of(model, np.zeros(12), np.zeros(3))
    alone = np.array([True, False, True])
    G = partial(step.whole, gains.seen, alone, model.elasticity.joint, gains.rate, DT)
    of_standing = np.array([0, 2])
    assert not G[of_standing].any()  # their links' positions
    assert not G[6 + of_standing].any()  # and velocities
    assert np.abs(G[[1, 7], 1]).min() > 0.0
    R = rows(model)[alone]
    F = fixed(model, step, alone)
    np.testing.assert_allclose(R @ F[6:], np.hstack([0 * R, R]), atol=1e-9)


def test_rates_of_contraction_are_those_of_sliding_and_of_standing() -> None:
    """In motion errors die out as wanted; while all rotors stand they do not grow to speak of."""
    model, states, _, torques = recorded(0.05, "smooth")
    gains = ob.nonlinear_gains(model, resolution=TURN, bandwidth=20.0)
    acting = np.roll(torques, -1, axis=0)
    moving = slice(600, 640)
    rates = ob.contraction(model, gains, states[moving], acting[moving], DT)
    assert rates[1:].min() > 0.4 * gains.rate
    still = ob.contraction(model, gains, states[:40], acting[:40], DT)
    assert -0.1 * gains.rate < still[3:].mean() < 0.3 * gains.rate


def test_wrong_shapes_overlap_and_nan_are_refused() -> None:
    model = rubbing(0.05)
    parts = packed(model.with_springs()), packed_springs(model), packed_drives(model)
    out = np.empty(5 * 6 + 8 * 36 + 3 * (12 + FIELDS))
    state, given = np.zeros(12), np.concatenate([np.zeros(6), [DT], np.ones(3)])
    run = kernels.observer_sliding
    assert run(*parts, state, given, out) == at.OK
    assert run(*parts, state[:-1], given, out) == at.WRONG_SHAPE
    assert run(*parts, state, given[:-1], out) == at.WRONG_SHAPE
    assert run(*parts, state, given, out[:-1].copy()) == at.WRONG_SHAPE
    assert run(*parts, out[:12], given, out) == at.OVERLAP
    state[3] = np.nan
    assert run(*parts, state, given, out) == at.NOT_FINITE
    rows_, many = np.zeros((2, 12)), np.empty((2, len(out)))
    rows_[1, 6:] = 0.1
    assert run(*parts, rows_, np.stack([given, given]), many) == at.OK
    for z, whole in zip(rows_, many, strict=True):
        assert run(*parts, z, given, out) == at.OK
        np.testing.assert_array_equal(out, whole)
