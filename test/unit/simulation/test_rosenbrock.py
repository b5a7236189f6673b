"""The Rosenbrock step: order, decay of what is stiff, exactness on what it must."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from geared_dynamics.simulation.integrators import rosenbrock_step


def pendulum(y: np.ndarray) -> np.ndarray:
    """A pendulum with a damper: nonlinear, its rates' slope known."""
    return np.array([y[1], -np.sin(y[0]) - 0.1 * y[1] ** 3])


def slope(y: np.ndarray) -> np.ndarray:
    """Its Jacobian."""
    return np.array([[0.0, 1.0], [-np.cos(y[0]), -0.3 * y[1] ** 2]])


def after(steps: int, seconds: float = 1.0) -> np.ndarray:
    """State after equal steps."""
    y = np.array([1.0, 0.5])
    for _ in range(steps):
        y, _ = rosenbrock_step(pendulum, slope(y), y, seconds / steps)
    return y


def test_fourth_order() -> None:
    exact = after(2000)
    errors = [np.abs(after(steps) - exact).max() for steps in (10, 20, 40, 80)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert np.all(orders > 3.7), orders


@pytest.mark.parametrize("speed", [1e4, 1e6, 1e12])
def test_what_is_faster_than_the_step_is_gone(speed: float) -> None:
    """L-stable: a decay in no time has reached its rest."""

    def rates(y: np.ndarray) -> np.ndarray:
        return -speed * (y - 2.0)

    end, _ = rosenbrock_step(rates, -speed * np.eye(1), np.array([5.0]), 0.5)
    assert_allclose(end, 2.0, atol=100.0 / speed + 1e-9)


def test_a_constant_rate_is_exact() -> None:
    rate = np.array([2.0, -1.0])
    end, error = rosenbrock_step(lambda _: rate, np.zeros((2, 2)), np.ones(2), 0.25)
    assert_allclose(end, [1.5, 0.75], rtol=1e-14)
    assert_allclose(error, 0.0, atol=1e-14)


def test_estimated_error_is_of_third_order_and_covers_the_true_one() -> None:
    y = np.array([1.0, 0.5])
    estimates = []
    for dt in (0.2, 0.1, 0.05):
        end, error = rosenbrock_step(pendulum, slope(y), y, dt)
        estimates.append(np.abs(error).max())
        assert np.abs(end - after(400, dt)).max() < estimates[-1]
    orders = np.log2(np.divide(estimates[:-1], estimates[1:]))
    assert np.all(orders > 3.4), orders
