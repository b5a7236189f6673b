"""The fixed step of elastic arms: order, windings of any speed, stiff springs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import geared_dynamics as gd
from naive.measure import holds
from simulated_arms import arm, moving

VOLTAGE = np.array([2.0, 6.0, 3.0])


def after(model: gd.GearedModel, steps: int, seconds: float, **given: np.ndarray) -> gd.State:
    """State after equal steps."""
    state = moving(model, 0.5)
    for _ in range(steps):
        state = gd.simulation.elastic_step(model, state, seconds / steps, **given)
    return state


def distance(one: gd.State, other: gd.State) -> float:
    """Largest difference of the angles and velocities."""
    pairs = zip(one[:4], other[:4], strict=True)
    return max(float(np.abs(x - y).max()) for x, y in pairs)


@pytest.mark.parametrize("elastic", [(1, 2, 3), (2,)])
@pytest.mark.parametrize("kind", ["voltage", "torque"])
def test_fourth_order(kind: str, elastic: tuple[int, ...]) -> None:
    model = arm(elastic=elastic, inductance=2e-3)
    given = {kind: VOLTAGE if kind == "voltage" else 0.05 * VOLTAGE}
    exact = after(model, 1600, 0.05, **given)
    errors = [distance(after(model, n, 0.05, **given), exact) for n in (50, 100, 200)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert np.all(orders > 3.5), (errors, orders)
    print(f"\nfigure: elastic step by {kind}, measured order {orders.min():.2f}, asked > 3.5")


@pytest.mark.parametrize("inductance", [1e-5, 1e-7, 1e-9])
def test_winding_much_faster_than_the_step(inductance: float) -> None:
    """L/R down to a nanosecond in steps of 1 ms: the motion of a winding without L."""
    fast, none = (arm(inductance=value) for value in (inductance, None))
    expected = after(none, 100, 0.1, voltage=VOLTAGE)
    found = after(fast, 100, 0.1, voltage=VOLTAGE)
    assert distance(found, expected) < 0.05
    settled = gd.simulation.elastic_step(none, found, 1e-9, voltage=VOLTAGE).current
    assert_allclose(found.current, settled, atol=0.05 * np.abs(settled).max())


def test_springs_much_faster_than_the_step() -> None:
    """Springs as stiff as steel, damped: at 2 ms the rigid arm's motion, 1/K apart."""
    model = arm(factor=1e4, damping=5e4, inductance=None)
    state = moving(model, twist=0.0)
    rigid = gd.State(state.q, state.v, current=np.zeros(3))
    for _ in range(50):
        state = gd.simulation.elastic_step(model, state, 0.002, voltage=VOLTAGE)
        rigid = gd.driven_step(model, rigid, VOLTAGE, 0.002)
    assert holds("elastic step, stiff limit at 2 ms", np.abs(state.q - rigid.q).max(), 2e-4)


def test_a_shorter_step_than_any_period_keeps_the_energy() -> None:
    """Without damping nor input the scheme loses next to nothing."""
    model = arm(damping=0.0)
    start, end = moving(model), after(model, 1000, 0.1)
    energies = [
        gd.elastic.kinetic_energy(model, gd.State(s.q, s.v, vtheta=s.vtheta))
        + gd.elastic.potential_energy(model, gd.State(s.q, s.v, s.theta))
        for s in (start, end)
    ]
    drift = abs(energies[1] - energies[0]) / abs(energies[0])
    assert holds("elastic step, drift of the energy, 0.1 ms", drift, 1e-6)


def test_step_is_a_pure_function() -> None:
    model = arm()
    state = moving(model, 0.5)
    kept = [np.copy(x) for x in state]
    one, two = (gd.simulation.elastic_step(model, state, 1e-3, voltage=VOLTAGE) for _ in range(2))
    for x, y in zip(one, two, strict=True):
        np.testing.assert_array_equal(x, y)
    for x, y in zip(state, kept, strict=True):
        np.testing.assert_array_equal(x, y)
    assert gd.simulation.elastic_step(model, state, 1e-3).current is None
