"""Least squares: its deviations are what estimates deviate by."""

from __future__ import annotations

import numpy as np
import pytest

from geared_dynamics.analysis.least_squares import (
    deviation,
    huber,
    information_root,
    long_run,
    solve,
)

TRUTH = np.array([1.0, -2.0, 0.5])


def offs(kind: str, runs: int, *, robust: bool = False, rows: int = 300) -> np.ndarray:
    """Errors of estimates by their stated deviations (runs, 3)."""
    found = []
    for run in range(runs):
        random = np.random.default_rng(run)
        Y, noise = random.normal(size=(rows, 2, 3)), random.normal(size=(rows, 2))
        if kind == "outliers":
            noise[random.random(noise.shape) < 0.1] *= 10.0
        if kind == "slow":  # noise and columns remember a dozen rows
            for values in (Y, noise):
                for k in range(1, rows):
                    values[k] = 0.85 * values[k - 1] + np.sqrt(1.0 - 0.85**2) * values[k]
        solution = solve(Y, Y @ TRUTH + noise, np.ones((rows, 2), bool), robust=robust)
        found.append((solution.x - TRUTH) / np.sqrt(solution.covariance.diagonal()))
    return np.array(found)


def size(z: np.ndarray) -> float:
    """RMS of errors by deviations: 1 if these are right."""
    return float(np.sqrt(np.mean(z**2)))


@pytest.mark.parametrize("robust", [False, True])
@pytest.mark.parametrize("kind", ["white", "outliers"])
def test_deviations_of_independent_samples(kind: str, robust: bool) -> None:
    """By weights instead of slopes robust ones were 1.2 and 1.25 here."""
    z = offs(kind, 120, robust=robust)
    assert 0.88 < size(z) < 1.12
    assert np.mean(np.abs(z) < 3.0) > 0.985


def test_deviations_of_samples_that_remember() -> None:
    """Taken for independent, they would be 2 to 3."""
    z = offs("slow", 60, rows=1500)
    assert 0.85 < size(z) < 1.25


@pytest.mark.validate
@pytest.mark.parametrize("robust", [False, True])
@pytest.mark.parametrize("kind", ["white", "outliers", "slow"])
def test_three_deviations_hold_99_percent(kind: str, robust: bool) -> None:
    z = offs(kind, 600, robust=robust, rows=1500 if kind == "slow" else 400)
    assert 0.93 < size(z) < (1.2 if kind == "slow" else 1.07)
    assert np.mean(np.abs(z) < 3.0) > 0.985


def test_long_run_covariance_of_a_moving_sum() -> None:
    """Rows that are sums of four independent ones vary 4 times as much in the mean."""
    white = np.random.default_rng(0).normal(size=(20_003, 1))
    rows = sum(white[k : len(white) - 3 + k] for k in range(4))
    per_row = float(long_run(np.asarray(rows))[0, 0]) / len(rows)
    assert 0.8 * 16.0 < per_row < 1.2 * 16.0  # 4 for each row by itself
    alone = float(long_run(white)[0, 0]) / len(white)
    assert 0.9 < alone < 1.1


def test_huber_weights_and_slopes() -> None:
    r = np.array([[0.1], [-1.0], [1.0], [10.0], [77.0]])
    used = np.array([[True], [True], [True], [True], [False]])
    weight, slope = huber(r, used)
    spread = 1.4826 * 1.0  # the median of the used ones
    np.testing.assert_allclose(weight[:3, 0], 1.0 / spread)
    np.testing.assert_allclose(weight[3, 0] ** 2 * r[3, 0], 1.345 * spread / spread**2)
    np.testing.assert_allclose(slope[:, 0] * spread**2, [1.0, 1.0, 1.0, 0.0, 0.0])
    assert weight[4, 0] == 0.0


def test_information_is_the_inverse_covariance() -> None:
    random = np.random.default_rng(1)
    Y = random.normal(size=(4000, 2, 3)) * [1.0, 1e-3, 50.0]
    tau = Y @ TRUTH + random.normal(size=(4000, 2)) * [0.5, 2.0]
    found = solve(Y, tau, np.ones((4000, 2), bool))
    R = information_root(Y, np.ones((4000, 2)) / found.sigma, found.covariance)
    scale = np.sqrt(found.covariance.diagonal())
    unit = R @ (found.covariance @ R.T)
    np.testing.assert_allclose(unit, np.eye(3), atol=0.1)
    assert np.linalg.cond(R * scale) < 1.2


def test_deviation_counts_only_what_is_used() -> None:
    r = np.array([[3.0, 1.0], [4.0, 9.0]])
    found = deviation(r, np.array([[True, True], [True, False]]))
    np.testing.assert_allclose(found, [12.5**0.5, 1.0])
