"""Impulses within bounds: the conditions of their problem, and known cases."""

from __future__ import annotations

import numpy as np
import pytest

from geared_dynamics.simulation import integrators


def conditions(W: np.ndarray, rate: np.ndarray, low: np.ndarray, high: np.ndarray, p: np.ndarray):
    """How far p is from solving the problem."""
    slope = rate + W @ p
    size = np.abs(rate).max()
    assert np.all((p >= low) & (p <= high))
    inside = (p > low) & (p < high)
    return (
        max(
            np.abs(slope[inside]).max(initial=0.0),
            -slope[p <= low].min(initial=0.0),
            slope[p >= high].max(initial=0.0),
        )
        / size
    )


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("rank", [1, 3, 6])
def test_conditions_hold(seed: int, rank: int) -> None:
    """Also where W is singular: more rows than coordinates."""
    random = np.random.default_rng(seed)
    R = random.normal(size=(6, rank))
    W, rate = R @ R.T, R @ random.normal(size=rank)
    high = random.uniform(0.01, 1.0, 6)
    low = -random.uniform(0.01, 1.0, 6)
    p = integrators.bounded_impulse(W, rate, low, high)
    assert conditions(W, rate, low, high, p) < 1e-6


def test_descent_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    R = random.normal(size=(5, 5))
    W, rate = R @ R.T + 0.5 * np.eye(5), random.normal(size=5)
    low, high = np.full(5, -0.2), np.full(5, 0.3)
    expected = integrators.bounded_impulse(W, rate, low, high)
    monkeypatch.setattr(integrators, "ROUNDS", 0)
    np.testing.assert_allclose(
        integrators.bounded_impulse(W, rate, low, high), expected, atol=1e-8
    )


def test_one_row() -> None:
    W = np.array([[2.0]])
    for rate, expected in ((1.0, -0.5), (10.0, -1.0), (-10.0, 0.25)):
        found = integrators.bounded_impulse(
            W, np.array([rate]), np.array([-1.0]), np.array([0.25])
        )
        assert found[0] == expected
