"""Messages of the observer node: as they are sent, and how commands age."""

from __future__ import annotations

import numpy as np
import pytest

from geared_dynamics.runtime.observer_estimates import Level
from observer_node_arm import arm, values


def test_serialised_messages_are_what_rclpy_reads() -> None:
    serialization = pytest.importorskip("rclpy.serialization", reason="the extra 'ros'")
    from sensor_msgs.msg import JointState

    from geared_dynamics.ros.joint_state_wire import Fields

    fields = Fields(["a", "b"], ["position", "effort"])
    data = fields.serialised(
        Level.BRIDGED, 3_000_000_004, {"position": np.array([1.0, 2.0]), "effort": None}
    )
    read = serialization.deserialize_message(data, JointState)
    assert (read.header.stamp.sec, read.header.stamp.nanosec) == (3, 4)
    assert read.header.frame_id == "bridged"
    assert list(read.name) == ["a", "b"]
    assert list(read.position) == [1.0, 2.0]
    assert np.isnan(read.effort).all()
    assert len(read.velocity) == 0


def test_commands_age_by_the_clock_that_is_given() -> None:
    """While a simulation pauses they do not; where its time begins again they are none."""
    pytest.importorskip("rclpy", reason="the extra 'ros'")
    from std_msgs.msg import Float64MultiArray

    from geared_dynamics.ros.observer_topics import Torques

    class Node:
        """Keeps the callback."""

        def create_subscription(self, *given: object) -> None:
            self.callback = given[2]

    now, node = [5.0], Node()
    torques = Torques(node, print, lambda: now[0])
    torques.prepare(values(torque_source="commands", torque_kind="motor_torque"), arm())
    assert torques.newest(5.0, 0.05) is None
    node.callback(Float64MultiArray(data=[1.0, 2.0, 3.0]))  # type: ignore[operator]
    for when, known in ((5.0, True), (5.04, True), (5.06, False), (1.0, False)):
        assert (torques.newest(when, 0.05) is not None) == known
    assert torques.newest(1e6, 0.0) is not None, "no limit"
