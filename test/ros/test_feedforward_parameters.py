"""Parameters at run time, bad values, JTC's YAML, payload, outputs, diagnostics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from feedforward_rig import DRIVETRAIN, JOINTS, POSTURE, URDF, Rig, elbow
from ros_harness import Graph, Processes

LOAD = {"mass": 1.2, "com": [0.05, 0.0, 0.02], "inertia": np.diag([2e-3, 3e-3, 4e-3])}
PAYLOAD = {
    "payload__mass": 1.2,
    "payload__center_of_mass": [0.05, 0.0, 0.02],
    "payload__inertia": [2e-3, 0.0, 0.0, 3e-3, 0.0, 4e-3],
}

# As a user of the joint trajectory controller has it, under another name only.
JTC = f"""
/**:
  feedforward_node:
    ros__parameters:
      joints: [joint_3, joint_1, joint_2]
      command_interfaces: [effort]
      state_interfaces: [position, velocity]
      state_publish_rate: 100.0
      action_monitor_rate: 20.0
      allow_partial_joints_goal: false
      open_loop_control: false
      constraints:
        stopped_velocity_tolerance: 0.01
        goal_time: 0.0
        joint_1: {{trajectory: 0.5, goal: 0.03}}
        joint_2: {{trajectory: 0.5, goal: 0.03}}
      gains:
        joint_1: {{p: 100, i: 1, d: 10.0, i_clamp: 1, ff_velocity_scale: 1.0}}
        joint_2: {{p: 200.0, d: 20}}
        joint_3: {{p: 50.0, d: 5.0}}
      mode: computed_torque
      law: pd_plus_feedforward
      urdf_path: {URDF}
      drivetrain: {DRIVETRAIN}
      safety.state_timeout: 1.0
"""


@pytest.fixture(scope="module")
def node(rig: Rig) -> Rig:
    """The node in the mode stream, holding."""
    rig.start(publish_joint_commands=True, gain=3.0)
    rig.until_active()
    return rig


def gravity(model: gd.GearedModel | None = None) -> Any:
    return gd.gravity_forces(model or elbow(), POSTURE)


def test_an_unknown_parameter_is_told_of(node: Rig) -> None:
    node.until_said("parameter 'gain' is unknown to this node and has no effect")


def test_an_undeclared_parameter_is_refused_with_a_log_line(node: Rig) -> None:
    since = node.log_length
    assert not node.set(payload__mas=1.0).successful
    node.until_said(
        "parameters not changed: 'payload.mas' is unknown to this node; did you", since
    )


def test_payload_in_one_step_and_off_again(node: Rig) -> None:
    loaded = elbow().with_payload(LOAD["mass"], LOAD["com"], LOAD["inertia"])
    result = node.set(**PAYLOAD)
    assert result.successful, result.reason
    node.until_command(gravity(loaded), "gravity with the load")
    node.until_said("m in the frame of tip, at 0.4 0 0 m in link_3")
    assert node.set(payload__mass=0.0, payload__inertia=[0.0] * 6).successful
    assert node.set(payload__center_of_mass=[0.0] * 3).successful
    node.until_command(gravity(), "gravity without it")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"payload__mass": -1.0}, "payload.mass out of range Min: 0.0"),
        ({"payload__mass": float("nan")}, "payload.mass"),
        ({"payload__mass": "two"}, "expected 'Type.DOUBLE' got 'Type.STRING'"),
        ({"payload__inertia": [1.0] * 5}, "payload.inertia: has 5 numbers; give 6"),
        ({"payload__inertia": [1e-3] * 6}, "payload.mass as well"),
        ({"payload__mass": 1.0, "payload__link": "lnk_3"}, "did you mean 'link_3'"),
        ({"payload__mass": 1.0, "payload__inertia": [1.0, 0.0, 0.0, 1e-3, 0.0, 1e-3]}, "payload"),
        ({"use_friction": 1}, "expected 'Type.BOOL' got 'Type.INTEGER'"),
        ({"safety__state_timeout": 0.0}, "safety.state_timeout out of range Min: 0.001"),
        ({"safety__on_time_jump": "stop"}, "safety.on_time_jump: is 'stop'; valid: hold"),
        ({"use_friction": False, "bandwidth": -1.0}, "bandwidth"),
        ({"mode": "annotate"}, "mode: is read when the node is configured; deactivate"),
        ({"cpu_affinity": [0]}, "read-only"),
        ({"joint_limits__joint_1__max_effort": -5.0}, "policy.command"),
    ],
)
def test_bad_values_are_refused_with_a_reason(
    node: Rig, values: dict[str, Any], words: str
) -> None:
    before = node.graph.get_parameters(node.node, ["use_friction", "payload.mass"])
    since = node.log_length
    result = node.set(**values)
    assert not result.successful
    assert words in result.reason, result.reason
    if "read-only" not in words:
        node.until_said("parameters not changed: ", since)
    assert node.graph.get_parameters(node.node, list(before)) == before, "all or none"
    node.until_command(gravity(), "the old values")


def test_whole_numbers_serve_as_numbers(node: Rig) -> None:
    assert node.set(payload__mass=1).successful
    node.until_command(gravity(elbow().with_payload(1.0)), "gravity with one kilogram")
    assert node.set(payload__mass=0).successful


def test_switches_act_at_once(node: Rig) -> None:
    assert node.set(use_gravity_compensation=False).successful
    node.until_command([0.0] * 3, "nothing: the robot carries itself")
    assert node.set(use_gravity_compensation=True).successful
    node.until_command(gravity(), "gravity again")


def test_limits_act_at_once(node: Rig) -> None:
    assert node.set(joint_limits__joint_2__max_effort=10.0).successful
    limited = np.minimum(gravity(), [90.0, 10.0, 90.0])
    node.until_command(limited, "limited torque")
    assert node.set(joint_limits__joint_2__max_effort=float("nan")).successful
    node.until_command(gravity(), "the URDF's limit")


def test_commands_by_name(node: Rig) -> None:
    from sensor_msgs.msg import JointState

    box = node.graph.listen(f"{node.node}/joint_commands", JointState)
    node.feed_until(lambda: box.count, "a command by name")
    assert list(box.last.name) == JOINTS
    np.testing.assert_allclose(box.last.effort, gravity(), atol=1e-6)
    assert box.last.header.stamp.sec > 0


def test_descriptors_have_ranges_and_texts(node: Rig) -> None:
    from rcl_interfaces.srv import DescribeParameters

    names = ["bandwidth", "mode", "gains.joint_1.p", "urdf_path", "autostart"]
    request = DescribeParameters.Request(names=names)
    answer = node.graph.call(f"{node.node}/describe_parameters", DescribeParameters, request)
    band, mode, gain, path, start = answer.descriptors
    assert band.floating_point_range[0].from_value == pytest.approx(1e-3)
    assert "one of: annotate, stream, computed_torque" in mode.additional_constraints
    assert all(item.description for item in answer.descriptors)
    assert start.read_only
    assert not path.read_only
    assert gain.type == 3


def test_diagnostics_and_timing(node: Rig) -> None:
    from diagnostic_msgs.msg import DiagnosticArray
    from std_msgs.msg import Float64MultiArray

    arrays = node.graph.listen("/diagnostics", DiagnosticArray)
    timing = node.graph.listen(f"{node.node}/timing", Float64MultiArray)

    def complete() -> bool:
        return bool(arrays.count and len(arrays.last.status) == 6 and timing.count)

    node.feed_until(complete, "diagnostics", 10.0)
    status = {entry.name: entry for entry in arrays.last.status}
    names = "model", "loop", "ages", "trajectories", "safety", "surroundings"
    assert set(status) == {f"feedforward_node: {name}" for name in names}
    model = {pair.key: pair.value for pair in status["feedforward_node: model"].values}
    assert model["robot"] == "elbow"
    assert model["wheels"] == "3"
    labels = [dim.label for dim in timing.last.layout.dim]
    figures = dict(zip(labels, timing.last.data, strict=True))
    assert 0.0 < figures["compute_p50"] <= figures["compute_p99"] <= figures["compute_max"]
    assert figures["rate"] > 0.0


def test_motor_side_output(node: Rig) -> None:
    """Without friction and losses: torque, current, in the motors' order and signs."""
    node.reconfigure(output="motor_torque", motors__motor_2__command_sign=-1)
    node.until_active()
    torque = gd.motor_commands(elbow(), POSTURE, [0.0] * 3, [0.0] * 3).torque * [1, -1, 1]
    node.until_command(torque, "motor torques")
    since = node.log_length
    for transition in ("deactivate", "cleanup"):
        assert node.graph.change_state(node.node, transition)
    assert node.set(output="motor_current").successful
    assert node.graph.change_state(node.node, "configure") is False
    node.until_said("torque_constant", since)
    assert node.set(output="joint_torque", motors__motor_2__command_sign=1).successful
    for transition in ("configure", "activate"):
        assert node.graph.change_state(node.node, transition)


def test_encoder_signs_and_offsets(node: Rig) -> None:
    node.reconfigure(motors__motor_2__encoder_offset=10.0, motors__motor_3__encoder_sign=-1)
    q = np.array(POSTURE) - [0.0, 10.0 / 100.0, 0.0]
    q[2] = -q[2]
    node.until_command(gd.gravity_forces(elbow(), q), "gravity where the encoders say")
    node.reconfigure(motors__motor_2__encoder_offset=0.0, motors__motor_3__encoder_sign=1)
    node.until_command(gravity(), "gravity at the posture")


def test_a_block_of_the_joint_trajectory_controller_loads(
    graph: Graph, processes: Processes, tmp_path: Path
) -> None:
    file = tmp_path / "jtc.yaml"
    file.write_text(JTC, encoding="utf-8")
    rig = Rig(graph, processes, "/arm")
    module = "geared_dynamics.ros.feedforward_node"
    ros = ("--ros-args", "-r", "__ns:=/arm", "--params-file", str(file))
    rig.process = processes.start("-m", module, *ros, name="feedforward_node")
    rig.until_active()
    moved = gravity()[[2, 0, 1]]
    rig.until_command(moved, "gravity in the order of joints")
    rig.go([(60.0, POSTURE, [0.0] * 3, [0.0] * 3)])
    rig.until_said("running")
    rig.v = [0.1, 0.2, -0.1]
    torque = gravity() - np.array([10.0, 20.0, 5.0]) * rig.v

    def near() -> bool:
        integral = np.abs(np.array(rig.commands.last.data) - torque[[2, 0, 1]])
        return bool(integral.max() < 0.05)

    rig.feed_until(near, "JTC's damping on top of the feedforward")
    assert "unknown to this node" not in rig.process.output


def test_a_topic_that_is_none_is_refused(graph: Graph, processes: Processes) -> None:
    rig = Rig(graph, processes, "/arm")
    rig.start(mode="annotate", **{"annotate.topic": "no topic!"})
    graph.until(lambda: rig.said("annotate.topic: is 'no topic!'"), "the refusal")
    assert graph.state(rig.node) == "unconfigured"


def test_a_description_topic_that_is_none_is_refused(graph: Graph, processes: Processes) -> None:
    rig = Rig(graph, processes, "/arm")
    rig.start(urdf_path=None, robot_description_topic="bad topic!")
    graph.until(lambda: rig.said("robot_description_topic: is 'bad topic!'"), "the refusal")
    assert graph.state(rig.node) == "unconfigured"
    assert graph.change_state(rig.node, "configure") is False
    assert "Traceback" not in rig.process.output  # type: ignore[union-attr]


@pytest.mark.parametrize("rule", ["__node:=bad name!", "__node:=9arm", "__ns:=/bad/9space"])
def test_a_name_that_is_none_ends_the_process_with_a_line(processes: Processes, rule: str) -> None:
    module = "geared_dynamics.ros.feedforward_node"
    process = processes.start("-m", module, "--ros-args", "-r", rule, name="feedforward_node")
    assert process.wait() == 2
    assert "Traceback" not in process.output
    assert "feedforward_node: " in process.output
    assert "correct the arguments after --ros-args" in process.output


def test_wrong_values_at_the_start_leave_the_node_up(graph: Graph, processes: Processes) -> None:
    """Refused with a line that says what to change; set rightly, it runs."""
    rig = Rig(graph, processes, "/arm")
    rig.start(mode="feedforward", bandwidth=-3.0, joints="[joint_1, joint_7]")
    graph.until(lambda: rig.said("cannot configure"), "the refusal")
    assert "mode: is 'feedforward'" in rig.process.output  # type: ignore[union-attr]
    assert "bandwidth: is -3.0; give 0.001 to 10000" in rig.process.output  # type: ignore[union-attr]
    assert graph.state(rig.node) == "unconfigured"
    assert rig.set(mode="stream", bandwidth=3.0).successful
    assert graph.change_state(rig.node, "configure") is False
    assert "joint_7" in rig.process.output  # type: ignore[union-attr]
    assert rig.set(joints=JOINTS).successful
    assert graph.change_state(rig.node, "configure")
    assert graph.change_state(rig.node, "activate")
    rig.until_active()
