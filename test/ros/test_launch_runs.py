"""The launch files for real, wherever launch and launch_ros can be imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from ros_harness import Graph, Process, Processes

try:  # without ROS's launch, our folder of that name may be found as an empty package
    from launch import LaunchDescription  # noqa: F401
    from launch_ros.actions import LifecycleNode  # noqa: F401
except ImportError:
    HAS_LAUNCH = False
else:
    HAS_LAUNCH = True

pytestmark = pytest.mark.skipif(not HAS_LAUNCH, reason="launch_ros is not installed (from ROS)")

ROOT = Path(__file__).resolve().parents[2]
RUNNER = ROOT / "test" / "ros_harness" / "launch_file.py"
ELBOW = ROOT / "urdf" / "elbow.urdf"
DRIVES = ROOT / "urdf" / "elbow.drivetrain.yaml"


def launch(processes: Processes, file: str, *arguments: str) -> Process:
    process = processes.start(RUNNER, ROOT / "launch" / file, *arguments, name=file)
    process.terminal = True
    return process


def elbow(*arguments: str) -> list[str]:
    return [f"urdf:={ELBOW}", f"drivetrain:={DRIVES}", *arguments]


def test_one_arm_comes_up_active_and_ends_with_ctrl_c(processes: Processes, graph: Graph) -> None:
    process = launch(processes, "feedforward.launch.py", *elbow())
    graph.wait_for_state("/feedforward_node", "active")
    process.stop()
    assert "process has died" not in process.output, process.report()
    assert "Traceback" not in process.output, process.report()


def test_without_autostart_it_waits(processes: Processes, graph: Graph) -> None:
    launch(processes, "feedforward.launch.py", *elbow("autostart:=false"))
    assert graph.state("/feedforward_node") == "unconfigured"
    assert graph.change_state("/feedforward_node", "configure")
    assert graph.state("/feedforward_node") == "inactive"


def test_command_line_over_file_over_preset(
    processes: Processes, graph: Graph, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        "/**:\n  ros__parameters: {use_friction: true, mode: stream}\n", encoding="utf-8"
    )
    arguments = elbow("preset:=ur", f"params_file:={mine}", "mode:=annotate", "namespace:=arm")
    launch(processes, "feedforward.launch.py", *arguments)
    graph.wait_for_state("/arm/feedforward_node", "active")
    names = ["use_gravity_compensation", "use_friction", "mode", "use_sim_time"]
    found = graph.get_parameters("/arm/feedforward_node", names)
    assert found == dict(zip(names, [False, True, "annotate", False], strict=True))


def test_topics_follow_the_arguments(processes: Processes, graph: Graph) -> None:
    arguments = elbow(
        "namespace:=arm",
        "name:=helper",
        "joint_states:=/joint_states",
        "commands:=/forward_effort_controller/commands",
        "mode:=computed_torque",
    )
    launch(processes, "feedforward.launch.py", *arguments)
    graph.wait_for_state("/arm/helper", "active")
    topics = dict(graph.node.get_subscriber_names_and_types_by_node("helper", "/arm"))
    assert "/joint_states" in topics
    topics = dict(graph.node.get_publisher_names_and_types_by_node("helper", "/arm"))
    assert "/forward_effort_controller/commands" in topics


def test_two_arms_of_the_example(processes: Processes, graph: Graph) -> None:
    example = ROOT / "config" / "examples" / "two_robots.yaml"
    launch(processes, "robots.launch.py", f"robots_file:={example}")
    for arm in ("left", "right"):
        graph.wait_for_state(f"/{arm}/feedforward_node", "active")
    modes = [
        graph.get_parameters(f"/{arm}/feedforward_node", ["mode"]) for arm in ("left", "right")
    ]
    assert modes == [{"mode": "computed_torque"}, {"mode": "stream"}]


def test_a_xacro_file_becomes_the_description(
    processes: Processes, graph: Graph, tmp_path: Path
) -> None:
    pytest.importorskip("xacro")
    text = ELBOW.read_text("utf-8")
    head = text.index("<robot")
    body = text[head:].replace("<robot", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"', 1)
    end = body.index(">") + 1
    body = body[:end] + '<xacro:arg name="side" default="left"/>' + body[end:]
    file = tmp_path / "elbow.urdf.xacro"
    file.write_text(text[:head] + body, encoding="utf-8")
    arguments = (f"xacro:={file}", "xacro_args:=side:=right", f"drivetrain:={DRIVES}")
    launch(processes, "feedforward.launch.py", *arguments)
    graph.wait_for_state("/feedforward_node", "active")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("urdf:=nowhere.urdf",), "urdf: there is no file 'nowhere.urdf'"),
        ((f"urdf:={ELBOW}", f"xacro:={ELBOW}"), "both are given"),
        (("params_file:=none.yaml",), "params_file: there is no file"),
        (("preset:=unknown",), "preset"),
        (("mode:=fast",), "mode"),
        (("use_sim_time:=yes",), "use_sim_time"),
    ],
)
def test_wrong_arguments_are_refused(
    processes: Processes, arguments: tuple[str, ...], said: str
) -> None:
    process = launch(processes, "feedforward.launch.py", *arguments)
    assert process.wait() == 1, process.report()
    assert said in process.output, process.report()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("left: {urdff: x.urdf}\n", "there is no argument 'urdff'"),
        ("left: {namespace: other}\n", "there is no argument 'namespace'"),
        ("left: {urdf: gone.urdf}\n", "there is no file"),
        ("left\n", "names no robots"),
        ("left: x.urdf\n", "write its arguments as"),
        ("", "names no robots"),
    ],
)
def test_wrong_robots_are_refused(
    processes: Processes, tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "robots.yaml"
    file.write_text(text, encoding="utf-8")
    process = launch(processes, "robots.launch.py", f"robots_file:={file}")
    assert process.wait() == 1, process.report()
    assert said in process.output, process.report()
