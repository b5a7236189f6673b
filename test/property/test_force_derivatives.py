"""Time derivatives of the inverse dynamics against jets, differences and each other."""

from __future__ import annotations

from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.model.model import GearedModel
from naive.drives import one_ratio_scaled
from naive.jets import PathTwin
from naive.measure import derivative, error, examples
from random_robots import RobotCase, random_robot, robots

# The same force by two recursions, relative to the largest element.
SAME = 1e-13
# Two summations in different orders, relative to the largest element of a row.
ROUNDING = 1e-11
# Differences over 17 points of functions that turn at up to 10 rad/s.
DIFFERENCED = 1e-7
# Differences of eighth order over nine points of functions that turn at up to 2 rad/s.
SLOPE = 1e-10
# What a ratio that is 1 % off must cost.
NEGATIVE = 1e-6

SEEDS = st.integers(0, 2**20)
ORDERS = st.integers(2, 8)


def random_path(n: int, order: int, seed: int, *, batch: tuple[int, ...] = ()) -> Array:
    """Random q and its derivatives (*batch, order + 1, n) [rad or m, per s^i]."""
    rng = np.random.default_rng(seed)
    return np.array([3.0, 2.0, *[4.0] * (order - 1)])[:, None] * rng.uniform(
        -1, 1, (*batch, order + 1, n)
    )


def later(path: Array, t: float) -> Array:
    """The same at time t, of the polynomial with these derivatives at t = 0."""
    rows = len(path)
    powers = np.array([t**m / factorial(m) for m in range(rows)])
    return np.array([powers[: rows - i] @ path[i:] for i in range(rows)])


def twin_of(model: GearedModel) -> PathTwin:
    """The same arm as explicit bodies, with the model's coupling."""
    return PathTwin(*model.records, model.gravity, model.coupling)


def worst_row(found: Array, expected: Array) -> float:
    """Largest error of a row, each relative to its own largest element.

    A row whose terms cancel to less than a thousandth of the largest row is measured
    against that thousandth: its rounding is that of the terms.
    """
    assert len(found) == len(expected)
    least = 1e-3 * float(np.abs(expected).max(initial=0.0))
    return max(error(f, e, least) for f, e in zip(found, expected, strict=True))


@examples(60)
@given(case=robots(), order=ORDERS, seed=SEEDS)
def test_first_row_is_the_inverse_dynamics(case: RobotCase, order: int, seed: int) -> None:
    model, path = case.load(), random_path(case.n, order, seed)
    scale = np.abs(gd.mass_matrix(model, path[0])) @ np.abs(path[2])
    expected = gd.inverse_dynamics(model, *path[:3])
    found = gd.inverse_dynamics_time_derivatives(model, path)[0]
    assert error(found, expected, scale) < SAME


@examples(30)
@given(case=robots(max_joints=5), order=ORDERS, seed=SEEDS)
def test_derivatives_of_explicit_bodies(case: RobotCase, order: int, seed: int) -> None:
    model, path = case.load(), random_path(case.n, order, seed)
    expected = twin_of(model).inverse_dynamics_time_derivatives(path)
    assert worst_row(gd.inverse_dynamics_time_derivatives(model, path), expected) < ROUNDING


@pytest.mark.parametrize("coupling", ["none", "diagonal"])
@examples(10)
@given(case=robots(max_joints=4), seed=SEEDS)
def test_other_couplings(coupling: str, case: RobotCase, seed: int) -> None:
    model, path = case.load().with_coupling(coupling), random_path(case.n, 5, seed)
    expected = twin_of(model).inverse_dynamics_time_derivatives(path)
    assert worst_row(gd.inverse_dynamics_time_derivatives(model, path), expected) < ROUNDING


def differences(model: GearedModel, path: Array, count: int = 8, step: float = 0.02) -> Array:
    """The force's derivatives 1, 2, 3 from its values at 2 count + 1 times around t = 0."""
    times = np.arange(-count, count + 1)
    force = np.array([gd.inverse_dynamics(model, *later(path, step * t)[:3]) for t in times])
    coefficients = np.linalg.solve(np.vander(times / count, increasing=True), force)
    scale = [factorial(m) / (count * step) ** m for m in (1, 2, 3)]
    return coefficients[1:4] * np.array(scale)[:, None]


@examples(30)
@given(case=robots(), seed=SEEDS)
def test_rows_are_the_slopes_of_the_inverse_dynamics(case: RobotCase, seed: int) -> None:
    model, path = case.load(), random_path(case.n, 5, seed)
    found = gd.inverse_dynamics_time_derivatives(model, path)[1:]
    assert worst_row(found, differences(model, path)) < DIFFERENCED


@pytest.mark.parametrize("joints", [13, 30])
def test_long_arms(joints: int) -> None:
    """Each row is the slope of the one before."""
    for seed in range(3):
        case = random_robot(seed, joints=joints, mimics=2, wheels=30, branched=seed > 0)
        model, path = case.load(), random_path(joints, 6, seed) / 4

        def rows(t: float, model: GearedModel = model, path: Array = path) -> Array:
            return gd.inverse_dynamics_time_derivatives(model, later(path, t))[:-1]

        found = gd.inverse_dynamics_time_derivatives(model, path)
        assert worst_row(found[1:], derivative(rows)) < SLOPE


@pytest.mark.parametrize("seed", range(4))
def test_a_ratio_one_percent_off_fails(seed: int) -> None:
    case = random_robot(seed, mimics=1, wheels=10)
    model, path = case.load(), random_path(case.n, 5, seed)
    found = gd.inverse_dynamics_time_derivatives(one_ratio_scaled(model, 1.01), path)
    expected = twin_of(model).inverse_dynamics_time_derivatives(path)
    for one, other in zip(found, expected, strict=True):
        assert error(one, other) > NEGATIVE


@examples(20)
@given(case=robots(), order=ORDERS, seed=SEEDS)
def test_batch_is_single_to_the_last_digit(case: RobotCase, order: int, seed: int) -> None:
    model, path = case.load(), random_path(case.n, order, seed, batch=(2, 3))
    whole = gd.inverse_dynamics_time_derivatives(model, path)
    assert whole.shape == (2, 3, order - 1, case.n)
    for index in np.ndindex(2, 3):
        single = gd.inverse_dynamics_time_derivatives(model, path[index])
        np.testing.assert_array_equal(whole[index], single)
        longer = gd.inverse_dynamics_time_derivatives(
            model, np.vstack([path[index], path[index][:1]])
        )
        np.testing.assert_array_equal(longer[:-1], single)
