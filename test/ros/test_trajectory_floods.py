"""Trajectories and goals that come faster than joint states: the newest counts, as for a JTC.

The node stands in the test's process and is never spun: each message comes when the test says so.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from feedforward_rig import DRIVETRAIN, JOINTS, POSTURE, URDF, joint_state, trajectory

STILL = [0.0] * 3


class Flooded:
    """A node in the mode stream at a posture."""

    def __init__(self, domain: int) -> None:
        from rclpy.context import Context
        from rclpy.parameter import Parameter

        from geared_dynamics.ros.feedforward import FeedforwardNode

        self.context = Context()
        self.context.init(domain_id=domain)
        values = {"urdf_path": str(URDF), "drivetrain": str(DRIVETRAIN), "mode": "stream"}
        values["safety.state_timeout"] = 10.0  # type: ignore[assignment]
        given = [Parameter(name, value=value) for name, value in values.items()]
        self.node: Any = FeedforwardNode(context=self.context, parameter_overrides=given)
        self.node.start()
        self.answered: list[np.ndarray] = []
        self.node.commands.send = lambda command, stamp: self.answered.append(command.copy())

    def joint_state(self) -> None:
        from rclpy.serialization import serialize_message

        message = joint_state(JOINTS, POSTURE, STILL, time.time_ns())
        self.node.on_joint_state(bytes(serialize_message(message)))

    def trajectory(self, off: float) -> None:
        """One that ends ``off`` the posture."""
        from rclpy.serialization import serialize_message

        message = trajectory(JOINTS, [(9.0, [x + off for x in POSTURE], STILL)])
        self.node.references.take(bytes(serialize_message(message)))

    def long_trajectory(self, off: float) -> None:
        """One that is read beside the loop, and has been read."""
        from rclpy.serialization import serialize_message

        points = [(9.0 + 0.01 * k, [x + off for x in POSTURE], STILL) for k in range(3000)]
        references = self.node.references
        references.take(bytes(serialize_message(trajectory(JOINTS, points))))
        assert references.work is not None
        references.work.future.exception(30.0)

    @property
    def led_to(self) -> float:
        """How far off the posture the arm is led."""
        from geared_dynamics.trajectory import sample

        motion = self.node.loop.motion
        return float(np.round(sample(motion, motion.end).q - POSTURE, 9)[0])


@pytest.fixture(scope="module")
def shared(ros_domain: int) -> Iterator[Flooded]:
    found = Flooded(ros_domain)
    yield found
    found.node.end()
    found.node.destroy_node()
    found.context.shutdown()


@pytest.fixture
def flooded(shared: Flooded) -> Flooded:
    """Held, with no trajectory."""
    shared.node.begin()
    shared.joint_state()
    shared.answered.clear()
    return shared


def test_between_two_joint_states_one_is_taken_and_then_the_newest(flooded: Flooded) -> None:
    before = flooded.node.references.accepted
    for cycle in range(5):
        for k in range(100):
            flooded.trajectory(0.001 * (k + 1))
        assert flooded.node.references.accepted - before == 2 * cycle + 1
        flooded.joint_state()
        assert flooded.node.references.accepted - before == 2 * cycle + 2
        assert flooded.led_to == 0.1
        flooded.joint_state()
        assert flooded.node.references.accepted - before == 2 * cycle + 2
    assert len(flooded.answered) == 10


def test_where_no_joint_state_comes_the_newest_is_taken_by_the_watch(flooded: Flooded) -> None:
    flooded.trajectory(0.01)
    flooded.trajectory(0.02)
    assert flooded.led_to == 0.01
    flooded.node.watch()
    assert flooded.led_to == 0.02


def test_the_newest_is_not_lost_where_a_long_one_before_it_is_ready(flooded: Flooded) -> None:
    before = flooded.node.references.accepted
    flooded.long_trajectory(0.03)
    flooded.trajectory(0.05)
    assert flooded.node.references.accepted == before
    flooded.joint_state()
    assert flooded.node.references.accepted - before == 2
    assert flooded.led_to == 0.05


def test_what_waits_is_dropped_by_a_stop_and_by_a_deactivation(flooded: Flooded) -> None:
    for end in (flooded.node.references.drop, flooded.node.begin):
        flooded.trajectory(0.01)
        flooded.trajectory(0.02)
        end()
        flooded.node.watch()
        assert flooded.node.loop.motion is None or flooded.led_to == 0.01
        flooded.node.begin()
        flooded.joint_state()


@pytest.mark.parametrize("older", ["waits", "is read beside the loop"])
def test_an_older_trajectory_does_not_replace_a_newer_goal(flooded: Flooded, older: str) -> None:
    action = pytest.importorskip("control_msgs.action", reason="control_msgs is not installed")
    from rclpy.action import GoalResponse

    if older == "waits":
        flooded.trajectory(0.01)
        flooded.trajectory(0.02)
    else:
        flooded.long_trajectory(0.03)
    goal = action.FollowJointTrajectory.Goal()
    goal.trajectory = trajectory(JOINTS, [(9.0, [x + 0.05 for x in POSTURE], STILL)])
    assert flooded.node.action._on_goal(goal) is GoalResponse.ACCEPT
    flooded.node.action._new = None
    flooded.joint_state()
    flooded.node.watch()
    assert flooded.led_to == 0.05
