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
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode
from launch_ros.parameter_descriptions import ParameterValue

PACKAGE = "geared_dynamics"
EXECUTABLE = "elastic_observer_node"
MODULE = "geared_dynamics.ros.elastic_observer_node"

shared = SimpleNamespace(**runpy.run_path(str(Path(__file__).resolve().with_name("shared.py"))))
CONFIG = Path(__file__).resolve().parents[1] / "config"
TRUTH = ["true", "false"]
OBSERVERS = ["kalman", "nonlinear"]
PRESETS = sorted(path.stem for path in (CONFIG / "observer").glob("*.yaml"))
SHARED = (
    "joint_states",
    "robot_description",
    "commands",
    "joint_commands",
    "link_states",
    "joint_torques",
)
LEVELS = ["debug", "info", "warn", "error", "fatal"]

# Arguments that become parameters of the node under another or the same name, if given.
AS_PARAMETER = {"observer": "observer", "urdf": "urdf_path", "drivetrain": "drivetrain"}


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; the node is made from their values."""
    return LaunchDescription(
        [
            DeclareLaunchArgument("namespace", default_value="", description="of the node"),
            DeclareLaunchArgument(
                "name", default_value="elastic_observer_node", description="of the node"
            ),
            DeclareLaunchArgument(
                "observer",
                default_value="",
                choices=["", *OBSERVERS],
                description="which one; empty: as the parameter files say",
            ),
            DeclareLaunchArgument(
                "urdf",
                default_value="",
                description="path of the robot's URDF; empty: the topic robot_description",
            ),
            DeclareLaunchArgument(
                "xacro",
                default_value="",
                description="path of a xacro file, in place of urdf",
            ),
            DeclareLaunchArgument(
                "xacro_args", default_value="", description="name:=value ... for the xacro file"
            ),
            DeclareLaunchArgument(
                "drivetrain",
                default_value="",
                description="path of the drivetrain file; empty: what the URDF says of its drives",
            ),
            DeclareLaunchArgument(
                "preset",
                default_value="generic",
                choices=PRESETS,
                description="a file in config/observer/",
            ),
            DeclareLaunchArgument(
                "params_file", default_value="", description="path of your parameters, YAML"
            ),
            DeclareLaunchArgument(
                "joint_states", default_value="joint_states", description="topic of the states"
            ),
            DeclareLaunchArgument(
                "robot_description",
                default_value="robot_description",
                description="topic of the URDF, used where neither urdf nor xacro is given",
            ),
            DeclareLaunchArgument(
                "commands",
                default_value="commands",
                description="topic of the commands, Float64MultiArray",
            ),
            DeclareLaunchArgument(
                "joint_commands",
                default_value="joint_commands",
                description="topic of the commands, JointState",
            ),
            DeclareLaunchArgument(
                "link_states",
                default_value="link_states",
                description="topic of the encoders on the links",
            ),
            DeclareLaunchArgument(
                "joint_torques",
                default_value="joint_torques",
                description="topic of the torque sensors",
            ),
            DeclareLaunchArgument(
                "autostart",
                default_value="true",
                choices=TRUTH,
                description="configure and activate the node; false: leave it to a manager",
            ),
            DeclareLaunchArgument(
                "use_sim_time",
                default_value="false",
                choices=TRUTH,
                description="time from the topic /clock",
            ),
            DeclareLaunchArgument(
                "log_level", default_value="info", choices=LEVELS, description="of the node"
            ),
            DeclareLaunchArgument(
                "enclave", default_value="", description="of the node, for SROS2; empty: none"
            ),
            OpaqueFunction(function=make_node),
        ]
    )


def make_node(context: LaunchContext) -> list[LifecycleNode]:
    """Return the node for the arguments' values."""

    def value(name: str) -> str:
        return str(LaunchConfiguration(name).perform(context))

    remappings = [(name, value(name)) for name in SHARED]
    own = (value("namespace"), value("name"), value("log_level"), value("enclave"))
    node = LifecycleNode(
        **shared.command(PACKAGE, EXECUTABLE, MODULE),
        name=value("name"),
        namespace=value("namespace"),
        parameters=parameters(context),
        remappings=remappings,
        ros_arguments=shared.ros_arguments(context, *own),
        output="screen",
        emulate_tty=True,
    )
    return [node]


def parameters(context: LaunchContext) -> list[object]:
    """Return defaults, parameter file and arguments; the later ones win."""

    def value(name: str) -> str:
        return str(LaunchConfiguration(name).perform(context))

    if value("urdf") and value("xacro"):
        raise RuntimeError("urdf, xacro: both are given; give one of them")
    for name in ("urdf", "xacro", "params_file"):
        shared.refuse_missing(name, value(name))
    texts = {key: value(name) for name, key in AS_PARAMETER.items() if value(name)}
    if value("xacro"):
        words = shared.pairs("xacro_args", value("xacro_args"))
        texts["robot_description"] = shared.processed(value("xacro"), words)
    # Without a type launch would read texts as YAML.
    chosen: dict[str, object] = {
        name: ParameterValue(text, value_type=str) for name, text in texts.items()
    }
    for name in ("autostart", "use_sim_time"):
        chosen[name] = value(name) == "true"
    files = [str(CONFIG / "observer" / f"{value('preset')}.yaml")]
    if value("params_file"):
        files.append(value("params_file"))
    return [*files, chosen]
