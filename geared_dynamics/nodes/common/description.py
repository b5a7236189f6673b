"""``/robot_description``: the first one, a late one, a changed one."""

from __future__ import annotations

import traceback
from typing import Any, NamedTuple, Protocol

from rclpy.exceptions import InvalidTopicNameException
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.validate_topic_name import validate_topic_name
from std_msgs.msg import String

from geared_dynamics.control import controller
from geared_dynamics.errors import GearedDynamicsError, ModelError
from geared_dynamics.model import GearedModel
from geared_dynamics.nodes.common import model_source
from geared_dynamics.nodes.common.changes import changes, summary
from geared_dynamics.nodes.common.declaration import Declared
from geared_dynamics.nodes.common.parameters import ParameterError
from geared_dynamics.nodes.common.rebuild import Builder

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Described(Protocol):
    """A node with a model, as this file sees it."""

    parameters: Declared
    model: GearedModel | None
    active: bool
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
        used: That of the model in use, or of one that is being built.
        reference: Model with which new ones are compared while the node is active: many small
            changes do not add up. None before there is one.
        problem: Why the newest is not used, empty if it is.
    """

    def __init__(self, node: Described, topic: str) -> None:
        """Subscribe, where the URDF is not given as a parameter."""
        self._node = node
        self.text: str | None = None
        self.used: str | None = None
        self.reference: GearedModel | None = None
        self.problem = ""
        self._refused: str | None = None
        self._builder: Builder[Rebuilt] = Builder()
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
        if node.active and self.text == self._refused:
            return
        if self.text != self.used and model_source.needs_topic(node.parameters.values):
            self.used = self.text
            values, text, old = dict(node.parameters.values), self.text, self.reference
            self._builder.start(lambda: rebuilt(values, text, old))

    def begin(self, model: GearedModel | None) -> None:
        """Compare with this model from here on: that of the node's configuration."""
        self.reference, self._refused = model, None

    def taken(self) -> GearedModel | None:
        """A model built from a changed description, once; None for one that is not to be used."""
        if not self._builder.busy:
            return None
        try:
            found = self._builder.taken()
        except Exception as error:  # whatever a strange description may cause
            self.problem = f"the new robot description is not used: {error}"
            wrong = isinstance(error, GearedDynamicsError)
            lines = "" if wrong else "\n" + "".join(traceback.format_exception(error))
            self._node.get_logger().error(self.problem + lines)
            return None
        if found is None:
            return None
        allowed = bool(self._node.parameters.values["allow_description_changes"])
        if found.changes and self._node.active and not allowed:
            self._refuse(found)
            return None
        self.problem, self._refused = "", None
        return found.model

    def _refuse(self, found: Rebuilt) -> None:
        """Whoever publishes a description does not thereby change limits of a driven arm."""
        self._refused, self.used = found.text, None
        self.problem = (
            f"the new robot description is not used while the node is active: it changes "
            f"{summary(found.changes)}; deactivate the node, clean it up and configure it again "
            f"to use it, or find who publishes on {self.topic}"
        )
        self._node.get_logger().error(self.problem)


class Rebuilt(NamedTuple):
    """What became of a new description.

    Attributes:
        text: The description.
        model: Its model.
        changes: What differs by more than 1 % from the model of the node's configuration.
    """

    text: str | None
    model: GearedModel
    changes: list[str]


def rebuilt(values: Any, text: str | None, old: GearedModel | None) -> Rebuilt:
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
    return Rebuilt(text, model, [] if old is None else changes(old, model))
