"""ROS time is the system's, until somebody simulates it."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (the extra 'ros', or a ROS 2 system)")


class FakeClock:
    """What RosTime asks of rclpy's clock."""

    def __init__(self, simulated: bool) -> None:
        self.ros_time_is_active = simulated
        self.changed: Callable[[Any], None] | None = None

    def create_jump_callback(self, threshold: Any, *, post_callback: Callable[[Any], None]) -> Any:
        assert threshold.on_clock_change
        self.changed = post_callback
        return self

    def now(self) -> Any:
        return SimpleNamespace(nanoseconds=42)


def test_it_changes_with_the_clocks_source() -> None:
    from geared_dynamics.ros.lifecycle_node import RosTime

    clock = FakeClock(simulated=False)
    ros_time = RosTime(clock)
    assert ros_time.now is time.time_ns
    for simulated in (True, False, True):
        clock.ros_time_is_active = simulated
        assert clock.changed is not None
        clock.changed(None)
        assert (ros_time.now() == 42) is simulated
    assert RosTime(FakeClock(simulated=True)).now() == 42
