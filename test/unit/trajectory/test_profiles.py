"""Profiles: on time, within limits, smooth, symmetric, and not to be done quicker."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

import geared_dynamics as gd
from geared_dynamics.trajectory import (
    Piecewise,
    SampleBuffer,
    jerk_bounded,
    sample_into,
    trapezoidal,
)

LIMIT = st.floats(0.05, 20.0)
WAY = st.one_of(st.just(0.0), st.floats(-10.0, 10.0), st.floats(-1e-6, 1e-6))


@st.composite
def motions(draw: Any) -> tuple[Piecewise, np.ndarray, np.ndarray, np.ndarray]:
    """A profile, its joints' ways, starts, and limits (degree, n)."""
    n = draw(st.integers(1, 4))
    start = np.array([draw(st.floats(-3.0, 3.0)) for _ in range(n)])
    way = np.array([draw(WAY) for _ in range(n)])
    limits = np.array([[draw(LIMIT) for _ in range(n)] for _ in range(draw(st.integers(2, 3)))])
    names = ("velocity", "acceleration", "jerk")[: len(limits)]
    make = jerk_bounded if len(limits) == 3 else trapezoidal
    profile = make(start, start + way, **dict(zip(names, limits, strict=True)))
    return profile, (start + way) - start, start, limits


@given(motions())
def test_limits_ends_and_smoothness(case: Any) -> None:
    motion, way, start, limits = case
    degree, span = motion.degree, motion.duration
    knots = motion.knots
    t = np.sort(np.r_[knots, np.linspace(-0.1, 0.1 + span, 201)])
    values = motion.derivatives(t, degree)
    for order, limit in enumerate(limits, start=1):
        assert (np.abs(values[:, order]) <= limit * (1.0 + 1e-9)).all()
    for moment, place in ((-1.0, start), (span, start + way), (9e9, start + way)):
        found = motion.derivatives(moment, degree - 1)
        assert_array_equal(found[0], place)
        assert_array_equal(found[1:], 0.0)
    assert np.isfinite(values).all()
    # Continuous over every knot: what each piece ends with, the next one begins with.
    powers = np.diff(motion.knots)[:, None, None] ** np.arange(degree + 1)[:, None]
    scale = np.abs(start).max() + np.abs(way).max()
    ends = (motion.coefficients * powers).sum(axis=1)
    begins = np.concatenate([motion.coefficients[1:, 0], motion.last[None]])[: len(ends)]
    assert np.abs(ends - begins).max(initial=0.0) <= 1e-12 * scale
    near = motion.derivatives(knots - 1e-13 * (1 + span), degree - 1)
    at = motion.derivatives(knots, degree - 1)
    jump = 1e-9 * (1.0 + np.abs(limits[:degree]).max())
    assert np.abs(near - at).max(initial=0.0) < jump * 10


@given(motions())
def test_symmetric_and_monotone(case: Any) -> None:
    motion, way, start, _ = case
    s = np.linspace(0.0, motion.duration, 60)
    there = motion.derivatives(s, 1)
    back = motion.derivatives(motion.duration - s, 1)
    scale = np.abs(start).max() + np.abs(way).max()
    assert np.abs(there[:, 0] - start - (start + way - back[:, 0])).max() <= 1e-9 * scale
    assert (there[:, 1] * np.sign(way) >= -1e-9 * (1.0 + np.abs(there[:, 1]).max())).all()


@given(motions())
def test_the_slowest_joint_uses_a_limit_and_decides(case: Any) -> None:
    """Each alone is at most as long; one is as long, and reaches one of its limits."""
    motion, way, start, limits = case
    names = ("velocity", "acceleration", "jerk")[: len(limits)]
    make = jerk_bounded if len(limits) == 3 else trapezoidal
    alone = [
        make(start[[k]], motion.last[[k]], **dict(zip(names, limits[:, k], strict=True))).duration
        for k in range(motion.n)
    ]
    assert motion.duration == pytest.approx(max(alone), rel=1e-12)
    if np.any(way):
        k = int(np.argmax(alone))
        values = np.abs(motion.derivatives(motion.knots, motion.degree)[:, 1:, k])
        assert (values / limits[:, k]).max() == pytest.approx(1.0, rel=1e-9)


# Way, limits of v, a(, j), duration by hand.
BY_HAND: dict[str, tuple[float, tuple[float, ...], float]] = {
    "along": (3.0, (1.0, 2.0), 3.5),  # D/v + v/a
    "just reached": (0.5, (1.0, 2.0), 1.0),
    "too short for full speed": (0.125, (1.0, 2.0), 0.5),  # 2 √(D/a)
    "back": (-3.0, (1.0, 2.0), 3.5),
    "nothing": (0.0, (1.0, 2.0), 0.0),
    "all seven": (3.0, (1.0, 2.0, 10.0), 3.7),  # D/v + v/a + a/j
    "no full speed": (0.5, (10.0, 2.0, 8.0), 0.25 + np.sqrt(1.0625)),
    "no full acceleration": (2.0, (10.0, 50.0, 1.0), 4.0),  # 4 cbrt(D / (2 j))
    "no full acceleration, full speed": (3.0, (1.0, 50.0, 4.0), 4.0),  # D/v + 2 √(v/j)
}


@pytest.mark.parametrize(("way", "limits", "duration"), BY_HAND.values(), ids=BY_HAND)
def test_durations_by_hand(way: float, limits: tuple[float, ...], duration: float) -> None:
    assert profile(way, limits).duration == pytest.approx(duration, rel=1e-12)


def profile(way: float, limits: tuple[float, ...]) -> Piecewise:
    names = ("velocity", "acceleration", "jerk")[: len(limits)]
    make = jerk_bounded if len(limits) == 3 else trapezoidal
    return make([0.0], [way], **dict(zip(names, limits, strict=True)))


def farthest(duration: float, limits: tuple[float, ...], count: int) -> float:
    """Longest way from rest to rest in a time: a linear programme over stepwise controls.

    The control, the highest derivative, is constant over each of ``count`` steps, so nothing
    it finds is beyond what limits that hold at the steps' ends allow.
    """
    h, order = duration / count, len(limits)
    step = np.array(
        [
            [
                h ** (j - i) / float(np.prod(range(1, j - i + 1))) if j >= i else 0.0
                for j in range(order)
            ]
            for i in range(order)
        ]
    )
    push = np.array(
        [h ** (order - i) / float(np.prod(range(1, order - i + 1))) for i in range(order)]
    )
    effect = np.zeros((count + 1, order, count))  # of control k on derivatives at step i
    for k in range(count):
        effect[k + 1] = np.einsum("ij,jk->ik", step, effect[k])
        effect[k + 1, :, k] += push
    inner = [effect[1:-1, i] for i in range(1, order)]
    bound = np.concatenate([np.full(count - 1, limits[i - 1]) for i in range(1, order)])
    rows = np.concatenate(inner)
    done = linprog(
        -effect[-1, 0],
        A_ub=np.concatenate([rows, -rows]),
        b_ub=np.concatenate([bound, bound]),
        A_eq=effect[-1, 1:],
        b_eq=np.zeros(order - 1),
        bounds=(-limits[-1], limits[-1]),
    )
    assert done.status == 0
    return float(-done.fun)


@pytest.mark.parametrize("name", [name for name in BY_HAND if name not in {"nothing", "back"}])
def test_it_cannot_be_done_quicker(name: str) -> None:
    """In the same time nothing gets farther, and in 1 % less nothing gets as far."""
    way, limits, _ = BY_HAND[name]
    duration = profile(way, limits).duration
    # Between the steps the speed of a jerk-bounded motion may exceed what it is at them.
    slack = limits[-1] * (duration / 120) ** 2 / 8 * duration if len(limits) == 3 else 0.0
    best = farthest(duration, limits, 120)
    assert 0.985 * way <= best <= way * (1.0 + 1e-7) + slack
    assert farthest(0.97 * duration, limits, 120) < 0.995 * way


def test_it_becomes_a_reference() -> None:
    motion = jerk_bounded([0.0, 1.0], [1.0, -1.0], velocity=1, acceleration=2, jerk=9, begin=7.0)
    reference, out = motion.reference(), SampleBuffer(2)
    for t in np.linspace(6.5, motion.end + 0.5, 41):
        sample_into(reference, t, out)
        assert_allclose(out.values[:3], motion.derivatives(t, 2), atol=1e-12)
    assert out.finished
    still = trapezoidal([1.0], [1.0], velocity=1, acceleration=1)
    buffer = SampleBuffer(1)
    sample_into(still.reference(), 0.0, buffer)
    assert (buffer.q[0], buffer.finished) == (1.0, True)


def test_large_clocks_do_no_harm() -> None:
    near = trapezoidal([0.0], [1.0], velocity=1, acceleration=2)
    far = trapezoidal([0.0], [1.0], velocity=1, acceleration=2, begin=2.0**31)
    t = np.arange(13) / 8.0
    assert_array_equal(far.derivatives(2.0**31 + t, 2), near.derivatives(t, 2))


def test_shapes_and_pickle() -> None:
    motion = trapezoidal([0.0, 1.0], [1.0, 1.0], velocity=[1, 2], acceleration=2)
    t = np.linspace(0.0, 2.0, 6).reshape(2, 3)
    assert motion.derivatives(t, 2).shape == (2, 3, 3, 2)
    again = pickle.loads(pickle.dumps(motion))
    assert_array_equal(again.derivatives(t, 2), motion.derivatives(t, 2))
    with pytest.raises(ValueError, match="read-only"):
        again.coefficients[0] = 0.0


GOOD: dict[str, Any] = {"start": [0.0, 0.0], "goal": [1.0, 1.0], "velocity": 1, "acceleration": 1}
REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "NaN": ({"goal": [float("nan"), 0.0]}, ["goal", "NaN"]),
    "other joints": ({"goal": [1.0]}, ["goal", "1 joints, start 2"]),
    "no joints": ({"start": [], "goal": []}, ["goal", "at least one"]),
    "a number": ({"start": 0.0}, ["start", "()"]),
    "no speed": ({"velocity": 0.0}, ["velocity", "is 0", "above 0"]),
    "negative": ({"acceleration": [1.0, -2.0]}, ["acceleration", "is -2", "above 0"]),
    "other limits": ({"velocity": [1.0] * 3}, ["velocity", "(3,)", "2"]),
    "NaN limit": ({"velocity": float("nan")}, ["velocity", "NaN"]),
    "infinite limit": ({"velocity": float("inf")}, ["velocity", "infinity"]),
    "no jerk": ({"jerk": 0.0}, ["jerk", "above 0"]),
    "too far": ({"start": [-1e308] * 2, "goal": [1e308] * 2}, ["goal", "SI units"]),
    "begin": ({"begin": float("nan")}, ["begin", "NaN"]),
}


@pytest.mark.parametrize(("wrong", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(wrong: dict[str, Any], words: list[str]) -> None:
    makers = [jerk_bounded] if "jerk" in wrong else [jerk_bounded, trapezoidal]
    for make in makers:
        extra = {"jerk": 1.0} if make is jerk_bounded else {}
        make(**{**GOOD, **extra})
        with pytest.raises(gd.GearedDynamicsError) as caught:
            make(**{**GOOD, **extra, **wrong})
        for word in words:
            assert word in str(caught.value)


def test_impulses_are_refused() -> None:
    motion = trapezoidal([0.0], [1.0], velocity=1, acceleration=2)
    with pytest.raises(gd.GearedDynamicsError, match=r"order: is 3, and derivative 2 .* jumps"):
        motion.derivatives(0.5, 3)
    jerky = jerk_bounded([0.0], [1.0], velocity=1, acceleration=2, jerk=3)
    assert abs(jerky.derivatives(0.1, 3)[3, 0]) == 3.0
    with pytest.raises(gd.GearedDynamicsError, match="continuous=4"):
        jerky.derivatives(0.5, 4)
