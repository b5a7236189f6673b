"""A simulated arm in real time or lock step, and the feedforward node that moves it.

Send it a ``trajectory_msgs/msg/JointTrajectory`` on ``feedforward_node/joint_trajectory``; until
then the node holds the arm. The launch ends with the plant.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction

shared = SimpleNamespace(**runpy.run_path(str(Path(__file__).resolve().with_name("shared.py"))))
SHARE = Path(__file__).resolve().parents[1]
ONE_ARM = SHARE / "launch" / "feedforward.launch.py"
MODES = ["stream", "computed_torque"]
PASSED = ("namespace", "urdf", "drivetrain", "mode", "params_file", "log_level", "enclave")
ENGINES = ["auto", "mujoco", "equations"]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; the nodes are made from their values."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "namespace", default_value="", description="Namespace of both nodes."
            ),
            DeclareLaunchArgument(
                "urdf",
                default_value=str(SHARE / "urdf" / "brisk6.urdf"),
                description="Path of the robot's URDF.",
            ),
            DeclareLaunchArgument(
                "drivetrain",
                default_value=str(SHARE / "urdf" / "brisk6.drivetrain.yaml"),
                description="Path of its drivetrain file, which needs motors.",
            ),
            DeclareLaunchArgument(
                "engine",
                default_value="auto",
                choices=ENGINES,
                description="Simulation engine. auto selects MuJoCo if it is installed and "
                "supports the arm.",
            ),
            shared.pace_argument(),
            DeclareLaunchArgument(
                "mode",
                default_value="computed_torque",
                choices=MODES,
                description="Operating mode of the feedforward node.",
            ),
            DeclareLaunchArgument(
                "params_file",
                default_value="",
                description="Path of a parameter file for both nodes.",
            ),
            DeclareLaunchArgument(
                "log_level",
                default_value="info",
                choices=shared.LEVELS,
                description="Log level of both nodes.",
            ),
            DeclareLaunchArgument(
                "enclave",
                default_value="",
                description="SROS2 enclave of the feedforward node. Empty means none.",
            ),
            DeclareLaunchArgument(
                "plant_enclave",
                default_value="",
                description="SROS2 enclave of the plant. Empty means none.",
            ),
            OpaqueFunction(function=make_nodes),
        ]
    )


def make_nodes(context: LaunchContext) -> list[object]:
    """Return the plant, and the feedforward node by its own launch file."""

    def value(name: str) -> str:
        return str(shared.value(context, name))

    values = {name: value(name) for name in PASSED} | {"preset": "simulated"}
    values["use_sim_time"] = str(value("pace") == "lock_step").lower()
    mover = shared.included(ONE_ARM, values, shared.lock_step_parameters(context))
    return [shared.plant(context), mover]
