"""What the node sends: commands each cycle, the tuning topics for those who listen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from geared_dynamics.arrays import Array
from geared_dynamics.control import TermTorques
from geared_dynamics.model import GearedModel
from geared_dynamics.nodes.common.joint_map import order
from geared_dynamics.nodes.common.messages import NamedState
from geared_dynamics.nodes.common.parameters import ParameterError, Values
from geared_dynamics.nodes.common.values import numbers
from geared_dynamics.nodes.common.wire import Template

NEWEST = QoSProfile(depth=1)  # reliable: what controllers of ros2_control subscribe to
STATES = {
    "reference": ("position", "velocity"),
    "feedback": ("position", "velocity", "effort"),
    "error": ("position", "velocity"),
    "output": ("effort",),
}


def command_names(values: Values, model: GearedModel) -> tuple[list[str], list[str]]:
    """Names of the commands in the order in which they are sent: ours, and as they are called.

    As for a joint trajectory controller, ``command_joints`` may have the same names in another
    order, or other names in the order of ``joints``.
    """
    motors = values["output"] != "joint_torque"
    own = list(model.motor_names if motors else model.joint_names)
    listed = cast("list[str]", values["joints"])
    usual = own if motors or not listed else list(listed)
    chosen = list(cast("list[str]", values["command_joints"]))
    if not chosen or (motors and not set(chosen) & set(own) and len(chosen) != len(own)):
        return usual, usual
    if len(set(chosen)) != len(own) or len(chosen) != len(own):
        finding = f"has {len(chosen)} names, and there are {len(own)} commands"
        raise ParameterError("command_joints", finding, f"order these: {', '.join(own)}")
    if set(chosen) == set(own):
        return chosen, chosen
    return usual, chosen


class Commands:
    """Sends commands: a flat array, or by name, or both."""

    def __init__(self, publishers: Publishers, values: Values, model: GearedModel) -> None:
        """Make the messages."""
        ours, called = command_names(values, model)
        motors = values["output"] != "joint_torque"
        own = model.motor_names if motors else model.joint_names
        self._index = order(own, ours)
        self._sign: Array | None = None
        if motors:
            sign = numbers(values, "motors.{}.command_sign", own)
            self._sign = sign if (sign != 1.0).any() else None
        kind = str(values["output"])  # the numbers do not say what they are
        self._targets: list[tuple[Template, Any]] = []
        self.publishers: list[Any] = []
        if values["publish_commands"]:
            flat = Float64MultiArray(data=[0.0] * len(ours))
            flat.layout.dim = [MultiArrayDimension(label=kind, size=len(ours), stride=len(ours))]
            publisher = publishers.get("~/commands", Float64MultiArray)
            self._targets.append((Template(flat, "data"), publisher.publish))
            self.publishers.append(publisher)
        if values["publish_joint_commands"]:
            named = JointState(name=called, effort=[0.0] * len(called))
            named.header.frame_id = kind
            publisher = publishers.get("~/joint_commands", JointState)
            self._targets.append((Template(named, "effort"), publisher.publish))
            self.publishers.append(publisher)

    def send(self, command: Array, stamp: int) -> None:
        """Send commands in the model's order.

        Args:
            command: (n,) or (m,).
            stamp: That of the joint state they answer, else ROS time [ns].
        """
        if self._sign is not None:
            command = command * self._sign
        for template, publish in self._targets:
            command.take(self._index, out=template.values)
            publish(template.serialised(stamp))


class Publishers:
    """A node's publishers by topic: made at first use and kept.

    Destroying one while the EventsExecutor runs is not safe (rclpy issue 1644).
    """

    def __init__(self, node: Node) -> None:
        """Begin with none."""
        self._node = node
        self._made: dict[str, Any] = {}

    def get(self, topic: str, kind: Any) -> Any:
        """The publisher of a topic."""
        if topic not in self._made:
            self._made[topic] = self._node.create_publisher(kind, topic, NEWEST)
        return self._made[topic]


class StateTopics:
    """``~/reference``, ``~/feedback``, ``~/error``, ``~/output`` and the terms, as JointStates.

    Nothing is computed or sent for a topic that nobody listens to.
    """

    def __init__(
        self, publishers: Publishers, names: Sequence[str], commands: Sequence[str], terms: bool
    ) -> None:
        """Make messages and publishers.

        Args:
            publishers: Of the node.
            names: Joints in the model's order.
            commands: Joints or motors that commands are for.
            terms: Whether each term is published as well.
        """
        self._topics: dict[str, tuple[NamedState, Any]] = {}
        for name, fields in STATES.items():
            message = NamedState(commands if name == "output" else names, fields)
            self._add(publishers, name, message)
        self.terms = TermTorques._fields if terms else ()
        for name in self.terms:
            self._add(publishers, f"terms/{name}", NamedState(names))

    def _add(self, publishers: Publishers, name: str, message: NamedState) -> None:
        publisher = publishers.get(f"~/{name}", type(message.message))
        self._topics[name] = message, publisher

    def wanted(self, name: str) -> bool:
        """Whether anybody listens."""
        return bool(self._topics[name][1].get_subscription_count())

    def send(self, name: str, now: int, **values: Array | None) -> None:
        """Fill and publish a topic's message; values that are not known are NaN."""
        message, publisher = self._topics[name]
        for field, target in message.values.items():
            value = values.get(field)
            target[:] = np.nan if value is None else value
        message.stamp(now)
        publisher.publish(message.message)
