"""When the plant steps, with a plant and an executor that only keep count."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (the extra 'ros')")

from geared_dynamics.ros import process


class Arm(SimpleNamespace):
    """What ``real_time`` needs of a node; notes what is done, in order."""

    def __init__(self) -> None:
        super().__init__(paused=False, commanded=True, period=1e-3, zero=0, done=[])
        self.failed = self.done.append

    def publish(self) -> None:
        self.done.append("publish")

    def advance(self) -> None:
        self.done.append("advance")

    def rewind(self) -> None:
        self.done.append("rewind")


def test_no_time_passes_after_the_answer_that_it_is_stopped() -> None:
    """The pause comes in the middle of a period; the step that was due then is not taken."""
    arm = Arm()

    def spin_once(**_: Any) -> None:
        if arm.done.count("publish") == 2 and not arm.paused:
            arm.paused = True
            arm.done.append("paused")

    executor = SimpleNamespace(spin_once=spin_once)
    process.real_time(arm, executor, lambda: arm.done.count("publish") == 4)  # type: ignore[arg-type]
    before, after = arm.done[: arm.done.index("paused")], arm.done[arm.done.index("paused") :]
    assert before.count("advance") == 1
    assert "advance" not in after
    assert after.count("rewind") >= 1, "its states are stamped with the time that it is"
