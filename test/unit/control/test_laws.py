"""Closed loops do what the equations say."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from control_arms import sample
from driven_arms import driven_arm
from random_robots import random_robot

control = gd.control
ROOT = Path(__file__).resolve().parents[3]
STEP, LENGTH = 1e-3, 0.4  # [s]; of Runge-Kutta's fourth order


def smooth_arm(seed: int = 2) -> gd.GearedModel:
    """An arm without friction, whose closed loop is an exact linear equation."""
    case = random_robot(seed, joints=4, mimics=0, fixed=1, wheels=4, massless=False)
    return gd.load_model(case.urdf, case.drivetrain, gravity=case.gravity)


def path(t: float, n: int) -> control.Reference:
    """A smooth reference."""
    w = np.linspace(2.0, 4.0, n)
    return control.Reference(
        0.5 * np.sin(w * t), 0.5 * w * np.cos(w * t), -0.5 * w**2 * np.sin(w * t)
    )


def runge_kutta(rates: Callable, t: float, y: np.ndarray, dt: float) -> np.ndarray:
    k1 = rates(t, y)
    k2 = rates(t + dt / 2, y + dt / 2 * k1)
    k3 = rates(t + dt / 2, y + dt / 2 * k2)
    k4 = rates(t + dt, y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def simulate(plant: gd.GearedModel, made: control.Controller, y: np.ndarray) -> np.ndarray:
    """Motion (steps + 1, 2 n) of the plant under a controller without memory."""
    n = plant.n

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        q, v = y[:n].copy(), y[n:].copy()
        _, out = made.step(made.start(), gd.State(q, v), path(t, n), 0.0)
        return np.concatenate([v, gd.forward_dynamics(plant, q, v, out.command)])

    motion = [y]
    for k in range(round(LENGTH / STEP)):
        motion.append(runge_kutta(rates, k * STEP, motion[-1], STEP))
    return np.array(motion)


def errors(motion: np.ndarray) -> np.ndarray:
    n = motion.shape[1] // 2
    wanted = np.array([path(k * STEP, n).q for k in range(len(motion))])
    return wanted - motion[:, :n]


def analytic(error: np.ndarray, rate: np.ndarray, omega: float, zeta: float) -> np.ndarray:
    """Solution of e'' + 2 zeta omega e' + omega^2 e = 0, underdamped, (steps + 1, n)."""
    t = STEP * np.arange(round(LENGTH / STEP) + 1)[:, None]
    damped = omega * np.sqrt(1 - zeta**2)
    cos, sin = np.cos(damped * t), np.sin(damped * t)
    return np.exp(-zeta * omega * t) * (error * cos + (rate + zeta * omega * error) / damped * sin)


@pytest.mark.parametrize("wrong", [False, True])
def test_computed_torque_leaves_linear_error_dynamics(wrong: bool) -> None:
    """With a ratio one percent off (the negative control) it does not."""
    plant, omega, zeta = smooth_arm(), 12.0, 0.7
    model = plant
    if wrong:
        model = replace(plant, wheels=replace(plant.wheels, spin=1.01 * plant.wheels.spin))
    made = control.controller(
        model, "computed_torque", gains=control.gains_from_bandwidth(omega, zeta)
    )
    start = path(0.0, plant.n)
    e, rate = 0.1 * np.ones(plant.n), -0.2 * np.ones(plant.n)
    motion = simulate(plant, made, np.concatenate([start.q - e, start.v - rate]))
    gap = np.abs(errors(motion) - analytic(e, rate, omega, zeta)).max()
    # Steps of 1 ms of order four leave (omega dt)^4 / 120 of the error of 0.1 rad.
    assert (gap < 1e-8) != wrong


@pytest.mark.parametrize("wrong", [False, True])
def test_feedforward_tracks_from_exact_initial_conditions(wrong: bool) -> None:
    plant = smooth_arm()
    model = plant
    if wrong:
        model = replace(plant, wheels=replace(plant.wheels, spin=1.01 * plant.wheels.spin))
    made = control.controller(model)
    start = path(0.0, plant.n)
    motion = simulate(plant, made, np.concatenate([start.q, start.v]))
    assert (np.abs(errors(motion)).max() < 1e-8) != wrong


def test_pd_plus_feedforward_is_exact_on_the_reference() -> None:
    plant = smooth_arm()
    gains = control.torque_gains(plant, control.gains_from_bandwidth(10.0), np.zeros(plant.n))
    made = control.controller(plant, "pd_plus_feedforward", gains=gains)
    start = path(0.0, plant.n)
    motion = simulate(plant, made, np.concatenate([start.q, start.v]))
    assert np.abs(errors(motion)).max() < 1e-9


def test_the_armature_alone_is_worse_with_low_ratios() -> None:
    """Feedforward on the complete arm: the rotors' coupling is not small here."""
    plant = gd.load_model(ROOT / "urdf/elbow.urdf", low_ratio())
    start = path(0.0, plant.n)
    worst = {}
    for coupling in ("complete", "diagonal"):
        made = control.controller(plant.with_coupling(coupling))
        motion = simulate(plant, made, np.concatenate([start.q, start.v]))
        worst[coupling] = np.abs(errors(motion)).max()
    assert worst["complete"] < 1e-8
    assert worst["diagonal"] > 3e-3


def low_ratio() -> dict[str, object]:
    """Rotors of the elbow for ratios of ten: direct, heavy motors."""
    wheels = {
        f"rotor_{k}": {
            "carrier": carrier,
            "axis": axis,
            "mass": 2.0,
            "inertia": {"axial": 5e-3},
        }
        for k, carrier, axis in (
            (1, "base_link", [0, 0, 1]),
            (2, "link_1", [0, 1, 0]),
            (3, "link_2", [0, 1, 0.4]),
        )
    }
    spins = [{"wheel": f"rotor_{k}", "joint": f"joint_{k}", "ratio": 10} for k in (1, 2, 3)]
    return {"version": 1, "wheels": wheels, "spins": spins}


def test_hold_keeps_the_arm_where_it_is_and_brings_it_back() -> None:
    plant = smooth_arm()
    made = control.controller(plant, "computed_torque", gains=control.gains_from_bandwidth(10.0))
    posture = sample(plant)[0]
    still = np.zeros(plant.n)
    held = made.hold(posture, posture, still)
    np.testing.assert_allclose(held, gd.gravity_forces(plant, posture), rtol=1e-12)
    q, v = posture + 0.1, np.zeros(plant.n)
    for _ in range(1500):
        command = made.hold(posture, q, v)
        v = v + STEP * gd.forward_dynamics(plant, q, v, command)
        q = q + STEP * v
    assert np.abs(q - posture).max() < 1e-3


def test_hold_without_a_state_is_gravity_at_the_posture() -> None:
    plant = driven_arm(1)
    made = control.controller(plant, "computed_torque", gains=control.gains_from_bandwidth(10.0))
    posture = sample(plant)[0]
    blind = made.hold(posture, None, None)
    np.testing.assert_allclose(blind, gd.gravity_forces(plant, posture), rtol=1e-12)


def test_hold_of_a_robot_that_carries_itself_has_no_gravity() -> None:
    plant = driven_arm(1)
    terms = control.Terms(use_gravity_compensation=False)
    made = control.controller(
        plant, "computed_torque", gains=control.gains_from_bandwidth(5.0), terms=terms
    )
    assert not made.hold(sample(plant)[0], None, None).any()


def test_integral_removes_what_the_model_does_not_know() -> None:
    """A load that the model lacks is carried without an error left; without integral it is not."""
    model = smooth_arm()
    plant = model.with_payload(0.5, link=model.body_names[-1])
    posture, still = sample(model)[0], np.zeros(model.n)
    left = []
    for integral in (0.0, 0.3):
        gains = control.gains_from_bandwidth(15.0, integral=integral)
        made = control.controller(model, "computed_torque", gains=gains)
        memory, q, v = made.start(), posture.copy(), still.copy()
        for _ in range(3000):
            reference = control.Reference(posture, still, still)
            memory, out = made.step(memory, gd.State(q, v), reference, 2e-3)
            v = v + 2e-3 * gd.forward_dynamics(plant, q, v, out.command)
            q = q + 2e-3 * v
        left.append(np.abs(q - posture).max())
    assert left[1] < 1e-4 < left[0]


def test_integral_neither_winds_up_nor_grows_at_the_limit() -> None:
    model = gd.load_model(ROOT / "urdf/elbow.urdf", ROOT / "urdf/elbow.drivetrain.yaml")
    gains = control.Gains(2000.0, 10.0, 30.0, integral_limit=12.0, kind="torque")
    made = control.controller(model, "pd_plus_feedforward", gains=gains)
    still = np.zeros(3)
    small, large = (control.Reference(x * np.ones(3), still, still) for x in (1e-3, 1.0))
    memory = made.start()
    for _ in range(2000):
        memory, _ = made.step(memory, gd.State(still, still), small, 1.0)
    np.testing.assert_allclose(30.0 * memory.integral, 12.0)  # bounded
    memory, _ = made.step(made.start(), gd.State(still, still), large, 0.1)
    assert not memory.integral.any()  # 2000 N m are asked for, beyond every effort limit


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize(
    ("position", "dt"), [(1e300, 1e-3), (1e300, 1e10), (0.5, 1e308), (-1e308, 1e308)]
)
def test_the_integral_stays_finite(position: float, dt: float) -> None:
    """Whatever state and time are accepted: an infinite one would never come back."""
    model = gd.load_model(ROOT / "urdf/elbow.urdf", ROOT / "urdf/elbow.drivetrain.yaml")
    made = control.controller(model, "pd_plus_feedforward", gains=control.Gains(1e-5, 0.0, 1e-9))
    still = np.zeros(3)
    state = gd.State(np.array([position, 0.3, 0.0]), still)
    memory = made.start()
    for _ in range(4):
        memory, _ = made.step(memory, state, control.Reference(still, still, still), dt)
    assert np.isfinite(memory.integral).all()
    memory, _ = made.step(
        memory,
        gd.State(np.full(3, -0.1), still),
        control.Reference(still, still, still),
        1e-3,
    )
    assert memory.integral[2] == pytest.approx(1e-4)  # and goes on


def test_continuous_joints_take_the_short_way() -> None:
    case = random_robot(6, joints=4, mimics=0, fixed=0, wheels=2)
    urdf = case.urdf.replace('type="revolute"', 'type="continuous"', 1)
    model = gd.load_model(urdf, case.drivetrain, gravity=case.gravity)
    kinds = {j.name: j.kind for j in model.records.robot.joints}
    endless = np.array([kinds[name] == "continuous" for name in model.joint_names])
    assert endless.any()
    gains = control.Gains(100.0, 0.0, kind="torque")
    made = control.controller(model, "pd_plus_feedforward", gains=gains)
    still = np.zeros(model.n)
    found = []
    for turns in (0.0, 3.0):
        wanted = control.Reference(0.1 + turns * 2 * np.pi * endless, still, still)
        _, out = made.step(made.start(), gd.State(still, still), wanted, 0.0)
        found.append(out.command)
    np.testing.assert_allclose(found[0], found[1], atol=1e-9 * np.abs(found[0]).max())
    for e in (np.pi - 0.1, np.pi + 0.1, -np.pi - 0.1):
        short = control.laws.position_error(np.array([e]), np.zeros(1), np.array([0.5 / np.pi]))
        assert abs(short[0]) <= np.pi
        assert np.sin(short[0]) == pytest.approx(np.sin(e))


def test_a_controller_is_a_value() -> None:
    """The same inputs give the same outputs, and with_... leave the first as it was."""
    model = driven_arm(1)
    q, v, a = sample(model)
    made = control.controller(model, "computed_torque", gains=control.gains_from_bandwidth(9.0))
    args = (made.start(), gd.State(q, v), control.Reference(q + 0.1, v, a), 1e-3)
    before = made.step(*args)[1].command
    heavier = made.with_model(model.with_payload(2.0, link=model.body_names[-1]))
    others = [
        heavier,
        made.with_gains(control.gains_from_bandwidth(20.0)),
        made.with_terms(control.Terms(use_friction=False)),
    ]
    for other in others:
        assert np.abs(other.step(*args)[1].command - before).max() > 1e-6
        assert (other.law, other.command_type) == (made.law, made.command_type)
    np.testing.assert_array_equal(made.step(*args)[1].command, before)
    assert heavier.gains.kp.tolist() == made.gains.kp.tolist()


def test_friction_at_the_reference_does_not_chatter_at_rest() -> None:
    model = driven_arm(1)
    q, still = sample(model)[0], np.zeros(model.n)
    noise = 5e-3 * np.array(list(itertools.islice(itertools.cycle([1.0, -1.0]), model.n)))
    gains = control.Gains(0.0, 0.0)
    swings = {}
    for rate in ("reference", "measured"):
        made = control.controller(model, "computed_torque", gains=gains, friction_rate=rate)
        reference = control.Reference(q, still, still)
        found = [
            made.step(made.start(), gd.State(q, w), reference, 0.0)[1].command
            for w in (noise, -noise)
        ]
        swings[rate] = np.abs(found[0] - found[1]).max()
    assert swings["reference"] < 1e-3 < 0.1 < swings["measured"]
