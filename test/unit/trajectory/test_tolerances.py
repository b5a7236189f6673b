"""Tolerances of goals: the cases of ros2_controllers' test_tolerances.cpp; stops on cancel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from geared_dynamics.trajectory import (
    JointTolerance,
    ToleranceError,
    Tolerances,
    decelerating,
    default_tolerances,
    derivatives,
    goal_tolerances,
    sample,
    violation,
)

JOINTS = ("joint1", "joint2", "joint3")
DEFAULT = default_tolerances(np.full(3, 0.1), np.full(3, 0.05), 0.01, 0.5)


def goal(path: Any = (), end: Any = (), time: float = 0.0) -> Tolerances:
    return goal_tolerances(DEFAULT, JOINTS, path, end, time)


def test_parameters_give_position_on_the_way_and_rest_at_the_end() -> None:
    assert DEFAULT.path.tolist() == [[0.1] * 3, [0.0] * 3, [0.0] * 3]
    assert DEFAULT.goal.tolist() == [[0.05] * 3, [0.01] * 3, [0.0] * 3]
    assert DEFAULT.goal_time == 0.5


def test_a_goal_without_tolerances_has_those_of_the_parameters() -> None:
    found = goal()
    assert found.goal_time == DEFAULT.goal_time
    np.testing.assert_array_equal(found.path, DEFAULT.path)
    np.testing.assert_array_equal(found.goal, DEFAULT.goal)


def test_a_goals_own_count_in_any_order_of_joints() -> None:
    path = [JointTolerance(name, 0.2, 0.3, 0.4) for name in JOINTS]
    end = [JointTolerance(f"joint{k}", 1 + k / 10, 2 + k / 10, 3 + k / 10) for k in (2, 3, 1)]
    found = goal(path, end, 2.0)
    np.testing.assert_allclose(found.path, [[0.2] * 3, [0.3] * 3, [0.4] * 3])
    np.testing.assert_allclose(found.goal, [[1.1, 1.2, 1.3], [2.1, 2.2, 2.3], [3.1, 3.2, 3.3]])
    assert found.goal_time == 2.0


def test_minus_one_takes_a_tolerance_away() -> None:
    away = [JointTolerance(name, -1.0, -1.0, -1.0) for name in JOINTS]
    found = goal(away, away, -1.0)
    assert not found.path.any()
    assert not found.goal.any()
    assert found.goal_time == 0.0


@pytest.mark.parametrize("place", ["path_tolerance", "goal_tolerance"])
@pytest.mark.parametrize("kind", ["position", "velocity", "acceleration"])
def test_a_negative_tolerance_is_named(place: str, kind: str) -> None:
    given = [JointTolerance("joint1")._replace(**{kind: -123.0})]
    both = (given, []) if place == "path_tolerance" else ([], given)
    with pytest.raises(ToleranceError, match=f"{place} of joint 'joint1', {kind}, is -123"):
        goal(*both, 3.0)


def test_a_negative_time_is_named() -> None:
    with pytest.raises(ToleranceError, match="goal_time_tolerance is -123"):
        goal(time=-123.0)


@pytest.mark.parametrize("place", ["path_tolerance", "goal_tolerance"])
def test_an_unknown_joint_is_named(place: str) -> None:
    given = [JointTolerance("joint123", 1.0)]
    both = (given, []) if place == "path_tolerance" else ([], given)
    with pytest.raises(ToleranceError, match=f"{place} names joint 'joint123'"):
        goal(*both)


@pytest.mark.parametrize("limit", [0.0, 0.1])
@pytest.mark.parametrize("kind", [0, 1])
def test_an_error_beyond_its_limit_is_named_and_zero_is_no_limit(kind: int, limit: float) -> None:
    limits, error = np.zeros((3, 3)), np.zeros((2, 3))
    limits[kind, 1] = limit
    error[kind, 1] = -0.1
    assert not violation(limits, error, JOINTS), "as much as the tolerance is within it"
    error[kind, 1] = -0.11
    said = violation(limits, error, JOINTS)
    assert bool(said) == bool(limit)
    assert not limit or ("joint2" in said and "0.11" in said and "0.1" in said)
    error[kind, 1] = np.nan
    assert bool(violation(limits, error, JOINTS)) == bool(limit), "no number is no arrival"


def jtc_stop(q: Any, v: Any, a: Any, period: float, count: int) -> Any:
    """The points of JTC's ``decelerate_to_hold_position``: positions and velocities."""
    rows = []
    for k in range(count):
        t, at = k * period, []
        for p0, v0, rate in zip(q, v, a, strict=True):
            sign = 1.0 if v0 >= 0.0 else -1.0
            if t < abs(v0) / rate and abs(v0) > np.finfo(np.float32).eps:
                speed = v0 - sign * rate * t
                at.append((p0 + v0 * t - 0.5 * sign * rate * t * t, speed))
            else:
                at.append((p0 + sign * v0 * v0 / (2.0 * rate), 0.0))
        rows.append(at)
    return np.array(rows)


def test_a_stop_goes_through_the_points_that_jtc_makes() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        q, v = rng.normal(size=(2, 4))
        v[rng.integers(4)] = 0.0
        rate = rng.uniform(0.5, 10.0, 4)
        made = decelerating(q, v, rate, 7.0)
        points = jtc_stop(q, v, rate, 0.01, 400)
        times = 7.0 + 0.01 * np.arange(400)
        rows = derivatives(made, times, 2)
        np.testing.assert_allclose(rows[:, 0], points[:, :, 0], atol=1e-12)
        np.testing.assert_allclose(rows[:, 1], points[:, :, 1], atol=1e-12)
        assert np.abs(rows[:, 2]).max(axis=0) == pytest.approx(np.where(v != 0.0, rate, 0.0))
        assert made.end == pytest.approx(7.0 + (np.abs(v) / rate).max())


def test_a_stop_from_rest_is_a_stand() -> None:
    q = np.array([0.3, -1.0])
    made = decelerating(q, np.zeros(2), np.ones(2), 3.0)
    for t in (2.0, 3.0, 30.0):
        found = sample(made, t)
        np.testing.assert_array_equal(found.q, q)
        assert not found.v.any()
        assert not found.a.any()
