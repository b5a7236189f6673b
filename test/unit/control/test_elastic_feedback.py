"""Feedback of elastic arms on a moving reference, by its equation; commands, gains, loops."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import elastic_arm
from geared_dynamics.control import elastic_gains
from geared_dynamics.control.gains import as_rates, driven, exponential, sampled_loop
from geared_dynamics.errors import ArrayError, ModelError
from motor_data import with_motors
from simulated_arms import arm

control = gd.control
FEEDBACKS = ("motor", "joint", "mixed")
Q = np.array([0.2, -0.4, 0.6])


def moving(model: gd.GearedModel, made: control.ElasticController) -> Any:
    """A reference in the midst of a motion, and what the shafts do then."""
    k = made.derivatives_needed
    ends = np.linspace(-0.4, 0.5, model.n), np.linspace(0.6, -0.2, model.n)
    path = gd.trajectory.rest_to_rest(*ends, 1.0, continuous=k).derivatives(0.4, k)
    planned = gd.elastic.feedforward(model, path, made.method, made.order, friction=True)
    return control.Reference(*path[:3], derivatives=path), planned


def measured(model: gd.GearedModel, planned: Any, reference: Any, seed: int = 3) -> gd.State:
    """A state near the planned one."""
    random = np.random.default_rng(seed)
    near = random.normal(scale=0.01, size=(2, model.n + model.elasticity.count))
    n = model.n
    return gd.State(
        reference.q + near[0, :n], reference.v + near[1, :n],
        planned.theta + near[0, n:], planned.vtheta + near[1, n:],
    )  # fmt: skip


@pytest.mark.parametrize("feedback", FEEDBACKS)
def test_what_was_measured_is_compared_with_its_own_instant(feedback: Any) -> None:
    """An arm on its path gets no correction, though the command is for a period later."""
    model, dt = with_motors(elastic_arm(8, 4, extra=False)), 1e-3
    gains, options = control.Gains(400.0, 30.0, kind="torque"), {"saturation": "none"}
    closed, free = (
        control.elastic_controller(model, law, gains=gains, feedback=feedback, **options)
        for law in ("flatness_plus_pd", "flatness")
    )
    k, ends = closed.derivatives_needed, (np.full(4, -0.4), np.full(4, 0.6))
    motion = gd.trajectory.rest_to_rest(*ends, 1.0, continuous=k)
    now, ahead = motion.derivatives(0.4, k), motion.derivatives(0.4 + dt, k)
    planned = gd.elastic.feedforward(model, now, closed.method, closed.order, friction=True)
    state = gd.State(now[0], now[1], planned.theta, planned.vtheta)
    instants = [SimpleNamespace(q=x[0], v=x[1], a=x[2]) for x in (now, ahead)]
    reference: Any = closed.reference(*instants, ahead)  # type: ignore[arg-type]
    late = reference._replace(q=ahead[0], v=ahead[1])
    on_path, lagging = (
        np.abs(
            closed.step(closed.start(), state, wanted, dt)[1].command
            - free.step(free.start(), None, wanted, dt)[1].command
        ).max()
        for wanted in (reference, late)
    )
    assert on_path < 0.1 * lagging


@pytest.mark.parametrize("feedback", FEEDBACKS)
def test_feedback_is_its_equation(feedback: Any) -> None:
    """A_d^-1 (Kp e + Kv e'): of the motors' coordinates, the joints' or one of each."""
    model = with_motors(elastic_arm(8, 4, share=0.4, extra=False))
    random = np.random.default_rng(2)
    kp, kv = random.uniform([[200.0], [10.0]], [[500.0], [40.0]], (2, model.n))
    options: dict[str, Any] = {"feedback": feedback, "saturation": "none"}
    gains = control.Gains(kp, kv, kind="torque")
    sides = ("joint_torque", "motor_torque", "motor_current", "motor_voltage")
    closed, free = (
        {side: control.elastic_controller(model, law, gains=gains, command_type=side, **options)
         for side in sides}
        for law in ("flatness_plus_pd", "flatness")
    )  # fmt: skip
    reference, planned = moving(model, closed["motor_torque"])
    state = measured(model, planned, reference)
    found, n = driven(model), model.n
    x = np.concatenate([reference.q - state.q, planned.theta - state.theta])
    rate = np.concatenate([reference.v - state.v, planned.vtheta - state.vtheta])
    near, slow = x[found.rows], rate[found.rows]
    if feedback != "motor":
        near = found.rigid @ x[:n]
    if feedback == "joint":
        slow = found.rigid @ rate[:n]
    change = found.shares @ (kp * near + kv * slow)
    base = {s: m.step(m.start(), state, reference, 0.0)[1].command for s, m in free.items()}
    full = {s: m.step(m.start(), state, reference, 0.0)[1].command for s, m in closed.items()}
    np.testing.assert_allclose(full["motor_torque"], base["motor_torque"] + change, rtol=1e-9)
    np.testing.assert_allclose(
        full["joint_torque"], model.structure_matrix @ full["motor_torque"], rtol=1e-9
    )
    np.testing.assert_allclose(full["motor_current"], full["motor_torque"] / 0.06, rtol=1e-9)
    # The back-EMF is that of the measured speed, or of the planned one with joint feedback.
    y = closed["motor_torque"].measured(state)[1]
    commands = gd.elastic.motor_commands(model, reference.derivatives, "expanded", None)
    speed = commands.speed if feedback == "joint" else model.structure_matrix.T @ y
    wanted = 0.8 * full["motor_current"] + 0.06 * speed + commands.inductive_voltage
    np.testing.assert_allclose(full["motor_voltage"], wanted, rtol=1e-8)
    blind = free["motor_voltage"].step(free["motor_voltage"].start(), None, reference, 0.0)[1]
    np.testing.assert_allclose(blind.command, commands.voltage, rtol=1e-9)
    only_links = gd.State(state.q, state.v)
    blind = free["motor_voltage"].step(free["motor_voltage"].start(), only_links, reference, 0.0)
    np.testing.assert_allclose(blind[1].command, commands.voltage, rtol=1e-9)


def test_holding_voltages_count_the_speeds_of_motors_that_turn_several_joints() -> None:
    """u = R i + k_e A' y'."""
    model = with_motors(elastic_arm(8, 4, share=0.4, extra=False))
    gains = control.Gains(300.0, 30.0, kind="torque")
    posture, q, v = np.random.default_rng(4).normal(size=(3, model.n))
    i, u = (
        control.elastic_controller(
            model, gains=gains, command_type=f"motor_{side}", saturation="none"
        ).hold(posture, q, v)
        for side in ("current", "voltage")
    )
    np.testing.assert_allclose(u, 0.8 * i + 0.06 * model.structure_matrix.T @ v, rtol=1e-9)


def test_holding_gives_gravity() -> None:
    plant = arm()
    made = control.elastic_controller(plant, gains=control.Gains(300.0, 30.0, kind="torque"))
    theta = plant.elasticity.rigid @ Q
    state = gd.State(Q, 0.0 * Q, theta, 0.0 * theta)
    torque = plant.structure_matrix @ made.hold(Q, *made.measured(state))
    np.testing.assert_allclose(torque, gd.gravity_forces(plant, Q), rtol=1e-9)
    with pytest.raises(ArrayError, match=r"hold: takes no State; call hold\(posture, q"):
        made.hold(Q, state)
    still = made.hold(Q, None, None)
    for blind in ((Q + 0.1, None), (None, Q)):
        np.testing.assert_array_equal(made.hold(Q, *blind), still)


def test_what_is_clipped_and_what_is_not() -> None:
    """Commands of motions are, unless told not to; those that brake are cut by safety."""
    bound = 0.05
    free, plant = arm(friction=True), arm(friction=True, limits={"torque": bound})
    gains = control.Gains(3e4, 30.0, kind="torque")
    tight, loose = (
        control.elastic_controller(plant, gains=gains, order=2, saturation=way)
        for way in ("each", "none")
    )
    v, a = np.array([1.0, -0.5, 0.8]), np.array([30.0, -20.0, 40.0])
    path = np.zeros((tight.derivatives_needed + 1, 3))
    path[:3] = Q, v, a
    exact = gd.elastic.motor_commands(free, path, "expanded", 2).torque
    assert (np.abs(exact) > bound).any()
    np.testing.assert_allclose(tight.open_loop(Q, v, a), np.clip(exact, -bound, bound), rtol=1e-9)
    np.testing.assert_allclose(loose.open_loop(Q, v, a), exact, rtol=1e-9)
    for made in (tight, loose):
        np.testing.assert_allclose(made.decelerate(Q, v, a, v), exact, rtol=1e-9)
        smooth = gd.elastic.feedforward(free, path, "expanded", 2).tau_m
        np.testing.assert_allclose(made.decelerate(Q, v, a, 0.0 * v), smooth, rtol=1e-9)
    reference = control.Reference(Q, v, a, derivatives=path)
    planned = gd.elastic.feedforward(free, path, "expanded", 2, friction=True)
    state = measured(plant, planned, reference)
    cut, whole = (m.step(m.start(), state, reference, 0.0)[1].command for m in (tight, loose))
    np.testing.assert_allclose(cut, np.clip(whole, -bound, bound), rtol=1e-9)
    assert (np.abs(whole) > bound).any()
    carried = control.Terms(use_gravity_compensation=False)
    light = control.elastic_controller(
        plant, gains=gains, order=2, saturation="none", terms=carried
    )
    weight = gd.motor_torques(plant, gd.gravity_forces(plant, Q))
    for call in (lambda m: m.open_loop(Q, v, a), lambda m: m.decelerate(Q, v, a, v)):
        np.testing.assert_allclose(call(loose) - call(light), weight, atol=1e-9)


def test_joint_torques_exceed_no_limit_of_the_motors() -> None:
    made = control.elastic_controller(arm(), "flatness", command_type="joint_torque")
    out = made.sent(np.full(3, 1e4), np.zeros(3), None)
    assert (np.abs(made.limits) < np.abs(out.joint_torque)).all()
    np.testing.assert_array_equal(
        out.command, np.clip(out.joint_torque, -made.limits, made.limits)
    )
    assert not out.exceeded.any()


def test_a_law_without_feedback_reads_no_gains() -> None:
    plant = arm()
    reference, planned = moving(plant, control.elastic_controller(plant, "flatness"))
    state = measured(plant, planned, reference)
    found = []
    for gains in (None, control.Gains(5.0, 5.0, 5.0), control.Gains(5.0, 5.0, 1.0, kind="torque")):
        made = control.elastic_controller(plant, "flatness", gains=gains)
        found.append(made.step(made.start(), state, reference, 0.0)[1].command)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_motors_that_turn_the_same_are_no_drive_for_two_joints() -> None:
    """Two of them on two joints, in the same ratio: as many coordinates, and yet too few."""
    urdf = '<robot name="r"><link name="l0"/>{}</robot>'
    link = (
        '<link name="l{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"'
        ' ixz="0" iyz="0"/></inertial></link><joint name="j{0}" type="continuous">'
        '<parent link="l{1}"/><child link="l{0}"/><origin xyz="0.5 0 0"/>'
        '<axis xyz="0 1 0"/></joint>'
    )
    wheel = {"carrier": "l0", "axis": [0, 1, 0], "mass": 0.1, "inertia": {"axial": 1e-4}}

    def model(other: float) -> gd.GearedModel:
        spins = ({"j1": 50.0, "j2": 50.0}, {"j1": 50.0, "j2": other})
        return gd.load_model(urdf.format(link.format(1, 0) + link.format(2, 1)), {
            "version": 1,
            "wheels": {f"w{k}": dict(wheel) for k in range(2)},
            "spins": [{"wheel": f"w{k}", "coefficients": c} for k, c in enumerate(spins)],
            "motors": {f"m{k}": {"wheel": f"w{k}"} for k in range(2)},
            "joints": {f"j{k}": {"stiffness": 1e4} for k in (1, 2)},
        })  # fmt: skip

    assert driven(model(-50.0)).rows.shape == (2,)
    with pytest.raises(gd.GearedDynamicsError):
        driven(model(50.0))


# -- gains and loops -----------------------------------------------------------------------------


@pytest.mark.parametrize("belts", [0, 3])
def test_gains_are_those_of_half_the_lowest_frequency(belts: int) -> None:
    """K_p = omega^2 m, K_v = 2 zeta omega m, m = diag(E^-T M E^-1); E is not I with belts."""
    model = elastic_arm(1, 3, share=0.4, extra=False, damping=30.0, belts=belts)
    q = np.array([0.3, -0.5, 0.2])
    found = control.gains_from_modes(model, q)
    E = driven(model).rigid
    assert (np.abs(E - E.T).max() > 1.0) == bool(belts)
    back, M, r = np.linalg.inv(E), gd.mass_matrix(model, q), range(3)
    m = [sum(back[i, j] * M[i, k] * back[k, j] for i in r for k in r) for j in r]
    frequency = gd.elastic.modes(model, q, rotors="held").frequency
    omega = 0.5 * frequency[frequency > 0.0].min()  # joints without a spring do not vibrate
    np.testing.assert_allclose(found.kp, omega**2 * np.array(m), rtol=1e-9)
    np.testing.assert_allclose(found.kv, 1.4 * omega * np.array(m), rtol=1e-9)
    assert found.kind == "torque"
    assert not found.ki.any()


def test_feedforward_knows_no_springs_between_wheels() -> None:
    """So that behind a controller E_d is the identity."""
    model = elastic_arm(1, 3, share=0.4, extra=False, belts=3)
    with pytest.raises(gd.GearedDynamicsError):
        control.elastic_controller(model, "flatness")


def test_a_loop_that_grows_slowly_grows() -> None:
    plant = arm(damping=0.0)
    for fraction in (1e-3, 0.01, 0.1):
        gains = control.gains_from_modes(plant, Q, fraction)
        poles = control.closed_loop_poles(plant, gains, Q, feedback="joint")
        assert 0.0 < poles.real.max()
        with pytest.raises(ModelError, match=r"is unstable \(growth"):
            control.gains_from_modes(plant, Q, fraction, feedback="joint")
    assert poles.real.max() > 1e-6


def test_poles_are_of_springs_and_inertia_alone() -> None:
    """Gravity is not among what is fed back."""
    from dataclasses import replace

    plant = arm()
    gains = control.gains_from_modes(plant, Q)
    floating = replace(plant, gravity=np.zeros(3))
    found, wanted = (
        np.sort_complex(control.closed_loop_poles(m, gains, Q)) for m in (plant, floating)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_a_delay_of_a_hundred_periods_is_the_longest() -> None:
    times = elastic_gains.times
    assert times(0.5, 50.0) == (0.5, 50.0)
    assert times(0.0, 0.0) == (0.0, 0.0)
    assert times(0.25, 0.0) == (0.25, 0.0)
    with pytest.raises(ArrayError, match=r"delay: is 50 s, more than 100 periods"):
        times(0.5, math.nextafter(50.0, 51.0))
    for name, given in (("sample_time", ([1e-3], 0.0)), ("delay", (1e-3, [1e-3]))):
        with pytest.raises(ArrayError, match=rf"{name}: has shape \(1,\); give one time"):
            times(*given)  # type: ignore[arg-type]


@pytest.mark.parametrize("angle", [0.3, 0.999, 1.9, 2.1, 7.0, 100.0])
def test_the_exponential_of_a_rotation(angle: float) -> None:
    c, s = math.cos(angle), math.sin(angle)
    found = exponential(np.array([[0.0, -angle], [angle, 0.0]]))
    np.testing.assert_allclose(found, [[c, -s], [s, c]], rtol=0.0, atol=1e-14 * max(angle, 1.0))


@pytest.mark.parametrize("periods", [0, 1, 3, 7])
def test_a_delay_of_whole_periods_holds_as_many_commands(periods: int) -> None:
    """Exactly, although 0.003 / 0.001 is less than three; two masses and two commands."""
    T = 1e-3
    F = np.array([[3.0, 0.5, 1.0, 0.0], [0.2, 4.0, 0.0, 2.0]])
    A, B = np.zeros((4, 4)), np.zeros((4, 2))
    A[:2, 2:] = B[2:] = np.eye(2)
    loop = sampled_loop(A, B, F, T, periods * T)
    assert loop.shape == (4 + 2 * (periods + 1),) * 2
    step, push = np.eye(4) + T * A, np.vstack([T * T / 2 * np.eye(2), T * np.eye(2)])
    state, commands = np.array([1.0, -2.0, 0.5, 0.25]), [np.zeros(2)] * (periods + 1)
    whole = np.concatenate([state, np.zeros(2 * (periods + 1))])
    for _ in range(periods + 4):
        commands.append(-F @ state)
        state = step @ state + push @ commands[-1 - periods]
        whole = loop @ whole
        np.testing.assert_allclose(whole[:4], state, rtol=1e-13)


def test_rates_of_factors() -> None:
    """ln(z) / T; a factor of zero decays as fast as can be said."""
    found = as_rates(np.array([0.5, 1j, 0.0]), 0.25)
    np.testing.assert_allclose(found, [4 * math.log(0.5), 2j * math.pi, 4 * math.log(1e-300)])
