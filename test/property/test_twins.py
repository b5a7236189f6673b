"""The kernels against a slow twin: explicit links and rotors, by Lagrange."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.model.model import GearedModel
from naive.drives import one_ratio_scaled
from naive.lagrangian import STEP, LagrangianTwin, steps
from naive.measure import error, examples
from random_robots import RobotCase, random_robot, random_state, robots

# Two summations of O(n) rounded terms in different orders, relative to the largest element.
ROUNDING = 1e-12
# What a ratio that is 1 % off must cost in the same measure.
NEGATIVE = 1e-9

SEEDS = st.integers(0, 2**20)


def twin_of(model: GearedModel) -> LagrangianTwin:
    """The same arm as explicit bodies, with the model's coupling."""
    return LagrangianTwin(*model.records, model.gravity, model.coupling)


def distances(model: GearedModel, twin: LagrangianTwin, q: Array, v: Array, a: Array) -> Array:
    """Errors of M, C, g and of the inverse dynamics."""
    M, C, g = twin.mass_matrix(q), twin.coriolis_matrix(q, v), twin.gravity_forces(q)
    weight = abs(model.gravity).sum() * gd.parameters(model)[:10].max()
    tau = M @ a + C @ v + g
    return np.array(
        [
            error(gd.mass_matrix(model, q), M),
            error(gd.coriolis_matrix(model, q, v), C, M),
            error(gd.gravity_forces(model, q), g, weight),
            error(gd.inverse_dynamics(model, q, v, a), tau, np.abs(M) @ np.abs(a)),
        ]
    )


@examples(60)
@given(case=robots(), seed=SEEDS)
def test_equations_of_explicit_bodies(case: RobotCase, seed: int) -> None:
    model = case.load()
    assert distances(model, twin_of(model), *random_state(case.n, seed)).max() < ROUNDING


@pytest.mark.parametrize("coupling", ["none", "diagonal"])
@examples(20)
@given(case=robots(), seed=SEEDS)
def test_other_couplings(coupling: str, case: RobotCase, seed: int) -> None:
    model = case.load().with_coupling(coupling)
    assert distances(model, twin_of(model), *random_state(case.n, seed)).max() < ROUNDING


@pytest.mark.parametrize("seed", range(4))
def test_a_ratio_one_percent_off_fails(seed: int) -> None:
    case = random_robot(seed, mimics=1, wheels=10)
    model, (q, v, a) = case.load(), random_state(case.n, seed)
    wrong = one_ratio_scaled(model, 1.01)
    M, C, _, tau = distances(wrong, twin_of(model), q, v, a)
    assert min(M, C, tau) > NEGATIVE


@examples(20)
@given(case=robots(max_joints=4), seed=SEEDS)
def test_twin_differentiates_its_own_poses(case: RobotCase, seed: int) -> None:
    """The twin's Jacobians are the derivatives of the explicit positions and orientations."""
    twin, q = twin_of(case.load()), random_state(case.n, seed)[0]
    for body in twin.bodies:
        rotation, _, linear, angular = twin.body_pose(q, body)
        for k, point in enumerate(steps(q)):
            turned, moved, _, _ = twin.body_pose(point, body)
            spin = turned.imag / STEP @ rotation.T
            rates = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
            assert error(moved.imag / STEP, linear[:, k], 1.0) < ROUNDING
            assert error(rates, angular[:, k], 1.0) < ROUNDING
