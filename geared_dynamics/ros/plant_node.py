"""Starting and ending the plant node's process."""

from __future__ import annotations

import importlib.util
import signal
import sys
from collections.abc import Sequence

import rclpy
from rclpy.signals import SignalHandlerOptions

from geared_dynamics.errors import GearedDynamicsError, MissingPackageError, printable
from geared_dynamics.ros import plant
from geared_dynamics.ros.plant import PlantNode
from geared_dynamics.ros.process import make_executor

# -- Starting and ending the plant node's process -------------------------------------------------


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
        plant.run(node, executor, lambda: bool(signals) or not rclpy.ok())
        node.destroy_node()
    except GearedDynamicsError as error:
        print(printable(f"plant_node: {error}"), file=sys.stderr, flush=True)
        rclpy.try_shutdown()
        return 2
    rclpy.try_shutdown()
    return 0


# -- ``plant_node``: the program. ROS is imported only when it runs -------------------------------


NAME = "plant_node"
PACKAGES = ("rclpy", "rosgraph_msgs", "sensor_msgs", "std_msgs", "std_srvs")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until it is interrupted; ``--ros-args`` as for any node."""
    for package in PACKAGES:
        if importlib.util.find_spec(package) is None:
            error = MissingPackageError(NAME, package, "ros")
            print(f"{error}, or source a ROS 2 installation", file=sys.stderr)
            return 2

    return run(list(sys.argv if argv is None else argv))


if __name__ == "__main__":
    sys.exit(main())
