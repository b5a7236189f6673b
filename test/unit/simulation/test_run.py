"""Simulations with step control: agreement of schemes, energy, inputs over time."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import geared_dynamics as gd
from naive.measure import holds
from simulated_arms import arm, kinds, moving

pytest.importorskip("scipy")

VOLTAGE = np.array([2.0, 6.0, 3.0])
TIMES = np.linspace(0.0, 0.2, 5)
ARMS = kinds()


def ends(run: gd.simulation.ElasticRun) -> np.ndarray:
    """Angles and velocities at all times."""
    return np.hstack(run.state[:4])


@pytest.mark.parametrize("kind", ARMS)
def test_schemes_agree(kind: str) -> None:
    """Three schemes of SciPy, and the fixed step."""
    model = ARMS[kind]
    runs = [
        gd.simulation.simulate_elastic(
            model, moving(model), TIMES, voltage=VOLTAGE, method=method, rtol=1e-9, atol=1e-11
        )
        for method in ("LSODA", "DOP853", "Radau")
    ]
    for other in runs[1:]:
        assert_allclose(ends(other), ends(runs[0]), rtol=0, atol=2e-6)
        assert_allclose(other.current, runs[0].current, rtol=0, atol=1e-4)
    state = moving(model)
    for _ in range(800):
        state = gd.simulation.elastic_step(model, state, TIMES[-1] / 800, voltage=VOLTAGE)
    found = np.concatenate(state[:4])
    assert_allclose(found, ends(runs[0])[-1], rtol=0, atol=2e-3 if kind == "friction" else 2e-5)


def test_play() -> None:
    """Springs with a gap: the schemes agree, and without damping the energy stays."""
    model = arm(backlash=2e-3, damping=0.0)
    runs = [
        gd.simulation.simulate_elastic(model, moving(model), TIMES, method=m, rtol=1e-10)
        for m in ("LSODA", "DOP853")
    ]
    assert_allclose(ends(runs[0]), ends(runs[1]), rtol=0, atol=1e-4)
    assert energy_drift(model, runs[1]) < 1e-6
    stretch = np.abs(runs[0].q - runs[0].theta)
    assert stretch.max() > 1e-3  # there is load beyond the gap


def energy_drift(model: gd.GearedModel, run: gd.simulation.ElasticRun) -> float:
    """Largest change of the energy, of the energy."""
    total = gd.elastic.kinetic_energy(model, gd.State(run.q, run.v, vtheta=run.vtheta))
    total = total + gd.elastic.potential_energy(model, gd.State(run.q, run.v, run.theta))
    return float(np.abs(total - total[0]).max() / np.abs(total[0]))


@pytest.mark.parametrize("elastic", [(1, 2, 3), (1, 3)])
def test_energy_over_ten_seconds(elastic: tuple[int, ...]) -> None:
    model = arm(damping=0.0, elastic=elastic)
    run = gd.simulation.simulate_elastic(
        model, moving(model), np.linspace(0, 10, 101), method="DOP853", rtol=1e-10, atol=1e-12
    )
    drift = energy_drift(model, run)
    assert holds(f"elastic simulation, {len(elastic)} springs, energy in 10 s", drift, 1e-6)


def test_electrical_power_is_accounted_for() -> None:
    """Integral of u i = energies + copper + friction + dampers, with the motor's k_t = k_e."""
    model = arm(friction=True, inductance=2e-3)
    times = np.linspace(0, 0.1, 2001)
    run = gd.simulation.simulate_elastic(
        model, moving(model), times, voltage=VOLTAGE, rtol=1e-10, atol=1e-12
    )
    motors = model.motors
    stored = gd.elastic.kinetic_energy(model, gd.State(run.q, run.v, vtheta=run.vtheta))
    stored = stored + gd.elastic.potential_energy(model, gd.State(run.q, run.v, run.theta))
    stored = stored + 0.5 * run.current**2 @ motors.inductance
    joints, rotors = gd.elastic.friction_forces(
        model, gd.State(run.q, run.v, run.theta, run.vtheta)
    )
    speed = gd.elastic.motor_speeds(model, gd.State(run.q, run.v, vtheta=run.vtheta))
    slip = np.hstack([run.v, run.vtheta]) @ model.elasticity.stretch.T
    lost = run.current**2 @ motors.resistance + np.sum(joints * run.v, 1)
    lost = lost + np.sum(rotors * speed, 1) + slip**2 @ model.elasticity.damping
    power = run.current @ VOLTAGE - lost
    work = np.sum(0.5 * (power[1:] + power[:-1]) * np.diff(times))
    assert stored[-1] - stored[0] == pytest.approx(work, rel=1e-4)


def test_input_over_time() -> None:
    """A function that is constant is the constant; runs one after the other are one."""
    model = arm()
    whole = gd.simulation.simulate_elastic(model, moving(model), TIMES, voltage=VOLTAGE)
    same = gd.simulation.simulate_elastic(model, moving(model), TIMES, voltage=lambda _: VOLTAGE)
    assert_array_equal(ends(whole), ends(same))
    first = gd.simulation.simulate_elastic(model, moving(model), TIMES[:3], voltage=VOLTAGE)
    second = gd.simulation.simulate_elastic(model, first.end, TIMES[2:], voltage=VOLTAGE)
    assert_allclose(ends(second)[-1], ends(whole)[-1], rtol=0, atol=1e-5)

    def rising(t: float) -> np.ndarray:
        return t * VOLTAGE

    ramp = gd.simulation.simulate_elastic(model, moving(model), TIMES, torque=rising)
    assert ramp.current is None
    exact = gd.simulation.simulate_elastic(
        model, moving(model), TIMES, torque=rising, method="DOP853", rtol=1e-11, atol=1e-13
    )
    assert_allclose(ends(ramp), ends(exact), rtol=0, atol=1e-5)


@pytest.mark.parametrize("method", ["LSODA", "DOP853", "Radau"])
def test_the_clock_may_be_late(method: Any) -> None:
    """Seconds since 1970, or more, move the arm as seconds from zero do; inputs hear them."""
    model, torque = arm(), np.array([0.1, 0.2, -0.1])
    early = gd.simulation.simulate_elastic(
        model, moving(model), [0.0, 0.125, 0.25], torque=torque, method=method
    )
    for begin in (2.0**31, 2.0**49):  # both have eighths
        heard = []

        def constant(t: float, heard: list[float] = heard) -> np.ndarray:
            heard.append(t)
            return torque

        times = begin + early.t
        late = gd.simulation.simulate_elastic(
            model, moving(model), times, torque=constant, method=method
        )
        assert_array_equal(ends(late), ends(early))
        assert min(heard) == begin
        assert max(heard) == times[-1]


def test_current_without_inductance_follows_at_once() -> None:
    model = arm(inductance=None)
    run = gd.simulation.simulate_elastic(model, moving(model), TIMES, voltage=VOLTAGE)
    speed = gd.elastic.motor_speeds(model, gd.State(run.q, run.v, vtheta=run.vtheta))
    assert_allclose(run.current, (VOLTAGE - 0.06 * speed) / 0.8, rtol=1e-12)


def test_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.integrate", None)
    with pytest.raises(gd.GearedDynamicsError, match=r"pip install 'scipy'"):
        gd.simulation.simulate_elastic(arm(), moving(arm()), TIMES)
