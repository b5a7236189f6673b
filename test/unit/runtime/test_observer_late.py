"""Readings of sensors on the links, brought to the time of an observer that runs behind."""

from __future__ import annotations

import numpy as np

from geared_dynamics.runtime.sample_times import LinkSensorBuffer

DT = 1e-3
DELAY = 0.003


def truth(t: float) -> np.ndarray:
    """A cubic, and a line."""
    return np.array([1.0 + 2.0 * t - 1e2 * t**2 + 1e4 * t**3, 3.0 * t])


def fed(late: LinkSensorBuffer, times: np.ndarray) -> None:
    for t in times.tolist():
        late.add(np.full(2, t), truth(t))


def test_between_readings_they_are_interpolated() -> None:
    late = LinkSensorBuffer(2, DELAY, DT, 0.05)
    fed(late, DT * np.arange(10))
    np.testing.assert_allclose(late.at(0.0063), truth(0.0063), atol=1e-12)


def test_an_instant_that_was_read_is_that_reading() -> None:
    late = LinkSensorBuffer(2, DELAY, DT, 0.05)
    fed(late, DT * np.arange(10))
    np.testing.assert_array_equal(late.at(DT * 6), truth(DT * 6))


def test_the_newest_goes_on_by_its_rate() -> None:
    late = LinkSensorBuffer(2, 0.0, DT, 0.05)
    fed(late, np.array([0.001, 0.002]))
    rates = np.array([7.0, 3.0])
    found = late.at(0.0024, rates)
    np.testing.assert_allclose(found, truth(0.002) + 0.0004 * rates, atol=1e-15)


def test_each_reading_is_used_once_and_not_before_its_time() -> None:
    late = LinkSensorBuffer(2, DELAY, DT, 0.05)
    late.add(np.array([0.010, 0.012]), np.array([1.0, 2.0]))
    assert np.isnan(late.at(0.009)).all()
    np.testing.assert_array_equal(late.at(0.010), [1.0, np.nan])
    np.testing.assert_array_equal(late.at(0.011), [np.nan, np.nan])
    np.testing.assert_array_equal(late.at(0.012), [np.nan, 2.0])
    assert late.at(0.013) is None


def test_a_sensor_without_a_reading_keeps_the_others() -> None:
    late = LinkSensorBuffer(2, 0.0, DT, 0.05)
    late.add(np.array([0.001, 0.001]), np.array([np.nan, 2.0]))
    np.testing.assert_array_equal(late.at(0.001), [np.nan, 2.0])


def test_readings_on_both_sides_of_a_pause_do_not_belong_together() -> None:
    late = LinkSensorBuffer(1, DELAY, DT, 0.05)
    for t, value in ((0.0, 0.0), (0.001, 0.0), (1.0, 5.0), (1.001, 5.0)):
        late.add(np.array([t]), np.array([value]))
    np.testing.assert_array_equal(late.at(1.0004), [5.0])


def test_what_is_told_again_or_late_counts_once() -> None:
    late = LinkSensorBuffer(1, 0.0, DT, 0.05)
    late.add(np.array([0.002]), np.array([1.0]))
    late.add(np.array([0.002]), np.array([9.0]))
    late.add(np.array([0.001]), np.array([9.0]))
    np.testing.assert_array_equal(late.at(0.002), [1.0])
    late.clear()
    assert late.at(0.003) is None
