"""Lifecycle by services, descriptions that come late or change, namespaces, two robots."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from feedforward_rig import DRIVETRAIN, JOINTS, POSTURE, URDF, Rig, elbow, joint_state
from ros_harness import Graph, Processes

NONE = {"urdf_path": None, "drivetrain": DRIVETRAIN, "allow_description_changes": True}


def gravity(q: Any = POSTURE, **options: Any) -> Any:
    return gd.gravity_forces(elbow(**options), q)


def latched() -> Any:
    from rclpy.qos import DurabilityPolicy, QoSProfile

    return QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture(scope="module")
def description(rig: Rig) -> Any:
    """A publisher as robot_state_publisher has it."""
    from std_msgs.msg import String

    return rig.graph.publisher("/robot_description", String, latched())


@pytest.fixture
def late(rig: Rig, description: Any) -> Rig:
    """An active node that got its description from the topic: started where none is."""
    from std_msgs.msg import String

    running = rig.process is not None and rig.process.running
    if not running or rig.graph.state(rig.node) != "active":
        rig.start(**NONE)
        description.publish(String(data=URDF.read_text("utf-8")))
        rig.until_active()
        rig.until_command(gravity(), "gravity at the posture")
    return rig


def test_a_description_that_comes_late(graph: Graph, processes: Processes) -> None:
    from std_msgs.msg import String

    robot, topic = Rig(graph, processes, "/late"), "/late/robot_description"
    robot.start(robot_description_topic=topic, **NONE)
    graph.until(lambda: robot.said(f"waiting for a URDF on {topic}"), "its wait")
    assert graph.state(robot.node) == "unconfigured"
    description = graph.publisher(topic, String, latched())
    description.publish(String(data=URDF.read_text("utf-8")))
    robot.until_active()
    robot.until_command(gravity(), "gravity at the posture")


def test_a_description_that_changes(late: Rig, description: Any) -> None:
    """The new model is used without a stop; a wrong one is refused, and the old one stays."""
    from std_msgs.msg import String

    text = URDF.read_text("utf-8")
    second = text.index('<link name="link_3">')
    tail = re.sub(
        r'mass value="([\d.]+)"', lambda m: f'mass value="{1.3 * float(m[1])}"', text[second:]
    )
    heavier = text[:second] + tail
    model = gd.load_model(heavier, DRIVETRAIN)
    assert np.abs(gd.gravity_forces(model, POSTURE) - gravity()).max() > 1.0
    description.publish(String(data=heavier))
    late.until_command(gd.gravity_forces(model, POSTURE), "gravity of the heavier arm")
    for wrong, words in (
        ("<robot", "not used"),
        (text.replace("joint_3", "joint_9"), "not used"),
        ("/etc/passwd", "is not XML"),
    ):
        since = late.log_length
        description.publish(String(data=wrong))
        late.until_said(words, since)
    late.until_command(gd.gravity_forces(model, POSTURE), "still the heavier arm")
    description.publish(String(data=text))
    late.until_command(gravity(), "the first arm again")


def test_a_compiled_model_is_logged_and_follows_descriptions(
    graph: Graph, processes: Processes
) -> None:
    """The arm as described and a heavier one, both compiled: gravity to 1e-9."""
    from std_msgs.msg import String

    robot, topic = Rig(graph, processes, "/compiled"), "/compiled/robot_description"
    text = URDF.read_text("utf-8")
    robot.start(robot_description_topic=topic, compiled=True, **NONE)
    description = graph.publisher(topic, String, latched())
    description.publish(String(data=text))
    robot.until_active()
    assert robot.said("compiled inverse_dynamics, ")
    robot.until_command(gravity(), "gravity at the posture")
    heavier = re.sub(r'mass value="([\d.]+)"', lambda m: f'mass value="{1.3 * float(m[1])}"', text)
    since = robot.log_length
    description.publish(String(data=heavier))
    robot.until_said("compiled inverse_dynamics, ", since)
    model = gd.load_model(heavier, DRIVETRAIN)
    robot.until_command(gd.gravity_forces(model, POSTURE), "gravity of the heavier arm")


def test_transitions_by_services(late: Rig) -> None:
    graph, node = late.graph, late.node
    assert graph.state(node) == "active"
    assert graph.change_state(node, "deactivate")
    np.testing.assert_allclose(late.commands.last.data, gravity(), atol=1e-6)
    for refusal in range(2):  # after the first one the last command has arrived
        seen, since = late.commands.count, late.log_length
        late.goals.publish(trajectory_to_nowhere())
        late.until_said("trajectory refused: node: is inactive; activate it first", since)
        assert refusal == 0 or late.commands.count == seen, "an inactive node sends nothing"
    assert graph.change_state(node, "cleanup")
    assert graph.state(node) == "unconfigured"
    assert graph.change_state(node, "configure")
    assert graph.change_state(node, "activate")
    late.until_active()


def trajectory_to_nowhere() -> Any:
    from feedforward_rig import trajectory

    return trajectory(JOINTS, [(1.0, [0.0] * 3, [0.0] * 3)])


@pytest.mark.parametrize("transition", ["configure", "activate", "cleanup"])
def test_impossible_transitions_are_answered(late: Rig, transition: str) -> None:
    """In rclpy alone such a request ends the process."""
    since = late.log_length
    assert late.graph.change_state(late.node, transition) is False
    late.until_said("is not possible in state active; possible: deactivate", since)
    late.until_active()


def test_unknown_transitions_are_answered(late: Rig) -> None:
    from lifecycle_msgs.srv import ChangeState

    request = ChangeState.Request()
    request.transition.label = "explode"
    service = f"{late.node}/change_state"
    assert late.graph.call(service, ChangeState, request).success is False
    late.until_active()


def test_a_configuration_that_fails_leaves_the_node_up(late: Rig) -> None:
    graph, node = late.graph, late.node
    for transition in ("deactivate", "cleanup"):
        assert graph.change_state(node, transition)
    assert late.set(drivetrain="no/such.yaml").successful
    since = late.log_length
    assert graph.change_state(node, "configure") is False
    late.until_said("cannot configure: no/such.yaml", since)
    assert graph.state(node) == "unconfigured"
    assert late.set(drivetrain=str(DRIVETRAIN)).successful
    assert graph.change_state(node, "configure")
    assert graph.change_state(node, "activate")
    late.until_active()


def test_an_emergency_stop_outlives_the_lifecycle(late: Rig) -> None:
    from std_srvs.srv import SetBool

    graph, stop = late.graph, f"{late.node}/emergency_stop"
    assert graph.call(stop, SetBool, SetBool.Request(data=True)).success
    for transition in ("deactivate", "cleanup", "configure", "activate"):
        assert graph.change_state(late.node, transition)
    since = late.log_length
    late.until_said("emergency stop", since)
    late.go([(1.0, POSTURE)])
    late.until_said("release ~/emergency_stop first", since)
    for transition in ("deactivate", "cleanup"):
        assert graph.change_state(late.node, transition)
    assert graph.call(stop, SetBool, SetBool.Request(data=False)).success
    for transition in ("configure", "activate"):
        assert graph.change_state(late.node, transition)
    late.until_active()
    since = late.log_length
    late.go([(1.0, POSTURE)])
    late.until_said("running", since)


def test_a_description_does_not_wake_a_node_that_was_put_to_rest(
    late: Rig, description: Any
) -> None:
    from std_msgs.msg import String

    graph = late.graph
    for transition in ("deactivate", "cleanup"):
        assert graph.change_state(late.node, transition)
    description.publish(String(data=URDF.read_text("utf-8")))
    graph.until(lambda: late.set(drivetrain=str(DRIVETRAIN)).successful, "an answer after it")
    assert graph.change_state(late.node, "configure"), "not done by the node itself"
    assert graph.state(late.node) == "inactive"
    assert graph.change_state(late.node, "activate")
    late.until_active()


def test_shutdown_ends_in_finalized(late: Rig) -> None:
    assert late.graph.change_state(late.node, "active_shutdown")
    assert late.graph.state(late.node) == "finalized"
    assert late.process is not None
    assert late.process.stop() == 0


def test_two_robots_in_namespaces(graph: Graph, processes: Processes) -> None:
    """Each has its own model, joint states and commands; the second has no autostart."""
    left, right = Rig(graph, processes, "/left"), Rig(graph, processes, "/right")
    left.start()
    right.start(autostart=False, gravity=[0.0, 0.0, -1.62])
    graph.wait_for_service("/right/feedforward_node/change_state", change_state())
    assert graph.state(right.node) == "unconfigured"
    assert graph.change_state(right.node, "configure")
    assert graph.state(right.node) == "inactive"
    assert graph.change_state(right.node, "activate")
    right.q = [0.1, -0.5, 0.8]
    left.until_active()
    right.until_active()
    left.until_command(gravity(), "the left arm's gravity")
    right.until_command(gravity(right.q, gravity=(0, 0, -1.62)), "the right arm's, on the moon")
    seen = left.commands.count
    graph.publish_until(
        right.states, joint_state(JOINTS, right.q), lambda: right.commands.count > 3, "commands"
    )
    graph.until(lambda: left.commands.count > seen, "the left node to notice silence")
    np.testing.assert_allclose(left.commands.last.data, gravity(), atol=1e-6)


def change_state() -> Any:
    from lifecycle_msgs.srv import ChangeState

    return ChangeState


def test_exceptions_in_transitions_are_logged(
    ros_domain: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """In rclpy alone they vanish without a trace."""
    from rclpy.context import Context

    from geared_dynamics.ros.lifecycle_node import ERROR, SteadyLifecycleNode

    class Failing(SteadyLifecycleNode):
        def configured(self) -> None:
            raise ZeroDivisionError("nobody foresaw this")

    context = Context()
    context.init(domain_id=ros_domain)
    node = Failing("failing", context=context)
    assert node.trigger_configure() == ERROR
    assert node.state_label == "unconfigured"
    node.destroy_node()
    context.shutdown()
    said = capfd.readouterr()
    assert "cannot configure" in said.err + said.out
    assert "nobody foresaw this" in said.err + said.out
