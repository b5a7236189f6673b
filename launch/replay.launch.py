"""A recording compared with the model, and, if asked, played into the feedforward node.

First ``geared-dynamics analyze`` reads the bag as it is. With ``play:=true`` the bag is then
played with its own time, and the node streams what it would have commanded on
``feedforward_node/commands`` wherever the recording has a trajectory on the node's
``joint_trajectory``; without one it shows what would hold the arm.
"""

from __future__ import annotations

import runpy
import shlex
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
)
from launch.event_handlers import OnProcessExit
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

shared = SimpleNamespace(**runpy.run_path(str(Path(__file__).resolve().with_name("shared.py"))))
SHARE = Path(__file__).resolve().parents[1]
ONE_ARM = SHARE / "launch" / "feedforward.launch.py"
PRESETS = sorted(path.stem for path in (SHARE / "config").glob("*.yaml"))
TRUTH = ["true", "false"]
EFFORTS = ["joint_torque", "gravity_compensated", "motor_current", "motor_torque"]

# Arguments that become options of analyze under another or the same name, if given.
AS_OPTION = {
    "urdf": "--robot",
    "drivetrain": "--drivetrain",
    "joint_states": "--topic",
    "effort": "--effort",
    "output": "--output",
    "output_bag": "--output-bag",
}
# Arguments that the launch file of the node takes as they are.
SHARED = ("urdf", "drivetrain", "preset", "params_file", "enclave")
FILES = ("urdf", "drivetrain", "params_file")


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; the rest is made from their values."""
    return LaunchDescription(
        [
            DeclareLaunchArgument("input_bag", description="Path of the recording."),
            DeclareLaunchArgument(
                "urdf",
                default_value="",
                description="Path of the robot's URDF. Empty means the recording's "
                "robot_description.",
            ),
            DeclareLaunchArgument(
                "drivetrain",
                default_value="",
                description="Path of the drivetrain file. Empty uses the drives that the URDF "
                "describes.",
            ),
            DeclareLaunchArgument(
                "joint_states",
                default_value="",
                description="Topic of the states. Empty means the one that has the robot's "
                "joints.",
            ),
            DeclareLaunchArgument(
                "effort",
                default_value="joint_torque",
                choices=EFFORTS,
                description="Type of the recorded efforts.",
            ),
            DeclareLaunchArgument(
                "output",
                default_value="",
                description="Folder for report, picture and table. Empty means tables on the "
                "screen.",
            ),
            DeclareLaunchArgument(
                "output_bag",
                default_value="",
                description="Path of a bag with torques of model, measurement and residual.",
            ),
            DeclareLaunchArgument(
                "options",
                default_value="",
                description='More options of geared-dynamics analyze, as in "--gains 11 11 7".',
            ),
            DeclareLaunchArgument(
                "play",
                default_value="false",
                choices=TRUTH,
                description="If true, play the recording into the feedforward node afterwards.",
            ),
            DeclareLaunchArgument(
                "rate",
                default_value="1.0",
                description="Playback speed; 1.0 is the recorded speed.",
            ),
            DeclareLaunchArgument(
                "record_bag",
                default_value="",
                description="Path of a bag of all topics while playing. Empty means none.",
            ),
            DeclareLaunchArgument(
                "preset",
                default_value="generic",
                choices=PRESETS,
                description="Preset of the robot's make for the node: which torques the robot "
                "adds itself.",
            ),
            DeclareLaunchArgument(
                "params_file",
                default_value="",
                description="Path of the node's parameter file (YAML).",
            ),
            DeclareLaunchArgument(
                "enclave",
                default_value="",
                description="SROS2 enclave of the node. Empty means none.",
            ),
            OpaqueFunction(function=make_all),
        ]
    )


def make_all(context: LaunchContext) -> list[object]:
    """Return the analysis, and what follows it."""

    def value(name: str) -> str:
        return str(LaunchConfiguration(name).perform(context))

    if not Path(value("input_bag")).exists():
        finding = f"input_bag: there is no {value('input_bag')!r}"
        raise RuntimeError(f"{finding}; give the path of a bag")
    for name in FILES:
        if value(name) and not Path(value(name)).is_file():
            raise RuntimeError(f"{name}: there is no file {value(name)!r}; give the path of one")
    pairs = [(option, value(name)) for name, option in AS_OPTION.items() if value(name)]
    words = [word for pair in pairs for word in pair] + shlex.split(value("options"))
    command = [
        sys.executable,
        "-m",
        "geared_dynamics.apps.cli.main",
        "analyze",
        value("input_bag"),
    ]
    with tempfile.NamedTemporaryFile(prefix="topic_", delete=False) as file:
        topic = Path(file.name)
    command += ["--save-topic", str(topic)]
    analysis = ExecuteProcess(cmd=[*command, *words], output="screen")

    def after(event: object, context: LaunchContext) -> list[object]:
        found = topic.read_text(encoding="utf-8").strip()
        topic.unlink()
        if context.is_shutdown:
            return []
        if getattr(event, "returncode", 0):
            return [Shutdown(reason="the analysis failed")]
        return replay(value, found) if value("play") == "true" else []

    handler = RegisterEventHandler(OnProcessExit(target_action=analysis, on_exit=after))
    return [handler, analysis]


def replay(value: Callable[[str], str], topic: str) -> list[object]:
    """Return node, recorder if one is asked for, and player; the launch ends with the player.

    Args:
        value: A launch argument's value.
        topic: Of the joint states in the recording, as the analysis found it.
    """
    if not topic:
        raise RuntimeError("play: the recording is no bag, and has no topic; give a bag")
    states = f"/{topic.lstrip('/')}"
    values = {name: value(name) for name in SHARED if value(name)}
    values |= {"mode": "stream", "use_sim_time": "true", "joint_states": states}
    found: list[object] = [
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(ONE_ARM)), launch_arguments=list(values.items())
        )
    ]
    bag = ["ros2", "bag"]
    if value("record_bag"):
        record = [*bag, "record", "--all", "--use-sim-time", "--output", value("record_bag")]
        found.append(ExecuteProcess(cmd=record, output="screen"))
    # A tick of the clock before each joint state: no node sees it at an earlier time.
    play = [*bag, "play", value("input_bag"), "--clock-topics", states, "--rate", value("rate")]
    end = shared.ends_the_launch("played")
    found.append(ExecuteProcess(cmd=play, output="screen", on_exit=end))
    return found
