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

import geared_dynamics as gd
from feedforward_rig import elbow
from geared_dynamics.control import controller
from geared_dynamics.errors import ModelError
from geared_dynamics.ros import joint_state_wire, process, trajectories
from geared_dynamics.ros.action import MOST_POINTS, refuse_long
from geared_dynamics.ros.model_node import rebuilt
from geared_dynamics.runtime import annotation, feedforward_loop
from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
from geared_dynamics.runtime.feedforward_schema import SCHEMA
from geared_dynamics.runtime.feedforward_settings import prepared
from geared_dynamics.runtime.parameters import ParameterError, expanded
from geared_dynamics.trajectory import TrajectoryError, rest_to_rest
from shafts import URDF

REST, STILL = np.array([0.3, 0.5, -0.4]), np.zeros(3)


@pytest.fixture
def moving() -> FeedforwardLoop:
    """A loop that has had a few good states."""
    model = elbow()
    entries = expanded(SCHEMA, model.joint_names, model.motor_names)
    values = {name: entry.default for name, entry in entries.items()} | {"mode": "stream"}
    made = FeedforwardLoop(prepared(values, model))
    for k in range(5):
        made.cycle(0.01 * k, 0.01 * k, REST, STILL)
    made.refuse(0.05)
    return made


def test_no_trajectory_while_the_node_stops(moving: FeedforwardLoop) -> None:
    moving.leave("gravity")
    with pytest.raises(TrajectoryError, match="node: is stopping; activate it again first"):
        moving.refuse(0.05)


def test_no_trajectory_while_states_are_in_doubt(
    moving: FeedforwardLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feedforward_loop, "in_doubt", lambda track: True)
    with pytest.raises(TrajectoryError, match=r"changed more than a joint can move; let only one"):
        moving.refuse(0.05)


def test_goals_have_a_largest_length() -> None:
    refuse_long(SimpleNamespace(points=[None] * MOST_POINTS))
    with pytest.raises(TrajectoryError, match=f"has {MOST_POINTS + 1} points; give at most"):
        refuse_long(SimpleNamespace(points=[None] * (MOST_POINTS + 1)))


def test_forces_beyond_all_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    motion = rest_to_rest(REST, REST + 0.1, 1.0, continuous=3)
    made: Any = SimpleNamespace(n=3, begin=0.0)
    monkeypatch.setattr(annotation, "derivatives", lambda _, t, k: motion.derivatives(t, k))
    control = controller(elbow())
    rows, effort = annotation.looked_at(made, control.setting, np.linspace(0.0, 1.0, 5))
    q, v, a = np.moveaxis(rows, 1, 0)
    np.testing.assert_allclose(effort, gd.inverse_dynamics(control.model, q, v, a), rtol=1e-12)
    lost = SimpleNamespace(torque=np.full((5, 3), np.inf))
    monkeypatch.setattr(annotation, "feedforward", lambda *_: lost)
    with pytest.raises(TrajectoryError, match="needs forces beyond all numbers; use SI units"):
        annotation.looked_at(made, control.setting, np.linspace(0.0, 1.0, 5))


def test_a_topic_that_is_none() -> None:
    def get(topic: str, kind: Any) -> str:
        if " " in topic:
            raise InvalidTopicNameException(topic, "blank", 1)
        return topic

    node: Any = SimpleNamespace(
        parameters=SimpleNamespace(values={"annotate.topic": "~/out"}),
        publishers_by_topic=SimpleNamespace(get=get),
    )
    assert trajectories.publisher(node) == "~/out"
    node.parameters.values["annotate.topic"] = "a b"
    with pytest.raises(ParameterError, match=r"annotate\.topic: is 'a b'; give a topic"):
        trajectories.publisher(node)


def test_a_description_of_another_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    old, other = elbow(), gd.load_model(URDF)
    monkeypatch.setattr("geared_dynamics.runtime.model_source.load", lambda *_: other)
    assert rebuilt({}, "text", None).changes == []
    with pytest.raises(ModelError, match="has other joints: joint; deactivate the node"):
        rebuilt({}, "text", old)
    monkeypatch.setattr("geared_dynamics.runtime.model_source.load", lambda *_: old)
    assert rebuilt({}, "text", old).changes == []


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
