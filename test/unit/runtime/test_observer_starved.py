"""An observer that misses joint states never calls a motor stuck that stands.

A joint that is held while others move stands under torques that change by twenty times its
friction; after a gap, or a start in motion, the prediction of its rotor is wrong. Both together
looked like an encoder that is stuck, and one that stands still never shows that it is not.
"""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.runtime.observer_estimates import Level, Sensed
from long_cases import cases
from starved_arm import (
    BEGIN,
    DT,
    POSTURE,
    Recording,
    arm,
    heard,
    loop_of,
    missed,
    recording,
    stuck,
    taken_up,
)

ONE = (0.0, 0.7, 0.0, 0.0, 0.0, 0.0)
BASE = (0.6, 0.0, 0.0, 0.0, 0.0, 0.0)
ELBOW = (0.0, 0.0, 0.8, 0.0, 0.0, 0.0)
ALL = (0.3, -0.3, 0.3, 0.3, -0.3, 0.5)
MOTIONS = pytest.mark.parametrize("away", [ONE, BASE, ALL], ids=["one", "base", "all"])
QUIET = 800  # instants of 1200 from which on all states arrive


def hidden_by_friction() -> np.ndarray:
    """Between friction held one way and the other: what encoders of motors cannot tell (6,)."""
    model = arm()
    A = gd.elastic.structure_matrix(model)[model.n :]
    level = np.abs(A) @ model.motors.friction.coulomb.max(axis=1)
    return np.asarray(2.0 * level / model.elasticity.stiffness)


def judged(observer: str, bandwidth: float, run: Recording, seed: int) -> None:
    """Nothing is stuck, and in the end the links are known again or said not to be."""
    outputs = heard(loop_of(observer, bandwidth), run, missed(seed, len(run.shown), QUIET))
    assert not stuck(outputs)
    last = outputs[-1]
    assert last.level < Level.BRIDGED, last.why
    assert last.moved is not None
    if last.level >= Level.INCONSISTENT:
        return
    off = np.abs(last.moved.mean[:6] - run.q[-1])
    assert np.all(off < hidden_by_friction())
    stated = last.given.observer.deviations(last.state)
    assert stated is None or np.all(off < 3.0 * stated.q)


@MOTIONS
@pytest.mark.parametrize("seed", cases([6], [1, 11]))
def test_missed_states_make_no_encoder_stuck(away: tuple[float, ...], seed: int) -> None:
    judged("nonlinear", 30.0, recording(away), seed)


def test_errors_of_a_fast_filter_are_not_those_of_an_encoder() -> None:
    """At 250 Hz its corrections are as large as the torques, but do not go against them."""
    outputs = heard(loop_of("kalman", 250.0), recording(ONE), missed(2, 900, 300))
    assert not stuck(outputs)
    assert outputs[-1].level is Level.GOOD


LOADS = [
    (ONE, "nonlinear", 60.0, 0.26),
    (ONE, "kalman", 30.0, 0.5),
    (ONE, "kalman", 60.0, 1.5),
    (ONE, "kalman", 250.0, 3.0),
    (ELBOW, "kalman", 30.0, 3.0),
]
MORE_LOADS = [
    pytest.param(away, observer, bandwidth, load, marks=pytest.mark.validate)
    for away in (ONE, BASE, ALL, ELBOW)
    for observer, bandwidth in (("kalman", 30.0), ("kalman", 250.0), ("nonlinear", 90.0))
    for load in (0.26, 1.0, 3.0)
]


@pytest.mark.parametrize(("away", "observer", "bandwidth", "load"), [*LOADS, *MORE_LOADS])
def test_a_load_that_the_controller_alone_knows(
    away: tuple[float, ...], observer: str, bandwidth: float, load: float
) -> None:
    """Its torque goes with the force of the load, at a joint that is held, by 3 to 20 levels."""
    run = recording(away, load=load)
    assert not stuck(heard(loop_of(observer, bandwidth), run, [(k, k) for k in range(1200)]))


TAKEN = [
    (1.5, 0.0, "kalman", 60.0, True),
    (1.5, 0.05, "kalman", 30.0, False),
    (5.0, 0.05, "kalman", 30.0, False),
    (3.0, 0.02, "kalman", 250.0, True),
    (5.0, 0.1, "nonlinear", 60.0, True),
]
MORE_TAKEN = [
    pytest.param(load, rise, observer, bandwidth, locked, marks=pytest.mark.validate)
    for load in (0.5, 1.5, 3.0, 5.0)
    for rise in (0.0, 0.02, 0.05, 0.1)
    for observer, bandwidth in (("kalman", 30.0), ("kalman", 60.0), ("kalman", 250.0))
    for locked in (True, False)
]


@pytest.mark.parametrize(
    ("load", "rise", "observer", "bandwidth", "locked"), [*TAKEN, *MORE_TAKEN]
)
def test_a_load_that_is_taken_up_at_rest(
    load: float, rise: float, observer: str, bandwidth: float, locked: bool
) -> None:
    """All motors' torques change as its weight asks for; the estimate is said to lag behind."""
    run = taken_up(load, rise, locked=locked)
    outputs = heard(loop_of(observer, bandwidth), run, [(k, k) for k in range(len(run.shown))])
    assert not stuck(outputs)
    after = outputs[round(BEGIN / DT) :]
    assert load < 1.0 or max(x.level for x in after) >= Level.DEGRADED
    assert after[-1].level < Level.BRIDGED, after[-1].why


@pytest.mark.parametrize("seed", cases([1, 6], [7, 15, *range(20, 30)]))
def test_so_where_torques_are_measured_with_noise(seed: int) -> None:
    """Of a fifth of the friction."""
    random = np.random.default_rng(seed)
    load, rise = random.uniform(0.5, 5.0), random.choice([0.0, 0.02, 0.05, 0.1])
    run = taken_up(load, rise, locked=bool(seed % 2))
    noise = 0.2 * arm().motors.friction.coulomb.max(axis=1)
    run = run._replace(torque=run.torque + noise * random.normal(size=run.torque.shape))
    loop = loop_of(*(("kalman", 30.0), ("kalman", 250.0), ("nonlinear", 60.0))[seed % 3])
    assert not stuck(heard(loop, run, [(k, k) for k in range(len(run.shown))]))


@pytest.mark.validate
@MOTIONS
@pytest.mark.parametrize("observer", ["nonlinear", "kalman"])
@pytest.mark.parametrize("bandwidth", [5.0, 30.0, 60.0, 250.0])
@pytest.mark.parametrize("seed", range(500, 520))
def test_so_at_any_bandwidth(
    away: tuple[float, ...], observer: str, bandwidth: float, seed: int
) -> None:
    judged(observer, bandwidth, recording(away), seed)


@pytest.mark.parametrize("observer", ["nonlinear", "kalman"])
@pytest.mark.parametrize("bandwidth", cases([30.0, 250.0], [5.0]))
def test_an_arm_at_rest_shows_the_same_for_ever(observer: str, bandwidth: float) -> None:
    """Under gravity, friction holding part of it, with gaps, pauses and changing torques."""
    model, loop = arm(), loop_of(observer, bandwidth)
    random = np.random.default_rng(7)
    weight, level = gd.gravity_forces(model, POSTURE), model.motors.friction.coulomb.max(axis=1)
    A = gd.elastic.structure_matrix(model)[6:]
    shown = A.T @ (POSTURE + weight / model.elasticity.stiffness) + model.motor_zeros
    held, time, outputs = np.linalg.solve(A, weight), 0.0, []
    for k in range(700):
        part = 0.9 * np.sin(0.01 * k + np.arange(6.0))  # friction takes it up
        time += DT
        if k < 500 and random.random() < 0.1:
            time += DT * float(random.choice([3, 20, 120, 300]))
        outputs.append(loop.cycle(time, Sensed(time, shown, held + part * level)))
    assert not stuck(outputs)
    assert outputs[-1].level < Level.BRIDGED, outputs[-1].why


@pytest.mark.parametrize("observer", ["nonlinear", "kalman"])
@pytest.mark.parametrize("begin", [0, 450])
def test_one_that_is_stuck_is_still_found(observer: str, begin: int) -> None:
    """The negative control, from rest and in motion: of the joint that moves."""
    run = recording(ONE)
    shown = run.shown.copy()
    shown[begin:, 1] = shown[begin, 1]
    instants = [(k, k) for k in range(650)]
    outputs = heard(loop_of(observer, 30.0), run._replace(shown=shown), instants)
    found = stuck(outputs)
    assert found
    assert all("motor_2" in why or why == "an encoder is stuck" for why in found)
