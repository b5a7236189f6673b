"""Starting and ending the feedforward node's process."""

from __future__ import annotations

import signal
import sys
from types import FrameType

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.signals import SignalHandlerOptions

from geared_dynamics.nodes.common.executor import make_executor, spin
from geared_dynamics.nodes.feedforward.node import FeedforwardNode


class Interrupted(BaseException):
    """A signal came while nothing moves and much is computed; no callback catches it."""


class Signals:
    """SIGINT and SIGTERM: noted while the node spins, an exception while it prepares.

    Preparing takes long where kernels have to be compiled, and sends no command.

    Attributes:
        came: Whether one came.
        starting: Whether the node does not spin yet.
        node: The node, once there is one.
    """

    def __init__(self) -> None:
        """Take the signals."""
        self.came = False
        self.starting = True
        self.node: FeedforwardNode | None = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.came = True
        if self.starting or (self.node is not None and self.node.preparing):
            raise Interrupted


def refused(why: str) -> int:
    """Say why the node cannot start; the exit code."""
    first = why.split(", at ")[0]  # what follows are places in ROS's own source
    print(f"feedforward_node: {first}; correct the arguments after --ros-args", file=sys.stderr)
    return 2


def run(argv: list[str]) -> int:
    """Run the node until SIGINT or SIGTERM.

    rclpy's own signal handlers would close the graph before the arm has its last command, and
    an exception out of a handler would end up in some callback.
    """
    signals = Signals()
    try:
        try:
            rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
        except RuntimeError as error:  # how rclpy tells of each kind of wrong argument
            return refused(str(error))
        try:
            node = signals.node = FeedforwardNode()
        except NameValidationException as error:
            rclpy.try_shutdown()
            return refused(" ".join(str(error).split()))
        executor = make_executor()
        executor.add_node(node)
        node.start()
        signals.starting = False
        spin(executor, lambda: signals.came)
    except Interrupted:
        signals.starting = False
    if signals.node is not None:
        signals.node.preparing = False
        signals.node.end()
        signals.node.destroy_node()
    rclpy.try_shutdown()
    return 0
