"""A simulated arm in real time or lock step, and the feedforward node that moves it.

Send it a ``trajectory_msgs/msg/JointTrajectory`` on ``feedforward_node/joint_trajectory``; until
then the node holds the arm. The launch ends with the plant.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    OpaqueFunction,
    Shutdown,
)
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

PACKAGE = "geared_dynamics"
EXECUTABLE = "plant_node"
MODULE = "geared_dynamics.ros.plant_node"

shared = SimpleNamespace(**runpy.run_path(str(Path(__file__).resolve().with_name("shared.py"))))
SHARE = Path(__file__).resolve().parents[1]
ONE_ARM = SHARE / "launch" / "feedforward.launch.py"
MODES = ["stream", "computed_torque"]
ENGINES = ["auto", "mujoco", "equations"]
PACES = ["real_time", "lock_step"]
LEVELS = ["debug", "info", "warn", "error", "fatal"]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; the nodes are made from their values."""
    return LaunchDescription(
        [
            DeclareLaunchArgument("namespace", default_value="", description="of both nodes"),
            DeclareLaunchArgument(
                "urdf",
                default_value=str(SHARE / "urdf" / "brisk6.urdf"),
                description="path of the robot's URDF",
            ),
            DeclareLaunchArgument(
                "drivetrain",
                default_value=str(SHARE / "urdf" / "brisk6.drivetrain.yaml"),
                description="path of its drivetrain file, which needs motors",
            ),
            DeclareLaunchArgument(
                "engine",
                default_value="auto",
                choices=ENGINES,
                description="what moves the bodies; auto: MuJoCo where it is installed, else our "
                "own equations",
            ),
            DeclareLaunchArgument(
                "pace",
                default_value="real_time",
                choices=PACES,
                description="by the wall clock, or waiting for each command with a /clock",
            ),
            DeclareLaunchArgument(
                "mode",
                default_value="computed_torque",
                choices=MODES,
                description="of the feedforward node",
            ),
            DeclareLaunchArgument(
                "params_file", default_value="", description="path of parameters for both nodes"
            ),
            DeclareLaunchArgument(
                "log_level", default_value="info", choices=LEVELS, description="of both nodes"
            ),
            DeclareLaunchArgument(
                "enclave",
                default_value="",
                description="of the feedforward node, for SROS2; empty: none",
            ),
            DeclareLaunchArgument(
                "plant_enclave", default_value="", description="of the plant; empty: none"
            ),
            OpaqueFunction(function=make_nodes),
        ]
    )


def make_nodes(context: LaunchContext) -> list[object]:
    """Return the plant, and the feedforward node by its own launch file."""

    def value(name: str) -> str:
        return str(LaunchConfiguration(name).perform(context))

    def text(name: str) -> ParameterValue:
        return ParameterValue(value(name), value_type=str)

    locked = value("pace") == "lock_step"
    own = {"engine": value("engine"), "pace": value("pace")}
    robot = {"urdf_path": text("urdf"), "drivetrain": text("drivetrain")}
    files = [value("params_file")] if value("params_file") else []
    space = f"/{value('namespace').strip('/')}" if value("namespace") else ""
    plant = Node(
        **shared.command(PACKAGE, EXECUTABLE, MODULE),
        name="plant_node",
        namespace=value("namespace"),
        parameters=[*files, robot | own],
        remappings=[
            # Commands by name carry the time that lock step waits for.
            ("~/joint_commands", f"{space}/feedforward_node/joint_commands"),
        ],
        ros_arguments=shared.ros_arguments(
            context, value("namespace"), "plant_node", value("log_level"), value("plant_enclave")
        ),
        output="screen",
        emulate_tty=True,
        on_exit=Shutdown(reason="the plant has ended"),
    )
    passed = ("namespace", "urdf", "drivetrain", "mode", "params_file", "log_level", "enclave")
    values = {name: value(name) for name in passed}
    values |= {"use_sim_time": str(locked).lower(), "preset": "simulated"}
    return [plant, shared.included(ONE_ARM, values)]
