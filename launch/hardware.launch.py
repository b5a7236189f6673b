"""A real robot: its driver's launch file, if you name it, and the feedforward node with a preset.

The default mode, ``annotate``, sends no torque: trajectories go out with effort to a joint
trajectory controller, which closes the loop. With the other modes commands go to ``commands``;
there the node waits unconfigured until you activate it, unless ``autostart:=true``.
"""

from __future__ import annotations

from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch.launch_description_sources import AnyLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

SHARE = Path(__file__).resolve().parents[1]
ONE_ARM = SHARE / "launch" / "feedforward.launch.py"
PRESETS = ["generic", "ur", "franka", "kuka_fri", "kinova"]
MODES = ["annotate", "stream", "computed_torque"]
LEVELS = ["debug", "info", "warn", "error", "fatal"]
PASSED = (
    "preset", "mode", "urdf", "drivetrain", "params_file", "namespace", "joint_states",
    "log_level", "enclave",
)  # fmt: skip


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; the rest is made from their values."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "preset", choices=PRESETS, description="who compensates what: the make of robot"
            ),
            DeclareLaunchArgument(
                "driver",
                default_value="",
                description="path of the driver's launch file; empty: the driver runs already",
            ),
            DeclareLaunchArgument(
                "driver_args",
                default_value="",
                description="name:=value ... for the driver's file",
            ),
            DeclareLaunchArgument(
                "mode", default_value="annotate", choices=MODES, description="of the node"
            ),
            DeclareLaunchArgument(
                "urdf",
                default_value="",
                description="path of the URDF; empty: the driver's topic robot_description",
            ),
            DeclareLaunchArgument(
                "drivetrain", default_value="", description="path of the drivetrain file"
            ),
            DeclareLaunchArgument(
                "joint_states", default_value="joint_states", description="topic of the states"
            ),
            DeclareLaunchArgument(
                "trajectory_controller",
                default_value="joint_trajectory_controller",
                description="that gets the trajectories with effort, in the mode annotate",
            ),
            DeclareLaunchArgument(
                "effort_controller",
                default_value="forward_effort_controller",
                description="that gets the commands, in the other modes",
            ),
            DeclareLaunchArgument(
                "autostart",
                default_value="",
                choices=["", "true", "false"],
                description="activate the node; empty: in the mode annotate only",
            ),
            DeclareLaunchArgument(
                "params_file", default_value="", description="path of your parameters"
            ),
            DeclareLaunchArgument("namespace", default_value="", description="of the node"),
            DeclareLaunchArgument(
                "log_level", default_value="info", choices=LEVELS, description="of the node"
            ),
            DeclareLaunchArgument(
                "enclave", default_value="", description="of the node, for SROS2; empty: none"
            ),
            OpaqueFunction(function=make_all),
        ]
    )


def make_all(context: LaunchContext) -> list[GroupAction]:
    """Return the driver and the node."""

    def value(name: str) -> str:
        return str(LaunchConfiguration(name).perform(context))

    annotating = value("mode") == "annotate"
    values = {name: value(name) for name in PASSED}
    values["autostart"] = value("autostart") or str(annotating).lower()
    if annotating:
        topic = f"{value('trajectory_controller')}/joint_trajectory"
        values["annotated_trajectory"] = topic
    else:
        values["commands"] = f"{value('effort_controller')}/commands"
    found = [included(str(ONE_ARM), values)]
    if value("driver"):
        if not Path(value("driver")).is_file():
            raise RuntimeError(f"driver: there is no file {value('driver')!r}; give its path")
        found.insert(0, included(value("driver"), pairs(value("driver_args"))))
    return found


def included(path: str, values: dict[str, str]) -> GroupAction:
    """Another launch file with these arguments and no others of ours."""
    source = AnyLaunchDescriptionSource(path)
    file = IncludeLaunchDescription(source, launch_arguments=list(values.items()))
    return GroupAction([file], scoped=True, forwarding=False)


def pairs(words: str) -> dict[str, str]:
    """Arguments from ``name:=value ...``."""
    found = {}
    for word in words.split():
        name, sign, text = word.partition(":=")
        if not (name and sign):
            raise RuntimeError(f"driver_args: {word!r} is not of the form name:=value")
        found[name] = text
    return found
