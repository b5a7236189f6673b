"""A run of the demo, as its conductor follows it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geared_dynamics.ros import demo_conductor as demo


def test_it_ends_when_all_that_was_measured_has_come() -> None:
    """A process that had to wait reads all joint states first, then those of the motors."""
    newest = {demo.STATES: 0, demo.MOTORS: 0, demo.COMMANDS: 0}
    coming = iter([(topic, 10 * k) for topic in list(newest)[:2] for k in range(1, 6)])
    conductor: Any = object.__new__(demo.Conductor)
    conductor._recorder = SimpleNamespace(newest=newest)

    def until(ready: Callable[[], object], _: str) -> None:
        while not ready():
            topic, time = next(coming)
            newest[topic] = time

    conductor._until = until
    conductor._follow("run", 0, 50)
    assert newest[demo.MOTORS] == 50
