"""Topics of the observer node: the estimates that it sends, torques and sensors that it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from geared_dynamics.actuation.command_type import Affine, affine
from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.elastic.equations import structure_matrix
from geared_dynamics.dynamics.frames import pose
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.model import GearedModel
from geared_dynamics.observers import contact_wrench
from geared_dynamics.ros.joint_state_wire import NEWEST_BEST_EFFORT, SECOND, Fields, nanoseconds
from geared_dynamics.runtime.joint_readings import Picker
from geared_dynamics.runtime.observer_estimates import (
    Level,
    ObserverOutput,
    labels,
    quality_numbers,
    torque_names,
)
from geared_dynamics.runtime.observer_settings import (
    ContactParameters,
    ObserverParameters,
    ObserverSetup,
)

# -- The contact at a frame as the node tells it: only what is known, NaN for all else ------------


TOLD = (Level.GOOD, Level.DEGRADED)  # a wrench has no room for another word


def wrench(model: GearedModel, output: ObserverOutput, frame: str, *, moment: bool) -> Array:
    """Force [N] and moment [N m] of a contact at a frame's origin, in its axes (6,).

    NaN unless the estimate is good or degraded, and in each component that the joints do not
    determine in this posture; without a moment that is zero.

    Args:
        model: Geared model.
        output: Of a cycle.
        frame: Link at whose origin the contact is.
        moment: Whether it may pass one.
    """
    found, state = output.estimate, output.state
    if found is None or state is None or output.level not in TOLD:
        return np.full(6, np.nan)
    covariance = output.given.observer.force_covariance(state)
    if covariance is None:
        return np.full(6, np.nan)
    try:
        contact = contact_wrench(
            model, found.q, found.external, frame, covariance=covariance, moment=moment
        )
    except GearedDynamicsError:  # the covariance of a start may be singular
        return np.full(6, np.nan)
    return contact.components(pose(model, found.q, frame)[:3, :3])


# -- What the observer node sends: the estimate by topic, where somebody listens ------------------


NEWEST = QoSProfile(depth=1)
TOPICS = {
    "link_state": ("position", "velocity"),
    "control_state": ("position", "velocity"),
    "motor_state": ("position", "velocity", "effort"),
    "torque_estimate": ("position", "effort"),
    "external_torque": ("effort",),
}


class Outputs:
    """Publishers, made once, and messages for the present model."""

    def __init__(self, node: Node) -> None:
        """Make the publishers."""
        make = node.create_publisher
        self._publishers = {name: make(JointState, f"~/{name}", NEWEST) for name in TOPICS}
        self._wrench = make(WrenchStamped, "~/contact_wrench", NEWEST)
        self._quality = make(Float64MultiArray, "~/quality", NEWEST)
        self._fields: dict[str, Fields] = {}
        self._motors: Affine | None = None  # motors' angles by x = (q, theta)
        self._joints = np.zeros((0, 0))  # joints' velocities that the motors show, by x'
        self._wanted: dict[str, bool] = {}
        self._told = -np.inf  # when the wrench was sent last [s]
        self._stands = False  # whether that has numbers
        self._message = Float64MultiArray()

    def prepare(self, setup: ObserverSetup) -> None:
        """Make the messages of a model."""
        model = setup.model
        names = {
            "link_state": model.joint_names,
            "control_state": model.joint_names,
            "motor_state": model.motor_names,
            "torque_estimate": spring_names(model),
            "external_torque": model.joint_names,
        }
        self._fields = {name: Fields(names[name], TOPICS[name]) for name in TOPICS}
        self._motors = affine(structure_matrix(model).T, model.motor_zeros)
        self._joints = model.motor_map.inverse.T @ structure_matrix(model).T
        dims = [
            MultiArrayDimension(label=label, size=size, stride=size)
            for label, size in labels(setup)
        ]
        self._message = Float64MultiArray()
        self._message.layout.dim = dims
        self.see_subscribers()

    def see_subscribers(self) -> None:
        """See who listens: asked between cycles, for asking costs as much as sending."""
        everything = {**self._publishers, "contact_wrench": self._wrench, "quality": self._quality}
        for name, publisher in everything.items():
            self._wanted[name] = publisher.get_subscription_count() > 0

    def send(self, setup: ObserverSetup, output: ObserverOutput, stamp: int) -> None:
        """Publish what is known, the links first.

        Args:
            setup: The model.
            output: Of a cycle.
            stamp: Of the joint state, or ROS time where none came [ns].
        """
        for name, publisher in self._publishers.items():
            if self._wanted[name]:
                values = self._values(name, output)
                publisher.publish(self._fields[name].serialised(output.level, stamp, values))
        if self._wanted["quality"]:
            self._message.data = quality_numbers(setup, output).tolist()
            self._quality.publish(self._message)

    def _values(self, name: str, output: ObserverOutput) -> dict[str, Array | None]:
        """The numbers of a topic in its fields; nothing where the estimate is invalid."""
        state, given = output.moved, output.given
        if state is None:
            return {}
        mean, width, n = state.mean, given.observer.gains.sizes.coordinates, given.model.n
        if name == "link_state":
            return {"position": mean[:n], "velocity": mean[width : width + n]}
        if name == "control_state":
            rate = self._joints.dot(mean[width : 2 * width])
            return {"position": mean[:n], "velocity": rate}
        if name == "motor_state":
            assert self._motors is not None
            return {
                "position": self._motors(mean[:width]),
                "velocity": self._motors.turn.dot(mean[width : 2 * width]),
                "effort": output.tau_m,
            }
        if name == "torque_estimate":
            found = output.estimate
            assert found is not None
            return {"position": found.torsion, "effort": found.joint_torque}
        force = mean[2 * width : 2 * width + n]
        return {"effort": force if force.size else None}  # not every observer estimates it

    def send_contact(
        self,
        setup: ObserverSetup,
        output: ObserverOutput,
        stamp: int,
        now: float,
        contact: ContactParameters,
    ) -> None:
        """Publish the contact wrench at its own rate, while somebody listens; its loss at once.

        Args:
            setup: The model.
            output: Of a cycle, or what is published without one.
            stamp: As of ``send`` [ns].
            now: Steady time [s].
            contact: The parameters.
        """
        frame = contact.frame
        if not frame or not self._wanted["contact_wrench"]:
            return
        lost = self._stands and output.level not in TOLD
        if not lost and now - self._told < 1.0 / contact.rate:
            return
        six = wrench(setup.model, output, frame, moment=contact.moment)
        self._told, self._stands = now, bool(np.isfinite(six).any())
        message = WrenchStamped()
        message.header.frame_id = frame
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, SECOND)
        force, torque = message.wrench.force, message.wrench.torque
        force.x, force.y, force.z, torque.x, torque.y, torque.z = six.tolist()
        self._wrench.publish(message)


def spring_names(model: GearedModel) -> list[str]:
    """What the springs are called (n_e,): by their joints, those inside drives by their own."""
    own = model.elasticity
    joints = [model.joint_names[j] for j in own.joint]
    return [*joints, *own.names[len(joints) :]]


# -- What other topics bring beside the joint states: kept until the next joint state -------------


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

    def prepare(self, parameters: ObserverParameters, model: GearedModel) -> None:
        """Subscribe as the parameters say, once each."""
        self._names, place = torque_names(parameters, model)
        self._order = np.argsort(place)
        self._picker, self._value = Picker(self._names), None
        self.source = parameters.torque_source
        if self.source in self._subscribed:
            return
        if self.source == "commands":
            self._node.create_subscription(
                Float64MultiArray, "commands", self._on_flat, NEWEST_BEST_EFFORT
            )
        elif self.source == "joint_commands":
            self._node.create_subscription(
                JointState, "joint_commands", self._on_named, NEWEST_BEST_EFFORT
            )
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


class SensorTopic:
    """A topic of sensors on the links: its newest numbers, each given once."""

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
            self._node.create_subscription(
                JointState, self._topic, self._on_message, NEWEST_BEST_EFFORT
            )
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
