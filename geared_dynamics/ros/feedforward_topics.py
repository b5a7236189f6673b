"""Topics and services of the feedforward node, and what is exchanged while it runs."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension
from std_srvs.srv import SetBool, Trigger

from geared_dynamics.actuation.command_type import (
    EFFORTS,
    as_command_type,
    command_names,
    is_of_motors,
    torque_map,
)
from geared_dynamics.arrays import Array
from geared_dynamics.control import Reference, TermTorques
from geared_dynamics.control.safety import memory as event
from geared_dynamics.dynamics.state import State
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.model import GearedModel
from geared_dynamics.ros.joint_state_wire import NamedState, Template
from geared_dynamics.ros.model_node import FeedforwardBase
from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.feedforward_settings import (
    FeedforwardSetup,
    feedforward_setup,
    policy_changed,
    refuse_wider_than_start,
)
from geared_dynamics.runtime.goals import stopped
from geared_dynamics.runtime.joint_readings import order
from geared_dynamics.runtime.model_source import loaded, payload_words
from geared_dynamics.runtime.parameters import ParameterError
from geared_dynamics.trajectory import shortest_way

# -- What the node sends: commands each cycle, the tuning topics for those who listen -------------


NEWEST = QoSProfile(depth=1)  # reliable: what controllers of ros2_control subscribe to
STATES = {
    "reference": ("position", "velocity"),
    "feedback": ("position", "velocity", "effort"),
    "error": ("position", "velocity"),
    "output": ("effort",),
}


def names_to_send(
    parameters: FeedforwardParameters, model: GearedModel
) -> tuple[list[str], list[str]]:
    """Names of the commands in the order in which they are sent: ours, and as they are called.

    As for a joint trajectory controller, ``command_joints`` may have the same names in another
    order, or other names in the order of ``joints``.
    """
    motors = is_of_motors(parameters.output)
    own = list(command_names(model, parameters.output))
    usual = own if motors or not parameters.joints else list(parameters.joints)
    chosen = list(parameters.command_joints)
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

    def __init__(
        self, publishers: Publishers, parameters: FeedforwardParameters, model: GearedModel
    ) -> None:
        """Make the messages."""
        ours, called = names_to_send(parameters, model)
        motors = is_of_motors(parameters.output)
        own = command_names(model, parameters.output)
        self._index = order(own, ours)
        self._sign: Array | None = None
        if motors:
            sign = parameters.motors.command_sign
            self._sign = sign if (sign != 1.0).any() else None
        kind = parameters.output  # the numbers do not say what they are
        self._targets: list[tuple[Template, Any]] = []
        self.publishers: list[Any] = []
        if parameters.publish_commands:
            flat = Float64MultiArray(data=[0.0] * len(ours))
            flat.layout.dim = [MultiArrayDimension(label=kind, size=len(ours), stride=len(ours))]
            publisher = publishers.get("~/commands", Float64MultiArray)
            self._targets.append((Template(flat, "data"), publisher.publish))
            self.publishers.append(publisher)
        if parameters.publish_joint_commands:
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

    Nothing is computed or sent for a topic without a subscriber.
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


# -- The topics to tune by: reference, feedback, error, output, and each term ---------------------


def publish_state(node: FeedforwardBase, now: float) -> None:
    """Publish what is listened to, at the rate asked for.

    Args:
        node: The node.
        now: Steady time [s].
    """
    loop, topics = node.loop, node.state_topics
    rate = node.parameters.state_publish_rate
    if loop is None or topics is None or not rate or now - node.tuning_sent < 1.0 / rate:
        return
    node.tuning_sent = now
    q, v = loop.q, loop.v
    if q is None or v is None:
        return
    stamp = node.get_clock().now().nanoseconds
    if topics.wanted("feedback"):
        effort = measured(node, q)
        topics.send("feedback", stamp, position=q, velocity=v, effort=effort)
    if topics.wanted("output") and loop.decision is not None:
        topics.send("output", stamp, effort=loop.decision.command)
    wanted = reference_of(loop)
    if wanted is None:
        return
    if topics.wanted("reference"):
        topics.send("reference", stamp, position=wanted[0], velocity=wanted[1])
    if topics.wanted("error"):
        way = shortest_way(q, wanted[0], loop.setup.rules.turning)
        topics.send("error", stamp, position=way, velocity=wanted[1] - v)
    if loop.motion is None:
        return
    present = loop.present
    control = loop.setup.control
    if any(topics.wanted(f"terms/{name}") for name in topics.terms):
        reference = Reference(present.q, present.v, present.a)
        terms = control.term_torques(State(q, v), reference)
        for name in topics.terms if terms is not None else ():
            topics.send(f"terms/{name}", stamp, effort=getattr(terms, name))


def reference_of(loop: FeedforwardLoop) -> tuple[Array, Array] | None:
    """Wanted position and velocity (n,): of the motion, or the posture at which the arm is held.

    None while it is neither followed nor held.
    """
    posture = loop.held
    if posture is not None:
        return posture, np.zeros_like(posture)
    if loop.motion is None:
        return None
    return loop.present.q, loop.present.v


def measured(node: FeedforwardBase, q: Array) -> Array | None:
    """Measured effort as joint torque (n,), None where it is not known.

    Args:
        node: The node, with its newest joint state.
        q: Joint position (n,).
    """
    named, model = node.parameters.effort_feedback, node.model
    if named == "none" or model is None or node.data is None:
        return None
    meaning = as_command_type("effort_feedback", named, EFFORTS)
    message = deserialize_message(node.data, JointState)
    names = command_names(model, meaning)
    if is_of_motors(meaning) and not set(names) <= set(message.name):
        names = tuple(node.joint_map.wanted)  # a driver that calls the motors by their joints
    place = {name: k for k, name in enumerate(message.name)}
    if len(message.effort) != len(place) or any(name not in place for name in names):
        return None
    effort = np.array([message.effort[place[name]] for name in names])
    torque = torque_map(model, meaning, "joint_torque")(effort, q)
    return torque if np.isfinite(torque).all() else None


# -- The emergency stop and the reset, as services ------------------------------------------------


class Services:
    """Answers ``~/emergency_stop`` and ``~/reset``."""

    def __init__(self, node: FeedforwardBase) -> None:
        """Offer both."""
        self._node = node
        node.create_service(SetBool, "~/emergency_stop", self._on_emergency_stop)
        node.create_service(Trigger, "~/reset", self._on_reset)

    def _on_emergency_stop(self, request: SetBool.Request, response: SetBool.Response) -> Any:
        """True stops, false releases: the arm is held until a new trajectory comes.

        In the mode annotate another controller moves the arm: no trajectory goes there.
        """
        node = self._node
        if request.data and node.annotating:
            node.action.abort(stopped(event.EMERGENCY_STOP))
        node.stopped, response.success = bool(request.data), True
        if node.loop is None:
            kept = "it sends nothing, and holds once it is active" if node.stopped else "released"
            response.message = f"the node is {node.state_label}: {kept}"
            return response
        node.loop.emergency_stop = node.stopped
        if request.data:
            node.loop.motion = None
            node.references.drop()
        if node.annotating:
            response.message = "released; trajectories are sent again"
            if request.data:
                response.message = "no trajectory is sent until it is released; the one sent "
                response.message += "last continues: stop the controller that follows it"
            return response
        response.message = "stopped" if request.data else "released; held until a new trajectory"
        return response

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Any:
        """Acknowledge what has stopped the arm; it stays held until a new trajectory comes."""
        node = self._node
        if node.loop is None:
            response.message = f"the node is {node.state_label}"
            return response
        node.loop.acknowledged = True
        response.success, response.message = True, "acknowledged"
        return response


# -- What the user changes while the arm runs: parameters, payload, description -------------------


class Exchange:
    """Prepares what is new, and hands it to the loop between two cycles.

    Attributes:
        carrying: The model with a new payload, soon to be used; None for none.
    """

    def __init__(self, node: FeedforwardBase) -> None:
        """Validate the node's parameters from here on."""
        self._node = node
        self.carrying: GearedModel | None = None
        node.declared.on_change(self._validated)

    def _validated(self, parameters: FeedforwardParameters) -> Any:
        """Prepare for new parameter values; what applies them."""
        node = self._node
        if node.loop is None or node.model is None:
            return lambda: None
        old = node.loop.setup
        if all(name.startswith("payload.") for name in parameters.changed(old.parameters)):
            carrying = loaded(node.model, parameters)
            # What answers the request and the rest of the work do not fit into one period.
            return functools.partial(setattr, self, "carrying", carrying)
        if policy_changed(old.parameters, parameters):
            refuse_wider_than_start(parameters, node.declared.start, node.model)
        return functools.partial(self._exchange, feedforward_setup(parameters, node.model, old))

    def take_load(self) -> None:
        """Go on with a new payload, between two joint states."""
        node = self._node
        carrying, self.carrying = self.carrying, None
        if node.loop is None or node.model is None:
            return
        try:
            given, old = node.parameters, node.loop.setup
            self._exchange(feedforward_setup(given, node.model, old, carrying))
        except GearedDynamicsError as error:
            node.get_logger().error(f"payload not used: {error}")

    def _exchange(self, setup: FeedforwardSetup) -> None:
        self.carrying = None  # an older payload than that of what is used now
        loop = self._node.loop
        if loop is None:
            return
        names = setup.parameters.changed(loop.setup.parameters)
        loop.exchange(setup)
        if any(name.startswith("payload.") for name in names):
            words = payload_words(setup.bare, setup.parameters.payload)
            self._node.get_logger().info(f"payload: {words}")
