"""A recording played again, with the feedforward node on its joint states.

The node streams what it would have commanded on ``feedforward_node/commands``, and each term's
torque on ``feedforward_node/terms/*``, wherever the recording has a trajectory on the node's
``joint_trajectory``; without one it shows what would hold the arm. Time is the recording's.
"""

from __future__ import annotations

from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
    Shutdown,
)
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

SHARE = Path(__file__).resolve().parents[1]
ONE_ARM = SHARE / "launch" / "feedforward.launch.py"
PASSED = ("urdf", "drivetrain", "preset", "params_file", "joint_states")
PRESETS = sorted(path.stem for path in (SHARE / "config").glob("*.yaml"))


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; the rest is made from their values."""
    return LaunchDescription(
        [
            DeclareLaunchArgument("input_bag", description="path of the recording"),
            DeclareLaunchArgument(
                "output_bag",
                default_value="",
                description="path of a new recording of everything; empty: none",
            ),
            DeclareLaunchArgument("rate", default_value="1.0", description="1.0 is as it was"),
            DeclareLaunchArgument(
                "urdf",
                default_value="",
                description="path of the URDF; empty: the recording's robot_description",
            ),
            DeclareLaunchArgument(
                "drivetrain", default_value="", description="path of the drivetrain file"
            ),
            DeclareLaunchArgument(
                "joint_states",
                default_value="joint_states",
                description="topic of the states in the recording",
            ),
            DeclareLaunchArgument(
                "preset",
                default_value="generic",
                choices=PRESETS,
                description="who compensates what on this make of robot",
            ),
            DeclareLaunchArgument(
                "params_file", default_value="", description="path of the node's parameters"
            ),
            OpaqueFunction(function=make_all),
        ]
    )


def make_all(context: LaunchContext) -> list[object]:
    """Return player, node, and recorder if one is asked for; the launch ends with the player."""

    def value(name: str) -> str:
        return str(LaunchConfiguration(name).perform(context))

    if not Path(value("input_bag")).exists():
        raise RuntimeError(
            f"input_bag: there is no {value('input_bag')!r}; give the path of a bag"
        )
    topic = f"/{value('joint_states').lstrip('/')}"
    # A tick of the clock before each joint state: nobody sees it at an earlier time.
    play = [
        "ros2",
        "bag",
        "play",
        value("input_bag"),
        "--clock-topics",
        topic,
        "--rate",
        value("rate"),
    ]
    values = {name: value(name) for name in PASSED} | {"mode": "stream", "use_sim_time": "true"}
    node = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(ONE_ARM)), launch_arguments=list(values.items())
    )
    found: list[object] = [GroupAction([node], scoped=True, forwarding=False)]
    if value("output_bag"):
        record = [
            "ros2",
            "bag",
            "record",
            "--all",
            "--use-sim-time",
            "--output",
            value("output_bag"),
        ]
        found.append(ExecuteProcess(cmd=record, output="screen"))
    found.append(ExecuteProcess(cmd=play, output="screen", on_exit=Shutdown()))
    return found
