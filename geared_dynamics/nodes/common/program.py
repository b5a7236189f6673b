"""Starting and ending the process of a lifecycle node."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.executors import Executor
from rclpy.signals import SignalHandlerOptions

from geared_dynamics.errors import printable
from geared_dynamics.nodes.common.executor import make_executor, spin, spin_once

PACE = 5e-3  # [s] between two looks at a node that is brought to rest


class Interrupted(BaseException):
    """A signal came while nothing moves and much is computed; no callback catches it."""


class Signals:
    """SIGINT, SIGTERM, SIGHUP: noted while the node spins, an exception while it prepares.

    Preparing takes long where kernels have to be compiled, and sends no command.

    Attributes:
        came: Whether one came.
        hurried: Whether a second one came, which ends the node at once. SIGHUP is none: where a
            session is lost the shell and the system both send it.
        starting: Whether the node does not spin yet.
        node: The node, once there is one, a ``SteadyLifecycleNode`` with ``preparing``,
            ``failed`` and ``end``.
    """

    def __init__(self) -> None:
        """Take the signals."""
        self.came = self.hurried = False
        self.starting = True
        self.node: Any = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup leaves it
            signal.signal(signal.SIGHUP, self._on_signal)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self.hurried = self.hurried or (self.came and number != signal.SIGHUP)
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
    """Run a node until SIGINT, SIGTERM or SIGHUP.

    rclpy's own signal handlers would close the graph before the arm has its last command, and
    an exception out of a handler would end up in some callback. Whatever ends the process, what
    moves is brought to rest before, and the node's ``end`` comes.

    Args:
        argv: Of the process.
        name: What the program is called.
        make: Makes the node.
    """
    signals, executor = Signals(), None
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
        ended(signals, executor)
    return 0


def ended(signals: Signals, executor: Executor | None) -> None:
    """Bring to rest what moves, leave it its last command, then leave the graph.

    Args:
        signals: With the node, if it was made.
        executor: The node's; None if it was not made.
    """
    node = signals.node
    try:
        if node is not None:
            node.preparing = False
            if executor is not None:
                bring_to_rest(node, executor, signals)
            node.end()
            node.destroy_node()
    finally:
        rclpy.try_shutdown()


def bring_to_rest(node: Any, executor: Executor, signals: Signals) -> None:
    """Spin on until nothing moves, whatever callbacks or the executor raise.

    Args:
        node: The node.
        executor: Its executor.
        signals: A second one ends it.
    """
    node.halt()
    while rclpy.ok() and node.halting:
        if signals.hurried:
            node.hurry()
        if not spin_once(executor, PACE, node.failed):
            time.sleep(0.2 * PACE)  # an executor that fails fails at once
        try:
            node.pace()
        except Exception as error:
            node.failed(error)
