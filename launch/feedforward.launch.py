"""One arm: the feedforward node with its model, a preset and the user's parameters.

``ros2 launch geared_dynamics feedforward.launch.py --show-args`` lists the arguments.
What the command line says wins over ``params_file``, and that over the preset.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch_ros.actions import LifecycleNode

PACKAGE = "geared_dynamics"
EXECUTABLE = "feedforward_node"
MODULE = "geared_dynamics.ros.feedforward_node"

shared = SimpleNamespace(**runpy.run_path(str(Path(__file__).resolve().with_name("shared.py"))))
CONFIG = Path(__file__).resolve().parents[1] / "config"
PRESETS = sorted(path.stem for path in CONFIG.glob("*.yaml"))
MODES = ["annotate", "stream", "computed_torque"]

# Arguments that become parameters of the node under another or the same name, if given.
AS_PARAMETER = {"mode": "mode", "urdf": "urdf_path", "drivetrain": "drivetrain"}


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; the node is made from their values."""
    arguments = shared.node_arguments(
        EXECUTABLE,
        DeclareLaunchArgument(
            "mode",
            default_value="",
            choices=["", *MODES],
            description="Operating mode of the node. Empty uses the parameter files.",
        ),
        DeclareLaunchArgument(
            "preset",
            default_value="generic",
            choices=PRESETS,
            description="Preset of the robot's make, a file in config/: which torques the robot "
            "adds itself.",
        ),
        DeclareLaunchArgument(
            "commands",
            default_value="",
            description="Topic of the commands, such as a forward command controller's.",
        ),
        DeclareLaunchArgument(
            "annotated_trajectory",
            default_value="",
            description="Topic of a joint trajectory controller, for the mode annotate.",
        ),
        DeclareLaunchArgument(
            "speed_scaling",
            default_value="",
            description="Topic of the robot's speed scaling, std_msgs/msg/Float64.",
        ),
    )
    return LaunchDescription([*arguments, OpaqueFunction(function=make_node)])


def make_node(context: LaunchContext) -> list[LifecycleNode]:
    """Return the node for the arguments' values."""

    def value(name: str) -> str:
        return str(shared.value(context, name))

    remappings = [
        ("joint_states", value("joint_states")),
        ("robot_description", value("robot_description")),
    ]
    for output in ("commands", "annotated_trajectory"):
        if value(output):
            remappings.append((f"~/{output}", value(output)))
    if value("speed_scaling"):
        remappings.append(("~/speed_scaling_input", value("speed_scaling")))
    program = {"package": PACKAGE, "executable": EXECUTABLE, "module": MODULE}
    parameters = shared.node_parameters(context, CONFIG, AS_PARAMETER)
    return [shared.lifecycle_node(context, program, remappings, parameters)]
