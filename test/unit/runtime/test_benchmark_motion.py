from __future__ import annotations

import numpy as np

from geared_dynamics.runtime.process_tasks import STEP, motion, waypoints


def test_the_motion_begins_at_rest_in_the_posture() -> None:
    moving = motion([0.5, -1.0])
    np.testing.assert_array_equal(moving.positions(0.0), [0.5, -1.0])
    np.testing.assert_array_equal(moving.velocities(0.0), 0.0)


def test_velocities_and_accelerations_are_derivatives() -> None:
    moving, t, h = motion(np.zeros(6)), 1.7, 1e-5
    slope = (moving.positions(t + h) - moving.positions(t - h)) / (2 * h)
    np.testing.assert_allclose(moving.velocities(t), slope, rtol=1e-8)
    slope = (moving.velocities(t + h) - moving.velocities(t - h)) / (2 * h)
    np.testing.assert_allclose(moving.accelerations(t), slope, rtol=1e-7)


def test_the_waypoints_cover_the_time_and_end_at_rest() -> None:
    points = waypoints(motion(np.zeros(2)), 1.01)
    times = [point[0] for point in points]
    assert times[0] == 0.0
    assert 1.01 <= times[-1] < 1.01 + STEP + 1e-9
    np.testing.assert_allclose(np.diff(times), STEP)
    np.testing.assert_array_equal(points[-1][2], 0.0)
    assert np.any(points[-2][2])
