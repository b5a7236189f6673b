"""Levels and texts of /diagnostics."""

from __future__ import annotations

import pytest

from geared_dynamics.control.safety import Event, Mode
from geared_dynamics.runtime.loop_time import Figures

pytest.importorskip("diagnostic_msgs", reason="needs ROS 2 (the extra 'ros')")

from geared_dynamics.ros import diagnostics as at

GOOD = Figures(1000, 1000.0, (1e-3, 2e-5, 2e-3), (3e-5, 5e-5, 9e-5), (1e-4, 2e-4))


@pytest.mark.parametrize(
    ("figures", "rate", "level"),
    [
        (GOOD, 0, at.OK),
        (GOOD, 1000, at.OK),
        (GOOD, 1006, at.WARN),
        (GOOD, 1100, at.ERROR),
        (GOOD._replace(compute=(1.2e-3, 2e-3, 3e-3)), 0, at.WARN),
        (GOOD._replace(compute=(2.2e-3, 3e-3, 4e-3)), 0, at.ERROR),
        (GOOD._replace(cycles=0), 0, at.STALE),
    ],
)
def test_levels_of_the_loop(figures: Figures, rate: float, level: bytes) -> None:
    assert at.loop_status(figures, rate).level == level


@pytest.mark.parametrize(
    ("mode", "events", "level", "words"),
    [
        (Mode.RUNNING, Event.NONE, at.OK, "runs"),
        (Mode.RUNNING, Event.COMMAND_LIMIT, at.WARN, "command limit"),
        (Mode.HOLDING, Event.NO_REFERENCE, at.OK, "holding: no reference"),
        (Mode.HOLDING, Event.TRACKING_ERROR, at.ERROR, "holding: tracking error"),
        (Mode.OPEN_LOOP, Event.STALE_STATE, at.ERROR, "open_loop: stale state"),
        (Mode.RAMPING_TO_ZERO, Event.EMERGENCY_STOP, at.ERROR, "ramping_to_zero: emergency stop"),
    ],
)
def test_levels_of_safety(mode: Mode, events: Event, level: bytes, words: str) -> None:
    found = at.safety_status(mode, events, ValueError("no mass"), {"failed computations": 3})
    assert (found.level, found.message) == (level, words)
    assert found.values["failed computations"] == "3"
    assert found.values["last error"] == "no mass"


def test_levels_of_ages_and_model() -> None:
    nan = float("nan")
    assert at.ages_status(nan, nan, 0.05).level == at.STALE
    assert at.ages_status(0.01, nan, 0.05).level == at.OK
    assert at.ages_status(0.06, 0.0, 0.05).level == at.ERROR
    assert at.model_status({"robot": "arm"}, "").message == "arm"
    assert at.model_status({}, "no model is loaded").level == at.ERROR
