"""``/robot_description``: the first one, a late one, a changed one."""

from __future__ import annotations

from typing import Any, Protocol

from rclpy.exceptions import InvalidTopicNameException
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.validate_topic_name import validate_topic_name
from std_msgs.msg import String

from geared_dynamics.control import controller
from geared_dynamics.errors import GearedDynamicsError, ModelError
from geared_dynamics.model import GearedModel
from geared_dynamics.nodes.common import model_source
from geared_dynamics.nodes.common.declaration import Declared
from geared_dynamics.nodes.common.parameters import ParameterError
from geared_dynamics.nodes.common.rebuild import Builder

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Described(Protocol):
    """A node with a model, as this file sees it."""

    parameters: Declared
    model: GearedModel | None
    loop: Any
    autostarting: bool

    @property
    def state_label(self) -> str:
        """Its lifecycle's state."""

    def autostart(self) -> None:
        """Configure and activate."""

    def get_logger(self) -> Any:
        """Its log."""

    def resolve_topic_name(self, topic: str) -> str:
        """A topic's full name."""

    def create_subscription(self, kind: Any, topic: str, callback: Any, qos: Any) -> Any:
        """Subscribe."""


class Description:
    """Listens for URDFs.

    Attributes:
        topic: Where.
        text: The newest, None for none yet.
        used: That of the model in use.
        problem: Why the newest is not used, empty if it is.
    """

    def __init__(self, node: Described, topic: str) -> None:
        """Subscribe, where the URDF is not given as a parameter."""
        self._node = node
        self.text: str | None = None
        self.used: str | None = None
        self.problem = ""
        self._builder: Builder[GearedModel] = Builder()
        self.topic = topic
        try:
            validate_topic_name(topic)
            self.topic = node.resolve_topic_name(topic)
        except InvalidTopicNameException:
            name, finding = "robot_description_topic", f"is {topic!r}, which is no topic's name"
            remedy = "give one such as robot_description, and restart the node"
            error = ParameterError(name, finding, remedy)
            node.parameters.wrong[name] = str(error)
            node.get_logger().error(f"parameter {error}")
            return
        if model_source.needs_topic(node.parameters.values):
            node.create_subscription(String, topic, self._on_message, LATCHED)

    def _on_message(self, message: Any) -> None:
        node = self._node
        self.text = message.data
        if node.loop is None:
            if node.autostarting and node.state_label == "unconfigured":
                node.autostart()
            return
        if self.text != self.used and model_source.needs_topic(node.parameters.values):
            self.used = self.text
            values, text, old = dict(node.parameters.values), self.text, node.model
            self._builder.start(lambda: rebuilt(values, text, old))

    def taken(self) -> GearedModel | None:
        """A model built from a changed description, once."""
        if not self._builder.busy:
            return None
        try:
            model = self._builder.taken()
        except GearedDynamicsError as error:
            self.problem = f"the new robot description is not used: {error}"
            self._node.get_logger().error(self.problem)
            return None
        if model is not None:
            self.problem = ""
        return model


def rebuilt(values: Any, text: str | None, old: GearedModel | None) -> GearedModel:
    """The model of a new description, with its kernels run once.

    Raises:
        GearedDynamicsError: if it is wrong, or of other joints or motors.
    """
    model = model_source.load(values, text)
    controller(model)
    for kind in ("joint_names", "motor_names"):
        before, now = getattr(old, kind, None), getattr(model, kind)
        if before is not None and before != now:
            finding = f"has other {kind.replace('_names', 's')}: {', '.join(now)}"
            remedy = "deactivate the node, clean it up and configure it again"
            raise ModelError("robot description", finding, remedy)
    return model
