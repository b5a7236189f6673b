"""Sine and cosine of the kernels against numbers of 50 digits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from numba import njit

from geared_dynamics.kernels import joint
from geared_dynamics.kernels.joint import LIMIT
from geared_dynamics.kernels.memory import FUSED


@njit
def sine_cosine(x: float) -> tuple[float, float]:
    """What kernels call; Python cannot, once one of them is compiled."""
    return joint.sine_cosine(x)


def angles() -> list[float]:
    """Angles of all sizes, at and beside multiples of a quarter turn, of both signs."""
    random = np.random.default_rng(5)
    quarters = np.round(random.uniform(-1.0, 1.0, 300) * LIMIT / (math.pi / 2)) * (math.pi / 2)
    eighths = (np.arange(-40, 40) + 0.5) * (math.pi / 2)
    spread = random.uniform(-1.0, 1.0, 600) * 10.0 ** random.uniform(-12, 5, 600)
    beside = np.nextafter([*quarters[:50], *eighths], np.inf)
    found = [*quarters, *eighths, *spread, *beside, 0.0, 5e-324, LIMIT, -LIMIT]
    return [float(x) for x in found if abs(x) <= LIMIT]


def test_within_an_ulp_up_to_the_limit() -> None:
    worst = 0.0
    with mpmath.workdps(50):
        for x in angles():
            exact = mpmath.sin(mpmath.mpf(x)), mpmath.cos(mpmath.mpf(x))
            for found, right in zip(sine_cosine(x), exact, strict=True):
                ulp = max(math.ulp(float(right)), 5e-324)
                worst = max(worst, abs(float((mpmath.mpf(found) - right) / ulp)))
    assert worst <= 1.0


@pytest.mark.parametrize("x", [1.000001e5, -3e7, 1e22, math.inf, -math.inf, math.nan])
def test_beyond_it_those_of_the_system(x: float) -> None:
    right = (math.sin(x), math.cos(x)) if math.isfinite(x) else (math.nan, math.nan)
    np.testing.assert_array_max_ulp(np.array(sine_cosine(x)), np.array(right), 1)


def test_signs_and_zeros() -> None:
    assert sine_cosine(0.0) == (0.0, 1.0)
    for x in (0.1, 1.0, 2.0, 4.0, 5.5, 7.0):
        s, c = sine_cosine(x)
        assert sine_cosine(-x) == (-s, c)


@pytest.mark.skipif(not FUSED, reason="this processor rounds products before it adds")
def test_the_negative_control_one_part_of_pi_is_not_enough() -> None:
    x = round(LIMIT / (math.pi / 2) / 2) * (math.pi / 2)
    k = round(x / (math.pi / 2))
    naive = x - k * (math.pi / 2)
    s, c = sine_cosine(x)
    assert abs(min(abs(s), abs(c)) - abs(naive)) > 1e-13
