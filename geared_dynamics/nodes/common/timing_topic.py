"""``~/timing``: the figures of the last second, for plots."""

from __future__ import annotations

from rclpy.node import Node
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from geared_dynamics.nodes.common.timing import Figures

TIMING = (
    "rate", "period_mean", "period_std", "period_max", "compute_p50", "compute_p99",
    "compute_max", "latency_p50", "latency_max",
)  # fmt: skip


class TimingTopic:
    """Publishes figures."""

    def __init__(self, node: Node) -> None:
        """Make publisher and message."""
        self._publisher = node.create_publisher(Float64MultiArray, "~/timing", 1)
        self._message = Float64MultiArray(data=[0.0] * len(TIMING))
        self._message.layout.dim = [
            MultiArrayDimension(label=name, size=1, stride=1) for name in TIMING
        ]

    def send(self, figures: Figures) -> None:
        """Publish one second's."""
        flat = [figures.rate, *figures.period, *figures.compute, *figures.latency]
        for k, value in enumerate(flat):
            self._message.data[k] = value
        self._publisher.publish(self._message)
