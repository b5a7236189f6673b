"""The bare node to compare with: it sends back the JointState that it receives.

``python -m geared_dynamics.ros.echo``, with ``--ros-args`` as any node.
"""

from __future__ import annotations

import sys

import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from geared_dynamics.ros.process import catch_signals, make_executor, spin


class Echo(Node):  # type: ignore[misc]  # rclpy has no types
    """Publishes on ``~/joint_command`` what arrives on ``joint_states``."""

    def __init__(self) -> None:
        """Subscribe as the feedforward node does: newest state only, best effort."""
        super().__init__("echo", enable_rosout=False)
        publisher = self.create_publisher(JointState, "~/joint_command", 1)
        newest = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        self.create_subscription(JointState, "joint_states", publisher.publish, newest)

    def failed(self, error: Exception) -> None:
        """End: figures of an echo that failed are none."""
        raise error


def main() -> int:
    """Spin until interrupted."""
    signals = catch_signals()
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    node = Echo()
    executor = make_executor()
    executor.add_node(node)
    spin(executor, lambda: bool(signals), node.failed)
    node.destroy_node()
    rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
