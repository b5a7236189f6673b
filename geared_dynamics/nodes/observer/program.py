"""Starting and ending the observer node's process."""

from __future__ import annotations

import signal

import rclpy
from rclpy.signals import SignalHandlerOptions

from geared_dynamics.nodes.common.executor import make_executor, spin
from geared_dynamics.nodes.observer.node import ElasticObserverNode


class Interrupted(BaseException):
    """A signal came while kernels are compiled; no callback catches it."""


def run(argv: list[str]) -> int:
    """Run the node until SIGINT or SIGTERM."""
    signals: list[int] = []
    spinning = False

    def note(number: int, _frame: object) -> None:
        signals.append(number)
        if not spinning:
            raise Interrupted

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, note)
    try:
        rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
        node = ElasticObserverNode()
        executor = make_executor()
        executor.add_node(node)
        node.start()
        spinning = True
        spin(executor, lambda: bool(signals))
    except Interrupted:
        return 0
    node.deactivated()
    node.destroy_node()
    rclpy.try_shutdown()
    return 0
