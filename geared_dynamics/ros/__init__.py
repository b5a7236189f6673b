"""ROS 2 nodes: messages in, messages out. Importing this room imports no ROS."""

from __future__ import annotations

import importlib
import importlib.util
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

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
    # The import takes a second, in which nothing was sent. An exception in it would be a traceback
    # in the log, death by the signal a failure to what has started the node.
    take_signals(lambda *_: os._exit(0))
    found = importlib.import_module(f"geared_dynamics.ros.{module}")
    code = int(found.run(list(sys.argv if argv is None else argv)))
    # The node has left the graph. The interpreter's own end, the compiler's mostly, would take a
    # third of the whole process's CPU time: seconds on a busy machine, and launch escalates.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def take_signals(handler: Callable[[int, FrameType | None], Any]) -> None:
    """Give SIGINT, SIGTERM and SIGHUP to a handler; SIGHUP stays ignored where nohup did that."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, handler)
