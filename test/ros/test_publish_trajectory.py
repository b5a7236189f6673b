"""The program that publishes a trajectory, for real: to whom, when, and when not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ros_harness import Graph, Processes

MODULE = "geared_dynamics.ros.publish_trajectory"
TOPIC = "/arm/joint_trajectory"
TEXT = """
joint_names: [a, b]
points:
  - positions: [0.5, -0.5]
    velocities: [0.0, 0.0]
    time_from_start: {sec: 0, nanosec: 0}
  - positions: [1.0, 0.0]
    velocities: [0.0, 0.0]
    time_from_start: {sec: 1, nanosec: 250000000}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A trajectory of two joints."""
    path = tmp_path / "motion.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def state(*position: float) -> Any:
    """Joint states of these two joints and of another one."""
    from sensor_msgs.msg import JointState

    return JointState(name=["c", "b", "a"], position=[9.0, *position])


def test_it_arrives_once_where_the_arm_is_at_its_begin(
    processes: Processes, graph: Graph, file: Path
) -> None:
    from sensor_msgs.msg import JointState
    from trajectory_msgs.msg import JointTrajectory

    states = graph.publisher("/joint_states", JointState)
    inbox = graph.listen(TOPIC, JointTrajectory)
    process = processes.start("-m", MODULE, file, "--topic", TOPIC)
    process.ending = True
    graph.publish_until(states, state(-0.5, 0.51), lambda: inbox.count, "the trajectory")
    assert process.wait() == 0, process.report()
    assert inbox.count == 1
    message = inbox.messages[0]
    assert list(message.joint_names) == ["a", "b"]
    assert [list(point.positions) for point in message.points] == [[0.5, -0.5], [1.0, 0.0]]
    last = message.points[1].time_from_start
    assert (last.sec, last.nanosec) == (1, 250_000_000)
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (0, 0)
    assert len(message.points[0].effort) == 0


def test_an_arm_elsewhere_gets_nothing(processes: Processes, graph: Graph, file: Path) -> None:
    from sensor_msgs.msg import JointState
    from trajectory_msgs.msg import JointTrajectory

    states = graph.publisher("/joint_states", JointState)
    inbox = graph.listen(TOPIC, JointTrajectory)
    process = processes.start("-m", MODULE, file, "--topic", TOPIC)
    process.ending = True
    graph.publish_until(states, state(-0.5, 0.7), lambda: not process.running, "its refusal")
    assert process.wait() == 2, process.report()
    assert "begins at 0.5, and joint 'a' is at 0.7: it would jump" in process.output
    assert inbox.count == 0


def test_an_arm_elsewhere_moves_to_the_first_point_first(
    processes: Processes, graph: Graph, file: Path
) -> None:
    """The controller begins where the arm is, and has the time to reach the first point."""
    from trajectory_msgs.msg import JointTrajectory

    inbox = graph.listen(TOPIC, JointTrajectory)
    process = processes.start("-m", MODULE, file, "--topic", TOPIC, "--approach", "3.5")
    process.ending = True
    graph.until(lambda: inbox.count, "the trajectory")
    assert process.wait() == 0, process.report()
    times = [point.time_from_start for point in inbox.messages[0].points]
    assert [(t.sec, t.nanosec) for t in times] == [(3, 500_000_000), (4, 750_000_000)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "/joint_states: does not contain the positions of all joints of the trajectory"),
        (("--no-check",), f"{TOPIC}: has no subscriber"),
    ],
)
def test_it_does_not_wait_for_ever(
    processes: Processes, ros_domain: int, file: Path, words: tuple[str, ...], said: str
) -> None:
    more = ("--topic", TOPIC, "--timeout", "0.2", *words)
    process = processes.start("-m", MODULE, file, *more)
    assert process.wait(60.0) == 2, process.report()
    assert said in process.output, process.report()
