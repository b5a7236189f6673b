"""Filters, derivatives, bandwidth and delay of signals that are known exactly."""

from __future__ import annotations

import numpy as np
import pytest

from geared_dynamics.arrays import Array
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.recordings.motions import filtered_motion, interpolated, is_even
from geared_dynamics.recordings.samples import Samples, Stretch, Tally, clean, in_order, time_steps
from recorded_motions import motion as known_motion
from recorded_motions import nanoseconds

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")

from geared_dynamics.recordings.signals import (
    bandwidth,
    context,
    delay,
    derivative,
    shortest,
    zero_phase,
)

RATE = 500.0
T, Q, V, A = known_motion(20.0, RATE)
WHOLE = np.ones(len(T), bool)


def stretch(t: Array, q: Array, tau: Array, v: Array | None = None) -> Stretch:
    """Samples of a motion."""
    speed = np.full(q.shape, np.nan) if v is None else v
    return Stretch(Samples(nanoseconds(t), q, speed, tau), np.ones(len(t), bool))


@pytest.mark.parametrize("cutoff", [3.0, 20.0, 90.0])
def test_pieces_with_context_are_the_whole(cutoff: float) -> None:
    signal = Q + np.random.default_rng(0).normal(size=Q.shape)
    whole, around = zero_phase(signal, cutoff, RATE), context(cutoff, RATE)
    for start in (2000, 4000, 6000):
        low = start - around
        piece = zero_phase(signal[low : start + 1000 + around], cutoff, RATE)
        found = piece[start - low : start - low + 1000]
        np.testing.assert_allclose(found, whole[start : start + 1000], atol=1e-11)
    short = zero_phase(signal[2000 - around // 4 : 3000 + around // 4], cutoff, RATE)
    assert np.abs(short[around // 4 :][:1000] - whole[2000:3000]).max() > 1e-9  # control


def test_the_filter_has_half_the_gain_at_its_cutoff_and_no_phase() -> None:
    t = np.arange(10_000) / RATE
    wave = np.sin(2 * np.pi * 10.0 * t)[:, None]
    found = zero_phase(wave, 10.0, RATE)[2000:8000]
    np.testing.assert_allclose(found, 0.5 * wave[2000:8000], atol=1e-3)
    np.testing.assert_allclose(
        zero_phase(wave, 100.0, RATE)[2000:8000], wave[2000:8000], atol=1e-3
    )


def test_derivatives_are_exact_up_to_a_fifth_of_the_rate() -> None:
    for frequency in (1.0, 20.0, 0.15 * RATE):
        w = 2 * np.pi * frequency
        x = np.sin(w * T)[:, None]
        found = derivative(x, RATE)[50:-50, 0]
        assert np.abs(found - w * np.cos(w * T)[50:-50]).max() < 2e-3 * w
        plain = np.gradient(x[:, 0], 1 / RATE)[50:-50]
        if frequency > 10.0:  # control: what central differences make of it
            assert np.abs(plain - w * np.cos(w * T)[50:-50]).max() > 5e-3 * w


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("recorded", [True, False])
def test_motion_of_even_and_uneven_stamps(even: bool, recorded: bool) -> None:
    t = T if even else T + np.random.default_rng(1).uniform(-0.3, 0.3, T.shape) / RATE
    _, q, v, a = known_motion(20.0, RATE) if even else at_times(t)
    found = filtered_motion(
        stretch(t, q, a, v), 2_000_000, 20.0, velocity="recorded" if recorded else "position"
    )
    assert found is not None
    assert is_even(nanoseconds(t), 2_000_000) == even
    inner = slice(100, -100)
    for values, expected, bound in (
        (found.q, q, 1e-6),
        (found.v, v, 1e-5),
        (found.a, a, 1e-3),
        (found.effort, a, 1e-5),
    ):
        assert np.abs(values[inner] - expected[inner]).max() < bound * np.abs(expected).max()


def at_times(t: Array) -> tuple[Array, ...]:
    """The known motion at other times, from a finer one."""
    fine = known_motion(20.1, 20_000.0)
    own = (interpolated(nanoseconds(fine[0]), x, nanoseconds(t)) for x in fine[1:])
    return (t, *own)


def test_a_missing_sample_does_not_shift_the_rest() -> None:
    some = np.delete(np.arange(len(T)), [3000, 5000])
    found = filtered_motion(stretch(T[some], Q[some], A[some]), 2_000_000, 20.0)
    assert found is not None
    assert np.abs(found.a - A[some])[100:-100].max() < 1e-3 * np.abs(A).max()


def test_a_short_stretch_is_none() -> None:
    k = shortest(5.0, RATE) - 1
    assert filtered_motion(stretch(T[:k], Q[:k], A[:k]), 2_000_000, 5.0) is None


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-4])
def test_bandwidth_keeps_the_motion_and_leaves_the_noise(noise: float) -> None:
    q = Q + np.random.default_rng(2).normal(0.0, 1.0, Q.shape) * noise
    assert 1.5 <= bandwidth(q, RATE) <= 6.0  # the motion reaches up to 0.6 Hz
    fast = q + 0.05 * np.sin(2 * np.pi * 12.0 * T)[:, None]
    assert 30.0 <= bandwidth(fast, RATE) <= 45.0


@pytest.mark.parametrize("late", [-0.0123, 0.0, 0.0031, 0.02])
def test_delay_between_samples_with_friction_on_top(late: float) -> None:
    _, _, v, a = at_times(T[500:-500])
    *_, moved = at_times(T[500:-500] - late)
    friction = np.column_stack([v[:, 0], np.sign(v[:, 0]), np.ones(len(v))])
    measured = 3.0 * moved[:, 0] + 0.5
    assert delay(a[:, 0], measured, friction, RATE) == pytest.approx(late, abs=5e-5)


def test_an_impossible_bandwidth_is_refused() -> None:
    with pytest.raises(GearedDynamicsError, match="positive frequency"):
        zero_phase(Q, 0.0, RATE)


def samples(stamp: list[int]) -> Samples:
    """Samples whose positions tell them apart."""
    values = np.arange(float(len(stamp)))[:, None]
    return Samples(np.array(stamp, np.int64), values, values, values)


def test_gaps_repeats_resets_and_nan() -> None:
    ms = 1_000_000
    stamp = [0, 1, 2, 2, 1, 3, 4, 50, 51, 52, 53, 5000, 5001, 7, 8, 9]
    one = samples([s * ms for s in stamp])
    one.effort[2] = np.nan
    found = clean(one, np.ones(len(stamp), bool), ms)
    parts = [part.samples.position[:, 0].astype(int).tolist() for part in found.stretches]
    assert parts == [[0, 1, 3, 5, 6], [7, 8, 9, 10], [11, 12], [13, 14, 15]]
    assert found.tally == Tally(not_finite=1, repeated=1, resets=1, gaps=2)


def sent_again(rows: list[int], *, rest: range = range(0)) -> Samples:
    """A steady motion of one joint, of which some rows are the one before; it rests in others."""
    found = samples([1_000_000 * k for k in range(20)])
    position, effort = found.position.copy(), found.effort.copy()
    position[rest.start : rest.stop] = position[rest.start]
    for k in rows:
        position[k], effort[k] = position[k - 1], effort[k - 1]
    return found._replace(position=position, effort=effort, velocity=np.full((20, 1), np.nan))


def test_samples_sent_again_are_left_out() -> None:
    found = clean(sent_again([5, 9, 10]), np.ones(20, bool), 1_000_000)
    (stretch,) = found.stretches
    left = [k for k in range(20) if k not in (5, 9, 10)]
    assert (stretch.samples.stamp // 1_000_000).tolist() == left
    assert found.tally.held == 3


def test_a_robot_at_rest_and_new_efforts_stay() -> None:
    """Three equal samples are a rest; the same positions with another effort are new."""
    assert clean(sent_again([5, 6, 7]), np.ones(20, bool), 1_000_000).tally.held == 0
    slow = sent_again([], rest=range(8, 10))
    assert clean(slow, np.ones(20, bool), 1_000_000).tally.held == 0
    assert clean(samples([0]), np.ones(1, bool), 1_000_000).tally.held == 0


def test_period_is_the_median_of_fresh_stamps() -> None:
    assert np.median(time_steps(np.array([0, 10, 20, 20, 5, 30, 1000]))) == 10
    assert not time_steps(np.array([5])).size
    fresh, reset = in_order(np.array([5, 5, 6, 2 * 10**9, 1]))
    assert fresh.tolist() == [True, False, True, True, True]
    assert reset.tolist() == [False, False, False, False, True]
