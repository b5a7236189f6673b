"""Loops of elastic arms as they are sampled: poles, and a lightly damped arm on estimates."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.control.gains import exponential, sampled_loop
from observer_arms import DT, TURN, moved
from simulated_arms import arm

control, ob = gd.control, gd.observers
START, GOAL = np.array([0.2, -0.4, 0.6]), np.array([0.6, 0.1, 0.2])
LENGTH, TRAVEL = 1.0, 0.7  # [s]
LOAD = np.array([0.0, 8.0, 3.0])  # nobody knows of it [N m]


@functools.cache
def light() -> gd.GearedModel:
    """Springs that damp their slowest vibrations by 1.4 and 1.7 percent of the critical."""
    return arm(damping=4.0)


@functools.cache
def gains() -> control.Gains:
    return control.gains_from_modes(
        light(), START, 0.5, feedback="mixed", sample_time=DT, delay=DT
    )


# -- the poles -------------------------------------------------------------------------------


def test_the_exponential_against_eigenvectors() -> None:
    A = np.random.default_rng(1).normal(size=(5, 5)) * 30.0
    values, vectors = np.linalg.eig(A)
    expected = (vectors * np.exp(values)) @ np.linalg.inv(vectors)
    np.testing.assert_allclose(exponential(A), expected.real, rtol=1e-9)
    np.testing.assert_array_equal(exponential(np.zeros((3, 3))), np.eye(3))


@pytest.mark.parametrize("delay", [0.0, 0.4e-3, 1e-3, 1.7e-3, 2e-3])
def test_the_sampled_loop_against_small_steps(delay: float) -> None:
    """A mass on a spring, its command held and late, by Euler's rule in steps of 0.1 us."""
    A, B = np.array([[0.0, 1.0], [-900.0, -0.6]]), np.array([[0.0], [1.0]])
    F, period, fine = np.array([[800.0, 40.0]]), 1e-3, 10_000
    late = round(delay / period * fine)
    state, commands = np.array([1.0, 0.0]), [0.0, 0.0, 0.0]
    loop = sampled_loop(A, B, F, period, delay)
    whole = np.zeros(len(loop))
    whole[:2] = state
    for _ in range(4):
        whole = loop @ whole
        commands.append(float(-F[0] @ state))
        for step in range(fine):
            acts = commands[-1 - -(-(late - step) // fine)] if step < late else commands[-1]
            state = state + period / fine * (A @ state + B[:, 0] * acts)
        np.testing.assert_allclose(whole[:2], state, rtol=1e-4, atol=1e-5)


def test_quick_sampling_is_the_continuous_loop() -> None:
    model, made = light(), gains()
    for feedback in ("motor", "mixed", "joint"):
        still, quick = (
            np.sort(
                control.closed_loop_poles(
                    model, made, START, feedback=feedback, sample_time=period
                ).real
            )
            for period in (0.0, 1e-7)
        )
        np.testing.assert_allclose(quick[-12:], still, rtol=1e-3, atol=1e-3)


def test_undamped_springs_are_stable_while_kp_is_below_their_stiffness() -> None:
    """Link's position, motor's velocity: Routh's condition Kp < K of a single joint."""
    model = arm(elastic=(1,), damping=0.0)
    stiffness = float(model.elasticity.stiffness[0])
    for part, stable in ((0.9, True), (1.1, False)):
        made = control.Gains([part * stiffness, 4e3, 2e3], [200.0, 200.0, 100.0], kind="torque")
        poles = control.closed_loop_poles(model, made, START, feedback="mixed")
        assert bool(poles.real.max() < 0.0) == stable
    made = control.Gains([0.1 * stiffness, 4e3, 2e3], [200.0, 200.0, 100.0], kind="torque")
    assert control.closed_loop_poles(model, made, START, feedback="joint").real.max() > 0.0


def test_gains_are_of_the_joints_where_some_are_rigid() -> None:
    """In their order, not that of the coordinates that motors turn."""
    rigid, one = arm(elastic=(1, 2, 3)), arm(elastic=(2,))
    inertia = [control.gains_from_modes(m, START).kp for m in (rigid, one)]
    np.testing.assert_allclose(inertia[0] / inertia[0][0], inertia[1] / inertia[1][0], rtol=1e-6)


def test_slow_sampling_and_delay_are_refused() -> None:
    model = light()
    control.gains_from_modes(model, START, 0.5, feedback="motor")
    for given in ({"sample_time": 0.05}, {"sample_time": 1e-3, "delay": 0.03}):
        for feedback in ("motor", "mixed"):
            with pytest.raises(gd.GearedDynamicsError, match=r"as sampled.*sample faster"):
                control.gains_from_modes(model, START, 0.5, feedback=feedback, **given)
    with pytest.raises(gd.GearedDynamicsError, match="mixed"):
        control.gains_from_modes(model, START, 0.5, feedback="joint", sample_time=1e-3)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"delay": 1e-3}, "without a sample_time"),
        ({"sample_time": -1.0}, "sample_time"),
        ({"sample_time": float("nan")}, "sample_time"),
        ({"sample_time": [1e-3]}, "one time"),
        ({"sample_time": 1e-3, "delay": 1.0}, "100 periods"),
        ({"feedback": "link"}, "mixed"),
    ],
)
def test_wrong_times_are_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(gd.GearedDynamicsError, match=words):
        control.gains_from_modes(light(), START, **given)


# -- the loop on the observer ----------------------------------------------------------------


@functools.cache
def track(feedback: str, seen: str, *, loaded: bool = False) -> np.ndarray:
    """Errors of the links (steps, n); each command acts a period after its reading.

    ``seen``: the controller gets the Kalman filter's estimate from the motors' encoders, or
    ``shafts``, what these show divided by the ratios, as the joints' position.
    """
    model, n = light(), 3
    A, N = gd.elastic.structure_matrix(model), 6
    made = control.elastic_controller(model, gains=gains(), order=2, feedback=feedback)
    k = made.derivatives_needed
    path = gd.trajectory.rest_to_rest(START, GOAL, TRAVEL, continuous=k)
    begin = gd.elastic.feedforward(model, path.derivatives(0.0, k), made.method, friction=True)
    z = np.concatenate([START, begin.theta, np.zeros(N)])
    tuning, state, command, errors = ob.kalman_gains(model, resolution=TURN), None, begin.tau_m, []
    joints = np.linalg.pinv(model.structure_matrix.T)
    for i in range(round(LENGTH / DT)):
        shown = TURN * np.round((A.T @ z[:N] + model.motor_zeros) / TURN)
        reading = gd.Measurement(shown, command)
        if state is None:
            state = ob.kalman_start(model, tuning, reading)
        else:
            state = ob.kalman_step(model, tuning, state, reading, DT)
        found = ob.estimate(model, state)
        q, v = found.q, found.v
        if seen == "shafts":
            q, v = joints @ (shown - model.motor_zeros), joints @ found.motor_speed
        wanted = path.derivatives(min(i * DT, TRAVEL), k)
        _, out = made.step(
            made.start(),
            gd.State(q, v, found.theta, found.vtheta),
            control.Reference(*wanted[:3], derivatives=wanted),
            DT,
        )
        z = moved(model, z, command, LOAD if loaded else np.zeros(n), parts=2)
        command = out.command
        errors.append(z[:n] - path.derivatives(min((i + 1) * DT, TRAVEL), 0)[0])
        if np.abs(z[:n]).max() > 5.0:
            break
    return np.array(errors)


def rms(errors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def test_a_lightly_damped_arm_follows_on_the_observer() -> None:
    model = light()
    damped = gd.elastic.modes(model, START, rotors="held").damping_ratio[:2]
    assert (damped > 0.01).all()
    assert (damped < 0.02).all()
    own = track("mixed", "estimate")
    assert len(own) == round(LENGTH / DT)
    assert np.abs(own[-100:] - own[-100:].mean(axis=0)).max() < 1e-5, "comes to rest"
    assert rms(own) < rms(track("joint", "shafts")) / 20.0, "better than on theta / N"


def test_an_unknown_load_bends_the_springs_only_where_nobody_sees_the_links() -> None:
    links, motors = (
        track("mixed", "estimate", loaded=True),
        track("motor", "estimate", loaded=True),
    )
    bent = LOAD / light().elasticity.stiffness
    np.testing.assert_allclose((motors - links)[-1], bent, atol=0.35 * bent.max())
    assert rms(links) < 0.85 * rms(motors)


def test_links_alone_are_unstable_with_these_gains_as_their_poles_say() -> None:
    """Negative control: the velocity of the links in place of the motors'."""
    poles = control.closed_loop_poles(
        light(), gains(), START, feedback="joint", sample_time=DT, delay=DT
    )
    assert poles.real.max() > 1.0
    assert np.abs(track("joint", "estimate")).max() > 1.0
