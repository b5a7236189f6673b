"""What the launch files beside this one share: how a program is started, other files included.

They load it by its path (``runpy``): importing the package itself takes a second and compiles
nothing that a launch needs. It is no launch file, and ``ros2 launch`` does not list it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchContext
from launch.actions import GroupAction, IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource


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


def included(path: str | Path, values: dict[str, str]) -> GroupAction:
    """Another launch file with these arguments and no others of ours."""
    source = AnyLaunchDescriptionSource(str(path))
    file = IncludeLaunchDescription(source, launch_arguments=list(values.items()))
    return GroupAction([file], scoped=True, forwarding=False)


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
