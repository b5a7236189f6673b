"""ROS 2 nodes: messages in, messages out. Importing this room imports no ROS."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence

from geared_dynamics.errors import MissingPackageError

PACKAGES = ("rclpy", "sensor_msgs", "std_msgs", "std_srvs")  # that every node needs


def run_program(name: str, module: str, *packages: str, argv: Sequence[str] | None) -> int:
    """Run a node's program until it is interrupted; where ROS is missing, say what to install.

    Args:
        name: Of the program.
        module: In this room; its ``run`` takes the arguments.
        packages: That it needs beside ``PACKAGES``.
        argv: The arguments, ``--ros-args`` as for any node; None: those of the process.
    """
    for package in (*PACKAGES, *packages):
        if importlib.util.find_spec(package) is None:
            error = MissingPackageError(name, package, "ros")
            print(f"{error}, or source a ROS 2 installation", file=sys.stderr)
            return 2
    found = importlib.import_module(f"geared_dynamics.ros.{module}")
    return int(found.run(list(sys.argv if argv is None else argv)))
