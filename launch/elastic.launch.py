"""A simulated arm with elastic joints, the feedforward node that moves it, and the observer.

Send it a ``trajectory_msgs/msg/JointTrajectory`` on ``feedforward_node/joint_trajectory`` and
look at what ``elastic_observer_node`` publishes; docs/observer_node.md says what is to be seen.
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
FEEDFORWARD = SHARE / "launch" / "feedforward.launch.py"
OBSERVER = SHARE / "launch" / "observer.launch.py"
ENGINES = ["equations", "mujoco"]
PACES = ["real_time", "lock_step"]
OBSERVERS = ["kalman", "nonlinear"]
LEVELS = ["debug", "info", "warn", "error", "fatal"]
PASSED = ("namespace", "urdf", "drivetrain", "params_file", "log_level")


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; the nodes are made from their values."""
    return LaunchDescription(
        [
            DeclareLaunchArgument("namespace", default_value="", description="of the three nodes"),
            DeclareLaunchArgument(
                "urdf",
                default_value=str(SHARE / "urdf" / "wave6.urdf"),
                description="path of the robot's URDF",
            ),
            DeclareLaunchArgument(
                "drivetrain",
                default_value=str(SHARE / "urdf" / "wave6.drivetrain.yaml"),
                description="path of its drivetrain file, with motors and springs",
            ),
            DeclareLaunchArgument(
                "engine",
                default_value="equations",
                choices=ENGINES,
                description="what moves the bodies: our own equations, or MuJoCo",
            ),
            DeclareLaunchArgument(
                "pace",
                default_value="real_time",
                choices=PACES,
                description="by the wall clock, or waiting for each command with a /clock",
            ),
            DeclareLaunchArgument(
                "observer",
                default_value="kalman",
                choices=OBSERVERS,
                description="kind of the observer",
            ),
            DeclareLaunchArgument(
                "encoder_counts",
                default_value="131072",
                description="per turn of a motor, of the plant's encoders",
            ),
            DeclareLaunchArgument(
                "params_file",
                default_value="",
                description="path of parameters for the three nodes",
            ),
            DeclareLaunchArgument(
                "log_level", default_value="info", choices=LEVELS, description="of all nodes"
            ),
            DeclareLaunchArgument(
                "enclave",
                default_value="",
                description="of the feedforward node, for SROS2; empty: none",
            ),
            DeclareLaunchArgument(
                "observer_enclave", default_value="", description="of the observer; empty: none"
            ),
            DeclareLaunchArgument(
                "plant_enclave", default_value="", description="of the plant; empty: none"
            ),
            OpaqueFunction(function=make_nodes),
        ]
    )


def make_nodes(context: LaunchContext) -> list[object]:
    """Return the plant, and the two nodes by their own launch files."""

    def value(name: str) -> str:
        return str(LaunchConfiguration(name).perform(context))

    namespace, level = value("namespace"), value("log_level")
    space = f"/{namespace.strip('/')}" if namespace else ""
    commands = f"{space}/feedforward_node/joint_commands"
    passed = {name: value(name) for name in PASSED}
    passed |= {
        "use_sim_time": str(value("pace") == "lock_step").lower(),
        "joint_states": "motor_states",
    }
    own = {
        "engine": value("engine"),
        "pace": value("pace"),
        "encoder_counts": int(value("encoder_counts")),
        "urdf_path": ParameterValue(value("urdf"), value_type=str),
        "drivetrain": ParameterValue(value("drivetrain"), value_type=str),
    }
    plant = Node(
        **shared.command(PACKAGE, EXECUTABLE, MODULE),
        name="plant_node",
        namespace=namespace,
        parameters=[*filter(None, [value("params_file")]), own],
        remappings=[("~/joint_commands", commands)],
        ros_arguments=shared.ros_arguments(
            context, namespace, "plant_node", level, value("plant_enclave")
        ),
        output="screen",
        emulate_tty=True,
        on_exit=Shutdown(reason="the plant has ended"),
    )
    mover = {"preset": "elastic_simulated", "mode": "computed_torque", "enclave": value("enclave")}
    watcher = {"preset": "simulated", "observer": value("observer"), "joint_commands": commands}
    watcher["enclave"] = value("observer_enclave")
    return [
        plant,
        shared.included(FEEDFORWARD, passed | mover),
        shared.included(OBSERVER, passed | watcher),
    ]
