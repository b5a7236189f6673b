from __future__ import annotations

import math

import numpy as np
import pytest

from geared_dynamics.runtime.latency_figures import (
    NEVER,
    Result,
    RoundTrip,
    StepAllowance,
    Subject,
    Usage,
    round_trip,
)

PERIOD = 1_000_000  # [ns]


def trips(microseconds: list[float]) -> RoundTrip:
    sent = np.arange(len(microseconds), dtype=np.int64) * PERIOD
    took = np.array(microseconds)
    received = np.where(took < 0, NEVER, sent + (1e3 * took).astype(np.int64))
    return round_trip(sent, received.astype(np.int64), PERIOD)


def result(measured: list[float], bare: list[float], growth: int = 0) -> Result:
    usage = Usage(0.1, growth)
    subjects = Subject("node", trips(measured), usage), Subject("echo", trips(bare), usage)
    return Result(1000, 60.0, *subjects, compute=None, executor="EventsExecutor")


def test_percentiles_and_the_slowest() -> None:
    found = trips([float(x) for x in range(1, 1001)])
    assert found.p50 == pytest.approx(500.5)
    assert found.p99 == pytest.approx(990.01)
    assert found.longest == 1000.0
    assert (found.cycles, found.missed, found.lost) == (1000, 0, 0)


def test_late_and_lost_replies_are_missed_cycles() -> None:
    found = trips([200.0, 1000.0, 1000.1, 5000.0, -1.0])
    assert (found.missed, found.lost) == (3, 1)
    assert found.longest == 5000.0


def test_a_silent_node_passes_nothing() -> None:
    silent = result([-1.0] * 10, [100.0] * 10)
    assert silent.subject.trip.missed == 10
    assert math.isnan(silent.median_ratio)
    assert not any(check.passed for check in silent.verdicts()[:3])


def test_ratios_are_checked_against_the_limits() -> None:
    good = result([130.0] * 1000, [100.0] * 1000)
    assert all(check.passed for check in good.verdicts())
    assert good.median_ratio == pytest.approx(1.3)
    slow = result([140.0] * 1000, [100.0] * 1000)
    assert [check.passed for check in slow.verdicts()] == [False, True, True, True]
    uneven = result([100.0] * 980 + [160.0] * 20, [100.0] * 1000)
    assert [check.passed for check in uneven.verdicts()] == [True, False, True, True]


def test_missed_cycles_count_beyond_the_bare_nodes() -> None:
    even = result([100.0] * 998 + [-1.0] * 2, [100.0] * 998 + [-1.0] * 2)
    assert all(check.passed for check in even.verdicts())
    more = result([100.0] * 996 + [-1.0] * 4, [100.0] * 998 + [-1.0] * 2)
    assert not more.verdicts()[2].passed


def test_memory_may_grow_by_a_megabyte_a_minute() -> None:
    assert result([100.0], [100.0], 999_999).verdicts()[3].passed
    assert not result([100.0], [100.0], 1_100_000).verdicts()[3].passed
    assert len(result([100.0], [100.0], 0)._replace(compute=59.0).verdicts()) == 5


def test_the_figures_are_plain_data() -> None:
    import json

    data = json.loads(json.dumps(result([130.0] * 10, [100.0] * 10).as_dict()))
    assert data["median_ratio"] == pytest.approx(1.3)
    assert data["nodes"]["measured"]["round_trip_us"]["p50"] == 130.0
    assert all(check["passed"] for check in data["checks"])


def test_an_observers_step_is_allowed_beside_the_rest() -> None:
    late = [300.0] * 980 + [400.0] * 20
    made = result(late, [100.0] * 1000)._replace(compute=190.0, inside=140.0)
    assert not any(check.passed for check in made.verdicts()[:2])
    enough = made._replace(step=StepAllowance(170.0, 251.0))
    assert all(check.passed for check in enough.verdicts())
    assert not enough._replace(step=StepAllowance(160.0, 251.0)).verdicts()[0].passed
    assert not enough._replace(step=StepAllowance(170.0, 240.0)).verdicts()[1].passed
    assert not enough._replace(inside=120.0).verdicts()[-1].passed
    silent = enough._replace(subject=Subject("node", trips([-1.0] * 10), Usage(None, None)))
    assert not any(check.passed for check in silent.verdicts()[:2])
    assert enough.as_dict()["step_us"] == {"p50": 170.0, "p99": 251.0}
