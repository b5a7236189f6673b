"""Trajectories of thousands of points: read beside the loop, which goes on meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from feedforward_rig import JOINTS, POSTURE, Rig, elbow, trajectory
from geared_dynamics.ros.trajectory_wire import MOST_POINTS

COUNT = 5000
# A node that reads long trajectories only while it answers joint states: no time counts.
PATIENT = """
import sys, threading
from geared_dynamics.ros import trajectories as references
from geared_dynamics.ros.feedforward_topics import Commands

trajectory_of, send, answered = references.trajectory_of, Commands.send, threading.Semaphore(0)

def counting_send(self, *arguments):
    send(self, *arguments)
    answered.release()

def patient_trajectory(message, zero):
    found = trajectory_of(message, zero)
    if message.joint_names[0] == "joint_3":
        while answered.acquire(blocking=False):
            pass
        for _ in range(20):
            if not answered.acquire(timeout=5.0):
                raise RuntimeError("no joint state is answered while a trajectory is read")
        print("joint states are answered while a trajectory is read", flush=True)
    return found

Commands.send, references.trajectory_of = counting_send, patient_trajectory
from geared_dynamics.ros.feedforward_node import main
sys.exit(main())
"""


@pytest.fixture(scope="module")
def node(rig: Rig) -> Rig:
    """The node in the mode stream."""
    rig.program = ("-c", PATIENT)
    rig.start(joint_limits__joint_1__max_velocity=1.0, diagnostics_rate=10.0)
    rig.until_active()
    return rig


def wave(count: int, speed: float = 1.0, names: Any = ("joint_3", "joint_2", "joint_1")) -> Any:
    """A long trajectory that begins and ends at the posture; joints in another order."""
    t = 0.5 + 0.01 * np.arange(count)
    phase = np.linspace(0.0, 2.0 * np.pi, count)
    rate = 2.0 * np.pi / (t[-1] - t[0])
    way = np.array([0.1, 0.05, 0.1]) * speed
    q = np.array(POSTURE) + (1.0 - np.cos(phase))[:, None] * way
    v = rate * np.sin(phase)[:, None] * way
    v[-1] = 0.0
    order = [JOINTS.index(name) for name in names]
    return trajectory(names, list(zip(t, q[:, order], v[:, order], strict=True)))


def test_joint_states_are_answered_while_it_is_read(node: Rig) -> None:
    node.graph.wait_for_subscribers(node.goals)
    since = node.log_length
    node.goals.publish(wave(COUNT))
    node.until_said("joint states are answered while a trajectory is read", since)
    node.until_said("running: following the reference", since)
    assert "open_loop" not in node.process.output[since:]  # type: ignore[union-attr]


def test_it_is_followed(node: Rig) -> None:
    """The command is the model's, and moves with the reference."""
    from sensor_msgs.msg import JointState

    box = node.graph.listen(f"{node.node}/reference", JointState)
    start = np.array(POSTURE)

    def moved() -> bool:
        return box.count > 0 and np.abs(box.last.position - start).min() > 1e-6

    node.feed_until(moved, "a reference that moves", 20.0)
    positions = np.array([box.last.position])
    gravity = gd.gravity_forces(elbow(), positions[-1])
    np.testing.assert_allclose(node.commands.last.data, gravity, atol=1.0)


def test_a_newer_one_replaces_what_is_being_read(node: Rig) -> None:
    since = node.log_length
    node.goals.publish(wave(COUNT, speed=1e3))  # would be refused
    node.goals.publish(trajectory(JOINTS, [(2.0, POSTURE, [0.0] * 3)]))
    node.until_active()
    node.goals.publish(trajectory(JOINTS, [(2.0, [9.0, 0.0, 0.0], [0.0] * 3)]))
    node.until_said("trajectory refused: position, joint 'joint_1': is 9", since)
    said = node.process.output[since:]  # type: ignore[union-attr]
    assert said.count("trajectory refused") == 1


def test_limits_of_a_long_one_are_looked_at(node: Rig) -> None:
    since = node.log_length
    names = ("joint_1", "joint_2", "joint_3")
    node.goals.publish(wave(COUNT, speed=200.0, names=names))
    node.until_said("trajectory refused: position, joint 'joint_1': is 2.90", since)


def test_more_points_than_there_may_be_are_refused(node: Rig) -> None:
    since = node.log_length
    node.goals.publish(wave(MOST_POINTS + 1))
    node.until_said(
        f"trajectory refused: points: there are {MOST_POINTS + 1}; send at most", since
    )
