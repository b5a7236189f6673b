"""Times of samples that are taken evenly, from stamps that are not."""

from __future__ import annotations

import numpy as np
import pytest

from geared_dynamics.runtime.sample_times import EvenStamps

PERIOD = 1e-3


def sampled(stamps: np.ndarray, period: float = PERIOD) -> np.ndarray:
    even = EvenStamps(period)
    return np.array([even.sampled(stamp) for stamp in stamps.tolist()])


def noisy(count: int, jitter: float, off: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """True times and stamps [s]."""
    true = 5.0 + PERIOD * (1.0 + off) * np.arange(count)
    return true, true + jitter * np.random.default_rng(4).uniform(-1.0, 1.0, count)


@pytest.mark.parametrize("off", [0.0, 0.02, -0.02])
@pytest.mark.parametrize(
    ("jitter", "early", "late"),
    [(1e-6, 5e-7, 2e-8), (1e-5, 5e-7, 2e-8), (1e-4, 2e-6, 2e-7), (3e-4, 5e-6, 5e-7)],
)
def test_intervals_are_even_where_stamps_are_not(
    jitter: float, early: float, late: float, off: float
) -> None:
    """After 0.1 s, and after 1 s, also where the period is not quite what was told."""
    true, stamps = noisy(2000, jitter, off)
    wrong = np.abs(np.diff(sampled(stamps)) - np.diff(true))
    assert wrong[100:].max() < min(early, 0.5 * jitter)
    assert wrong[1000:].max() < late
    assert np.abs(np.diff(stamps) - np.diff(true)).max() > 1.5 * jitter, "the stamps are not"


def test_even_stamps_are_times() -> None:
    true, stamps = noisy(500, 0.0)
    np.testing.assert_allclose(sampled(stamps), true, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("rate", [2.5, 1.5, 0.45])
def test_another_rate_that_is_no_share_of_the_one_told_is_taken_as_stamped(rate: float) -> None:
    stamps = PERIOD * rate * np.arange(300)
    np.testing.assert_allclose(np.diff(sampled(stamps)), PERIOD * rate, rtol=1e-3)


def test_every_other_sample_is_two_periods() -> None:
    _, stamps = noisy(2000, 1e-4)
    np.testing.assert_allclose(np.diff(sampled(stamps[::2]))[500:], 2.0 * PERIOD, atol=1e-6)


@pytest.mark.parametrize("missing", [1, 2, 5, 9])
def test_missing_samples_are_whole_periods(missing: int) -> None:
    _, stamps = noisy(1500, 1e-4)
    left = np.delete(stamps, slice(1000, 1000 + missing))
    step = np.diff(sampled(left))[999]
    assert step == pytest.approx((missing + 1) * PERIOD, abs=5e-6)


@pytest.mark.parametrize("gap", [0.0304, 0.5, 3600.0])
def test_a_gap_is_as_long_as_the_stamps_say_and_the_period_is_kept(gap: float) -> None:
    _, stamps = noisy(1500, 1e-5)
    stamps[1000:] += gap
    times = sampled(stamps)
    assert times[1000] == stamps[1000]
    np.testing.assert_allclose(np.diff(times)[1030:], PERIOD, atol=1e-7)


def test_a_shift_of_the_phase_locks_anew() -> None:
    """By less than it is followed slowly, by more at once; times never go back."""
    _, stamps = noisy(1200, 0.0)
    for shift in (0.45, -0.45, -0.95):
        moved = stamps.copy()
        moved[600:] += shift * PERIOD
        times = sampled(moved)
        assert np.diff(times).min() > 0.09 * PERIOD
        np.testing.assert_allclose(times[610:], moved[610:], rtol=0.0, atol=1e-9)
    slow = stamps.copy()
    slow[600:] += 0.3 * PERIOD
    assert np.abs(np.diff(sampled(slow)) - PERIOD).max() < 1e-6


def test_a_clock_that_is_set_back_is_followed_after_a_restart() -> None:
    even = EvenStamps(PERIOD)
    for k in range(50):
        even.sampled(10.0 + PERIOD * k)
    even.restart()
    assert even.sampled(3.0) == 3.0
    assert even.sampled(3.0 + PERIOD) == pytest.approx(3.0 + PERIOD, abs=1e-12)


def test_a_clock_that_runs_faster_for_a_while_is_followed() -> None:
    """By 500 ppm, as one that is being set: nothing locks again."""
    step = PERIOD * (1.0 + 5e-4 * (np.arange(12000) > 4000))
    true = np.cumsum(step)
    times = sampled(true + 1e-5 * np.random.default_rng(2).uniform(-1.0, 1.0, len(true)))
    assert np.abs(np.diff(times) - np.diff(true))[200:].max() < 1e-6
    assert np.abs(times - true)[200:].max() < 0.4 * PERIOD


def test_random_stamps_give_times_that_go_on() -> None:
    stamps = np.cumsum(np.random.default_rng(9).exponential(PERIOD, 3000) + 1e-9)
    times = sampled(stamps)
    assert np.diff(times).min() > 0.0
    assert np.abs(times - stamps).max() < 12.0 * PERIOD
