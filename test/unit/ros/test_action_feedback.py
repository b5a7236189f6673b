"""Feedback of goals with the messages of each release: ``index`` came with control_msgs 6.3."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2")

from feedforward_rig import JOINTS, elbow
from geared_dynamics.ros.action import Feedback
from geared_dynamics.ros.relay import Relay
from goal_bench import REST, Bench


class Older:
    """The action's feedback up to control_msgs 6.2: nothing else may be set."""

    __slots__ = ("actual", "desired", "error", "header", "joint_names")

    def __init__(self, joint_names: Any = ()) -> None:
        from std_msgs.msg import Header
        from trajectory_msgs.msg import JointTrajectoryPoint

        self.joint_names, self.header = joint_names, Header()
        self.desired, self.actual, self.error = (JointTrajectoryPoint() for _ in range(3))


class Newer(Older):
    """And since."""

    __slots__ = ("index",)

    def __init__(self, joint_names: Any = ()) -> None:
        super().__init__(joint_names)
        self.index = 0


@pytest.fixture
def bench() -> Bench:
    bench = Bench(elbow())
    bench.send("goal", REST + 0.1, 2.0)
    bench.run(1.0)
    return bench


@pytest.mark.parametrize("kind", [Older, Newer])
def test_the_node_fills_what_there_is(bench: Bench, kind: type[Older]) -> None:
    assert bench.goals.judge(bench.t)
    feedback = Feedback(SimpleNamespace(Feedback=kind), JOINTS, 20.0)
    progress = bench.goals.progress()
    message = feedback.filled(bench.loop, progress, 3_500_000_000, 7.0)
    np.testing.assert_array_equal(message.desired.positions, bench.loop.present.q)
    np.testing.assert_array_equal(message.actual.positions, bench.q)
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (3, 500_000_000)
    assert getattr(message, "index", 0) == progress.point == 0
    assert feedback.due == pytest.approx(7.0 + 0.98 / 20.0)


@pytest.mark.parametrize("kind", [Older, Newer])
def test_the_relay_passes_on_what_there_is(kind: type[Older]) -> None:
    sent: list[Older] = []
    entry: Any = SimpleNamespace(
        times=[0.5, 1.0, 2.0], handle=SimpleNamespace(publish_feedback=sent.append)
    )
    relay = Relay.__new__(Relay)
    relay._under_way = [entry]
    message = kind(JOINTS)
    message.desired.time_from_start.nanosec = 700_000_000
    relay._on_feedback(entry, SimpleNamespace(feedback=message))
    assert sent == [message]
    assert getattr(message, "index", 1) == 1, "of the points that the client has given"


def test_a_goal_that_the_controller_no_longer_knows_is_aborted_with_a_code() -> None:
    """A controller that has started again answers with an empty result: code 0, success."""
    from action_msgs.msg import GoalStatus

    ended: list[Any] = []
    entry: Any = SimpleNamespace(handle="handle", theirs=None, cancelled=False)
    relay = Relay.__new__(Relay)
    relay.name, relay._under_way = "/arm/follow_joint_trajectory", [entry]
    relay._finish = lambda handle, ending, result: ended.append((handle, ending, result))
    empty = SimpleNamespace(error_code=0, error_string="")
    answer = SimpleNamespace(status=GoalStatus.STATUS_UNKNOWN, result=empty)
    relay._on_result(entry, SimpleNamespace(result=lambda: answer))
    handle, ending, result = ended[0]
    assert (handle, ending.status, ending.code, result) == ("handle", "aborted", -1, None)
    assert "is gone" in ending.text
    assert relay._under_way == []
