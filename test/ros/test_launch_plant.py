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
    """Each state is answered: in real time the arm does not sink, in lock step time goes on.

    In lock step the node waits for as long as the machine takes. Ctrl-C is a good end.
    """
    from sensor_msgs.msg import JointState

    process = launch(
        processes, "mujoco.launch.py", f"urdf:={URDF}", f"drivetrain:={DRIVETRAIN}",
        "engine:=equations", f"pace:={pace}", "namespace:=arm",
    )  # fmt: skip
    graph.wait_for_state("/arm/feedforward_node", "active")
    states = graph.listen("/arm/joint_states", JointState)
    graph.until(lambda: states.count > 100, "a hundred joint states")
    stamps = [m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in states.messages]
    assert stamps[-1] > stamps[0] + 0.05
    assert max(abs(q) for q in states.last.position) < 0.02
    usual = {"safety.state_timeout": 0.05, "safety.clock_timeout": 1.0}
    patience = {"real_time": usual, "lock_step": dict.fromkeys(usual, 10.0)}
    assert graph.get_parameters("/arm/feedforward_node", [*usual]) == patience[pace]
    assert process.stop() == 0, process.report()
    assert "exception" not in process.output, process.report()


def test_a_parameter_file_wins_over_the_patience_of_lock_step(
    processes: Processes, graph: Graph, tmp_path: Path
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("/**:\n  ros__parameters:\n    safety.state_timeout: 0.5\n", encoding="utf-8")
    launch(processes, "mujoco.launch.py", f"urdf:={URDF}", f"drivetrain:={DRIVETRAIN}",
           "engine:=equations", "pace:=lock_step", f"params_file:={file}")  # fmt: skip
    found = graph.get_parameters("/feedforward_node", ["safety.state_timeout"])
    assert found == {"safety.state_timeout": 0.5}


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


# By preset and mode: topic of what is sent, topic of the states, and of the speed scaling.
FORWARD = "forward_effort_controller/commands"
SCALING = "speed_scaling_state_broadcaster/speed_scaling"
STOCK = {
    ("generic", "annotate"): (
        "joint_trajectory_controller/joint_trajectory", "joint_states", ""),
    ("generic", "stream"): (FORWARD, "joint_states", ""),
    ("ur", "annotate"): (
        "effort_joint_trajectory_controller/joint_trajectory", "joint_states", SCALING),
    ("ur", "stream"): (FORWARD, "joint_states", SCALING),
    ("ur", "computed_torque"): (FORWARD, "joint_states", SCALING),
    ("franka", "annotate"): (
        "fr3_arm_controller/joint_trajectory", "franka/joint_states", ""),
    ("franka", "computed_torque"): (FORWARD, "franka/joint_states", ""),
    ("kuka_fri", "stream"): ("effort_controller/commands", "joint_states", ""),
    ("kuka_fri", "computed_torque"): ("effort_controller/commands", "joint_states", ""),
}  # fmt: skip


@pytest.mark.parametrize(("preset", "mode"), STOCK, ids=str)
def test_a_real_robot_by_its_drivers_names_and_not_moved_unasked(preset: str, mode: str) -> None:
    topic, states, scaling = STOCK[preset, mode]
    (node,) = passed(made("hardware.launch.py", preset=preset, mode=mode))
    assert node["autostart"] == str(mode == "annotate").lower()
    assert topic in (node.get("commands"), node.get("annotated_trajectory"))
    assert len({"commands", "annotated_trajectory"} & set(node)) == 1
    assert (node["joint_states"], node["speed_scaling"]) == (states, scaling)


def test_own_names_win_over_the_drivers() -> None:
    given = {"trajectory_controller": "mine", "joint_states": "/s", "speed_scaling": "/x"}
    for preset in ("ur", "kuka_fri", "kinova"):
        (node,) = passed(made("hardware.launch.py", preset=preset, **given))
        assert node["annotated_trajectory"] == "mine/joint_trajectory"
        assert (node["joint_states"], node["speed_scaling"]) == ("/s", "/x")


@pytest.mark.parametrize(
    ("preset", "mode", "said"),
    [
        ("kuka_fri", "annotate", "command position.*What works: mode:=stream.*effort_controller"),
        ("kinova", "annotate", "does not support effort.*What works: .*low-level mode"),
        ("kinova", "stream", "does not support effort.*effort_controller:="),
        ("kinova", "computed_torque", "does not support effort"),
    ],
)
def test_what_a_driver_cannot_do_is_refused_with_what_works(
    preset: str, mode: str, said: str
) -> None:
    with pytest.raises(RuntimeError, match=said):
        made("hardware.launch.py", preset=preset, mode=mode)


def test_a_refused_mode_starts_nothing(processes: Processes) -> None:
    arguments = (f"urdf:={URDF}", f"drivetrain:={DRIVETRAIN}")
    process = launch(processes, "hardware.launch.py", "preset:=kinova", *arguments)
    assert process.wait() == 1, process.report()
    assert "refuses trajectories with effort" in process.output, process.report()
    assert "process started" not in process.output, process.report()


def test_a_universal_robot_by_its_names(processes: Processes, graph: Graph) -> None:
    arguments = ("preset:=ur", f"urdf:={URDF}", f"drivetrain:={DRIVETRAIN}")
    process = launch(processes, "hardware.launch.py", *arguments)
    graph.wait_for_state("/feedforward_node", "active")
    output = "/effort_joint_trajectory_controller/joint_trajectory"
    assert f"spawner {output.split('/')[1]} --inactive" in process.output, process.report()
    graph.wait_for_node("feedforward_node")
    topics = dict(graph.node.get_publisher_names_and_types_by_node("feedforward_node", "/"))
    assert output in topics
    assert "/feedforward_node/annotated_trajectory" not in topics
    topics = dict(graph.node.get_subscriber_names_and_types_by_node("feedforward_node", "/"))
    assert {"/joint_states", "/speed_scaling_state_broadcaster/speed_scaling"} <= set(topics)
    found = graph.get_parameters("/feedforward_node", ["speed_scaling.full", "update_rate"])
    assert found == {"speed_scaling.full": 100.0, "update_rate": 500}
    graph.until(lambda: f"no subscriber on {output}" in process.output, "the warning", 10.0)


def test_gazebo_has_a_controller_for_the_mode() -> None:
    (node,) = passed(made("gazebo.launch.py", mode="annotate"))
    assert node["annotated_trajectory"] == "/joint_trajectory_controller/joint_trajectory"
    assert "commands" not in node


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
