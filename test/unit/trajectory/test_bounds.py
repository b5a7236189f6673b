"""Limits of a reference between its waypoints, and a reference begun again from another state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from geared_dynamics.trajectory import (
    JointTrajectory,
    MotionLimits,
    Point,
    PointArrays,
    Rules,
    TrajectoryError,
    checked,
    derivatives,
    follow,
    led_in,
    refuse_beyond,
    sample,
    state,
)
from geared_dynamics.trajectory.limits import beyond

NAMES = ("a", "b", "c")
ANY = np.full(3, np.inf)


def drawn(rng: np.random.Generator, degree: int, count: int = 6) -> list[Point]:
    """Random waypoints of a degree; the last one at rest."""
    times = np.cumsum(rng.uniform(0.05, 1.0, count))
    q, v, a = rng.normal(size=(3, count, 3))
    v[-1] = 0.0
    rows: Any = {1: (q,), 3: (q, v), 5: (q, v, a)}[degree]
    return [Point(t, *(row[k] for row in rows)) for k, t in enumerate(times)]


def moved(points: Any, start: float | None = None, now: float = 0.0, **rules: Any) -> Any:
    made = Rules(NAMES, **rules)
    waypoints = checked(JointTrajectory(NAMES, points, start), made, now)
    return waypoints, follow(waypoints, state([0.1, -0.2, 0.3], [0.4, 0.1, 0.0]), now, made), made


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_a_limit_is_found_where_dense_samples_find_it(degree: int) -> None:
    """An independent oracle: 4000 samples for each segment, for limits all around the peak."""
    rng = np.random.default_rng(degree)
    found = 0
    for _ in range(30):
        _, motion, _ = moved(drawn(rng, degree))
        pairs = zip(motion.knots[:-1], motion.knots[1:], strict=True)
        times = np.append([np.linspace(a, b, 4001)[:-1] for a, b in pairs], motion.knots[-1])
        rows = derivatives(motion, times, 1)
        for quantity, row in (("position", 0), ("velocity", 1)):
            j = int(rng.integers(3))
            peak = np.abs(rows[:, row, j]).max()
            for part in (0.5, 0.99, 0.9999, 1.0001, 1.5):
                most = ANY.copy()
                most[j] = part * peak
                limits = (
                    MotionLimits(-most, most, ANY) if row == 0 else MotionLimits(-ANY, ANY, most)
                )
                seen = beyond(motion, limits, quantity)
                assert (seen is not None) == (part < 1.0)
                if seen is None:
                    continue
                found += 1
                first = times[np.argmax(np.abs(rows[:, row, j]) > most[j])]
                k = np.searchsorted(motion.knots[:-1], first, side="right") - 1
                inside = motion.knots[k] <= seen.time <= motion.knots[k + 1]
                assert inside, "the first segment that is beyond it"
                value = derivatives(motion, seen.time, 1)[row, j]
                at_end = seen.time == motion.knots[k + 1]  # velocities jump behind linear ones
                assert at_end or seen.value == pytest.approx(value, abs=1e-9)
                assert abs(seen.value) > most[j]
                assert (seen.joint, abs(seen.limit)) == (j, most[j])
    assert found == 180


def test_it_is_looked_at_between_the_waypoints() -> None:
    """All waypoints are within the limits; the cubic between them is not, nor is its speed."""
    points = [Point(1.0, [0.0] * 3, [3.0, 0, 0]), Point(2.0, [0.0] * 3, [0.0] * 3)]
    _, motion, _ = moved(points)
    limits = MotionLimits(-ANY, np.full(3, 0.4), ANY)
    with pytest.raises(TrajectoryError) as raised:
        refuse_beyond(motion, limits, NAMES, offset=10.0)
    # 3 s (1 - s)^2 is largest at s = 1/3, 4/9; found at one of 257 samples
    assert raised.value.place == "position, joint 'a'"
    assert "is 0.444439 at 11.332 s, beyond 0.4" in raised.value.finding
    refuse_beyond(motion, MotionLimits(-ANY, np.full(3, 0.45), ANY), NAMES)


def test_the_end_counts_where_there_is_no_segment() -> None:
    rules = Rules(NAMES)
    waypoints = checked(JointTrajectory(NAMES, [Point(0.0, [0.0, 2.0, 0.0])]), rules, 0.0)
    motion = follow(waypoints, state([0.0] * 3), 0.0, rules)
    with pytest.raises(TrajectoryError, match=r"is 2 at 0\.000 s, beyond 1\.5"):
        refuse_beyond(motion, MotionLimits(-ANY, np.full(3, 1.5), ANY), NAMES)


def test_an_arm_beyond_a_limit_may_come_back() -> None:
    limits = MotionLimits(-np.ones(3), np.ones(3), np.ones(3))
    wider = limits.including(np.array([1.2, 0.0, -1.5]), np.array([0.0, -3.0, 0.5]))
    assert wider.upper.tolist() == [1.2, 1.0, 1.0]
    assert wider.lower.tolist() == [-1.0, -1.0, -1.5]
    assert wider.velocity.tolist() == [1.0, 3.0, 1.0]


CASES: dict[str, Any] = {
    "now": (None, 0.0, {}),
    "later": (100.7, 0.0, {}),
    "joined in the middle": (99.6, 0.0, {}),
    "stairs": (None, 0.0, {"interpolation_method": "none"}),
    "turning": (None, 0.0, {"continuous": ("b",)}),
}


@pytest.mark.parametrize("degree", [1, 3, 5])
@pytest.mark.parametrize("case", CASES)
def test_begun_again_it_is_what_follow_makes(case: str, degree: int) -> None:
    """Exactly, whatever it was made with before."""
    start, _, options = CASES[case]
    rng = np.random.default_rng(7)
    points = drawn(rng, degree)
    waypoints, old, rules = moved(points, start, 100.0, **options)
    old.rows, old.times  # noqa: B018  # as the node looks them up beforehand
    before, now = state([7.0, -4.0, 2.0], [1.0, 2.0, 3.0], [0.5, 0.0, 1.0]), 100.25
    fresh = follow(waypoints, before, now, rules)
    again = led_in(old, waypoints, before, now, rules)
    for t in np.concatenate([[now], now + rng.uniform(0.0, 6.0, 50)]):
        one, other = sample(fresh, t), sample(again, t)
        for x, y in zip(one, other, strict=True):
            np.testing.assert_array_equal(x, y)
    np.testing.assert_array_equal(fresh.knots, again.knots)
    np.testing.assert_array_equal(fresh.tables, again.tables)
    assert not again.tables.flags.writeable


def test_begun_again_held_joints_stay_where_the_arm_is() -> None:
    rules = Rules(NAMES, allow_partial_joints_goal=True)
    given = [Point(1.0, [1.0, 2.0], [0.5, 0.0]), Point(2.0, [0.0, 1.0], [0.0, 0.0])]
    waypoints = checked(JointTrajectory(["c", "a"], given), rules, 0.0)
    old = follow(waypoints, state([0.0] * 3), 0.0, rules)
    before = state([0.1, 0.9, 0.3], [0.2, 0.0, 0.0])
    fresh = follow(waypoints, before, 0.5, rules)
    again = led_in(old, waypoints, before, 0.5, rules)
    for t in (0.5, 0.9, 1.7, 9.0):
        np.testing.assert_array_equal(sample(fresh, t).q, sample(again, t).q)
    assert sample(again, 9.0).q[1] == 0.9


def test_positions_that_are_integrated_are_integrated_again() -> None:
    points = [Point(1.0, None, [1.0] * 3), Point(2.0, None, [0.0] * 3)]
    options = {"allow_integration_in_goal_trajectories": True}
    waypoints, old, rules = moved(points, **options)
    before = state([5.0] * 3)
    again = led_in(old, waypoints, before, 0.0, rules)
    np.testing.assert_array_equal(sample(again, 3.0).q, [6.0] * 3)


def test_points_as_arrays_are_read_as_one_by_one() -> None:
    rng = np.random.default_rng(3)
    rules = Rules(NAMES)
    for degree in (1, 3, 5):
        points = drawn(rng, degree)
        values, given = np.zeros((4, 6, 3)), np.zeros((4, 6), dtype=np.bool_)
        for k, point in enumerate(points):
            for row, numbers in enumerate(point[1:]):
                if numbers is not None:
                    values[row, k], given[row, k] = numbers, True
        arrays = PointArrays(np.array([point.time for point in points]), values, given)
        names = ("c", "a", "b")
        one = checked(JointTrajectory(names, points), rules, 0.0)
        other = checked(JointTrajectory(names, arrays), rules, 0.0)
        for name in ("times", "positions", "velocities", "accelerations", "effort", "held"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        for name in ("has_positions", "has_velocities", "has_accelerations", "has_effort"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def wrong_arrays(what: str) -> PointArrays:
    times, values = np.array([1.0, 2.0]), np.zeros((4, 2, 3))
    given = np.array([[True] * 2, [False] * 2, [False] * 2, [False] * 2])
    if what == "no points":
        return PointArrays(times[:0], values[:, :0], given[:, :0])
    if what == "shape":
        return PointArrays(times, values[:, :, :2], given)
    if what == "time":
        times[1] = np.nan
    elif what == "order":
        times[1] = 0.5
    else:
        values[0, 1, 2] = np.inf
    return PointArrays(times, values, given)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("no points", "points: the list is empty"),
        ("shape", "have shapes"),
        ("time", "point 1, time: is nan"),
        ("order", "point 1, time: 0.5 s is not later"),
        ("number", "point 1, positions, joint 'c': is inf"),
    ],
)
def test_wrong_arrays_are_refused(what: str, words: str) -> None:
    with pytest.raises(TrajectoryError) as raised:
        checked(JointTrajectory(NAMES, wrong_arrays(what)), Rules(NAMES), 0.0)
    assert words in str(raised.value)
