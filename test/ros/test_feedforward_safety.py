"""Each row of docs/safety.md provoked for real: what the node does, and how it ends."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from feedforward_rig import JOINTS, POSTURE, Rig, elbow, joint_state, trajectory

FAR = [(60.0, [0.5, 0.6, -0.3], [0.0] * 3, [0.0] * 3)]
NAN = float("nan")
CREEP = 1e-9


@pytest.fixture(scope="module")
def node(rig: Rig) -> Rig:
    """The node in the mode stream; a fault in one test must not reach the next."""
    rig.use_clock()
    rig.start(
        use_sim_time=True,
        gains__joint_1__p=1.0,
        constraints__joint_2__trajectory=0.2,
        joint_limits__joint_3__max_position=1.0,
        joint_limits__joint_1__max_velocity=3.0,
    )
    rig.until_active()
    return rig


@pytest.fixture
def running(node: Rig) -> Rig:
    """The node following a reference that moves little, from a stop."""
    node.q, node.v, node.names, node.creep = list(POSTURE), [0.0] * 3, list(JOINTS), CREEP
    node.until_there()
    node.until_active()
    press(node, True)
    node.until_active()
    press(node, False)
    since = node.log_length
    node.go(FAR)
    node.until_said("running", since)
    return node


def press(rig: Rig, pressed: bool) -> None:
    """Use the emergency stop."""
    from std_srvs.srv import SetBool

    request = SetBool.Request(data=pressed)
    assert rig.graph.call(f"{rig.node}/emergency_stop", SetBool, request).success


def gravity(q: Any = POSTURE) -> Any:
    return gd.gravity_forces(elbow(), q)


def holds_after(rig: Rig, event: str, since: int) -> None:
    """The event is logged, and what is sent holds the arm: gravity's force where it is."""
    rig.until_said(event, since)
    rig.until_command(gravity(rig.q), f"gravity after {event}")


def test_joint_states_that_end(running: Rig) -> None:
    """Not the last command for ever, not zero: gravity at the last posture; it ends with them."""
    since, seen = running.log_length, running.commands.count
    said = lambda: "open_loop: stale state" in running.process.output[since:]  # noqa: E731
    running.graph.until(said, "the node to notice the silence")
    seen = running.commands.count
    running.graph.until(lambda: running.commands.count > seen + 3, "commands all the same")
    np.testing.assert_allclose(running.commands.last.data, gravity(), atol=0.2)
    running.until_said("running", since)


DRIVER = f"""
import rclpy
from sensor_msgs.msg import JointState

rclpy.init()
node = rclpy.create_node("driver")
publisher = node.create_publisher(JointState, "joint_states", 1)
message = JointState(name={JOINTS}, position={POSTURE}, velocity=[0.0] * 3)
node.create_timer(0.005, lambda: publisher.publish(message))
rclpy.spin(node)
"""


def test_the_driver_is_killed(running: Rig) -> None:
    """The whole process that published the joint states, at once."""
    driver = running.processes.start("-c", DRIVER, name="driver")
    seen = running.commands.count
    running.graph.wait_for_publishers("/joint_states", 2)
    running.graph.until(lambda: running.commands.count > seen + 20, "answers to the driver")
    since = running.log_length
    driver.kill()
    said = lambda: "open_loop: stale state" in running.process.output[since:]  # noqa: E731
    running.graph.until(said, "the node to notice that the driver has gone")
    seen = running.commands.count
    running.graph.until(lambda: running.commands.count > seen + 3, "commands all the same")
    np.testing.assert_allclose(running.commands.last.data, gravity(), atol=0.2)


def test_nan_in_joint_states(running: Rig) -> None:
    """Never passed on; stale after the time-out, as if nothing came."""
    since = running.log_length
    running.q = [0.3, NAN, -0.4]
    running.until_said("open_loop: stale state, bad state", since)
    assert all(np.isfinite(message.data).all() for message in running.commands.messages)
    running.q = list(POSTURE)
    running.until_said("running", since)


def test_away_from_the_reference_after_a_silence_is_told(running: Rig) -> None:
    """The arm was pushed while it was not seen: held, and the log says what ends it."""
    since = running.log_length
    running.q = [0.3, NAN, -0.4]
    running.until_said("open_loop", since)
    running.q = [POSTURE[0] + 0.15, *POSTURE[1:]]
    running.until_said("away from its reference: send a new trajectory", since)
    assert "running" not in running.process.output[since:]


def test_nan_in_a_trajectory(running: Rig) -> None:
    since = running.log_length
    running.go([(1.0, [0.1, NAN, 0.2], [0.0] * 3)])
    running.until_said("trajectory refused", since)
    assert "is nan" in running.process.output[since:]


def test_names_in_another_order(running: Rig) -> None:
    """The motion goes on, with the joints where they are."""
    since = running.log_length
    running.names = ["joint_3", "gripper", "joint_1", "joint_2"]
    running.until_said("another order", since)
    running.until_active()
    assert "holding" not in running.process.output[since:]
    np.testing.assert_allclose(running.commands.last.data, gravity(), atol=0.2)


def test_a_joint_that_vanishes(running: Rig) -> None:
    since = running.log_length
    running.names = ["joint_1", "joint_3"]
    running.until_said("joint_states lacks joint_2; publish all joints together, or name", since)
    assert "in locked_joints" in running.process.output[since:]  # type: ignore[union-attr]
    running.until_said("open_loop", since)
    running.names = list(JOINTS)
    running.until_said("running", since)


def test_joints_of_another_device_alone(running: Rig) -> None:
    """They are none of ours: nothing is said about them."""
    since = running.log_length
    for _ in range(20):
        running.states.publish(joint_state(["gripper"], [0.0]))
        running.until_active()
    assert running.process.output[since:] == ""


def test_a_joint_that_is_named_twice(running: Rig) -> None:
    """Nobody knows which entry is right: as if none had come."""
    since = running.log_length
    running.names = [*JOINTS, "joint_2"]
    running.until_said("joint_states names joint_2 more than once", since)
    running.until_said("open_loop: stale state, bad state", since)
    running.names = list(JOINTS)
    running.until_said("running", since)


@pytest.mark.parametrize(
    ("q", "v", "words"),
    [([0.3, 0.5], None, "3 names, 2 positions"), (POSTURE, [0.0], "3 positions, 1 velocities")],
)
def test_arrays_of_the_wrong_size(running: Rig, q: Any, v: Any, words: str) -> None:
    since = running.log_length
    wrong = joint_state(JOINTS, q, v if v is not None else [0.0] * len(q))
    said = lambda: words in running.process.output[since:]  # noqa: E731
    running.graph.publish_until(running.states, wrong, said, words)
    running.until_active()


def test_joint_states_without_velocities(running: Rig) -> None:
    since = running.log_length
    wrong = joint_state(JOINTS, POSTURE, [])
    said = lambda: "has no velocities" in running.process.output[since:]  # noqa: E731
    running.graph.publish_until(running.states, wrong, said, "the complaint")
    running.until_active()


def test_beyond_a_position_limit(running: Rig) -> None:
    since = running.log_length
    running.q = [0.3, 0.5, 1.5]
    holds_after(running, "holding: position limit", since)
    running.q = list(POSTURE)
    since = running.log_length
    running.until_active()
    assert "running" not in running.process.output[since:], "it waits for somebody"


def test_beyond_a_velocity_limit(running: Rig) -> None:
    since = running.log_length
    running.v = [4.0, 0.0, 0.0]
    running.until_said("holding: velocity limit", since)


def test_a_tracking_error(running: Rig) -> None:
    since = running.log_length
    running.q = [0.3, 0.9, -0.4]
    holds_after(running, "holding: tracking error", since)


def test_the_clock_is_reset(running: Rig) -> None:
    assert running.now is not None
    since = running.log_length
    running.now -= 20.0
    holds_after(running, "holding: time jump", since)


def test_the_clock_stands_still(running: Rig) -> None:
    """Not the feedforward of that instant for ever; refused while it stands, and then again."""
    since = running.log_length
    running.creep = 0.0
    holds_after(running, "holding: time jump (ROS time stands still", since)
    since = running.log_length
    running.go(FAR)
    running.until_said("trajectory refused: clock: ROS time has not advanced", since)
    running.creep = CREEP
    running.until_command(gravity(), "still held when the clock goes on")
    assert "running" not in running.process.output[since:]
    running.go(FAR)
    running.until_said("running", since)


def test_a_recording_begins_anew(running: Rig) -> None:
    """The stamps of the joint states go back, the clock does not."""
    since = running.log_length
    old = joint_state(JOINTS, POSTURE, stamp=50_000_000_000)
    said = lambda: "time jump" in running.process.output[since:]  # noqa: E731
    running.graph.publish_until(running.states, old, said, "the time jump")
    holds_after(running, "holding", since)


def test_emergency_stop_and_release(running: Rig) -> None:
    since = running.log_length
    press(running, True)
    holds_after(running, "holding: no reference, emergency stop", since)
    running.go(FAR)
    running.until_said("release ~/emergency_stop first", since)
    press(running, False)
    running.until_command(gravity(), "still held after the release")
    assert "running" not in running.process.output[since:]


def test_a_trajectory_while_the_cause_stays_is_refused(running: Rig) -> None:
    """A later reset does not start it in its middle."""
    from std_srvs.srv import Trigger

    since = running.log_length
    running.v = [4.0, 0.0, 0.0]
    running.until_said("holding: velocity limit", since)
    running.go(FAR)
    running.until_said(
        "trajectory refused: joint_states: a joint exceeds its velocity limit", since
    )
    running.v = [0.0] * 3
    running.until_command(gravity(), "still held")
    assert running.graph.call(f"{running.node}/reset", Trigger).success
    running.until_said("holding: no reference", since)
    assert "running" not in running.process.output[since:]
    running.go(FAR)
    running.until_said("running", since)


def test_a_trajectory_further_beyond_a_limit_is_refused(running: Rig) -> None:
    """One that leads back is followed."""
    since = running.log_length
    running.q = [0.3, 0.5, 1.5]
    running.until_said("holding: position limit", since)
    running.until_there()
    still = [0.0] * 3
    running.go([(0.001, [0.3, 0.5, 1.6], still, still), (60.0, [0.3, 0.5, 1.7], still, still)])
    running.until_said("trajectory refused: position, joint 'joint_3': is 1.7 at 60", since)
    assert "running" not in running.process.output[since:]
    running.go([(60.0, [0.3, 0.5, 0.9], still, still)])
    running.until_said("running", since)


def test_a_release_acknowledges_nothing_else(running: Rig) -> None:
    """Not even where the stop was not pressed."""
    since = running.log_length
    running.v = [4.0, 0.0, 0.0]
    running.until_said("holding: velocity limit", since)
    running.v = [0.0] * 3
    running.until_command(gravity(), "held")
    since = running.log_length
    press(running, False)
    running.until_command(gravity(), "still held")
    for _ in range(50):
        running.until_active()
    assert "holding" not in running.process.output[since:], "what is latched has not changed"


def test_a_reference_that_ends(running: Rig) -> None:
    """cmd_timeout, counted from the last point."""
    assert running.set(cmd_timeout=0.2).successful
    since = running.log_length
    running.go([(0.001, POSTURE, [0.0] * 3, [0.0] * 3)])
    assert running.now is not None
    running.now += 0.5
    running.until_said("holding: stale reference", since)
    assert running.set(cmd_timeout=0.0).successful


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (([], []), "joint"),
        ((JOINTS, []), "point"),
        ((["joint_1", "elbow"], [(1.0, [0.0, 0.0])]), "'elbow'"),
        ((JOINTS, [(1.0, [0.0, 0.0])]), "positions"),
        ((JOINTS, [(1.0, [0.0] * 3), (0.5, [0.0] * 3)]), "time"),
        ((JOINTS, [(1.0, [0.0] * 3, [0.5] * 3)]), "velocit"),
        ((JOINTS, [(1.0, [0.0] * 3)], 1), "ago"),
    ],
)
def test_bad_trajectories_are_refused(running: Rig, message: Any, words: str) -> None:
    since = running.log_length
    running.goals.publish(trajectory(*message))
    running.until_said("trajectory refused", since)
    line = running.process.output[since:]
    assert words in line, line
    running.until_active()
    assert "holding" not in running.process.output[since:], "what was running goes on"


def test_the_last_command_is_gravity(running: Rig) -> None:
    """A forward command controller keeps the last command for ever."""
    running.process.signal(signal.SIGINT)
    assert running.process.wait() == 0
    running.graph.until(
        lambda: np.abs(np.array(running.commands.last.data) - gravity()).max() < 1e-9,
        "gravity as the last command",
    )
