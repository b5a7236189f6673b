"""Figures of the loop from its counters."""

from __future__ import annotations

import math

import pytest

from geared_dynamics.runtime.loop_time import KEPT, Timing


def test_figures_of_a_second() -> None:
    timing = Timing()
    timing.report(10.0)
    for k in range(100):
        begin = 10.0 + 0.01 * k
        timing.add(begin, begin + (2e-5 if k else 9e-5), 1e-4)
    found = timing.report(11.0)
    assert found.cycles == 100
    assert found.rate == pytest.approx(100.0)
    assert found.period == pytest.approx((0.01, 0.0, 0.01), abs=1e-9)
    assert found.compute[0] == pytest.approx(2e-5, rel=1e-6)
    assert found.compute[2] == pytest.approx(9e-5, rel=1e-6)
    assert found.latency == pytest.approx((1e-4, 1e-4))


def test_nothing_is_no_number() -> None:
    found = Timing().report(1.0)
    assert found.cycles == 0
    assert math.isnan(found.compute[0])


def test_more_cycles_than_are_kept() -> None:
    timing = Timing()
    for k in range(2 * KEPT):
        timing.add(1e-4 * k, 1e-4 * k + 1e-5, 0.0)
    found = timing.report(1e-4 * 2 * KEPT)
    assert found.cycles == 2 * KEPT
    assert found.period[0] == pytest.approx(1e-4)
