"""Elastic joints against the slow twin: random trees, skew and coupled rotors, mixed joints."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import geared_dynamics as gd
from elastic_arms import elastic_arm, joined, state
from geared_dynamics.dynamics.elimination_plan import DENSE, make_plan
from naive.elastic import ElasticTwin

EXACT = 1e-11  # of the largest element: two ways of adding the same products
ACCELERATION = 1e-10  # the same through the condition of H

DYNAMICS = "geared_dynamics.dynamics.elastic.equations.elimination_plan"

ARMS = {
    "all elastic": elastic_arm(0),
    "some elastic": elastic_arm(1, 6, share=0.4),
    "branched, sliding": elastic_arm(2, 6, share=0.6, branched=True, prismatic=True),
    "one joint": elastic_arm(3, 1),
    "one rotor each": elastic_arm(4, 6, coupled=False, extra=False),
    "by elimination": elastic_arm(5, 11, share=0.8, branched=True),
    "belts, all elastic": elastic_arm(7, 4, belts=4),
    "belts, some elastic": elastic_arm(8, 6, share=0.4, belts=3, branched=True),
    "massless links": elastic_arm(6, 5, massless=True, share=0.7),
}


def close(found: np.ndarray, expected: np.ndarray, tolerance: float = EXACT) -> None:
    """Compare by the largest element."""
    assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.fixture(params=ARMS.values(), ids=ARMS, scope="module")
def arm(request: pytest.FixtureRequest) -> gd.GearedModel:
    """Arms of every kind."""
    return request.param


@pytest.fixture(scope="module")
def twin(arm: gd.GearedModel) -> ElasticTwin:
    """Its twin."""
    return ElasticTwin(*arm.records, arm.gravity)


@pytest.mark.parametrize("seed", range(3))
def test_equations_of_motion(arm: gd.GearedModel, twin: ElasticTwin, seed: int) -> None:
    q, theta, v, vtheta, a, atheta = state(arm, seed)
    x, rate, change = np.r_[q, theta], np.r_[v, vtheta], np.r_[a, atheta]
    H, C, g = twin.mass_matrix(x), twin.coriolis_matrix(x, rate), twin.gravity_forces(x)
    close(gd.elastic.mass_matrix(arm, q), H)
    close(gd.elastic.coriolis_matrix(arm, gd.State(q, v, vtheta=vtheta)), C)
    close(gd.elastic.bias_forces(arm, gd.State(q, v, vtheta=vtheta)), C @ rate + g)
    close(gd.elastic.bias_forces(arm, gd.State(q, 0 * v, vtheta=0 * vtheta)), g)
    springs = twin.spring_forces(x, rate)
    close(gd.elastic.spring_forces(arm, gd.State(q, v, theta, vtheta)), springs)
    close(gd.elastic.joint_torque(arm, gd.State(q, v, theta, vtheta)), twin.joint_torque(x, rate))
    close(gd.elastic.kinetic_energy(arm, gd.State(q, v, vtheta=vtheta)), 0.5 * rate @ H @ rate)
    energy = gd.elastic.potential_energy(arm, gd.State(q, v, theta)) - gd.potential_energy(arm, q)
    close(energy, twin.spring_energy(x))
    force = np.concatenate(
        gd.elastic.inverse_dynamics(arm, gd.State(q, v, theta, vtheta), a, atheta)
    )
    close(force, H @ change + C @ rate + g - springs)


@pytest.mark.parametrize("seed", range(3))
def test_acceleration(arm: gd.GearedModel, twin: ElasticTwin, seed: int) -> None:
    q, theta, v, vtheta = state(arm, seed, 2)
    tau_m = np.random.default_rng(seed).normal(size=arm.n)
    A = twin.structure_matrix(arm.records.drivetrain)
    close(gd.elastic.structure_matrix(arm), A)
    expected = twin.forward_dynamics(np.r_[q, theta], np.r_[v, vtheta], A @ tau_m)
    found = np.concatenate(gd.elastic.forward_dynamics(arm, gd.State(q, v, theta, vtheta), tau_m))
    close(found, expected, ACCELERATION)


@pytest.mark.parametrize("seed", range(3))
def test_both_solvers_agree(
    arm: gd.GearedModel, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Factorised matrix and elimination, whatever the size."""
    now, tau_m = joined(*state(arm, seed, 2)), np.random.default_rng(seed).normal(size=arm.n)
    found = []
    for plan in (make_plan(arm.with_springs()), DENSE):
        monkeypatch.setattr(DYNAMICS, lambda _, plan=plan: plan)
        found.append(np.concatenate(gd.elastic.forward_dynamics(arm, now, tau_m)))
    close(found[0], found[1], ACCELERATION)


def test_a_ratio_one_percent_off_fails() -> None:
    wrong = elastic_arm(0, ratio=1.01)
    right = ARMS["all elastic"]
    q, theta, v, vtheta = state(right, 0, 2)
    twin = ElasticTwin(*right.records, right.gravity)
    x, rate = np.r_[q, theta], np.r_[v, vtheta]
    expected = twin.forward_dynamics(x, rate, twin.structure_matrix(right.records.drivetrain) @ v)
    with pytest.raises(AssertionError):
        close(gd.elastic.mass_matrix(wrong, q), twin.mass_matrix(x), 1e-4)
    found = np.concatenate(gd.elastic.forward_dynamics(wrong, gd.State(q, v, theta, vtheta), v))
    with pytest.raises(AssertionError):
        close(found, expected, 1e-4)
