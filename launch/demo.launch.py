"""The demo: a simulated arm, three feedforwards, a table and a report; ends by itself.

The same as ``geared-dynamics demo``, which starts plant, node and reference publisher on a graph
of their own. It needs no Gazebo and no robot.
"""

from __future__ import annotations

import sys

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction, Shutdown
from launch.substitutions import LaunchConfiguration

COMMAND = "geared_dynamics.apps.cli.main"
TRUTH = ["true", "false"]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; the process is made from their values."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "robot",
                default_value="brisk6",
                description="Robot of this package, or path of a URDF.",
            ),
            DeclareLaunchArgument(
                "drivetrain",
                default_value="",
                description="Path of its drivetrain file. Empty means the one beside the URDF.",
            ),
            DeclareLaunchArgument(
                "out",
                default_value="demo_report",
                description="Folder for report.html and the recording.",
            ),
            DeclareLaunchArgument(
                "real_time",
                default_value="false",
                choices=TRUTH,
                description="If true, run by the wall clock instead of in lock step.",
            ),
            OpaqueFunction(function=make_process),
        ]
    )


def make_process(context: LaunchContext) -> list[ExecuteProcess]:
    """Return the process; the launch ends with it."""

    def value(name: str) -> str:
        return str(LaunchConfiguration(name).perform(context))

    words = [value("robot"), *filter(None, [value("drivetrain")]), "--out", value("out")]
    if value("real_time") == "true":
        words.append("--real-time")
    command = [sys.executable, "-m", COMMAND, "demo", *words]
    return [ExecuteProcess(cmd=command, output="screen", on_exit=Shutdown())]
