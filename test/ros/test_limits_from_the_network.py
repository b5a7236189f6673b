"""What others on the graph can change of a running node's limits, and what not."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from feedforward_rig import DRIVETRAIN, POSTURE, URDF, Rig
from observer_rig import ObserverRig
from plant_rig import RATE, PlantRig, stamp
from ros_harness import Graph, Processes

TEXT = URDF.read_text("utf-8")
SECRET = "root:$6$SECRET:19000:0:99999:7:::"


def heavier(factor: float) -> str:
    """The arm with other masses."""
    pattern = r'mass value="([\d.]+)"'
    return re.sub(pattern, lambda m: f'mass value="{factor * float(m[1]):.9g}"', TEXT)


WILD = re.sub(r'effort="[^"]*"', 'effort="1e9"', heavier(1000.0))


def latched() -> Any:
    from rclpy.qos import DurabilityPolicy, QoSProfile

    return QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture(scope="module")
def published(rig: Rig) -> Any:
    """Publishes descriptions; the node has taken the first one."""
    from std_msgs.msg import String

    publisher = rig.graph.publisher("/robot_description", String, latched())
    publisher.publish(String(data=TEXT))
    given = {"cmd_timeout": 60.0, "constraints.joint_1.trajectory": 0.5}
    rig.start(urdf_path=None, drivetrain=DRIVETRAIN, **given)
    rig.graph.until(lambda: rig.said("configured"), "the node")
    rig.until_active()
    return lambda text: publisher.publish(String(data=text))


@pytest.fixture(scope="module")
def node(rig: Rig, published: Any) -> Rig:
    """The node, active, with its description from the topic."""
    return rig


def gravity(text: str = TEXT) -> Any:
    return gd.gravity_forces(gd.load_model(text, DRIVETRAIN), POSTURE)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (WILD, "mass of link_1 (6.5, now 6000.5)"),
        (TEXT.replace('effort="90"', 'effort="95"'), "effort limit of joint_2 (90, now 95)"),
        (TEXT.replace('effort="90"', 'effort="0"'), "effort limit of joint_2 (90, now inf)"),
        (TEXT.replace('velocity="5"', 'velocity="50"'), "velocity limit of joint_2 (5, now 50)"),
        (TEXT.replace('upper="2.9"', 'upper="29"'), "upper limit of joint_1 (2.9, now 29)"),
    ],
)
def test_a_second_publisher_changes_no_model_of_an_active_node(
    node: Rig, published: Any, text: str, words: str
) -> None:
    since, seen = node.log_length, node.commands.count
    published(text)
    node.until_said("the new robot description is not used while the node is active", since)
    assert words in node.process.output[since:]  # type: ignore[union-attr]
    node.feed_until(lambda: node.commands.count > seen + 20, "commands")
    fresh = list(node.commands.messages)[seen:]
    for message in fresh:
        np.testing.assert_allclose(message.data, gravity(), atol=1e-6)


def test_small_changes_are_used_and_do_not_add_up(node: Rig, published: Any) -> None:
    """Each within 1 % of the last one; the third is not within 1 % of the first."""
    for factor in (1.004, 1.008):
        published(heavier(factor))
        node.until_command(gravity(heavier(factor)), "gravity of the corrected arm")
    since = node.log_length
    published(heavier(1.014))
    node.until_said("is not used while the node is active", since)
    published(TEXT)
    node.until_command(gravity(), "the first arm again")


def test_an_inactive_node_takes_a_description_and_then_keeps_it(node: Rig, published: Any) -> None:
    for transition in ("deactivate", "cleanup"):
        assert node.graph.change_state(node.node, transition)
    since = node.log_length
    published(heavier(1.3))
    # It may take the message after the request: configured with the old one, it is refused.
    for transition in ("configure", "activate"):
        assert node.graph.change_state(node.node, transition)
    node.until_command(gravity(heavier(1.3)), "gravity of the heavier arm")
    assert "not used" not in node.process.output[since:]  # type: ignore[union-attr]
    since = node.log_length
    published(TEXT)
    node.until_said("is not used while the node is active", since)
    for transition in ("deactivate", "cleanup", "configure", "activate"):
        assert node.graph.change_state(node.node, transition)
    node.until_command(gravity(), "the first arm again")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"joint_limits__joint_1__max_effort": 1e9}, "joint_limits.joint_1.max_effort: is 1e+09"),
        ({"joint_limits__joint_2__max_velocity": 50.0}, "the robot's description allows 5"),
        ({"joint_limits__joint_3__max_position": 9.0}, "the robot's description allows 2.6"),
        ({"joint_limits__joint_3__min_position": -9.0}, "the robot's description allows -2.6"),
        ({"safety__velocity_tolerance": 1e9}, "out of range"),
        ({"safety__position_tolerance": 1e9}, "out of range"),
        (
            {"payload__mass": 4000.0},
            "payload.mass: is 4000 kg, above the 10.8 kg that the command",
        ),
        (
            {"payload__mass": 1.0, "payload__center_of_mass": [0.0, 0.0, 1e6]},
            "payload.center_of_mass: is 1e+06 m away",
        ),
        (
            {"payload__mass": 15.0, "payload__center_of_mass": [0.6, 0.0, 0.0]},
            "payload.mass: is 15 kg, above the",
        ),
        (
            {"payload__mass": 1.0, "payload__inertia": [1e6, 0.0, 0.0, 1e6, 0.0, 1e6]},
            "payload.inertia: is larger than that of 1 kg at a distance",
        ),
        ({"safety__command_rate": 0.0}, "safety.command_rate: is not limited, and while the node"),
        ({"safety__command_rate": 2600.0}, "safety.command_rate: is 2600"),
        ({"safety__state_timeout": 1.1}, "safety.state_timeout: is 1.1, and while the node runs"),
        ({"safety__open_loop_time": 1e6}, "safety.open_loop_time: is 1e+06"),
        ({"safety__on_computation": "zero"}, "safety.on_computation: is 'zero', which can only"),
        ({"on_deactivate": "zero"}, "on_deactivate: is 'zero', which can only be chosen"),
        (
            {"cmd_timeout": 0.0},
            "cmd_timeout: is not limited, and while the node runs it must be at most 60",
        ),
        ({"constraints__goal_time": 61.0}, "cmd_timeout: is not limited"),
        (
            {"constraints__joint_1__trajectory": 0.0},
            "constraints.joint_1.trajectory: is not limited",
        ),
        ({"speed_scaling__full": 1e-3}, "read-only"),
        ({"type": "joint_trajectory_controller/JointTrajectoryController"}, "read-only"),
        ({"payload__max_mass": 1e6}, "read-only"),
        ({"allow_description_changes": True}, "read-only"),
        ({"lock_paths": True}, "read-only"),
    ],
)
def test_no_parameter_widens_what_the_description_allows(
    node: Rig, values: dict[str, Any], words: str
) -> None:
    result = node.set(**values)
    assert not result.successful
    assert words in result.reason, result.reason
    node.until_command(gravity(), "the old command")


def test_limits_are_lowered_and_raised_again(node: Rig) -> None:
    for most in (10.0, 40.0, 90.0, float("nan")):
        assert node.set(joint_limits__joint_2__max_effort=most).successful
        limited = np.clip(gravity(), -most, most) if most == most else gravity()
        node.until_command([gravity()[0], limited[1], gravity()[2]], "the limit")


def test_a_command_takes_its_time(node: Rig) -> None:
    """The default of safety.command_rate: from one command to another through those between.

    Joint states 20 ms apart, as on a machine that stalls, allow all of it at once: one of some
    changes is enough. Without the limit none would do.
    """
    assert gravity()[1] > 40.0
    passed: list[list[float]] = []
    for gravity_on in 5 * (False, True):
        passed.append(between(node, use_gravity_compensation=gravity_on))
    for way in (passed[::2], passed[1::2]):
        assert any(1.0 < value < gravity()[1] - 1.0 for values in way for value in values), way


def test_no_state_of_the_lifecycle_lets_parameters_widen_limits(node: Rig) -> None:
    """Limits that the description gives are looked at again when the node is configured."""
    for transition in ("deactivate", "cleanup"):
        assert node.graph.change_state(node.node, transition)
    result = node.set(safety__state_timeout=5.0)
    assert not result.successful
    assert "safety.state_timeout: is 5" in result.reason
    assert node.set(safety__command_rate=0.0).successful  # no description to compare with
    since = node.log_length
    assert not node.graph.change_state(node.node, "configure")
    node.until_said("safety.command_rate: is not limited, and while the node runs it", since)
    assert node.set(safety__command_rate=float("nan")).successful
    for transition in ("configure", "activate"):
        assert node.graph.change_state(node.node, transition)
    node.until_active()


def test_what_the_start_gives_can_be_given_again(graph: Graph, processes: Processes) -> None:
    rig = Rig(graph, processes, "/loose")
    rig.start(safety__command_rate=0.0, on_deactivate="zero")
    graph.wait_for_state(rig.node, "active")
    for rate in (500.0, 0.0, float("nan"), 0.0):
        assert rig.set(safety__command_rate=rate).successful
    for left in ("gravity", "zero"):
        assert rig.set(on_deactivate=left).successful


def between(node: Rig, **parameters: Any) -> list[float]:
    """Commands of the second joint while parameters change, joint states coming all the time."""
    from rcl_interfaces.srv import SetParametersAtomically
    from rclpy.parameter import Parameter

    request = SetParametersAtomically.Request()
    request.parameters = [
        Parameter(name.replace("__", "."), value=value).to_parameter_msg()
        for name, value in parameters.items()
    ]
    service = f"{node.node}/set_parameters_atomically"
    client = node.graph.wait_for_service(service, SetParametersAtomically)
    node.until_active()
    seen, future = node.commands.count, client.call_async(request)
    node.feed_until(future.done, "an answer")
    assert future.result().result.successful
    expected = gravity() if parameters["use_gravity_compensation"] else [0.0] * 3
    node.until_command(expected, "the command that follows")
    return [message.data[1] for message in list(node.commands.messages)[seen:]]


def test_where_no_limit_is_known_the_log_says_so(
    graph: Graph, processes: Processes, tmp_path: Path
) -> None:
    rig = Rig(graph, processes, "/free")
    file = tmp_path / "free.urdf"
    file.write_text(re.sub(r'effort="[^"]*"', 'effort="0"', TEXT), encoding="utf-8")
    rig.start(urdf_path=file)
    words = "no limit is known for the commands of joint_1, joint_2, joint_3: neither their size"
    graph.until(lambda: rig.said(words), words)


NODES = ("feedforward_node", "elastic_observer_node", "plant_node")


def started(processes: Processes, module: str, **parameters: Any) -> Any:
    options = [part for name, value in parameters.items() for part in ("-p", f"{name}:={value}")]
    words = ("-m", f"geared_dynamics.ros.{module}", "--ros-args", *options)
    process = processes.start(*words, name=module)
    process.ending = True  # the plant ends where it cannot be built
    return process


@pytest.mark.parametrize("module", NODES)
def test_foreign_files_are_not_quoted_and_pipes_not_waited_for(
    graph: Graph, processes: Processes, tmp_path: Path, module: str
) -> None:
    secret, pipe = tmp_path / "shadow", tmp_path / "pipe"
    secret.write_text(SECRET + "\n", encoding="utf-8")
    os.mkfifo(pipe)
    node = started(processes, module, urdf_path=URDF, drivetrain=secret)
    graph.until(lambda: "this is not a drivetrain file" in node.output, "the refusal of a file")
    assert "SECRET" not in node.output
    node = started(processes, module, urdf_path=URDF, drivetrain=pipe)
    graph.until(
        lambda: f"{pipe}: this is not a regular file" in node.output, "the refusal of a pipe"
    )
    node = started(processes, module, urdf_path=pipe)
    graph.until(
        lambda: f"{pipe}: this is not a regular file" in node.output, "the refusal of a pipe"
    )


def test_locked_paths(graph: Graph, processes: Processes, tmp_path: Path) -> None:
    rig = Rig(graph, processes, "/locked")
    rig.start(lock_paths=True, autostart=False)
    for name, value in (("urdf_path", "/etc/passwd"), ("drivetrain", str(tmp_path))):
        result = rig.set(**{name: value})
        assert not result.successful
        assert f"{name}: is locked by lock_paths" in result.reason
    assert graph.change_state(rig.node, "configure")


def test_the_observer_keeps_its_model_too(
    graph: Graph, processes: Processes, tmp_path: Path
) -> None:
    from std_msgs.msg import String

    publisher = graph.publisher("/robot_description", String, latched())
    publisher.publish(String(data=TEXT))
    rig = ObserverRig(graph, processes, tmp_path)
    process = rig.start(urdf_path="", drivetrain=rig.drives, diagnostics_rate=1.0)
    graph.until(lambda: "configured: elbow" in process.output, "the node's configuration")
    publisher.publish(String(data=WILD))
    rig.until_said("the new robot description is not used while the node is active")
    rig.until_said("mass of link_1 (6.5, now 6000.5)")
    assert "starts again" not in process.output
    result = graph.set_parameters(rig.node, {"payload.mass": 4000.0})
    assert not result.successful
    assert "payload.mass: is 4000 kg" in result.reason


def test_the_plant_keeps_its_model_too(graph: Graph, processes: Processes) -> None:
    """After a wild description it moves as before."""
    from std_msgs.msg import String

    publisher = graph.publisher("/robot_description", String, latched())
    publisher.publish(String(data=TEXT))
    rig = PlantRig(graph, processes)
    process = rig.start_plant(urdf_path="", pace="lock_step")
    state = rig.next_state()
    publisher.publish(String(data=WILD))
    rig.until_said(process, "the new robot description is not used")
    twin = gd.simulation.Plant(
        gd.load_model(TEXT, DRIVETRAIN), command="effort", engine="equations"
    )
    twin.reset(POSTURE)
    graph.wait_for_subscribers(rig.named)
    effort = gravity() + np.array([3.0, -2.0, 1.0])
    for _ in range(3):
        before = stamp(state)
        rig.named.publish(rig.command(state, effort))
        state = rig.next_state(lambda found, before=before: stamp(found) > before)  # type: ignore[misc]
        twin.step(effort, 1.0 / RATE)
        np.testing.assert_array_equal(state.position, twin.read().joint_state(twin.model).q)
