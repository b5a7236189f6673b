"""A simulated arm with elastic joints, the feedforward node that moves it, and the observer.

Send it a ``trajectory_msgs/msg/JointTrajectory`` on ``feedforward_node/joint_trajectory`` and
look at what ``elastic_observer_node`` publishes; docs/observer_node.md says what is to be seen.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction

shared = SimpleNamespace(**runpy.run_path(str(Path(__file__).resolve().with_name("shared.py"))))
SHARE = Path(__file__).resolve().parents[1]
FEEDFORWARD = SHARE / "launch" / "feedforward.launch.py"
OBSERVER = SHARE / "launch" / "observer.launch.py"
ENGINES = ["equations", "mujoco"]
OBSERVERS = ["kalman", "nonlinear"]
PASSED = ("namespace", "urdf", "drivetrain", "params_file", "log_level")


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; the nodes are made from their values."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "namespace", default_value="", description="Namespace of the three nodes."
            ),
            DeclareLaunchArgument(
                "urdf",
                default_value=str(SHARE / "urdf" / "wave6.urdf"),
                description="Path of the robot's URDF.",
            ),
            DeclareLaunchArgument(
                "drivetrain",
                default_value=str(SHARE / "urdf" / "wave6.drivetrain.yaml"),
                description="Path of its drivetrain file, with motors and springs.",
            ),
            DeclareLaunchArgument(
                "engine",
                default_value="equations",
                choices=ENGINES,
                description="Simulation engine: equations, the package's own, or mujoco.",
            ),
            shared.pace_argument(),
            DeclareLaunchArgument(
                "observer",
                default_value="kalman",
                choices=OBSERVERS,
                description="Type of the observer.",
            ),
            DeclareLaunchArgument(
                "encoder_counts",
                default_value="131072",
                description="Encoder counts per motor revolution in the plant.",
            ),
            DeclareLaunchArgument(
                "params_file",
                default_value="",
                description="Path of a parameter file for the three nodes.",
            ),
            DeclareLaunchArgument(
                "log_level",
                default_value="info",
                choices=shared.LEVELS,
                description="Log level of all nodes.",
            ),
            DeclareLaunchArgument(
                "enclave",
                default_value="",
                description="SROS2 enclave of the feedforward node. Empty means none.",
            ),
            DeclareLaunchArgument(
                "observer_enclave",
                default_value="",
                description="SROS2 enclave of the observer. Empty means none.",
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
    """Return the plant, and the two nodes by their own launch files."""

    def value(name: str) -> str:
        return str(shared.value(context, name))

    passed = {name: value(name) for name in PASSED}
    passed |= {
        "use_sim_time": str(value("pace") == "lock_step").lower(),
        "joint_states": "motor_states",
    }
    mover = {"preset": "elastic_simulated", "mode": "computed_torque", "enclave": value("enclave")}
    watcher = {
        "preset": "simulated",
        "observer": value("observer"),
        "joint_commands": shared.node_commands(value("namespace")),
        "enclave": value("observer_enclave"),
    }
    return [
        shared.plant(context, encoder_counts=int(value("encoder_counts")), wait_for_observer=True),
        shared.included(FEEDFORWARD, passed | mover, shared.lock_step_parameters(context)),
        shared.included(OBSERVER, passed | watcher),
    ]
