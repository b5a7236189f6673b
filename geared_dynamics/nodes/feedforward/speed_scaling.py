"""``~/speed_scaling_input``: how fast the robot lets a motion be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from rclpy.qos import QoSProfile
from std_msgs.msg import Float64

from geared_dynamics.nodes.common.failures import DamagedMessageError
from geared_dynamics.nodes.common.wire import whole

if TYPE_CHECKING:
    from geared_dynamics.nodes.feedforward.node import FeedforwardNode

TOPIC = "~/speed_scaling_input"
ROUNDING = 1e-6  # of a part that a driver computes


class SpeedScaling:
    """Listens, and keeps what came last for loops to come.

    Attributes:
        factor: From 0 to 1.
    """

    def __init__(self, node: FeedforwardNode) -> None:
        """Subscribe."""
        self._node = node
        self.factor = 1.0
        node.create_subscription(Float64, TOPIC, self.take, QoSProfile(depth=1), raw=True)

    def take(self, data: bytes) -> None:
        """Let the reference go so fast from now on.

        Args:
            data: The message, serialised.
        """
        node = self._node
        try:
            value = float(whole(data, Float64, TOPIC).data)
        except DamagedMessageError as error:
            node.reporter.say("speed_scaling", str(error))
            return
        full = cast(float, node.parameters.values["speed_scaling.full"])
        factor = value / full
        if not math.isfinite(factor) or factor < 0.0:
            node.reporter.say(
                "speed_scaling", f"{TOPIC}: {value:g} is not a valid factor; it is ignored"
            )
            return
        if factor > 1.0 + ROUNDING:
            text = f"{TOPIC}: {value:g} is more than full speed, speed_scaling.full: {full:g}; "
            node.reporter.say("speed_scaling", f"{text}no reference goes faster than it was given")
        factor = min(factor, 1.0)
        if abs(factor - self.factor) > 0.01 or (factor == 0.0) != (self.factor == 0.0):
            node.get_logger().info(f"speed scaling: {100.0 * factor:.3g} %")
        self.factor = factor
        if node.annotating:
            text = f"{TOPIC} has no effect in the mode annotate: the controller sets the pace"
            node.get_logger().warning(text, once=True)
        elif node.loop is not None:
            node.loop.pace.ask(factor)
