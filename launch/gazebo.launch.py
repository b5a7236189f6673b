"""An arm in Gazebo Harmonic, moved by the feedforward node through gz_ros2_control.

Order: Gazebo and the clock's bridge, the arm, its joint states, and only then the effort
controller. The feedforward node runs from the beginning and answers the first joint state, so the
controller finds commands as soon as it is there; before that gz_ros2_control holds the joints.
Nothing but a command keeps an arm from collapsing in Gazebo: the node holds it against gravity
until a trajectory comes, and after it.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.event_handlers import OnProcessExit
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

shared = SimpleNamespace(**runpy.run_path(str(Path(__file__).resolve().with_name("shared.py"))))
SHARE = Path(__file__).resolve().parents[1]
ONE_ARM = SHARE / "launch" / "feedforward.launch.py"
XACRO = SHARE / "urdf" / "brisk6.urdf.xacro"
CONTROLLERS = SHARE / "config" / "controllers"
CLOCK = "/clock@rosgraph_msgs/msg/Clock[gz.msgs.Clock"  # from Gazebo to ROS
# By mode: the file of the controllers, and the one that gets what the node sends.
FORWARD = ("effort.yaml", "forward_effort_controller")
TRAJECTORY = ("gazebo_trajectory.yaml", "joint_trajectory_controller")
SIM_TIME = {"use_sim_time": True}
TRUTH = ["true", "false"]
MODES = ["annotate", "stream", "computed_torque"]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; the rest is made from their values."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "xacro",
                default_value=str(XACRO),
                description="Path of a xacro file that knows sim:=gazebo and controllers:=PATH.",
            ),
            DeclareLaunchArgument(
                "drivetrain",
                default_value="",
                description="Path of a drivetrain file; Gazebo's arm has neither rotors nor its "
                "friction, so usually none.",
            ),
            DeclareLaunchArgument(
                "controllers_file",
                default_value="",
                description="Path of the controllers' parameters. Empty means those for the mode.",
            ),
            DeclareLaunchArgument(
                "name", default_value="arm", description="Name of the arm in Gazebo."
            ),
            DeclareLaunchArgument(
                "mode",
                default_value="computed_torque",
                choices=MODES,
                description="Operating mode of the feedforward node; stream leaves the feedback "
                "to others, annotate to a joint trajectory controller.",
            ),
            DeclareLaunchArgument(
                "gui",
                default_value="true",
                choices=TRUTH,
                description="If false, start the server only, without a window.",
            ),
            DeclareLaunchArgument(
                "gz_args",
                default_value="-r -v 3 empty.sdf",
                description="Arguments of Gazebo.",
            ),
            DeclareLaunchArgument(
                "params_file", default_value="", description="Path of the node's parameter file."
            ),
            DeclareLaunchArgument(
                "enclave",
                default_value="",
                description="SROS2 enclave of the node. Empty means none.",
            ),
            OpaqueFunction(function=make_all),
        ]
    )


def make_all(context: LaunchContext) -> list[object]:
    """Return Gazebo, the arm, the controllers one after the other, the feedforward node."""

    def value(name: str) -> str:
        return str(LaunchConfiguration(name).perform(context))

    file, controller = TRAJECTORY if value("mode") == "annotate" else FORWARD
    parameters = value("controllers_file") or str(CONTROLLERS / file)
    description = described(value("xacro"), parameters)
    spawn = ["-topic", "robot_description", "-name", value("name"), "-allow_renaming", "true"]
    create = Node(package="ros_gz_sim", executable="create", arguments=spawn, output="screen")
    states = spawner("joint_state_broadcaster", parameters)
    efforts = spawner(controller, parameters)
    server = "-s " if value("gui") == "false" else ""
    return [
        included_gazebo(server + value("gz_args")),
        Node(package="ros_gz_bridge", executable="parameter_bridge", arguments=[CLOCK]),
        Node(
            package="robot_state_publisher",
            executable="robot_state_publisher",
            parameters=[
                SIM_TIME,
                {"robot_description": ParameterValue(description, value_type=str)},
            ],
        ),
        create,
        RegisterEventHandler(OnProcessExit(target_action=create, on_exit=[states])),
        RegisterEventHandler(OnProcessExit(target_action=states, on_exit=[efforts])),
        feedforward(
            controller, value("drivetrain"), value("mode"), value("params_file"), value("enclave")
        ),
    ]


def described(path: str, controllers: str) -> str:
    """The URDF for Gazebo."""
    for argument, file in (("xacro", path), ("controllers_file", controllers)):
        if not Path(file).is_file():
            raise RuntimeError(f"{argument}: there is no file {file!r}; give the path of one")
    mappings = {"sim": "gazebo", "controllers": str(Path(controllers).resolve())}
    return str(shared.processed(path, mappings))


def spawner(controller: str, parameters: str) -> Node:
    """A controller, loaded and activated."""
    return Node(
        package="controller_manager",
        executable="spawner",
        arguments=[controller, "--param-file", parameters],
        output="screen",
    )


def included_gazebo(arguments: str) -> IncludeLaunchDescription:
    """Gazebo; the launch ends with it."""
    file = [FindPackageShare("ros_gz_sim"), "/launch/gz_sim.launch.py"]
    values = [("gz_args", arguments), ("on_exit_shutdown", "true")]
    return IncludeLaunchDescription(PythonLaunchDescriptionSource(file), launch_arguments=values)


def feedforward(
    controller: str, drivetrain: str, mode: str, parameters: str, enclave: str
) -> GroupAction:
    """Our node; it takes the URDF from the topic, and none of our arguments but these."""
    values = {
        "preset": "gazebo",
        "drivetrain": drivetrain,
        "mode": mode,
        "params_file": parameters,
        "use_sim_time": "true",
        "enclave": enclave,
    }
    if mode == "annotate":
        values["annotated_trajectory"] = f"/{controller}/joint_trajectory"
    else:
        values["commands"] = f"/{controller}/commands"
    return shared.included(ONE_ARM, values)
