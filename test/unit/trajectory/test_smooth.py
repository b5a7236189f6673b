"""Waypoints for elastic arms: many continuous derivatives, also where a motion is taken over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from geared_dynamics import GearedDynamicsError
from geared_dynamics.trajectory import (
    JointTrajectory,
    Point,
    Rules,
    Spline,
    Waypoints,
    checked,
    smooth,
    through,
)

RULES = Rules(("a", "b"), continuous=("b",), allow_partial_joints_goal=True)
NOW = 100.0


def waypoints(
    points: Any, names: Any = ("a", "b"), start: Any = None, **changed: Any
) -> Waypoints:
    rules = Rules(("a", "b"), allow_partial_joints_goal=True, **changed)
    return checked(JointTrajectory(names, points, start), rules, NOW)


ONE = waypoints([Point(0.5, [1.0, 1.0]), Point(1.2, [0.5, 2.0]), Point(2.0, [1.5, 1.5])])
TWO = waypoints([Point(0.6, [0.0, 1.0]), Point(1.5, [1.0, 2.0])])


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_it_goes_through_the_points_and_takes_over(k: int) -> None:
    """The second motion begins with all derivatives of the first, to rounding."""
    first = smooth(ONE, [[0.0, 0.0]], NOW, RULES, continuous=k)
    assert first.continuous == (k, k)
    for t, place in zip(NOW + ONE.times, ONE.positions, strict=True):
        assert_allclose(first.derivatives(t, 0)[0], place, atol=1e-9)
    middle = NOW + 0.9
    state = first.derivatives(middle, k)
    second = smooth(TWO, state, middle, RULES, continuous=k)
    assert second.continuous == (k, k)
    assert_allclose(second.derivatives(middle, k), state, rtol=1e-8, atol=1e-9)
    assert_array_equal(second.derivatives(middle - 0.1, k), second.derivatives(middle, k))
    assert_allclose(second.derivatives(middle + 0.6, 0)[0], [0.0, 1.0], atol=1e-9)
    end = second.derivatives(second.end + 1.0, k)
    assert_array_equal(end[0], [1.0, 2.0])
    assert_array_equal(end[1:], 0.0)


def test_leaving_a_polynomial_gives_it_back() -> None:
    """Through the points of a polynomial of degree 2 k + 1, from its derivatives: itself."""
    k = 3
    p = np.polynomial.Polynomial([0.3, -1.0, 0.5, 2.0, 1.0, -0.4, 0.2, 0.1])
    # Subtract what makes it leave its end: a Hermite correction with zeros at the start.
    top = np.array([p.deriv(i)(1.0) if i else 0.0 for i in range(k + 1)])
    powers = [np.polynomial.Polynomial([0.0] * m + [1.0]) for m in range(k + 1, 2 * k + 2)]
    matrix = np.array([[(q.deriv(i) if i else q)(1.0) for q in powers] for i in range(k + 1)])
    for weight, q in zip(np.linalg.solve(matrix, top), powers, strict=True):
        p = p - weight * q
    leaving = [[p.deriv(i)(0.0)] for i in range(1, k + 1)]
    motion = through([0.0, 1.0], [[p(0.0)], [p(1.0)]], continuous=k, leaving=leaving)
    t = np.linspace(0.0, 1.0, 21)
    found = motion.derivatives(t, k)[:, :, 0]
    for i in range(k + 1):
        assert_allclose(found[:, i], (p.deriv(i) if i else p)(t), atol=1e-9)


def test_continuous_joints_take_the_short_way_and_missing_ones_hold() -> None:
    goal = waypoints([Point(1.0, [-3.0])], ["b"])
    motion = smooth(goal, [[0.4, 3.0]], NOW, RULES, continuous=4)
    assert_allclose(motion.derivatives(NOW, 0)[0], [0.4, 3.0 - 2 * np.pi])
    assert_allclose(motion.derivatives([NOW + 0.3, NOW + 2.0], 0)[:, 0, 0], 0.4)
    assert motion.derivatives(NOW + 1.0, 0)[0, 1] == -3.0


def test_points_that_are_past_are_left_out() -> None:
    """As planners send them: the present position comes first, at time 0."""
    goal = waypoints([Point(0.0, [9.0, 9.0]), Point(1.0, [1.0, 1.0])])
    motion = smooth(goal, [[0.0, 0.0]], NOW, RULES, continuous=4)
    assert_array_equal(motion.derivatives(NOW, 4), 0.0)
    stamped = waypoints([Point(0.0, [9.0, 9.0]), Point(2.0, [1.0, 1.0])], start=NOW - 1.0)
    motion = smooth(stamped, [[0.0, 0.0]], NOW, RULES, continuous=4)
    assert (motion.start, motion.end) == (NOW, NOW + 1.0)


MOVING = {"allow_nonzero_velocity_at_trajectory_end": True}
HEUN = {"allow_integration_in_goal_trajectories": True}
REFUSED: dict[str, tuple[Waypoints, Any, int, str]] = {
    "to integrate": (
        waypoints([Point(1.0, None, [0.0, 0.0])], **HEUN),
        [[0.0, 0.0]],
        4,
        "point 0, positions: are missing",
    ),
    "end in motion": (
        waypoints([Point(1.0, [0.0, 0.0], [0.0, 1.0])], **MOVING),
        [[0.0, 0.0]],
        4,
        "point 0, velocities, joint 'b': is 1 ",
    ),
    "all past": (
        waypoints([Point(0.0, [0.0, 0.0])]),
        [[0.0, 0.0]],
        4,
        "points: no point is in the future",
    ),
    "other joints": (ONE, [[0.0]], 4, r"before: has shape \(1, 1\)"),
    "too many rows": (ONE, np.zeros((4, 2)), 2, "give 1 to 3 rows"),
    "NaN": (ONE, [[0.0, np.nan]], 4, "before: contains NaN"),
    "order": (ONE, [[0.0, 0.0]], -1, "continuous: is -1"),
}


@pytest.mark.parametrize(("goal", "before", "k", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(goal: Waypoints, before: Any, k: int, words: str) -> None:
    with pytest.raises(GearedDynamicsError, match=words):
        smooth(goal, before, NOW, RULES, continuous=k)


def test_wrong_derivatives_to_leave_with() -> None:
    with pytest.raises(GearedDynamicsError, match=r"leaving: has shape \(1, 1\)"):
        through([0.0, 1.0], [[0.0], [1.0]], continuous=2, leaving=[[0.0]])


def test_an_entered_spline_still_refuses_rough_derivatives() -> None:
    motion = Spline(1, [0, 0, 1, 2, 2], [[0.0], [1.0], [0.0]], entered=True)  # type: ignore[arg-type]
    assert motion.continuous == (0,)
    with pytest.raises(GearedDynamicsError, match="order: is 1"):
        motion.derivatives(0.5, 1)
