"""Damaged messages and unexpected exceptions: the node stays, and the arm is held."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
import observer_rig as observers
from feedforward_rig import JOINTS, POSTURE, Rig, elbow, joint_state, trajectory
from ros_harness import Graph, Processes

FAR = [(60.0, [0.5, 0.6, -0.3], [0.0] * 3, [0.0] * 3)]
NAMES_AT = 16  # where the number of names is in a serialised joint state without frame

# A node with defects: for one joint position, for one trajectory, in each report, and at the
# end in what handles events.
DEFECTS = """
import sys
from geared_dynamics.ros import process as program
from geared_dynamics.runtime.joint_readings import JointMap
from geared_dynamics.ros import trajectories as references
from geared_dynamics.ros.reporter import FeedforwardReporter as Reporter

read, trajectory_of, spin, ending = JointMap.read, references.trajectory_of, program.spin, []

def defective_read(self, names, position, velocity):
    if len(position) and position[0] == 9.0:
        raise ZeroDivisionError("defect in a joint state")
    return read(self, names, position, velocity)

def defective_trajectory(message, zero):
    if message.joint_names == ["end"]:
        ending.append(1)
    if message.joint_names == ["defect"]:
        raise KeyError("defect in a trajectory")
    return trajectory_of(message, zero)

def defective_report(self):
    raise AttributeError("defect in a report")

def defective_spin(executor, stopped, *others):
    spin(executor, lambda: stopped() or ending, *others)
    if ending:
        raise SystemError("defect of the executor")

JointMap.read, references.trajectory_of = defective_read, defective_trajectory
Reporter.publish, program.spin = defective_report, defective_spin
from geared_dynamics.ros.feedforward_node import main
sys.exit(main())
"""


@pytest.fixture(scope="module")
def node(rig: Rig) -> Rig:
    """The node in the mode stream, with defects that no message of a healthy robot reaches."""
    rig.program = ("-c", DEFECTS)
    rig.start()
    rig.until_active()
    return rig


@pytest.fixture
def running(node: Rig) -> Rig:
    """The node following a reference that moves little."""
    node.place(POSTURE)
    node.v = [0.0] * 3
    node.until_active()
    since = node.log_length
    node.go(FAR)
    node.feed_until(lambda: node.said("running: following"), "the first motion")
    node.until_active()
    assert "refused" not in node.process.output[since:]  # type: ignore[union-attr]
    return node


def whole(q: Any = POSTURE) -> bytes:
    """A serialised joint state."""
    from rclpy.serialization import serialize_message

    return bytes(serialize_message(joint_state(JOINTS, q, stamp=time.time_ns())))


def with_names(count: int) -> bytes:
    """A joint state that promises another number of names."""
    data = bytearray(whole())
    data[NAMES_AT + 4 : NAMES_AT + 8] = struct.pack("<I", count)
    return bytes(data)


def put_first(start: bytes) -> Callable[[], bytes]:
    return lambda: start + whole()[len(start) :]


DAMAGED = {
    "cut short": lambda: whole()[:-9],
    "header only": lambda: whole()[:4],
    "an impossible length": lambda: with_names(2**31),
    "a name too many": lambda: with_names(4),
    "another byte order": put_first(b"\x00\x00"),
    "an encoding that there is none of": put_first(b"\x80\x01"),
}


def published_until(rig: Rig, data: bytes, words: str, since: int) -> None:
    """Publish a message, and nothing else, until the node says something."""
    process = rig.process
    assert process is not None
    said = lambda: words in process.output[since:]  # noqa: E731
    rig.graph.publish_until(rig.states, data, said, words)


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_joint_state_is_a_bad_state(running: Rig, kind: str) -> None:
    """Nothing but such messages: as if none came; whole ones end it."""
    since = running.log_length
    published_until(running, DAMAGED[kind](), "cannot be read", since)
    published_until(running, DAMAGED[kind](), "open_loop: stale state", since)
    running.until_said("running", since)
    running.until_active()


def test_a_name_that_is_no_text_is_not_ours(running: Rig) -> None:
    since = running.log_length
    data = whole().replace(b"joint_2", b"jo\xff\xfe\xc3_2")
    published_until(running, data, "open_loop: stale state", since)
    running.until_said("running", since)


def test_damaged_messages_between_good_ones_stop_nothing(running: Rig) -> None:
    since = running.log_length
    for _ in range(20):
        running.states.publish(whole()[:-9])
        running.until_active()
    assert "open_loop" not in running.process.output[since:]  # type: ignore[union-attr]


def test_a_damaged_trajectory_is_refused(running: Rig) -> None:
    """What was running goes on."""
    from rclpy.serialization import serialize_message

    since = running.log_length
    running.goals.publish(bytes(serialize_message(trajectory(JOINTS, FAR)))[:-20])
    running.until_said("trajectory refused: joint_trajectory: a message of", since)
    running.until_active()
    assert "holding" not in running.process.output[since:]  # type: ignore[union-attr]


def held(rig: Rig, defect: str, since: int) -> None:
    """The exception is logged with its traceback, the arm held; a trajectory ends it."""
    rig.until_said(f"unexpected exception ({defect}", since)
    rig.until_said("Traceback", since)
    rig.until_said("holding: computation", since)
    rig.place(POSTURE)
    rig.until_command(gd.gravity_forces(elbow(), POSTURE), "gravity while it is held")
    since = rig.log_length
    rig.go(FAR)
    rig.until_said("running: following", since)


def test_an_exception_in_the_loop(running: Rig) -> None:
    since = running.log_length
    running.place([9.0, *POSTURE[1:]])
    held(running, "ZeroDivisionError: defect in a joint state", since)


def test_an_exception_in_the_loop_for_long(running: Rig) -> None:
    """The last state becomes stale: gravity where the arm was, and a line a second."""
    since, process = running.log_length, running.process
    assert process is not None
    running.place([9.0, *POSTURE[1:]])
    running.until_said("open_loop: stale state", since)
    running.until_command(gd.gravity_forces(elbow(), POSTURE), "gravity all the same", 0.2)
    lines = process.output[since:].count("unexpected exception (ZeroDivisionError")
    assert lines < 10, "one line for each joint state"
    since = running.log_length
    running.place(POSTURE)
    running.until_said("holding: no reference, computation", since)
    running.go(FAR)
    running.until_said("running: following", since)


def test_an_exception_in_another_callback(running: Rig) -> None:
    since = running.log_length
    running.goals.publish(trajectory(["defect"], [(1.0, [0.0])]))
    held(running, "KeyError: 'defect in a trajectory'", since)


def test_an_exception_in_a_report_stops_nothing(running: Rig) -> None:
    running.until_said("unexpected exception (AttributeError: defect in a report); no diagnostics")
    running.until_active()


def test_an_end_by_an_exception_comes_after_the_last_command(running: Rig) -> None:
    """The last test: the node of this module ends."""
    process = running.process
    assert process is not None
    running.v = [0.0] * 3
    since = running.commands.count
    process.ending = True
    running.goals.publish(trajectory(["end"], [(1.0, [0.0])]))
    running.graph.until(lambda: not process.running, "the end of the process")
    assert process.returncode != 0
    assert "defect of the executor" in process.output
    running.graph.until(
        lambda: (
            running.commands.count > since
            and np.abs(running.commands.last.data - gd.gravity_forces(elbow(), POSTURE)).max()
            < 1e-9
        ),
        "gravity as the last command",
    )


OBSERVER_DEFECTS = """
import sys
from geared_dynamics.runtime.joint_readings import Picker

picked = Picker.picked

def defective_picked(self, names, numbers):
    if len(numbers) and numbers[0] == 9.0:
        raise ZeroDivisionError("defect in a joint state")
    return picked(self, names, numbers)

Picker.picked = defective_picked
from geared_dynamics.ros.elastic_observer_node import main
sys.exit(main())
"""


def test_the_observer_meets_damaged_messages_and_defects(
    graph: Graph, processes: Processes, tmp_path: Path
) -> None:
    """Damaged ones count as not there; after an exception it starts again, with nothing known."""
    from rclpy.serialization import serialize_message

    observers.compile_kernels()
    rig = observers.ObserverRig(graph, processes, tmp_path)
    rig.program = ("-c", OBSERVER_DEFECTS)
    process = rig.start()
    rig.until_valid()
    motors = rig.plant.model.motor_names
    message = observers.message_of(motors, time.time_ns(), position=[0.0] * 3, effort=[0.0] * 3)
    data = bytes(serialize_message(message))
    for damaged in (data[:-20], data[:4], b"\x00\x00" + data[2:], with_names(2**31)):
        for _ in range(5):
            rig.states.publish(damaged)
            graph.spin_once(0.002)
        rig.cycle()
    rig.until_said("cannot be read")
    rig.until_valid()
    link = rig.inboxes["link_state"]
    seen = link.count

    def invalid() -> bool:
        fresh = list(link.messages)[len(link.messages) - (link.count - seen) :]
        return any(m.header.frame_id == "invalid" for m in fresh)

    graph.publish_until(rig.states, data[:-20], invalid, "an invalid estimate")
    rig.until_valid()
    message.position[0], seen = 9.0, link.count
    graph.publish_until(rig.states, message, invalid, "an invalid estimate")
    rig.until_said("unexpected exception (ZeroDivisionError: defect in a joint state)")
    assert "Traceback" in process.output
    assert np.isnan(link.last.position).all()
    rig.until_valid()


def test_a_damaged_command_does_not_end_the_plant(graph: Graph, processes: Processes) -> None:
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import JointState

    from feedforward_rig import DRIVETRAIN, URDF

    module = "geared_dynamics.ros.plant_node"
    given = {"urdf_path": URDF, "drivetrain": DRIVETRAIN, "engine": "equations", "rate": 100.0}
    options = [part for name, value in given.items() for part in ("-p", f"{name}:={value}")]
    processes.start("-m", module, "--ros-args", *options, name="plant_node")
    publisher = graph.publisher("/plant_node/joint_commands", JointState)
    graph.wait_for_subscribers(publisher)
    good = JointState(name=JOINTS, effort=[0.0] * 3)
    for cut in (4, 9, 21):
        for _ in range(5):
            publisher.publish(bytes(serialize_message(good))[:-cut])
        publisher.publish(good)
        graph.wait_for_message("/joint_states", JointState)
