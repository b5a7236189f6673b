"""The joint trajectory controller's published numbers.

Source: ros-controls/ros2_controllers, branch jazzy (2026-08), the expectations in
joint_trajectory_controller/test/test_trajectory.cpp; the names of its tests stand beside.
Its polynomials come from ros_controllers' QuinticSplineSegmentTest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from geared_dynamics.trajectory import (
    JointTrajectory,
    Point,
    ReferenceMotion,
    Rules,
    checked,
    follow,
    sample,
    state,
)

EPS = 1e-8  # as in the source
NOW = 1234.5
ROOT2 = np.sqrt(2.0)
POSITIONS = [Point(t, [t]) for t in (1.0, 2.0, 3.0)]
SPEEDS = [Point(1.0, velocities=[1.0]), Point(2.0, velocities=[2.0]), Point(3.0, velocities=[1.0])]
RATES = [
    Point(1.0, accelerations=[1.0]),
    Point(2.0, accelerations=[2.0]),
    Point(3.0, accelerations=[1.0]),
]


def followed(
    points: list[Point], before: Any = None, now: float = NOW, **changed: Any
) -> ReferenceMotion:
    """One joint along some points, with every permission."""
    rules = Rules(
        ("joint",),
        **{
            "allow_integration_in_goal_trajectories": True,
            "allow_nonzero_velocity_at_trajectory_end": True,
            **changed,
        },
    )
    waypoints = checked(JointTrajectory(["joint"], points), rules, now)
    return follow(waypoints, before or state([0.0]), now, rules)


# Points, time after now, position, velocity, acceleration (None: not stated by the source).
NUMBERS: dict[str, tuple[list[Point], list[tuple[float, float, Any, Any]]]] = {
    "sample_trajectory_positions": (
        POSITIONS,
        [
            (0.0, 0.0, 1.0, 0.0),
            (0.5, 0.5, 1.0, 0.0),
            (1.0, 1.0, 1.0, 0.0),
            (1.5, 1.5, None, None),
            (2.5, 2.5, None, None),
            (3.0, 3.0, None, None),
            (3.125, 3.0, None, None),
            (30.0, 3.0, None, None),
        ],
    ),
    "sample_trajectory_velocity_with_interpolation": (
        SPEEDS,
        [
            (0.0, 0.0, 0.0, 1.0),
            (0.5, 0.125, 0.5, 1.0),
            (1.0, 0.5, 1.0, 1.0),
            (1.5, 1.125, 1.5, 1.0),
            (2.0, 2.0, 2.0, -1.0),
            (2.5, 2.875, 1.5, -1.0),
            (3.0, 3.5, 1.0, 0.0),
            (3.125, 3.5, 1.0, 0.0),
        ],
    ),
    "sample_trajectory_acceleration_with_interpolation": (
        RATES,
        [
            (0.0, 0.0, 0.0, 0.0),
            (1.0, 0.25, 0.5, 1.0),
            (2.0, 1.5, 2.0, 2.0),
            (3.0, 4.25, 3.5, 1.0),
            (3.125, 4.25, 3.5, 1.0),
        ],
    ),
    "fill_point_before_with_same_degree_as_traj": (
        [Point(1.0, [1.0], [0.0], [0.0]), Point(2.0, [2.0], [0.0], [0.0])],
        [(0.0, 0.0, 0.0, 0.0)],
    ),
    "sample_velocity_only_skipped_last_segment_deduces_positions": (
        [Point(1.0, [0.0], [1.0]), Point(2.0, None, [1.0]), Point(2.001, None, [1.0])],
        [(3.0, 1.001, 1.0, 0.0)],
    ),
    # x^3 - 2 x from 0 to 2; the end's acceleration counts for nothing, the start has none.
    "interpolation_pos_vel": (
        [Point(0.0, [0.0], [-2.0]), Point(2.0, [4.0], [10.0], [0.0])],
        [(0.0, 0.0, -2.0, 0.0), (ROOT2, 0.0, 4.0, 6.0 * ROOT2), (2.0 - 1e-10, 4.0, 10.0, 12.0)],
    ),
    # x (x - 1) (x - 2) (x - 3) (x - 4) from 0 to 2.
    "interpolation_pos_vel_accel": (
        [Point(0.0, [0.0], [24.0], [-100.0]), Point(2.0, [0.0], [4.0], [0.0])],
        [(0.0, 0.0, 24.0, -100.0), (1.0, 0.0, -6.0, 10.0), (2.0, 0.0, 4.0, 0.0)],
    ),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_published_samples(name: str) -> None:
    points, expected = NUMBERS[name]
    reference = followed(points)
    for after, *values in expected:
        found = sample(reference, NOW + after)
        for number, value in zip((found.q, found.v, found.a), values, strict=True):
            if value is not None:
                assert number[0] == pytest.approx(value, abs=EPS), (after, values)


def test_another_trajectory_gives_other_samples() -> None:
    """A negative control: the same table, a waypoint 1 % later."""
    points, expected = NUMBERS["sample_trajectory_positions"]
    reference = followed([*points[:2], Point(3.03, [3.0])])
    found = np.array([sample(reference, NOW + after).q[0] for after, *_ in expected])
    assert np.abs(found - [q for _, q, *_ in expected]).max() > 1e6 * EPS


def test_skip_interpolation() -> None:
    """Before the first point the state before, then the next point."""
    reference = followed(POSITIONS, interpolation_method="none")
    steps = [(0.0, 0.0), (0.5, 0.0), (1.0, 2.0), (1.5, 2.0), (2.5, 3.0), (3.0, 3.0), (3.125, 3.0)]
    for after, position in steps:
        found = sample(reference, NOW + after)
        assert found.q[0] == position
        assert (found.v[0], found.a[0]) == (0.0, 0.0)


def test_update_trajectory() -> None:
    """A new trajectory takes the place of the old one, from the state that is given then."""
    old = followed(POSITIONS)
    new = followed(POSITIONS, state([0.0]), NOW + 2.5)
    assert sample(old, NOW + 4.0).q[0] == pytest.approx(3.0, abs=EPS)
    assert sample(new, NOW + 2.5).q[0] == pytest.approx(0.0, abs=EPS)
    assert sample(new, NOW + 2.5).v[0] == pytest.approx(1.0, abs=EPS)
    assert sample(new, NOW + 4.0).q[0] == pytest.approx(1.5, abs=EPS)


@pytest.mark.parametrize(
    ("turning", "start", "expected"),
    [  # TestWrapAroundJoint: no_wraparound, single_joint, all_joints, all_joints_no_offset
        ((), 0.0, [0.0, 0.0, 0.0]),
        (("a",), 0.0, [2 * np.pi, 0.0, 0.0]),
        (("a", "b", "c"), 0.0, [2 * np.pi] * 3),
        (("a", "b", "c"), 1.5 * np.pi, [1.5 * np.pi] * 3),
    ],
)
def test_wraparound(turning: tuple[str, ...], start: float, expected: list[float]) -> None:
    rules = Rules(("a", "b", "c"), continuous=turning)
    goal = JointTrajectory(rules.joints, [Point(1.0, [1.5 * np.pi] * 3)])
    reference = follow(checked(goal, rules, NOW), state([start] * 3), NOW, rules)
    assert_allclose(sample(reference, NOW).q, expected, rtol=0, atol=1e-15 * 8)
    assert_allclose(sample(reference, NOW + 1.0).q, [1.5 * np.pi] * 3)
