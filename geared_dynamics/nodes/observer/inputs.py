"""What other topics bring beside the joint states: kept until the next joint state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from geared_dynamics.arrays import Array
from geared_dynamics.model import GearedModel
from geared_dynamics.nodes.common.messages import nanoseconds
from geared_dynamics.nodes.common.parameters import Values
from geared_dynamics.nodes.observer.picker import Picker
from geared_dynamics.nodes.observer.settings import torque_names

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
Say = Callable[[str], None]


class Torques:
    """The newest torques of the motors, in the model's order."""

    def __init__(self, node: Node, say: Say, clock: Callable[[], float]) -> None:
        """Begin without; ``say`` logs a warning, ``clock`` tells the time for their age [s]."""
        self._node, self._say, self._clock = node, say, clock
        self._subscribed: set[str] = set()
        self._names: tuple[str, ...] = ()
        self._order = np.zeros(0, np.int64)  # where the model's are among those that come
        self._picker = Picker(())
        self.source = ""
        self._value: Array | None = None
        self._came = 0.0

    def prepare(self, values: Values, model: GearedModel) -> None:
        """Subscribe as the parameters say, once each."""
        self._names, place = torque_names(values, model)
        self._order = np.argsort(place)
        self._picker, self._value = Picker(self._names), None
        self.source = str(values["torque_source"])
        if self.source in self._subscribed:
            return
        if self.source == "commands":
            self._node.create_subscription(Float64MultiArray, "commands", self._on_flat, NEWEST)
        elif self.source == "joint_commands":
            self._node.create_subscription(JointState, "joint_commands", self._on_named, NEWEST)
        self._subscribed.add(self.source)

    def forget(self) -> None:
        """Nothing is known."""
        self._value = None

    def newest(self, now: float, timeout: float) -> Array | None:
        """The newest (l,), None where there are none, or only old ones."""
        if self._value is None or (timeout and abs(now - self._came) > timeout):
            return None
        return self._value

    def measured(self, names: list[str], effort: Any) -> None:
        """Take the effort of a joint state, whose names the node has looked at."""
        self._take(self._picker.picked(names, effort), "joint_states: effort")

    def _on_flat(self, message: Any) -> None:
        data = np.frombuffer(message.data) if len(message.data) else np.zeros(0)
        self._take(data if data.size == len(self._names) else None, "commands")

    def _on_named(self, message: Any) -> None:
        names = list(message.name)
        if not self._picker.foreign(names):
            if self._picker.twice:
                self._say(f"joint_commands {self._picker.trouble}")
            self._take(self._picker.picked(names, message.effort), "joint_commands: effort")

    def _take(self, found: Array | None, place: str) -> None:
        if found is None:
            self._say(f"{place} has another number of values; give one for each joint or motor")
            self._value = None
            return
        self._came = self._clock()
        self._value = found.take(self._order)


class Beside:
    """A topic of sensors on the links: its newest numbers, each told once."""

    def __init__(self, node: Node, topic: str, field: str, say: Say) -> None:
        """Begin without having heard it.

        Args:
            node: That subscribes.
            topic: Its name.
            field: Of ``JointState`` that counts.
            say: Logs a warning.
        """
        self._node, self._topic, self._field, self._say = node, topic, field, say
        self._picker: Picker | None = None
        self._value: Array | None = None
        self._stamp = 0

    def prepare(self, names: tuple[str, ...]) -> None:
        """Subscribe, once."""
        if self._picker is None:
            self._node.create_subscription(JointState, self._topic, self._on_message, NEWEST)
        self._picker, self._value = Picker(names), None

    def taken(self) -> tuple[Array | None, int]:
        """What came since it was asked last (n,), and its stamp [ns]."""
        value, self._value = self._value, None
        return value, self._stamp

    def _on_message(self, message: Any) -> None:
        names = list(message.name)
        if self._picker is None or self._picker.foreign(names):
            return
        if self._picker.twice:
            self._say(f"{self._topic} {self._picker.trouble}")
        found = self._picker.picked(names, getattr(message, self._field))
        if found is None:
            self._say(f"{self._topic} has another number of {self._field}s than names")
        self._value, self._stamp = found, nanoseconds(message.header.stamp)
