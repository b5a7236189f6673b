"""One elastic arm: the observer node with its model and the user's parameters.

``ros2 launch geared_dynamics observer.launch.py --show-args`` lists the arguments.
What the command line says wins over ``params_file``, and that over ``config/observer``.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch_ros.actions import LifecycleNode

PACKAGE = "geared_dynamics"
EXECUTABLE = "elastic_observer_node"
MODULE = "geared_dynamics.ros.elastic_observer_node"

shared = SimpleNamespace(**runpy.run_path(str(Path(__file__).resolve().with_name("shared.py"))))
CONFIG = Path(__file__).resolve().parents[1] / "config" / "observer"
OBSERVERS = ["kalman", "nonlinear"]
PRESETS = sorted(path.stem for path in CONFIG.glob("*.yaml"))
SHARED = (
    "joint_states",
    "robot_description",
    "commands",
    "joint_commands",
    "link_states",
    "joint_torques",
)

# Arguments that become parameters of the node under another or the same name, if given.
AS_PARAMETER = {"observer": "observer", "urdf": "urdf_path", "drivetrain": "drivetrain"}


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; the node is made from their values."""
    arguments = shared.node_arguments(
        EXECUTABLE,
        DeclareLaunchArgument(
            "observer",
            default_value="",
            choices=["", *OBSERVERS],
            description="Type of the observer. Empty uses the parameter files.",
        ),
        DeclareLaunchArgument(
            "preset",
            default_value="generic",
            choices=PRESETS,
            description="Preset, a file in config/observer/.",
        ),
        DeclareLaunchArgument(
            "commands",
            default_value="commands",
            description="Topic of the commands, Float64MultiArray.",
        ),
        DeclareLaunchArgument(
            "joint_commands",
            default_value="joint_commands",
            description="Topic of the commands, JointState.",
        ),
        DeclareLaunchArgument(
            "link_states",
            default_value="link_states",
            description="Topic of the encoders on the links.",
        ),
        DeclareLaunchArgument(
            "joint_torques",
            default_value="joint_torques",
            description="Topic of the torque sensors.",
        ),
    )
    return LaunchDescription([*arguments, OpaqueFunction(function=make_node)])


def make_node(context: LaunchContext) -> list[LifecycleNode]:
    """Return the node for the arguments' values."""
    remappings = [(name, shared.value(context, name)) for name in SHARED]
    program = {"package": PACKAGE, "executable": EXECUTABLE, "module": MODULE}
    parameters = shared.node_parameters(context, CONFIG, AS_PARAMETER)
    return [shared.lifecycle_node(context, program, remappings, parameters)]
