"""Derivatives of a motion along which time goes slower, against the composed polynomial."""

from __future__ import annotations

from math import factorial

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from geared_dynamics.trajectory.sampling import slowed

ORDER = 5


def rows_of(q: Polynomial) -> np.ndarray:
    """q and its derivatives at zero (ORDER + 1, 1)."""
    c = np.pad(q.coef, (0, ORDER + 1))[: ORDER + 1]
    return np.array([[factorial(k) * c[k]] for k in range(ORDER + 1)])


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_derivative_of_the_composition(seed: int) -> None:
    random = np.random.default_rng(seed)
    q = Polynomial(random.normal(size=ORDER + 1))
    rate, slope = random.uniform(0.0, 1.0), random.uniform(-2.0, 2.0)
    composed = q(Polynomial([0.0, rate, 0.5 * slope]))
    found = slowed(rows_of(q), rate, slope)
    np.testing.assert_allclose(found, rows_of(composed), rtol=1e-12, atol=1e-12)


def test_the_motions_own_time_changes_nothing() -> None:
    rows = np.random.default_rng(0).normal(size=(ORDER + 1, 3))
    assert (slowed(rows, 1.0, 0.0) == rows).all()


def test_time_that_stands_still_is_rest() -> None:
    rows = np.random.default_rng(1).normal(size=(ORDER + 1, 3))
    found = slowed(rows, 0.0, 0.0)
    assert (found[0] == rows[0]).all()
    assert not found[1:].any()
