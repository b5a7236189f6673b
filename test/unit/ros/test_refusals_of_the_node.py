"""What the feedforward node refuses, without a process: goals, topics, descriptions, messages."""

from __future__ import annotations

import ctypes
from array import array
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2")

from rclpy.exceptions import InvalidTopicNameException
from std_msgs.msg import Float64MultiArray

from geared_dynamics.ros import joint_state_wire, process, trajectories
from geared_dynamics.ros.action import MOST_POINTS, refuse_long
from geared_dynamics.runtime.parameters import ParameterError
from geared_dynamics.trajectory import TrajectoryError
from node_values import feedforward

REST, STILL = np.array([0.3, 0.5, -0.4]), np.zeros(3)


def test_goals_have_a_largest_length() -> None:
    refuse_long(SimpleNamespace(points=[None] * MOST_POINTS))
    with pytest.raises(TrajectoryError, match=f"has {MOST_POINTS + 1} points; give at most"):
        refuse_long(SimpleNamespace(points=[None] * (MOST_POINTS + 1)))


def test_a_topic_that_is_none() -> None:
    def get(topic: str, kind: Any) -> str:
        if " " in topic:
            raise InvalidTopicNameException(topic, "blank", 1)
        return topic

    node: Any = SimpleNamespace(
        parameters=feedforward(annotate__topic="~/out"),
        publishers_by_topic=SimpleNamespace(get=get),
    )
    assert trajectories.publisher(node) == "~/out"
    node.parameters = feedforward(annotate__topic="a b")
    with pytest.raises(ParameterError, match=r"annotate\.topic: is 'a b'; give a topic"):
        trajectories.publisher(node)


def test_numbers_that_a_middleware_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were they not found in the message, they would be written over something else."""
    message = Float64MultiArray(data=array("d", [0.0] * 3))
    made = joint_state_wire.Template(message, "data")
    made.values[:] = [1.0, 2.0, 3.0]
    data = made.serialised(0)
    assert np.array([1.0, 2.0, 3.0]).tobytes() in data
    monkeypatch.setattr(joint_state_wire, "serialize_message", lambda _: bytes(200))
    with pytest.raises(ValueError, match=r"Float64MultiArray\.data is not in its serialised form"):
        joint_state_wire.Template(message, "data")
    monkeypatch.setattr(joint_state_wire, "serialize_message", lambda _: bytes(200))
    with pytest.raises(ValueError, match=r"JointState\.position is not in its serialised form"):
        joint_state_wire.laid_out(["a"], ["position"], "base")


@pytest.mark.parametrize("refused", [False, True])
def test_memory_that_may_not_be_kept(refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def mlockall(flags: int) -> int:
        asked.append(flags)
        ctypes.set_errno(12)
        return -1 if refused else 0

    library = SimpleNamespace(mlockall=mlockall)
    monkeypatch.setattr(process.ctypes, "CDLL", lambda *_, **__: library)
    if refused:
        with pytest.raises(OSError, match="Cannot allocate memory"):
            process.lock_memory()
    else:
        process.lock_memory()
    assert asked == [1 | 2]  # what is there, and what will be
