"""Leading batch dimensions and ``out``: the same numbers to the last digit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.model.model import GearedModel
from naive.measure import examples
from random_robots import RobotCase, random_robot, random_state, robots

SEEDS = st.integers(0, 2**20)
BATCH = (2, 3)

Function = Callable[..., Any]


def last_link(model: GearedModel) -> str:
    """A link that moves."""
    return model.body_names[-1]


# name -> (function of model and state, how many of q, v, a it takes)
FUNCTIONS: dict[str, tuple[Function, int]] = {
    "inverse_dynamics": (gd.inverse_dynamics, 3),
    "forward_dynamics": (gd.forward_dynamics, 3),
    "mass_matrix": (gd.mass_matrix, 1),
    "coriolis_matrix": (gd.coriolis_matrix, 2),
    "gravity_forces": (gd.gravity_forces, 1),
    "bias_forces": (gd.bias_forces, 2),
    "kinetic_energy": (gd.kinetic_energy, 2),
    "potential_energy": (gd.potential_energy, 1),
    "regressor": (gd.regressor, 3),
    "friction_forces": (lambda model, q, v: gd.friction_forces(model, v), 2),
    "pose": (lambda model, q: gd.pose(model, q, last_link(model)), 1),
    "jacobian": (lambda model, q: gd.jacobian(model, q, last_link(model)), 1),
    "jacobian_drift": (lambda model, q, v: gd.jacobian_drift(model, q, v, last_link(model)), 2),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@examples(10)
@given(case=robots(), seed=SEEDS)
def test_batch_is_single_to_the_last_digit(name: str, case: RobotCase, seed: int) -> None:
    function, count = FUNCTIONS[name]
    model, state = case.load(), random_state(case.n, seed, batch=BATCH)[:count]
    whole = function(model, *state)
    for index in np.ndindex(*BATCH):
        np.testing.assert_array_equal(whole[index], function(model, *(x[index] for x in state)))


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"friction_forces"}))
def test_leading_dimensions_broadcast(name: str) -> None:
    function, count = FUNCTIONS[name]
    model = random_robot(5).load()
    q = random_state(6, 1, batch=(4, 1))[0]
    others = random_state(6, 2, batch=(3,))[1:]
    state: list[Array] = [q, *others][:count]
    full = [np.array(x) for x in np.broadcast_arrays(*state)]
    np.testing.assert_array_equal(function(model, *state), function(model, *full))


@pytest.mark.parametrize("batch", [(), (7,), (2, 3)])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_out_is_filled_and_returned(name: str, batch: tuple[int, ...]) -> None:
    model, state = random_robot(5).load(), random_state(6, 1, batch=batch)
    function = FUNCTIONS[name][0]
    out = np.full((*batch, 6), np.nan)
    assert function(model, *state, out=out) is out
    np.testing.assert_array_equal(out, function(model, *state))


def test_kinetic_energy_terms_of_a_batch() -> None:
    model, (q, v, _) = random_robot(5).load(), random_state(6, 1, batch=BATCH)
    whole = gd.kinetic_energy_terms(model, q, v)
    for index in np.ndindex(*BATCH):
        single = gd.kinetic_energy_terms(model, q[index], v[index])
        np.testing.assert_array_equal([term[index] for term in whole], single)
