"""What the launch files beside this one share: arguments, how programs are started, inclusion.

They load it by its path (``runpy``): importing the package itself takes a second and compiles
nothing that a launch needs. It is no launch file, and ``ros2 launch`` does not list it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchContext
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    Shutdown,
)
from launch.launch_description_sources import AnyLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode, Node, SetParameter
from launch_ros.parameter_descriptions import ParameterValue

PACKAGE = "geared_dynamics"
EXECUTABLE = "plant_node"  # of ``plant``
MODULE = "geared_dynamics.ros.plant_node"
TRUTH = ["true", "false"]
LEVELS = ["debug", "info", "warn", "error", "fatal"]


def value(context: LaunchContext, name: str) -> str:
    """Return the value of an argument."""
    return str(LaunchConfiguration(name).perform(context))


def node_arguments(
    name: str,
    kind: DeclareLaunchArgument,
    preset: DeclareLaunchArgument,
    *topics: DeclareLaunchArgument,
) -> list[DeclareLaunchArgument]:
    """Return the arguments of a launch file for one of our nodes with a lifecycle.

    Args:
        name: Of the node.
        kind: What it does, an argument that it alone has.
        preset: Its presets.
        topics: Arguments that it alone has, of topics.
    """
    return [
        DeclareLaunchArgument("namespace", default_value="", description="Namespace of the node."),
        DeclareLaunchArgument("name", default_value=name, description="Name of the node."),
        kind,
        DeclareLaunchArgument(
            "urdf",
            default_value="",
            description="Path of the robot's URDF. Empty means the topic robot_description.",
        ),
        DeclareLaunchArgument(
            "xacro", default_value="", description="Path of a xacro file, used instead of urdf."
        ),
        DeclareLaunchArgument(
            "xacro_args", default_value="", description="Arguments name:=value of the xacro file."
        ),
        DeclareLaunchArgument(
            "drivetrain",
            default_value="",
            description="Path of the drivetrain file. Empty uses the drives that the URDF "
            "describes.",
        ),
        preset,
        DeclareLaunchArgument(
            "params_file", default_value="", description="Path of your parameter file (YAML)."
        ),
        DeclareLaunchArgument(
            "joint_states", default_value="joint_states", description="Topic of the joint states."
        ),
        DeclareLaunchArgument(
            "robot_description",
            default_value="robot_description",
            description="Topic of the URDF, used where neither urdf nor xacro is given.",
        ),
        *topics,
        DeclareLaunchArgument(
            "autostart",
            default_value="true",
            choices=TRUTH,
            description="If true, configure and activate the node; if false, a manager does.",
        ),
        DeclareLaunchArgument(
            "use_sim_time",
            default_value="false",
            choices=TRUTH,
            description="If true, use the time of the topic /clock.",
        ),
        DeclareLaunchArgument(
            "log_level", default_value="info", choices=LEVELS, description="Log level of the node."
        ),
        DeclareLaunchArgument(
            "enclave", default_value="", description="SROS2 enclave of the node. Empty means none."
        ),
    ]


def lifecycle_node(
    context: LaunchContext,
    program: dict[str, str],
    remappings: list[tuple[str, str]],
    parameters: list[object],
) -> LifecycleNode:
    """Return a node for the values of ``node_arguments``.

    Args:
        context: Of the launch.
        program: Arguments of ``command``.
        remappings: Of its topics.
        parameters: As of ``node_parameters``.
    """
    own = [value(context, name) for name in ("namespace", "name", "log_level", "enclave")]
    return LifecycleNode(
        **command(**program),
        name=own[1],
        namespace=own[0],
        parameters=parameters,
        remappings=remappings,
        ros_arguments=ros_arguments(context, *own),
        output="screen",
        emulate_tty=True,
    )


def node_parameters(
    context: LaunchContext, presets: Path, as_parameter: dict[str, str]
) -> list[object]:
    """Return preset, parameter file and arguments; the later ones win.

    Args:
        context: Of the launch.
        presets: Folder of the presets.
        as_parameter: Names of parameters by the arguments that they are set by, if given.
    """
    given = {
        name: value(context, name)
        for name in ("urdf", "xacro", "xacro_args", "params_file", "preset")
    }
    if given["urdf"] and given["xacro"]:
        raise RuntimeError("urdf, xacro: both are given; give one of them")
    for name in ("urdf", "xacro", "params_file"):
        refuse_missing(name, given[name])
    set_by = {key: value(context, name) for name, key in as_parameter.items()}
    texts = {key: text for key, text in set_by.items() if text}
    if given["xacro"]:
        words = pairs("xacro_args", given["xacro_args"])
        texts["robot_description"] = processed(given["xacro"], words)
    # Without a type launch would read texts as YAML.
    chosen: dict[str, object] = {
        name: ParameterValue(text, value_type=str) for name, text in texts.items()
    }
    for name in ("autostart", "use_sim_time"):
        chosen[name] = value(context, name) == "true"
    files = [str(presets / f"{given['preset']}.yaml"), given["params_file"]]
    return [*filter(None, files), chosen]


def pace_argument() -> DeclareLaunchArgument:
    """Return the argument pace of launch files with a plant."""
    return DeclareLaunchArgument(
        "pace",
        default_value="real_time",
        choices=["real_time", "lock_step"],
        description="Simulation time: real_time follows the wall clock, lock_step waits for each "
        "command and publishes /clock.",
    )


def plant(context: LaunchContext, **own: object) -> Node:
    """Return the plant that the feedforward node moves; the launch ends with it.

    Args:
        context: With namespace, urdf, drivetrain, engine, pace, params_file, log_level and
            plant_enclave.
        own: Parameters of the plant beside these.
    """
    given = {
        name: value(context, name)
        for name in ("namespace", "params_file", "engine", "pace", "log_level", "plant_enclave")
    }
    robot = {
        key: ParameterValue(value(context, name), value_type=str)
        for name, key in (("urdf", "urdf_path"), ("drivetrain", "drivetrain"))
    }
    engine = {"engine": given["engine"], "pace": given["pace"]}
    return Node(
        **command(PACKAGE, EXECUTABLE, MODULE),
        name=EXECUTABLE,
        namespace=given["namespace"],
        parameters=[*filter(None, [given["params_file"]]), robot | engine | own],
        # Commands by name carry the time that lock step waits for, and so do estimates.
        remappings=[
            ("~/joint_commands", node_commands(given["namespace"])),
            ("~/observed", of_node(given["namespace"], "elastic_observer_node/motor_state")),
        ],
        ros_arguments=ros_arguments(
            context, given["namespace"], EXECUTABLE, given["log_level"], given["plant_enclave"]
        ),
        output="screen",
        emulate_tty=True,
        on_exit=ends_the_launch("the plant has ended"),
    )


def ends_the_launch(reason: str) -> Callable[[object, LaunchContext], list[Shutdown]]:
    """Return what ``on_exit`` of a process does whose end is that of the launch.

    Where the launch ends already, as after Ctrl-C, a second shutdown would make its exit code 1.

    Args:
        reason: For the log.
    """

    def end(_event: object, context: LaunchContext) -> list[Shutdown]:
        return [] if context.is_shutdown else [Shutdown(reason=reason)]

    return end


def lock_step_parameters(context: LaunchContext) -> dict[str, float]:
    """Return parameters of a node that moves a plant, beside those of its preset.

    In lock step the plant waits for the node. Joint states and time are late only if the machine
    is busy; if the arm were held then, the result would depend on the speed of the machine.
    """
    if value(context, "pace") != "lock_step":
        return {}
    return {"safety.state_timeout": 10.0, "safety.clock_timeout": 10.0}


def node_commands(namespace: str) -> str:
    """Return the topic of the feedforward node's commands by name."""
    return of_node(namespace, "feedforward_node/joint_commands")


def of_node(namespace: str, topic: str) -> str:
    """Return the topic of a node in a namespace."""
    space = f"/{namespace.strip('/')}" if namespace else ""
    return f"{space}/{topic}"


def command(package: str, executable: str, module: str) -> dict[str, object]:
    """Return how to start a node: the installed executable, or the module.

    An editable installation by pip has no executable where ROS looks for one.
    """
    try:
        installed = Path(get_package_prefix(package), "lib", package, executable).exists()
    except PackageNotFoundError:
        installed = False
    if installed:
        return {"package": package, "executable": executable}
    return {"executable": sys.executable, "arguments": ["-m", module]}


def ros_arguments(
    context: LaunchContext, namespace: str, name: str, level: str, enclave: str
) -> list[str]:
    """Return ROS arguments: the level of the logger, which has the node's full name; enclave."""
    space = namespace
    if not space.startswith("/"):  # in that of a PushROSNamespace around us
        space = f"{context.launch_configurations.get('ros_namespace', '')}/{space}"
    logger = ".".join(filter(None, [*space.split("/"), name]))
    return ["--log-level", f"{logger}:={level}", *(["--enclave", enclave] if enclave else [])]


def included(
    path: str | Path, values: dict[str, str], parameters: Mapping[str, float] | None = None
) -> GroupAction:
    """Return another launch file with these arguments and no others of ours.

    Args:
        path: Of the file.
        values: Of its arguments.
        parameters: Of its nodes; their parameter files win over them.
    """
    source = AnyLaunchDescriptionSource(str(path))
    file = IncludeLaunchDescription(source, launch_arguments=list(values.items()))
    given = [SetParameter(name=name, value=value) for name, value in (parameters or {}).items()]
    return GroupAction([*given, file], scoped=True, forwarding=False)


def refuse_missing(argument: str, path: str) -> None:
    """Say which argument names a file that does not exist."""
    if path and not Path(path).is_file():
        raise RuntimeError(f"{argument}: there is no file {path!r}; give the path of one")


def pairs(argument: str, words: str) -> dict[str, str]:
    """Arguments from ``name:=value ...``."""
    found = {}
    for word in words.split():
        name, sign, text = word.partition(":=")
        if not (name and sign):
            raise RuntimeError(f"{argument}: {word!r} is not of the form name:=value")
        found[name] = text
    return found


def processed(path: str, mappings: dict[str, str]) -> str:
    """Return the URDF that a xacro file makes with arguments."""
    import xacro

    return str(xacro.process_file(path, mappings=mappings).toxml())
