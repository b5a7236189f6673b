"""The bare node to compare with: it sends back the JointState that it receives.

``python -m geared_dynamics.nodes.benchmark.echo``, with ``--ros-args`` as any node.
"""

from __future__ import annotations

import contextlib
import sys

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

LONGEST_WAIT = 0.5  # [s]


def make_executor() -> Executor:
    """Return an EventsExecutor where rclpy has one, else the executor with a wait set."""
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def spin(executor: Executor) -> None:
    """Spin until interrupted.

    Not ``executor.spin()``: without a timeout some releases of the EventsExecutor keep
    a core busy and never look at their events.
    """
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        while rclpy.ok():
            executor.spin_once(timeout_sec=LONGEST_WAIT)


class Echo(Node):  # type: ignore[misc]  # rclpy has no types
    """Publishes on ``~/joint_command`` what arrives on ``joint_states``."""

    def __init__(self) -> None:
        """Subscribe as the feedforward node does: newest state only, best effort."""
        super().__init__("echo", enable_rosout=False)
        publisher = self.create_publisher(JointState, "~/joint_command", 1)
        self.create_subscription(
            JointState, "joint_states", publisher.publish, qos_profile_sensor_data
        )


def main() -> int:
    """Spin until interrupted."""
    rclpy.init(args=sys.argv)
    node = Echo()
    executor = make_executor()
    executor.add_node(node)
    spin(executor)
    node.destroy_node()
    rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
