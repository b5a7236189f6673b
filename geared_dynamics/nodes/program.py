"""Starting and ending the feedforward node's process."""

from __future__ import annotations

import signal

import rclpy
from rclpy.signals import SignalHandlerOptions

from geared_dynamics.nodes.executor import make_executor, spin
from geared_dynamics.nodes.feedforward import FeedforwardNode


def run(argv: list[str]) -> int:
    """Run the node until SIGINT or SIGTERM.

    rclpy's own signal handlers would close the graph before the arm has its last command, and
    an exception out of a handler would end up in some callback.
    """
    signals: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: signals.append(number))
    rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
    node = FeedforwardNode()
    executor = make_executor()
    executor.add_node(node)
    node.start()
    spin(executor, lambda: bool(signals))
    node.end()
    node.destroy_node()
    rclpy.try_shutdown()
    return 0
