"""Terms of the torque: the single recursion against whole torques, and their differences."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.dynamics.rigid import MODELS, TORQUE_TERMS, torque_terms
from geared_dynamics.errors import ArrayError
from naive.drives import ratios_scaled
from random_robots import random_robot

ROUNDING = 1e-13  # of the largest torque
CASES = {
    "serial": {"joints": 6, "prismatic": False},
    "sliding": {"joints": 5, "wheels": 8, "prismatic": True},
    "branched, mimics": {"joints": 5, "mimics": 2, "fixed": 1, "branched": True},
    "one joint": {"joints": 1, "wheels": 2},
    "no wheel": {"joints": 3, "wheels": 0},
}


def states(n: int, count: int = 40) -> np.ndarray:
    """Random motions (3, count, n)."""
    return np.random.default_rng(n).normal(size=(3, count, n)) * 2.0


def by_differences(model: gd.GearedModel, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list:
    """The rows of ``torque_terms`` from whole torques, each (k, n)."""
    couplings = ("none", "diagonal", "complete")
    last = couplings.index(model.coupling)
    rigid, simple, complete = (
        gd.inverse_dynamics(model.with_coupling(couplings[min(k, last)]), q, v, a)
        for k in range(3)
    )
    locked = model.with_coupling("none")
    gravity, bias = gd.gravity_forces(locked, q), gd.bias_forces(locked, q, v)
    terms = [rigid - bias, bias - gravity, gravity, simple - rigid, complete - simple]
    return [*terms, rigid, simple, complete]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("coupling", ["none", "diagonal", "complete"])
@pytest.mark.parametrize("seed", range(3))
def test_terms_are_the_differences_of_whole_torques(case: str, coupling: str, seed: int) -> None:
    model = random_robot(seed, **CASES[case]).load().with_coupling(coupling)
    q, v, a = states(model.n)
    expected = np.stack(by_differences(model, q, v, a), axis=1)
    found = torque_terms(model, q, v, a)
    assert found.shape[1] == len(TORQUE_TERMS) + len(MODELS)
    np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING * abs(expected).max())
    np.testing.assert_array_equal(torque_terms(model, q[0], v[0], a[0]), found[0])


def test_a_ratio_one_percent_off_shows_in_the_wheels_terms_alone() -> None:
    model = random_robot(1, **CASES["serial"]).load()
    other = ratios_scaled(model, 0, 1.01)
    motion = states(model.n)
    changed = torque_terms(other, *motion) - torque_terms(model, *motion)
    size = np.abs(torque_terms(model, *motion)).max()
    assert np.abs(changed[:, :3]).max() <= ROUNDING * size
    assert np.abs(changed[:, 3]).max() > 1e-6 * size


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_no_number_is_refused_by_name(bad: float) -> None:
    model = random_robot(0, **CASES["serial"]).load()
    q, v, a = states(model.n)
    v[3, 2] = bad
    with pytest.raises(ArrayError, match=r"v\[3, 2\]"):
        torque_terms(model, q, v, a)
    with pytest.raises(ArrayError, match=r"a.*shape"):
        torque_terms(model, q, v[:3] * 0.0, a[:, :2])
