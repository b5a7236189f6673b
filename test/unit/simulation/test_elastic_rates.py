"""Rates of elastic arms with motors: against their parts, and the balance of power."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import geared_dynamics as gd
from geared_dynamics.simulation.driven_arm import packed_state, plant_of
from simulated_arms import arm, kinds, moving

VOLTAGE = np.array([5.0, -8.0, 3.0])


@pytest.fixture(scope="module", params=kinds().items(), ids=lambda item: item[0])
def model(request: pytest.FixtureRequest) -> gd.GearedModel:
    """Arms of every kind."""
    found: gd.GearedModel = request.param[1]
    return found


def random_state(model: gd.GearedModel, seed: int) -> gd.State:
    """A state anywhere."""
    random = np.random.default_rng(seed)
    q, v, current = random.normal(size=(3, 3))
    shaft, rate = random.normal(size=(2, model.elasticity.count))
    return gd.State(q, v, model.elasticity.rigid @ q + 0.01 * shaft, rate, current)


@pytest.mark.parametrize("seed", range(3))
def test_parts(model: gd.GearedModel, seed: int) -> None:
    """Winding, friction and arm one by one, from the public functions."""
    state = random_state(model, seed)
    q, v, theta, vtheta, current = state
    external = np.array([1.0, 2.0, -3.0])
    found = gd.simulation.elastic_rates(model, state, voltage=VOLTAGE, external=external)
    motors, speed = model.motors, gd.elastic.motor_speeds(model, gd.State(q, v, vtheta=vtheta))
    drop = VOLTAGE - motors.back_emf_constant * speed
    change = np.zeros(3)
    if motors.inductance.any():
        change = (drop - motors.resistance * current) / motors.inductance
    else:
        current = drop / motors.resistance
    joints, rotors = gd.elastic.friction_forces(model, gd.State(q, v, theta, vtheta))
    torque = motors.torque_constant * current
    a, atheta = gd.elastic.forward_dynamics(
        model, gd.State(q, v, theta, vtheta), torque - rotors, tau=external - joints
    )
    assert_allclose(found.a, a, rtol=1e-10)
    assert_allclose(found.atheta, atheta, rtol=1e-10)
    assert_allclose(found.current, change, rtol=1e-12, atol=1e-12)
    driven = gd.simulation.elastic_rates(model, state, torque=torque, external=external)
    assert_allclose(driven.a, a, rtol=1e-10)
    assert driven.current is None


def test_friction_and_springs_count() -> None:
    state = random_state(arm(), 0)
    plain = gd.simulation.elastic_rates(arm(), state).a
    for other in (arm(friction=True), arm(factor=1.01), arm(damping=2.02)):
        assert np.abs(gd.simulation.elastic_rates(other, state).a - plain).max() > 1e-4


def test_balancers_act() -> None:
    drives = {"torsion": {"torsion": {"stiffness": 30.0}, "joint": "joint_2"}}
    state = random_state(arm(), 0)
    balanced = arm(balancers=drives)
    expected = gd.simulation.elastic_rates(
        arm(), state, external=gd.balancer_forces(balanced, state.q)
    )
    found = gd.simulation.elastic_rates(balanced, state)
    assert_allclose(found.a, expected.a, rtol=1e-12)
    assert not np.allclose(found.a, gd.simulation.elastic_rates(arm(), state).a)


def test_jacobian(model: gd.GearedModel) -> None:
    """The batch of differences against single rates along random directions."""
    plant, given = plant_of(model, VOLTAGE, None, None)
    y = packed_state(plant, random_state(model, 5))
    J = plant.jacobian(y, given)
    for seed in range(3):
        way = np.random.default_rng(seed).normal(size=len(y))
        ahead, behind = (plant.rates(y + k * 1e-6 * way, given) for k in (1.0, -1.0))
        expected = (ahead - behind) / 2e-6
        assert_allclose(J @ way, expected, rtol=0, atol=1e-4 * np.abs(expected).max())


def test_no_current_is_zero_current() -> None:
    model = arm()
    still = gd.simulation.elastic_rates(model, moving(model), voltage=VOLTAGE)
    zero = gd.simulation.elastic_rates(model, moving(model, 0.0), voltage=VOLTAGE)
    assert_allclose(still.current, zero.current, rtol=0)
