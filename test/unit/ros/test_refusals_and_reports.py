"""What the feedforward node logs of its decisions, and of goals that it refuses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2")

from rclpy.action import GoalResponse

from geared_dynamics.control.safety import Decision, Mode
from geared_dynamics.control.safety import memory as event
from geared_dynamics.ros.action import TrajectoryAction
from geared_dynamics.ros.reporter import FeedforwardReporter

RESET = "remove the cause, then send a new trajectory or call ~/reset"


class Log:
    """Lines by severity."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def info(self, text: str) -> None:
        self.lines.append(("info", text))

    def error(self, text: str) -> None:
        self.lines.append(("error", text))


def node(log: Log, **facts: Any) -> Any:
    loop = SimpleNamespace(
        given_up=False,
        error=None,
        clock=SimpleNamespace(stopped=False),
        counters=SimpleNamespace(refused=0),
    )
    given = {"loop": loop, "active": False, "state_label": "inactive", "get_logger": lambda: log}
    return SimpleNamespace(**(given | facts))


@pytest.mark.parametrize(
    ("mode", "detected", "latched", "line"),
    [
        (Mode.RUNNING, event.POSITION_NEAR, 0, ("info", "running: following the reference")),
        (Mode.OPEN_LOOP, event.STALE_STATE | event.POSITION_NEAR, 0,
         ("error", "open_loop: stale state; it ends with the cause")),
        (Mode.HOLDING, 0, event.VELOCITY_LIMIT,
         ("info", "holding: velocity limit; a new trajectory or ~/reset ends it")),
        (Mode.HOLDING, event.STALE_STATE, event.VELOCITY_LIMIT,
         ("error", f"holding: stale state, velocity limit; {RESET}")),
        (Mode.HOLDING, 0, 0, ("info", "holding: recovering")),
    ],
)  # fmt: skip
def test_what_stops_an_arm_and_what_is_latched_are_told(
    mode: Mode, detected: int, latched: int, line: tuple[str, str]
) -> None:
    """Both in one list; what is near a limit is no reason."""
    log = Log()
    made = FeedforwardReporter.__new__(FeedforwardReporter)
    made._node = node(log)
    made.begin()
    made.report(Decision(np.zeros(2), mode, detected, latched))
    assert log.lines == [line]
    made.report(Decision(np.zeros(2), mode, detected, latched))
    assert log.lines == [line], "said once"


def test_a_goal_that_comes_too_early_is_refused_and_counted() -> None:
    """With a loop; a node that was never configured has none to count in."""
    log = Log()
    asked = node(log)
    action = TrajectoryAction(asked)
    goal = SimpleNamespace(trajectory=SimpleNamespace(points=[]))
    for count in (1, 2):
        assert action._on_goal(goal) == GoalResponse.REJECT
        assert asked.loop.counters.refused == count
    assert TrajectoryAction(node(log, loop=None))._on_goal(goal) == GoalResponse.REJECT
    assert [severity for severity, _ in log.lines] == 3 * ["error"]
    assert all("is inactive; activate it first" in text for _, text in log.lines)
