"""References: right values, as smooth as they say, refused where they are not."""

from __future__ import annotations

import pickle
from math import comb, factorial
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import BSpline, make_interp_spline

import geared_dynamics as gd
from geared_dynamics.trajectory import Spline, rest_to_rest, through
from naive.measure import derivative, error

ROUNDING = 1e-12
TIMES = [0.0, 0.4, 1.0, 1.3, 2.0]
POINTS = np.random.default_rng(0).normal(size=(5, 3))


@pytest.mark.parametrize("k", [0, 1, 2, 4, 8, 14])
def test_rest_to_rest_is_the_known_polynomial(k: int) -> None:
    """s(u) = sum over j > k of Bernstein's polynomials, and its derivative, u^k (1 - u)^k c."""
    motion = rest_to_rest([1.0, -2.0], [3.0, -2.5], 2.0, continuous=k, begin=5.0)
    u = np.linspace(0.0, 1.0, 11)
    degree = 2 * k + 1
    s = sum(comb(degree, j) * u**j * (1 - u) ** (degree - j) for j in range(k + 1, degree + 1))
    found = motion.derivatives(5.0 + 2.0 * u, min(k, 1))
    assert error(found[:, 0], np.array([1.0, -2.0]) + s[:, None] * [2.0, -0.5]) < ROUNDING
    if k:
        constant = factorial(degree) / factorial(k) ** 2
        rate = constant * (u * (1 - u)) ** k / 2.0
        assert error(found[:, 1], rate[:, None] * [2.0, -0.5]) < ROUNDING
    assert motion.continuous == (k, k)
    assert (motion.start, motion.end, motion.n) == (5.0, 7.0, 2)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_through_points_is_scipys_spline(k: int) -> None:
    motion = through(TIMES, POINTS, continuous=k)
    ends = [(i, np.zeros(3)) for i in range(1, k + 1)]
    expected = make_interp_spline(TIMES, POINTS, k=2 * k + 1, bc_type=(ends, ends))
    t = np.linspace(0.0, 2.0, 41)
    found = motion.derivatives(t, k)
    for i in range(k + 1):
        assert error(found[:, i], expected(t, i)) < 1e-9
    assert error(motion.derivatives(TIMES, 0)[:, 0], POINTS) < ROUNDING


@pytest.mark.parametrize("k", [2, 5, 9])
def test_rows_are_derivatives_and_continuous(k: int) -> None:
    motion = through(TIMES, POINTS, continuous=k)
    at = motion.derivatives(0.7, k)
    slopes = derivative(lambda h: motion.derivatives(0.7 + h, k - 1))
    assert error(slopes / (1.0 + np.abs(at[1:])), at[1:] / (1.0 + np.abs(at[1:]))) < 1e-6
    near = 1e-10
    for t in TIMES:
        low, high = motion.derivatives([t - near, t + near], k)
        scale = np.abs(motion.derivatives(np.linspace(0, 2, 101), k)).max(axis=0)
        assert np.all(np.abs(high - low) < 1e-6 * scale)


def test_it_rests_outside() -> None:
    motion = through(TIMES, POINTS, continuous=3)
    for t, point in ((-1.0, POINTS[0]), (0.0, POINTS[0]), (2.0, POINTS[-1]), (9.0, POINTS[-1])):
        found = motion.derivatives(t, 3)
        np.testing.assert_array_equal(found[0], point)
        np.testing.assert_array_equal(found[1:], 0.0)


def test_shapes() -> None:
    motion = through(TIMES, POINTS, continuous=3)
    t = np.linspace(-0.5, 2.5, 6).reshape(2, 3)
    found = motion.derivatives(t, 2)
    assert found.shape == (2, 3, 3, 3)
    np.testing.assert_array_equal(found[1, 2], motion.derivatives(t[1, 2], 2))
    assert motion.derivatives([], 2).shape == (0, 3, 3)
    many = np.linspace(-0.1, 2.1, 300)
    together = motion.derivatives(many, 3)
    for k in (0, 127, 128, 255, 256, 299):
        np.testing.assert_array_equal(together[k], motion.derivatives(many[k], 3))


def test_own_knots() -> None:
    """Any clamped knots; a double knot costs a derivative, a joint at rest none."""
    knots = [0, 0, 0, 0, 1, 2, 2, 3, 3, 3, 3]
    coefficients = np.c_[[0.0, 0, 0, 1, 2, 2, 2], [0.0, 0, 1, 1, 2, 2, 2], np.ones(7)]
    motion = Spline(3, knots, coefficients, ("a", "b", "c"))  # type: ignore[arg-type]
    assert motion.continuous[:2] == (1, 1)
    assert motion.continuous[2] > 100
    t = np.linspace(0.0, 3.0, 31)
    expected = BSpline(np.array(knots, float), coefficients, 3)
    assert error(motion.derivatives(t, 1)[:, 0], expected(t)) < ROUNDING
    assert error(motion.derivatives(t, 1)[:, 1], expected(t, 1)) < ROUNDING
    with pytest.raises(gd.GearedDynamicsError, match=r"order: is 2, and 'a', 'b' has .* up to 1"):
        motion.derivatives(0.5, 2)


def test_the_rough_joint_is_named() -> None:
    coefficients = np.c_[[0.0, 0, 0, 1, 1, 1], [0.0, 1, 1, 1, 1, 1]]
    knots = [0.0] * 6 + [1.0] * 6
    motion = Spline(5, knots, coefficients, ("shoulder", "elbow"))  # type: ignore[arg-type]
    assert motion.continuous == (2, 0)
    with pytest.raises(gd.GearedDynamicsError, match="'elbow'") as caught:
        motion.derivatives(0.5, 1)
    assert "shoulder" not in str(caught.value)
    assert "continuous=1" in caught.value.remedy


def test_a_pickled_motion_is_the_same() -> None:
    motion = through(TIMES, POINTS, continuous=3)
    motion.derivatives(0.3, 1)
    again = pickle.loads(pickle.dumps(motion))
    np.testing.assert_array_equal(again.derivatives(0.3, 3), motion.derivatives(0.3, 3))
    with pytest.raises(ValueError, match="read-only"):
        again.coefficients[0] = 0.0


GOOD_MOTION: dict[str, Any] = {"start": [0.0], "goal": [1.0], "duration": 1.0, "continuous": 3}
GOOD_POINTS: dict[str, Any] = {
    "times": [0, 1, 2],
    "points": [[0.0], [1.0], [2.0]],
    "continuous": 2,
}
KNOTS = [0.0, 0.0, 0.5, 1.0, 1.0]
GOOD_SPLINE: dict[str, Any] = {"degree": 1, "knots": KNOTS, "coefficients": [[0.0], [1.0], [2.0]]}
NAN = float("nan")
# Function, good arguments, the changed one, words in the error.
REFUSED: dict[str, tuple[Any, dict[str, Any], dict[str, Any], list[str]]] = {
    "no time": (rest_to_rest, GOOD_MOTION, {"duration": 0.0}, ["duration", "above 0"]),
    "time runs back": (rest_to_rest, GOOD_MOTION, {"duration": -1}, ["duration", "-1"]),
    "time is text": (rest_to_rest, GOOD_MOTION, {"duration": "1 s"}, ["duration", "real"]),
    "NaN time": (rest_to_rest, GOOD_MOTION, {"begin": NAN}, ["begin", "NaN"]),
    "NaN goal": (rest_to_rest, GOOD_MOTION, {"goal": [NAN]}, ["goal", "NaN"]),
    "other joints": (rest_to_rest, GOOD_MOTION, {"goal": [1, 2]}, ["goal", "2 joints", "1"]),
    "a number": (rest_to_rest, GOOD_MOTION, {"start": 1.0}, ["start", "()"]),
    "half a derivative": (rest_to_rest, GOOD_MOTION, {"continuous": 2.5}, ["continuous", "whole"]),
    "fewer than none": (rest_to_rest, GOOD_MOTION, {"continuous": -1}, ["continuous", "-1"]),
    "true": (rest_to_rest, GOOD_MOTION, {"continuous": True}, ["continuous", "True"]),
    "too many": (rest_to_rest, GOOD_MOTION, {"continuous": 10**9}, ["continuous", "160"]),
    "names": (rest_to_rest, GOOD_MOTION, {"joint_names": ["a", "b"]}, ["joint_names", "1 joint"]),
    "one name": (rest_to_rest, GOOD_MOTION, {"joint_names": "a"}, ["joint_names", "string"]),
    "one point": (through, GOOD_POINTS, {"times": [0]}, ["times", "two"]),
    "same time": (through, GOOD_POINTS, {"times": [0, 1, 1]}, ["times", "do not increase"]),
    "missing point": (through, GOOD_POINTS, {"points": [[0.0], [1.0]]}, ["points", "(2, 1)"]),
    "flat points": (through, GOOD_POINTS, {"points": [0, 1, 2]}, ["points", "(3,)"]),
    "no joint": (through, GOOD_POINTS, {"points": np.zeros((3, 0))}, ["points", "(3, 0)"]),
    "infinite point": (through, GOOD_POINTS, {"points": [[0], [np.inf], [1]]}, ["points", "inf"]),
    "degree": (Spline, GOOD_SPLINE, {"degree": 1.0}, ["degree", "1.0"]),
    "knots": (Spline, GOOD_SPLINE, {"knots": KNOTS[1:]}, ["knots", "4 times", "5"]),
    "falling": (Spline, GOOD_SPLINE, {"knots": [0, 0, 2, 1, 1]}, ["knots", "not decrease"]),
    "not clamped": (Spline, GOOD_SPLINE, {"knots": [0, 0.1, 0.5, 1, 1]}, ["knots", "equal"]),
    "knot at the end": (Spline, GOOD_SPLINE, {"knots": [0, 0, 0, 1, 1]}, ["knots", "equal"]),
    "few": (Spline, GOOD_SPLINE, {"coefficients": [[0.0]]}, ["coefficients", "at least 2"]),
    "NaN": (Spline, GOOD_SPLINE, {"coefficients": [[0], [NAN], [0]]}, ["coefficients", "NaN"]),
}


@pytest.mark.parametrize(("make", "good", "wrong", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(make: Any, good: dict[str, Any], wrong: dict[str, Any], words: list[str]) -> None:
    make(**good)
    with pytest.raises(gd.GearedDynamicsError) as caught:
        make(**{**good, **wrong})
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(("t", "order"), [(NAN, 1), ("x", 1), (0.0, 1.5), (0.0, -1), (None, 1)])
def test_bad_times(t: Any, order: Any) -> None:
    with pytest.raises(gd.GearedDynamicsError):
        through(TIMES, POINTS, continuous=3).derivatives(t, order)


def test_rates_beyond_all_numbers_are_refused() -> None:
    """Points 1e300 apart within a nanosecond: the path is finite, its rates are not."""
    far = through([0.0, 1e-9, 2e-9], [[0.0], [1e300], [0.0]], continuous=2)
    assert np.isfinite(far.derivatives(1.5e-9, 0)).all()
    with pytest.raises(gd.GearedDynamicsError, match="times so near, that it overflows"):
        far.derivatives(1.5e-9, 2)
