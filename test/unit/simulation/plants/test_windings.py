"""Windings over a step against their differential equation."""

from __future__ import annotations

import numpy as np
import pytest

from geared_dynamics.actuation.driven_dynamics import Windings
from geared_dynamics.simulation.motor_stage import winding_step

WIRES = Windings(np.array([0.5]), np.array([1e-3]), np.array([0.1]), np.array([0.12]))


@pytest.mark.parametrize("length", [1e-7, 1e-5, 1e-3, 0.1])
def test_mean_torque_and_current_of_a_constant_speed(length: float) -> None:
    """Against L di/dt = u - R i - k_e s in small steps."""
    u, s, current = np.array([4.0]), np.array([7.0]), np.array([-1.5])
    step = winding_step(WIRES, length)
    i, total, count = -1.5, 0.0, 20_000
    h = length / count
    for _ in range(count):
        middle = i + 0.5 * h * (4.0 - 0.5 * i - 0.12 * 7.0) / 1e-3
        i, total = i + h * (4.0 - 0.5 * middle - 0.12 * 7.0) / 1e-3, total + h * middle
    torque = step.pull * u + step.keep * current - step.drag * s
    assert torque[0] == pytest.approx(0.1 * total / length, rel=1e-6)
    assert step.after(u, current, s, s)[0] == pytest.approx(i, rel=1e-6, abs=1e-9)


def test_without_inductance_the_current_follows_at_once() -> None:
    wires = WIRES._replace(inductance=np.zeros(1))
    step = winding_step(wires, 1e-3)
    after = step.after(np.array([4.0]), np.array([99.0]), np.array([0.0]), np.array([7.0]))
    assert after[0] == pytest.approx((4.0 - 0.12 * 7.0) / 0.5)
    assert step.drag[0] == pytest.approx(0.1 * 0.12 / 0.5)
    assert step.keep[0] == 0.0
