"""Several arms: one feedforward node each, in a namespace of its own.

``robots_file`` maps a name, which becomes the namespace, to arguments of
feedforward.launch.py; config/examples/two_robots.yaml shows one.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import yaml
from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    OpaqueFunction,
)
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

shared = SimpleNamespace(**runpy.run_path(str(Path(__file__).resolve().with_name("shared.py"))))
ONE_ARM = Path(__file__).resolve().parent / "feedforward.launch.py"
FILES = ("urdf", "xacro", "drivetrain", "params_file")
SHARED = ("use_sim_time", "log_level", "autostart")
TRUTH = ["true", "false"]
LEVELS = ["debug", "info", "warn", "error", "fatal"]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; the nodes are made from the file."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "robots_file",
                description="Path of a YAML file with the name of each arm and the arguments of "
                "its node.",
            ),
            DeclareLaunchArgument(
                "autostart",
                default_value="true",
                choices=TRUTH,
                description="If true, configure and activate the nodes; if false, a manager does.",
            ),
            DeclareLaunchArgument(
                "use_sim_time",
                default_value="false",
                choices=TRUTH,
                description="If true, use the time of the topic /clock.",
            ),
            DeclareLaunchArgument(
                "log_level",
                default_value="info",
                choices=LEVELS,
                description="Log level of the nodes.",
            ),
            OpaqueFunction(function=make_robots),
        ]
    )


def make_robots(context: LaunchContext) -> list[GroupAction]:
    """Return one group for each arm of the file."""
    path = Path(LaunchConfiguration("robots_file").perform(context))
    common = {name: LaunchConfiguration(name).perform(context) for name in SHARED}
    robots = read_robots(path)
    refuse_unknown(path, robots, context)
    return [
        shared.included(ONE_ARM, common | own | {"namespace": name})
        for name, own in robots.items()
    ]


def refuse_unknown(path: Path, robots: dict[str, dict[str, str]], context: LaunchContext) -> None:
    """Refuse misspelt arguments, which launch would ignore."""
    description = PythonLaunchDescriptionSource(str(ONE_ARM)).get_launch_description(context)
    known = {argument.name for argument in description.get_launch_arguments()} - {"namespace"}
    for name, arguments in robots.items():
        for key in arguments:
            if key not in known:
                valid = ", ".join(sorted(known))
                raise RuntimeError(f"{path}: {name}: there is no argument {key!r}; valid: {valid}")


def read_robots(path: Path) -> dict[str, dict[str, str]]:
    """Read the arms and their arguments; relative paths are relative to the file."""
    if not path.is_file():
        raise RuntimeError(f"robots_file: there is no file '{path}'; give the path of one")
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(data, dict) or not data:
        raise RuntimeError(f"{path}: names no robots; write 'name: {{argument: value}}'")
    robots = {}
    for name, arguments in data.items():
        if not isinstance(arguments, dict):
            raise RuntimeError(f"{path}: {name}: write its arguments as 'argument: value'")
        robots[str(name)] = {key: text(path, key, value) for key, value in arguments.items()}
    return robots


def text(path: Path, key: str, value: object) -> str:
    """Return an argument's value as the command line would have it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(path.parent / str(value)) if key in FILES and value else str(value)
