"""Starting and ending the process of a lifecycle node."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.signals import SignalHandlerOptions

from geared_dynamics.errors import printable
from geared_dynamics.nodes.common.executor import make_executor, spin


class Interrupted(BaseException):
    """A signal came while nothing moves and much is computed; no callback catches it."""


class Signals:
    """SIGINT and SIGTERM: noted while the node spins, an exception while it prepares.

    Preparing takes long where kernels have to be compiled, and sends no command.

    Attributes:
        came: Whether one came.
        starting: Whether the node does not spin yet.
        node: The node, once there is one; it has ``preparing``, ``failed`` and ``end``.
    """

    def __init__(self) -> None:
        """Take the signals."""
        self.came = False
        self.starting = True
        self.node: Any = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.came = True
        if self.starting or (self.node is not None and self.node.preparing):
            raise Interrupted


def refused(name: str, why: str) -> int:
    """Say why the node cannot start; the exit code."""
    first = why.split(", at ")[0]  # what follows are places in ROS's own source
    text = f"{name}: {first}; correct the arguments after --ros-args"
    print(printable(text), file=sys.stderr)
    return 2


def run(argv: list[str], name: str, make: Callable[[], Any]) -> int:
    """Run a node until SIGINT or SIGTERM.

    rclpy's own signal handlers would close the graph before the arm has its last command, and
    an exception out of a handler would end up in some callback. Whatever ends the process, the
    node's ``end`` comes before.

    Args:
        argv: Of the process.
        name: What the program is called.
        make: Makes the node.
    """
    signals = Signals()
    try:
        try:
            rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
        except RuntimeError as error:  # how rclpy tells of each kind of wrong argument
            return refused(name, str(error))
        try:
            node = signals.node = make()
        except NameValidationException as error:
            rclpy.try_shutdown()
            return refused(name, " ".join(str(error).split()))
        executor = make_executor()
        executor.add_node(node)
        node.start()
        signals.starting = False
        spin(executor, lambda: signals.came, node.failed)
    except Interrupted:
        pass
    finally:
        signals.starting = False
        ended(signals.node)
    return 0


def ended(node: Any) -> None:
    """Leave the arm its last command, then the graph.

    Args:
        node: The node; None if it was not made.
    """
    try:
        if node is not None:
            node.preparing = False
            node.end()
            node.destroy_node()
    finally:
        rclpy.try_shutdown()
