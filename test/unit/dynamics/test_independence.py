"""Base parameters of arms with ratios from 1 to 1e8, against exact elimination."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import geared_dynamics as gd
from exact_arms import AXES, exact_arm, exact_order, model_of, rotation
from geared_dynamics.dynamics.independence import INACTIVE, Factored, independent, plain
from naive.exact_rank import ExactJoint, ExactWheel, exact_selection

ARMS = range(40)


def both(seed: int, decades: float) -> tuple[list[int], list[int]]:
    """The oracle's columns that base parameters have, exact and found."""
    joints, wheels = exact_arm(seed, decades)
    model = model_of(joints, wheels)
    order = exact_order(model)
    found = [order[k] for k in gd.base_parameters(model).selection]
    return exact_selection(joints, wheels, order, seed), found


@pytest.mark.parametrize("decades", [2.0, 8.0])
@pytest.mark.parametrize("seed", ARMS)
def test_random_arms(seed: int, decades: float) -> None:
    exact, found = both(seed, decades)
    assert found == exact


def test_what_is_as_good_as_zero_is_no_column() -> None:
    """Beside the longest column; just at the bound it still is one."""
    for scale in (1.0, 2.0**-40, 2.0**40):
        for short, kept in ((INACTIVE, [0, 1]), (0.99 * INACTIVE, [0]), (0.0, [0])):
            found = independent(plain(scale * np.diag([1.0, short])))
            assert found.parts == kept


@pytest.mark.validate
@pytest.mark.parametrize("seed", range(1000, 1300))
def test_many_random_arms(seed: int) -> None:
    exact, found = both(seed, 8.0)
    assert found == exact


def ball_screw_arm(ratio: Fraction) -> tuple[list[ExactJoint], list[ExactWheel]]:
    """A slide on the root, a shoulder and an elbow on it; the elbow's motor rides on the slide."""
    turned, straight = rotation((1, 1, 0, 0)), rotation((1, 0, 0, 0))
    along, zero = [Fraction(0), Fraction(1, 4), Fraction(1, 2)], Fraction(0)
    joints = [
        ExactJoint(-1, straight, [zero] * 3, AXES[0], slides=True),
        ExactJoint(0, turned, along, AXES[0], slides=False),
        ExactJoint(1, turned, along, AXES[1], slides=False),
    ]
    screw = ExactWheel(-1, AXES[0], [ratio, zero, zero])
    return joints, [screw, ExactWheel(1, AXES[3], [zero, zero, Fraction(100)])]


@pytest.mark.parametrize("ratio", [1e2, 2 * np.pi / 5e-4 * 246, 1e8])
def test_a_short_lead_behind_a_gearbox_hides_nothing(ratio: float) -> None:
    """0.5 mm of lead behind 246:1 is 3.1e6 rad/m; any ratio but a special one ranks alike."""
    joints, wheels = ball_screw_arm(Fraction(ratio))
    model = model_of(joints, wheels)
    order = exact_order(model)
    base = gd.base_parameters(model)
    assert [order[k] for k in base.selection] == exact_selection(joints, wheels, order, 1)
    assert base.rank == 13


@pytest.mark.parametrize("ratio", [50.0, 3.1e6, 1e8])
def test_what_no_motion_tells_stays_undetermined(ratio: float) -> None:
    """Two wheels on the root: one inertia, which gravity tells from the mass of the slide."""
    joints, _ = ball_screw_arm(Fraction(1))
    alone = ExactWheel(-1, AXES[3], [Fraction(ratio), Fraction(0), Fraction(0)])
    twin = replace(alone, ratios=[2 * value for value in alone.ratios])
    base = gd.base_parameters(model_of(joints, [alone, twin]))
    assert base.rank == gd.base_parameters(model_of(joints, [])).rank + 1
    assert "w0.J + 4 w1.J" in base.names


@pytest.mark.parametrize("coupling", ["none", "diagonal", "complete"])
@pytest.mark.parametrize("seed", range(6))
def test_each_column_is_its_combination(seed: int, coupling: str) -> None:
    """Relative to the column itself, not to the largest of all."""
    model = model_of(*exact_arm(seed, 4.0)).with_coupling(coupling)  # type: ignore[arg-type]
    base = gd.base_parameters(model)
    q, v, a = np.random.default_rng(seed).normal(size=(3, 40, model.n))
    Y = gd.regressor(model, q, v, a).reshape(40 * model.n, -1)
    left = np.linalg.norm(Y - Y[:, list(base.selection)] @ base.combinations, axis=0)
    lengths = np.linalg.norm(Y, axis=0)
    acting = lengths > 1e-12 * np.abs(a).max()
    assert (left[acting] < 1e-7 * lengths[acting]).all()


def test_parts_and_factors_decide_beyond_the_digits_of_a_column() -> None:
    """(g^2 s + g f) for g = 1e8 and s, and a third that is neither, nor nothing."""
    s, f, h = np.random.default_rng(1).normal(size=(3, 50))
    g = 1e8
    factors = np.array([[1.0, g * g, 1.0], [0.0, g, 0.0], [0.0, 0.0, 1e-3]])
    found = independent(Factored(np.stack([s, f, h], axis=1), factors))
    assert found.selection == [0, 1, 2]
    factors[2, 2] = 0.0
    found = independent(Factored(np.stack([s, f, h], axis=1), factors))
    assert found.selection == [0, 1]
    np.testing.assert_array_equal(found.combinations[:, 2], [1.0, 0.0])
    assert found.condition == pytest.approx(2e8, rel=1.0)
