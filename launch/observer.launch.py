"""One elastic arm: the observer node with its model and the user's parameters.

``ros2 launch geared_dynamics observer.launch.py --show-args`` lists the arguments.
What the command line says wins over ``params_file``, and that over ``config/observer``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode
from launch_ros.parameter_descriptions import ParameterValue

PACKAGE = "geared_dynamics"
EXECUTABLE = "elastic_observer_node"
MODULE = "geared_dynamics.nodes.elastic_observer_node"

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
    node = LifecycleNode(
        **command(),
        name=value("name"),
        namespace=value("namespace"),
        parameters=parameters(context),
        remappings=remappings,
        ros_arguments=options(context, value("name")),
        output="screen",
        emulate_tty=True,
    )
    return [node]


def options(context: LaunchContext, name: str) -> list[str]:
    """Return ROS arguments: the level of the logger, which has the node's full name; enclave."""

    def value(name: str) -> str:
        return str(LaunchConfiguration(name).perform(context))

    space = value("namespace")
    if not space.startswith("/"):  # in that of a PushROSNamespace around us
        space = f"{context.launch_configurations.get('ros_namespace', '')}/{space}"
    logger = ".".join(filter(None, [*space.split("/"), name]))
    enclave = ["--enclave", value("enclave")] if value("enclave") else []
    return ["--log-level", f"{logger}:={value('log_level')}", *enclave]


def command() -> dict[str, object]:
    """Return how to start the node: the installed executable, or the module.

    An editable installation by pip has no executable where ROS looks for one.
    """
    try:
        installed = Path(get_package_prefix(PACKAGE), "lib", PACKAGE, EXECUTABLE).exists()
    except PackageNotFoundError:
        installed = False
    if installed:
        return {"package": PACKAGE, "executable": EXECUTABLE}
    return {"executable": sys.executable, "arguments": ["-m", MODULE]}


def parameters(context: LaunchContext) -> list[object]:
    """Return defaults, parameter file and arguments; the later ones win."""

    def value(name: str) -> str:
        return str(LaunchConfiguration(name).perform(context))

    if value("urdf") and value("xacro"):
        raise RuntimeError("urdf, xacro: both are given; give one of them")
    for name in ("urdf", "xacro", "params_file"):
        refuse_missing(name, value(name))
    texts = {key: value(name) for name, key in AS_PARAMETER.items() if value(name)}
    if value("xacro"):
        texts["robot_description"] = processed(value("xacro"), value("xacro_args"))
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


def refuse_missing(argument: str, path: str) -> None:
    """Say which argument names a file that does not exist."""
    if path and not Path(path).is_file():
        raise RuntimeError(f"{argument}: there is no file {path!r}; give the path of one")


def processed(path: str, words: str) -> str:
    """Return the URDF that a xacro file makes with arguments ``name:=value``."""
    import xacro

    pairs = [word.partition(":=") for word in words.split()]
    wrong = [name for name, sign, _ in pairs if not (name and sign)]
    if wrong:
        raise RuntimeError(f"xacro_args: {wrong[0]!r} is not of the form name:=value")
    document = xacro.process_file(path, mappings={name: text for name, _, text in pairs})
    return str(document.toxml())
