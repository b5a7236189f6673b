"""The launch files for real, wherever launch and launch_ros can be imported."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path

import pytest

from observer_node_arm import drives
from recorded_motions import JOINT_STATE, messages, motion, string, torques, truth, write_sqlite
from recorded_motions import elbow as elbow_model
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
    assert process.stop() == 0, process.report()
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
    graph.wait_for_node("helper")
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


@pytest.mark.parametrize("level", ["info", "error"])
def test_the_log_level_holds_in_a_namespace(
    processes: Processes, graph: Graph, level: str
) -> None:
    """Of two arms by their file: with error there is no line, with info there are."""
    example = ROOT / "config" / "examples" / "two_robots.yaml"
    process = launch(processes, "robots.launch.py", f"robots_file:={example}",
                     f"log_level:={level}")  # fmt: skip
    for arm in ("left", "right"):
        graph.wait_for_state(f"/{arm}/feedforward_node", "active")
        said = functools.partial(is_configured, process, arm)
        if level == "info":
            graph.until(said, f"the line of {arm}: {process.report()}")
        assert said() == (level == "info"), process.report()


def is_configured(process: Process, arm: str) -> bool:
    """Whether a launch file has printed that an arm's node is configured."""
    words = f"[INFO] [{arm}.feedforward_node]: configured"
    return words in re.sub(r" \[\d+\.\d+\]", "", process.output)


def test_an_enclave_is_passed_on(processes: Processes, graph: Graph) -> None:
    arguments = (
        "engine:=equations", "enclave:=/geared_dynamics/feedforward",
        "plant_enclave:=/geared_dynamics/plant", "namespace:=arm", "log_level:=warn",
    )  # fmt: skip
    launch(processes, "mujoco.launch.py", *arguments)
    graph.wait_for_state("/arm/feedforward_node", "active")
    wanted = {
        ("feedforward_node", "/arm", "/geared_dynamics/feedforward"),
        ("plant_node", "/arm", "/geared_dynamics/plant"),
    }
    rows = graph.node.get_node_names_and_namespaces_with_enclaves
    graph.until(lambda: wanted <= set(map(tuple, rows())), "both nodes in their enclaves")


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


@pytest.fixture
def springs(tmp_path: Path) -> str:
    """The elbow with elastic joints."""
    file = tmp_path / "springs.drivetrain.yaml"
    file.write_text(drives(), encoding="utf-8")
    return f"drivetrain:={file}"


def test_the_observer_comes_up_active_and_ends_with_ctrl_c(
    processes: Processes, graph: Graph, springs: str, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        "/**:\n  ros__parameters: {bandwidth: 12.0, observer: kalman}\n", encoding="utf-8"
    )
    arguments = (
        f"urdf:={ELBOW}",
        springs,
        f"params_file:={mine}",
        "observer:=nonlinear",
        "namespace:=arm",
        "name:=watcher",
        "commands:=/feedforward_node/commands",
        "joint_states:=/joint_states",
    )
    process = launch(processes, "observer.launch.py", *arguments)
    graph.wait_for_state("/arm/watcher", "active")
    found = graph.get_parameters("/arm/watcher", ["bandwidth", "observer", "use_sim_time"])
    assert found == {"bandwidth": 12.0, "observer": "nonlinear", "use_sim_time": False}
    graph.wait_for_node("watcher")
    topics = dict(graph.node.get_subscriber_names_and_types_by_node("watcher", "/arm"))
    assert {"/joint_states", "/feedforward_node/commands"} <= set(topics)
    topics = dict(graph.node.get_publisher_names_and_types_by_node("watcher", "/arm"))
    assert {"/arm/watcher/link_state", "/arm/watcher/control_state"} <= set(topics)
    assert process.stop() == 0, process.report()
    assert "process has died" not in process.output, process.report()
    assert "Traceback" not in process.output, process.report()


def test_the_observer_waits_without_autostart(
    processes: Processes, graph: Graph, springs: str
) -> None:
    launch(processes, "observer.launch.py", f"urdf:={ELBOW}", springs, "autostart:=false")
    assert graph.state("/elastic_observer_node") == "unconfigured"
    assert graph.change_state("/elastic_observer_node", "configure")
    assert graph.state("/elastic_observer_node") == "inactive"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("urdf:=nowhere.urdf",), "urdf: there is no file 'nowhere.urdf'"),
        ((f"urdf:={ELBOW}", f"xacro:={ELBOW}"), "both are given"),
        (("params_file:=none.yaml",), "params_file: there is no file"),
        (("observer:=luenberger",), "observer"),
        (("autostart:=yes",), "autostart"),
        ((f"xacro:={ELBOW}", "xacro_args:=side"), "xacro_args"),
    ],
)
def test_wrong_arguments_of_the_observer_are_refused(
    processes: Processes, arguments: tuple[str, ...], said: str
) -> None:
    process = launch(processes, "observer.launch.py", *arguments)
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


TOPIC = "/robot/states"  # where the recording has its joint states


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A bag of the elbow's joint states and description."""
    t, q, v, a = motion(10.0, 100.0)
    model = elbow_model()
    tau = torques(model, truth(model), q, v, a)
    states = messages(model.joint_names, t, q, v, tau)
    topics = {
        TOPIC: (JOINT_STATE, states),
        "/robot_description": ("std_msgs/msg/String", [string(ELBOW.read_bytes())]),
    }
    return write_sqlite(tmp_path / "run.db3", topics)


def test_a_recording_is_analysed(processes: Processes, recorded: Path, tmp_path: Path) -> None:
    torque = tmp_path / "torques"
    arguments = (f"input_bag:={recorded}", f"drivetrain:={DRIVES}", f"output_bag:={torque}",
                 "options:=--bandwidth 5")  # fmt: skip
    process = launch(processes, "replay.launch.py", *arguments)
    assert process.wait(120.0) == 0, process.report()
    assert "filtered below 5 Hz" in process.output, process.report()
    assert "residual over all joints" in process.output, process.report()
    assert (torque / "metadata.yaml").is_file()


def test_a_recording_is_played_into_the_node(
    processes: Processes, graph: Graph, recorded: Path, tmp_path: Path
) -> None:
    said = tmp_path / "player.txt"
    player = tmp_path / "bin" / "ros2"  # the real one needs the whole of ROS
    player.parent.mkdir()
    player.write_text(
        f'#!/bin/sh\nmkfifo "{said}.end"\necho "$@" > "{said}"\nread x < "{said}.end"\n'
    )
    player.chmod(0o755)
    processes.env["PATH"] = f"{player.parent}:{os.environ['PATH']}"
    arguments = elbow("play:=true", f"input_bag:={recorded}", "rate:=2.0")
    process = launch(processes, "replay.launch.py", *arguments)
    graph.wait_for_state("/feedforward_node", "active")
    names = ["mode", "use_sim_time"]
    found = graph.get_parameters("/feedforward_node", names)
    assert found == {"mode": "stream", "use_sim_time": True}
    graph.wait_for_node("feedforward_node")
    heard = graph.node.get_subscriber_names_and_types_by_node("feedforward_node", "/")
    assert TOPIC in dict(heard)
    graph.until(said.is_file, "the player")
    process.ending = True
    Path(f"{said}.end").write_text("end\n", encoding="utf-8")
    assert process.wait(60.0) == 0, process.report()
    words = f"bag play {recorded} --clock-topics {TOPIC} --rate 2.0"
    assert said.read_text("utf-8").strip() == words


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("input_bag:=gone",), "input_bag: there is no 'gone'"),
        ((f"input_bag:={ELBOW}", "urdf:=gone.urdf"), "urdf: there is no file 'gone.urdf'"),
        ((f"input_bag:={ELBOW}", "effort:=force"), "effort"),
        ((), "input_bag"),
    ],
)
def test_wrong_recordings_are_refused(
    processes: Processes, arguments: tuple[str, ...], said: str
) -> None:
    process = launch(processes, "replay.launch.py", *arguments)
    assert process.wait() == 1, process.report()
    assert said in process.output, process.report()


def test_a_failed_analysis_says_why_and_plays_nothing(processes: Processes) -> None:
    arguments = elbow(f"input_bag:={ROOT / 'README.md'}", "play:=true")
    process = launch(processes, "replay.launch.py", *arguments)
    process.wait(60.0)
    assert "is neither an SQLite nor an MCAP file" in process.output, process.report()
    assert "feedforward_node" not in process.output, process.report()
