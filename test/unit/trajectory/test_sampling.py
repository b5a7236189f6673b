"""Waypoints followed: against a slow twin, and at the edges of the rules."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from geared_dynamics import GearedDynamicsError
from geared_dynamics.trajectory import (
    JointTrajectory,
    Point,
    ReferenceMotion,
    Rules,
    Sample,
    SampleBuffer,
    TrajectoryError,
    checked,
    derivatives,
    follow,
    resample,
    sample,
    sample_into,
    shortest_way,
    smooth,
    state,
)
from naive.measure import derivative
from naive.waypoints import followed

JOINTS = ("shoulder", "elbow", "wrist")
FREE = {
    "allow_integration_in_goal_trajectories": True,
    "allow_nonzero_velocity_at_trajectory_end": True,
}
FIELDS = {"q": "positions", "v": "velocities", "a": "accelerations", "effort": "effort"}
# What a point may give: JTC knows no use for positions with accelerations alone.
MIXES = ["q", "qv", "qva", "v", "va", "a"]


def start(
    points: list[Point], before: Sample | None = None, now: float = 0.0, **changed: Any
) -> ReferenceMotion:
    rules = Rules(JOINTS, **{**FREE, **changed})
    stamp = changed.pop("stamp", None)
    waypoints = checked(JointTrajectory(JOINTS, points, stamp), rules, now)
    return follow(waypoints, before or state(np.zeros(3)), now, rules)


def drawn(seed: int) -> tuple[list[Point], Sample, np.ndarray]:
    """Random waypoints of random fields, a state before and the points' times."""
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 7))
    times = np.cumsum(random.uniform(0.1, 0.8, count))
    points = []
    for t in times:
        names = list(MIXES[random.integers(len(MIXES))]) + ["effort"] * int(random.integers(2))
        points.append(Point(t, **{FIELDS[k]: random.normal(size=3) for k in names}))
    return points, Sample(*random.normal(size=(4, 3))), times


@pytest.mark.parametrize("seed", range(60))
def test_it_is_the_twin(seed: int) -> None:
    points, before, times = drawn(seed)
    reference = start(points, before)
    look = np.sort(np.r_[np.linspace(0.0, times[-1] + 0.3, 40), times])
    names = ("q", "v", "a", "effort")
    found = np.array([np.array(sample(reference, t)[:4]) for t in look])
    for j in range(3):
        given = [
            {"t": p.time}
            | {k: getattr(p, f)[j] for k, f in FIELDS.items() if getattr(p, f) is not None}
            for p in points
        ]
        was = {k: float(getattr(before, k)[j]) for k in names}
        expected = np.array(followed(was, given, list(look)))
        scale = np.abs(expected).max(axis=0) + 1.0
        assert np.abs((found[:, :, j] - expected) / scale).max() < 1e-10


def test_the_twin_would_show_a_wrong_rule() -> None:
    """A negative control: the same points without the velocity of one of them."""
    points = [Point(1.0, [1.0] * 3, [1.0] * 3), Point(2.0, [2.0] * 3, [0.5] * 3)]
    less = [points[0], points[1]._replace(velocities=None)]
    one, other = sample(start(points), 1.5), sample(start(less), 1.5)
    assert abs(one.q[0] - other.q[0]) > 0.01


def test_order_by_name() -> None:
    rules = Rules(JOINTS)
    mixed = JointTrajectory(["wrist", "shoulder", "elbow"], [Point(1.0, [3.0, 1.0, 2.0])])
    reference = follow(checked(mixed, rules, 0.0), state(np.zeros(3)), 0.0, rules)
    assert_array_equal(sample(reference, 1.0).q, [1.0, 2.0, 3.0])


def test_missing_joints_hold() -> None:
    rules = Rules(JOINTS, allow_partial_joints_goal=True)
    some = JointTrajectory(["elbow"], [Point(1.0, [2.0], [0.0], effort=[5.0])])
    before = state([0.1, 0.2, 0.3], effort=[1.0, 2.0, 3.0])
    reference = follow(checked(some, rules, 0.0), before, 0.0, rules)
    for t in (0.0, 0.4, 1.0, 3.0):
        found = sample(reference, t)
        assert_allclose(found.q[[0, 2]], [0.1, 0.3])
        assert_array_equal(found.v[[0, 2]], 0.0)
    assert_array_equal(sample(reference, 1.0).effort, [0.0, 5.0, 0.0])


def test_missing_joints_hold_while_others_are_integrated() -> None:
    rules = Rules(JOINTS, allow_partial_joints_goal=True, **FREE)
    points = [Point(0.5, velocities=[1.0]), Point(1.0, [3.0], [1.0])]
    some = checked(JointTrajectory(["elbow"], points), rules, 0.0)
    reference = follow(some, state([0.1, 0.2, 0.3]), 0.0, rules)
    for t in (0.0, 0.3, 0.7, 2.0):
        assert_allclose(sample(reference, t).q[[0, 2]], [0.1, 0.3])


@pytest.mark.parametrize("stamp", [None, 0, 0.0])
def test_without_a_stamp_it_starts_now(stamp: Any) -> None:
    rules = Rules(JOINTS)
    goal = JointTrajectory(JOINTS, [Point(1.0, np.ones(3))], stamp)
    reference = follow(checked(goal, rules, 50.0), state(np.zeros(3)), 50.0, rules)
    assert_allclose(sample(reference, 50.5).q, 0.5)
    assert reference.end == 51.0


def test_a_stamp_in_the_future_blends_until_then() -> None:
    rules = Rules(JOINTS)
    goal = JointTrajectory(JOINTS, [Point(1.0, np.ones(3)), Point(2.0, np.zeros(3))], 53.0)
    reference = follow(checked(goal, rules, 50.0), state(np.zeros(3)), 50.0, rules)
    assert_allclose(sample(reference, 52.0).q, 0.5)
    assert_allclose(sample(reference, 54.5).q, 0.5)
    assert reference.end == 55.0


def test_a_stamp_in_the_past_joins_in_the_middle() -> None:
    rules = Rules(JOINTS)
    goal = JointTrajectory(JOINTS, [Point(1.0, np.ones(3)), Point(3.0, np.zeros(3))], 48.0)
    reference = follow(checked(goal, rules, 50.0), state(np.full(3, 9.0)), 50.0, rules)
    assert_allclose(sample(reference, 50.0).q, 0.5)
    assert_allclose(sample(reference, 49.0).q, 0.5)  # before now as at it
    assert_allclose(sample(reference, 51.0).q, 0.0)


def test_first_point_at_zero_is_no_blend() -> None:
    points = [Point(0.0, np.ones(3), effort=[7.0] * 3), Point(1.0, np.zeros(3), effort=[9.0] * 3)]
    reference = start(points, state(np.full(3, 9.0)))
    assert_array_equal(sample(reference, 0.0).q, 1.0)
    assert_array_equal(sample(reference, 0.0).effort, 7.0)
    assert_array_equal(sample(reference, 0.5).effort, 8.0)
    alone = start(points[:1])
    assert sample(alone, 0.0).finished
    assert_array_equal(sample(alone, 0.0).q, 1.0)


def test_effort_ramps_from_the_last_command() -> None:
    goal = [Point(1.0, np.ones(3), effort=[8.0, 0.0, -8.0])]
    assert_array_equal(sample(start(goal), 0.25).effort, [2.0, 0.0, -2.0])
    from_four = state(np.zeros(3), effort=[4.0, 4.0, 4.0])
    assert_array_equal(sample(start(goal, from_four), 0.5).effort, [6.0, 2.0, -2.0])


def test_after_the_end() -> None:
    goal = [Point(1.0, np.ones(3), np.full(3, 0.5), np.full(3, -2.0), np.full(3, 4.0))]
    for t in (1.0, 9.0, float("inf")):
        found = SampleBuffer(3)
        sample_into(start(goal), t, found)
        assert_array_equal(found.values, np.outer([1.0, 0.5, -2.0, 4.0], np.ones(3)))
        assert found.finished
    rest = start(goal, rest_after_end=True)
    assert_array_equal(sample(rest, 1.0).v, 0.0)
    assert_array_equal(sample(rest, 1.0).a, 0.0)
    assert_array_equal(sample(rest, 1.0).effort, 4.0)
    assert not sample(rest, 1.0 - 1e-9).finished


@pytest.mark.parametrize(
    ("before", "goal", "first"),
    [
        (3.0, -3.0, 3.0 - 2 * np.pi),  # over the back, by 0.28
        (-3.0, 3.0, 2 * np.pi - 3.0),
        (0.0, np.pi, 0.0),  # half a turn: the way the numbers go
        (np.pi, 0.0, np.pi),
        (0.0, -np.pi, 0.0),
        (0.5, 0.5 + 10 * np.pi, 0.5 + 10 * np.pi),
    ],
)
def test_continuous_joints_go_the_short_way(before: float, goal: float, first: float) -> None:
    points = [Point(1.0, [goal] * 3), Point(2.0, [goal + 4.0] * 3)]
    reference = start(points, state([before] * 3), continuous=("elbow",))
    found = sample(reference, 0.0).q
    assert_allclose(found, [before, first, before], atol=1e-12)
    assert abs(found[1] - goal) <= np.pi + 1e-12
    assert_allclose(sample(reference, 2.0).q, goal + 4.0)  # between points no short way


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("angle", [np.inf, -np.inf, np.nan])
def test_the_way_from_what_is_no_angle_is_none(angle: float) -> None:
    """An encoder that reports infinity must not make Python print a warning of its own."""
    turning = np.array([True, False, True])
    start = np.array([angle, 0.0, angle])
    assert_array_equal(shortest_way(start, np.ones(3), turning), [np.nan, 1.0, np.nan])
    assert_array_equal(shortest_way(start, start, turning), [np.nan, 0.0, np.nan])


def test_shortest_way_is_the_tracking_error() -> None:
    turning = np.array([True, True, False])
    error = shortest_way(np.array([3.0, 0.0, 3.0]), np.array([-3.0, np.pi, -3.0]), turning)
    assert_allclose(error, [2 * np.pi - 6.0, np.pi, -6.0])


@pytest.mark.parametrize("seed", range(10))
def test_derivatives_are_derivatives(seed: int) -> None:
    points, before, times = drawn(seed)
    reference = start(points, before)
    t = 0.5 * (times[-1] + (times[-2] if len(times) > 1 else 0.0))
    step = 0.01
    found = derivatives(reference, t, 5)
    slopes = derivative(lambda h: derivatives(reference, t + h, 4), step)
    kind = np.abs(found).max() + 1.0
    given = points[-1].velocities is not None or points[-1].positions is None
    rows = slice(0, 4) if given else slice(0, 1)
    assert np.abs(slopes[rows] - found[1:][rows]).max() < 1e-6 * kind
    assert_allclose(found[:3], np.array(sample(reference, t)[:3]), atol=1e-12 * kind)
    after = derivatives(reference, [[t, times[-1] + 1.0]], 6)
    assert after.shape == (1, 2, 7, 3)
    assert_allclose(after[0, 0, :6], found)
    assert_array_equal(after[0, 1, 3:], 0.0)
    assert derivatives(reference, t, 0).shape == (1, 3)


def test_resampled_is_the_same_trajectory() -> None:
    """JTC's rules applied to the table give back the polynomials that it was taken from."""
    random = np.random.default_rng(3)
    points = [Point(t, *random.normal(size=(4, 3))) for t in (0.4, 1.0, 1.7)]
    before = state(*random.normal(size=(4, 3)))
    reference = start(points, before, 5.0)
    dense = resample(reference, 0.05)
    assert dense.times[0] == 0.0
    assert np.diff(dense.times).max() <= 0.05 + 1e-12
    assert set(np.round([0.4, 1.0, 1.7], 9)) <= set(np.round(dense.times, 9))
    again = start([Point(*row) for row in zip(dense.times, *dense[1:5], strict=True)], before, 5.0)
    for t in np.linspace(5.0, 7.0, 57):
        assert_allclose(
            np.array(sample(again, t)[:4]), np.array(sample(reference, t)[:4]), atol=2e-9
        )
    later = resample(reference, 0.05, 5.7)
    assert (later.begin, later.times[0]) == (5.7, 0.0)
    assert_allclose(later.q[0], sample(reference, 5.7).q)
    over = resample(reference, 0.05, 99.0)
    assert_array_equal(over.q, [points[-1].positions])


def test_a_reference_is_a_value() -> None:
    reference = start([Point(1.0, np.ones(3))])
    again = pickle.loads(pickle.dumps(reference))
    assert_array_equal(sample(again, 0.3).q, sample(reference, 0.3).q)
    with pytest.raises(ValueError, match="read-only"):
        again.tables[0] = 0.0


def test_sampling_allocates_nothing_that_stays() -> None:
    reference, out = start([Point(1.0, np.ones(3)), Point(2.0, np.zeros(3))]), SampleBuffer(3)
    times = [0.01 * k for k in range(250)]
    for t in times:
        sample_into(reference, t, out)
    tracemalloc.start()
    try:
        for t in times:
            sample_into(reference, t, out)
        at_once, _ = tracemalloc.get_traced_memory()
        for _ in range(20):
            for t in times:
                sample_into(reference, t, out)
        later, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert later - at_once < 1000


BAD_CALLS: dict[str, tuple[Any, str]] = {
    "NaN time": (lambda r: sample_into(r, float("nan"), SampleBuffer(3)), "t: is nan"),
    "no number of joints": (lambda _: SampleBuffer(2.5), "n: is 2.5"),  # type: ignore[arg-type]
    "other joints": (lambda r: sample_into(r, 0.0, SampleBuffer(2)), "out: is for 2 joints"),
    "no period": (lambda r: resample(r, 0.0), "period"),
    "tiny period": (lambda r: resample(r, 1e-12), "at most 1000000"),
    "order": (lambda r: derivatives(r, 0.0, -1), "order"),
    "state of others": (lambda _: start([Point(1.0, np.ones(3))], state([0.0])), "before: has 1"),
    "NaN state": (lambda _: start([Point(1.0, np.ones(3))], state([0.0, np.nan, 0])), "q: "),
    "short state": (lambda _: state([0.0, 0.0], v=[1.0]), "v: has 1 numbers, q 2"),
    "overflow": (lambda _: start([Point(1e-310, np.ones(3))]), "segment 0"),
}


@pytest.mark.parametrize(("call", "words"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_refused(call: Any, words: str) -> None:
    with pytest.raises(GearedDynamicsError, match=words):
        call(start([Point(1.0, np.ones(3))]))


@pytest.mark.parametrize("order", [("elbow", "shoulder", "wrist"), JOINTS[:2]])
def test_rules_of_other_joints(order: tuple[str, ...]) -> None:
    waypoints = checked(JointTrajectory(JOINTS, [Point(1.0, np.ones(3))]), Rules(JOINTS), 0.0)
    for call in (
        lambda: follow(waypoints, state(np.zeros(3)), 0.0, Rules(order)),
        lambda: smooth(waypoints, np.zeros((1, 3)), 0.0, Rules(order), continuous=4),
    ):
        with pytest.raises(TrajectoryError, match="rules: are for") as caught:
            call()
        assert caught.value.code == -2


def test_integration_needs_a_known_beginning() -> None:
    rules = Rules(JOINTS, **FREE)
    goal = JointTrajectory(JOINTS, [Point(k, velocities=np.ones(3)) for k in (1.0, 5.0)], 47.0)
    waypoints = checked(goal, rules, 50.0)
    with pytest.raises(TrajectoryError, match=r"point 0: has no positions and lies 2 s in"):
        follow(waypoints, state(np.zeros(3)), 50.0, rules)
    reference = follow(waypoints, state(np.zeros(3)), 48.0, rules)
    assert_array_equal(sample(reference, 52.0).q, 4.0)
