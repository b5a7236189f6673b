"""The launch files of simulated and real arms, wherever launch and launch_ros can be imported."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from feedforward_rig import DRIVETRAIN, URDF
from ros_harness import Graph, Process, Processes

try:  # without ROS's launch, our folder of that name may be found as an empty package
    from launch import LaunchContext
    from launch.actions import DeclareLaunchArgument, GroupAction, OpaqueFunction
    from launch.launch_description_sources import PythonLaunchDescriptionSource
    from launch_ros.actions import Node
except ImportError:
    HAS_LAUNCH = False
else:
    HAS_LAUNCH = True

pytestmark = pytest.mark.skipif(not HAS_LAUNCH, reason="launch_ros is not installed (from ROS)")

ROOT = Path(__file__).resolve().parents[2]
RUNNER = ROOT / "test" / "ros_harness" / "launch_file.py"


def launch(processes: Processes, file: str, *arguments: str) -> Process:
    process = processes.start(RUNNER, ROOT / "launch" / file, *arguments, name=file)
    process.terminal = True
    return process


def made(file: str, **given: str) -> list[Any]:
    """What a launch file makes of arguments, not run."""
    context = LaunchContext()
    source = PythonLaunchDescriptionSource(str(ROOT / "launch" / file))
    description = source.get_launch_description(context)
    context.launch_configurations.update(given)
    arguments = [e for e in description.entities if isinstance(e, DeclareLaunchArgument)]
    for argument in arguments:
        argument.execute(context)
    function = next(e for e in description.entities if isinstance(e, OpaqueFunction))
    return list(function.execute(context) or [])


def passed(actions: list[Any]) -> list[dict[str, str]]:
    """Arguments of the launch files that groups include."""
    groups = [action for action in actions if isinstance(action, GroupAction)]
    inner = [e for group in groups for e in group.get_sub_entities()]
    return [dict(e.launch_arguments) for e in inner if getattr(e, "launch_arguments", None)]


@pytest.mark.parametrize("pace", ["real_time", "lock_step"])
def test_the_simulated_arm_is_held(processes: Processes, graph: Graph, pace: str) -> None:
    """Each state is answered: in real time the arm does not sink, in lock step time goes on."""
    from sensor_msgs.msg import JointState

    launch(
        processes, "mujoco.launch.py", f"urdf:={URDF}", f"drivetrain:={DRIVETRAIN}",
        "engine:=equations", f"pace:={pace}", "namespace:=arm",
    )  # fmt: skip
    graph.wait_for_state("/arm/feedforward_node", "active")
    states = graph.listen("/arm/joint_states", JointState)
    graph.until(lambda: states.count > 100, "a hundred joint states")
    stamps = [m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in states.messages]
    assert stamps[-1] > stamps[0] + 0.05
    assert max(abs(q) for q in states.last.position) < 0.02


def test_gazebo_starts_one_after_the_other() -> None:
    actions = made("gazebo.launch.py", gui="false")
    packages = [a.node_package for a in actions if isinstance(a, Node)]
    assert packages == ["ros_gz_bridge", "robot_state_publisher", "ros_gz_sim"]
    handlers = [type(a).__name__ for a in actions].count("RegisterEventHandler")
    assert handlers == 2
    (node,) = passed(actions)
    assert node["commands"] == "/forward_effort_controller/commands"
    assert (node["preset"], node["use_sim_time"]) == ("gazebo", "true")
    assert "xacro" not in node  # the URDF comes from the topic


@pytest.mark.parametrize(
    ("mode", "autostart", "topic"),
    [
        ("annotate", "true", "joint_trajectory_controller/joint_trajectory"),
        ("stream", "false", "forward_effort_controller/commands"),
        ("computed_torque", "false", "forward_effort_controller/commands"),
    ],
)
def test_a_real_robot_is_not_moved_unasked(mode: str, autostart: str, topic: str) -> None:
    (node,) = passed(made("hardware.launch.py", preset="ur", mode=mode))
    assert node["autostart"] == autostart
    assert topic in (node.get("commands"), node.get("annotated_trajectory"))
    assert len({"commands", "annotated_trajectory"} & set(node)) == 1


def test_a_recording_brings_its_own_time() -> None:
    """What follows the analysis, where the recording is to be played."""
    given = {"input_bag": "run", "rate": "1.0"}
    replay = runpy.run_path(str(ROOT / "launch" / "replay.launch.py"))["replay"]
    actions = replay(lambda name: given.get(name, ""), "arm/joint_states")
    (node,) = (dict(e.launch_arguments) for e in actions if getattr(e, "launch_arguments", None))
    assert (node["mode"], node["use_sim_time"]) == ("stream", "true")
    assert node["joint_states"] == "/arm/joint_states"


@pytest.mark.parametrize(
    ("file", "given", "said"),
    [
        ("replay.launch.py", {"input_bag": "gone"}, "input_bag: there is no 'gone'"),
        ("gazebo.launch.py", {"xacro": "gone.xacro"}, "xacro: there is no file 'gone.xacro'"),
        ("gazebo.launch.py", {"controllers_file": "no.yaml"}, "controllers_file: there is no"),
        ("hardware.launch.py", {"preset": "ur", "driver": "no.py"}, "driver: there is no file"),
    ],
)
def test_missing_files_are_named(file: str, given: dict[str, str], said: str) -> None:
    with pytest.raises(RuntimeError, match=said):
        made(file, **given)
