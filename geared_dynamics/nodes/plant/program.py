"""Starting and ending the plant node's process."""

from __future__ import annotations

import signal
import sys

import rclpy
from rclpy.signals import SignalHandlerOptions

from geared_dynamics.errors import GearedDynamicsError, printable
from geared_dynamics.nodes.common.executor import make_executor
from geared_dynamics.nodes.plant import pace
from geared_dynamics.nodes.plant.node import PlantNode


def run(argv: list[str]) -> int:
    """Run the node until SIGINT or SIGTERM; 2 for an arm that cannot be simulated, or no more."""
    signals: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: signals.append(number))
    rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = PlantNode()
        executor = make_executor()
        executor.add_node(node)
        pace.run(node, executor, lambda: bool(signals) or not rclpy.ok())
        node.destroy_node()
    except GearedDynamicsError as error:
        print(printable(f"plant_node: {error}"), file=sys.stderr, flush=True)
        rclpy.try_shutdown()
        return 2
    rclpy.try_shutdown()
    return 0
