"""Rare moments of a node: a clock that never comes, changes in a brake, wrong files."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from exit_arm import Arm
from feedforward_rig import DRIVETRAIN, POSTURE, URDF, Rig, elbow
from ros_harness import Graph, Processes

GOAL = [1.4, 0.9, 0.6]
LIMITS = np.array([100.0, 90.0, 50.0])
STILL = [0.0] * 3


@pytest.fixture
def alone(graph: Graph, processes: Processes) -> Rig:
    """A node of the test's own."""
    return Rig(graph, processes)


def gravity(model: gd.GearedModel | None = None, q: Any = POSTURE) -> Any:
    return gd.gravity_forces(model or elbow(), q)


def test_a_clock_that_comes_late(alone: Rig) -> None:
    """Without /clock the arm is held and no motion begins; with it everything works."""
    alone.start(use_sim_time=True)
    alone.until_command(gravity(), "gravity without a clock")
    since = alone.log_length
    alone.go([(0.5, POSTURE, STILL), (2.0, POSTURE, STILL)])
    alone.until_said("time jump (ROS time stands still: is /clock published?", since)
    alone.go([(0.5, POSTURE, STILL), (2.0, POSTURE, STILL)])
    alone.until_said("trajectory refused: clock: ROS time has not advanced", since)
    assert alone.graph.state(alone.node) == "active"
    alone.use_clock()
    alone.creep = 1e-4
    alone.until_command(gravity(), "still held")
    assert alone.process is not None
    before = alone.process.output.count("running: following")
    due = [0]

    def runs() -> bool:
        if not due[0] % 50:  # refused until the node has read the clock
            alone.go([(0.5, POSTURE, STILL), (2.0, POSTURE, STILL)])
        due[0] += 1
        return alone.process.output.count("running: following") > before  # type: ignore[union-attr]

    alone.feed_until(runs, "a motion", 20.0)


def test_parameters_that_change_in_a_brake(graph: Graph, processes: Processes) -> None:
    """The brake goes on with the new load and gains, within all limits, to rest."""
    from lifecycle_msgs.srv import ChangeState
    from rcl_interfaces.srv import SetParameters
    from rclpy.parameter import Parameter

    arm = Arm(Rig(graph, processes))
    rig = arm.rig
    rig.start(safety__state_timeout=0.5, safety__stop_time=0.6, mode="computed_torque")
    arm.until(lambda: rig.said("holding: no reference"), "the node")
    change = graph.client(f"{rig.node}/change_state", ChangeState)
    set_them = graph.client(f"{rig.node}/set_parameters", SetParameters)
    arm.until(lambda: change.service_is_ready() and set_them.service_is_ready(), "its services")
    rig.go([(0.8, GOAL, STILL, STILL)])
    arm.until(lambda: arm.speed > 1.0 and arm.running, "its speed")
    request = ChangeState.Request()
    request.transition.label = "deactivate"
    done = change.call_async(request)
    arm.until(lambda: rig.said("braking: the node ends"), "braking")
    arm.mark()  # not what it went while the request was on its way
    values = {"payload.mass": 0.5, "gains.joint_1.p": 20.0, "use_friction": False}
    values["mode"] = "stream"  # which an active node refuses
    wanted = [Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]
    answer = set_them.call_async(SetParameters.Request(parameters=wanted))
    arm.until(answer.done, "the answer")
    assert [result.successful for result in answer.result().results] == [True, True, True, False]
    arm.model = elbow().with_payload(0.5)  # as the node counts from here on
    arm.until(done.done, "the transition")
    assert done.result().success
    assert arm.speed < 0.05
    assert arm.way < 0.6 * arm.fastest
    sent = np.array([message.data for message in rig.commands.messages])
    assert (np.abs(sent) <= LIMITS + 1e-9).all()
    assert (np.abs(np.diff(sent, axis=0)) <= 0.1 * LIMITS / 0.02 + 1e-9).all()
    np.testing.assert_allclose(sent[-1], gravity(arm.model, arm.q), atol=0.3)


FILES = {
    "no YAML": ("{{{", "refused"),
    "a list": ("- 1\n- 2\n", "refused"),
    "of no node": ("elsewhere:\n  ros__parameters: {mode: stream}\n", "the default"),
    "a wrong type": ("/**:\n  ros__parameters: {mode: 3}\n", "corrected"),
    "a wrong word": ("/**:\n  ros__parameters: {mode: dance}\n", "corrected"),
    "a drivetrain of another arm": ("/**:\n  ros__parameters: {drivetrain: '%s'}\n", "corrected"),
}


@pytest.mark.parametrize("node", ["feedforward_node", "elastic_observer_node", "plant_node"])
def test_what_a_node_cannot_start_with_is_a_line(processes: Processes, node: str) -> None:
    """Arguments, and what stands in the environment, each with its remedy."""
    words = ["-m", f"geared_dynamics.ros.{node}", "--ros-args"]
    cases = [
        (["-p", "x:=[1"], {}, "correct the arguments after --ros-args"),
        ([], {"ROS_LOG_DIR": "/dev/null/logs"}, "set ROS_LOG_DIR to a folder"),
        ([], {"ROS_DOMAIN_ID": "lab"}, "a number from 0 to 101"),
    ]
    started = [
        (processes.start(*words, *more, env=env, fork=not env), said) for more, env, said in cases
    ]
    for process, said in started:
        assert process.wait() == 2, process.report()
        assert said in process.output
        assert f"{node}: " in process.output
        assert "Traceback" not in process.output


@pytest.mark.parametrize("file", FILES)
def test_a_wrong_parameter_file(
    file: str, graph: Graph, processes: Processes, tmp_path: Path
) -> None:
    """A line and an end, or a node that waits for a correction; never a traceback."""
    text, outcome = FILES[file]
    other = DRIVETRAIN.with_name("brisk6.drivetrain.yaml")
    path = tmp_path / "wrong.yaml"
    path.write_text(text.replace("%s", str(other)), encoding="utf-8")
    words = ["-m", "geared_dynamics.ros.feedforward_node", "--ros-args", "-p"]
    process = processes.start(*words, f"urdf_path:={URDF}", "--params-file", path, name="node")
    if outcome == "refused":
        assert process.wait() == 2
        lines = process.output.strip().splitlines()
        assert "correct the arguments after --ros-args" in lines[-1]
        assert "Traceback" not in process.output
        return
    node = "/feedforward_node"
    if outcome == "the default":
        graph.wait_for_state(node, "active")
        assert graph.get_parameters(node, ["mode"])["mode"] == "annotate"
        return
    graph.until(lambda: "cannot configure: " in process.output, "its refusal")
    assert graph.state(node) == "unconfigured"
    good = {"mode": "stream", "drivetrain": str(DRIVETRAIN)}
    assert graph.set_parameters(node, good).successful
    assert graph.change_state(node, "configure")
    assert graph.change_state(node, "activate")
    assert graph.state(node) == "active"
    assert "Traceback" not in process.output


def test_a_signal_while_a_description_is_taken(processes: Processes, graph: Graph) -> None:
    """The first description configures the node; a signal ends it there at once."""
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from std_msgs.msg import String

    program = """
import sys
from geared_dynamics.runtime import model_source
from geared_dynamics.ros.feedforward_node import main

def load(*_):
    print("preparing", flush=True)
    while True:
        pass

model_source.load = load
sys.exit(main(["feedforward_node"]))
"""
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    graph.publisher("/robot_description", String, latched).publish(
        String(data=URDF.read_text("utf-8"))
    )
    process = processes.start("-c", program, name="described")
    graph.until(lambda: "preparing" in process.output, "its preparation")
    process.signal(signal.SIGTERM)
    assert process.wait() == 0
    assert "Traceback" not in process.output


def test_a_description_that_goes_and_comes_back(alone: Rig) -> None:
    """A robot_state_publisher that is restarted changes nothing in motion or at rest."""
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from std_msgs.msg import String

    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    graph, text = alone.graph, URDF.read_text("utf-8")
    first = graph.publisher("/robot_description", String, latched)
    first.publish(String(data=text))
    alone.start(urdf_path=None)
    alone.until_command(gravity(), "gravity")
    alone.until_said("holding: no reference", 0)  # that of its start, before it moves
    since = alone.log_length
    alone.go([(0.5, POSTURE, STILL), (60.0, POSTURE, STILL)])
    alone.until_said("running", since)
    graph.node.destroy_publisher(first)
    for _ in range(2):
        again = graph.publisher("/robot_description", String, latched)
        again.publish(String(data=text))
        graph.wait_for_subscribers(again)
    seen = alone.commands.count
    alone.feed_until(lambda: alone.commands.count > seen + 100, "commands")
    assert alone.process is not None
    assert "description" not in alone.process.output[since:]
    assert "holding" not in alone.process.output[since:]
