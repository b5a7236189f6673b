"""What the observer node sends: the estimate by topic, where somebody listens."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.elastic.springs import structure_matrix
from geared_dynamics.model import GearedModel
from geared_dynamics.nodes.common.messages import SECOND
from geared_dynamics.nodes.observer.contact import TOLD, wrench
from geared_dynamics.nodes.observer.fields import Fields
from geared_dynamics.nodes.observer.quality import labels, numbers
from geared_dynamics.nodes.observer.sensors import Affine, affine
from geared_dynamics.nodes.observer.settings import Prepared
from geared_dynamics.nodes.observer.values import Output
from geared_dynamics.observers import KalmanState

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

    def prepare(self, given: Prepared) -> None:
        """Make the messages of a model."""
        model = given.model
        names = {
            "link_state": model.joint_names,
            "control_state": model.joint_names,
            "motor_state": model.motor_names,
            "torque_estimate": spring_names(model),
            "external_torque": model.joint_names,
        }
        self._fields = {name: Fields(names[name], TOPICS[name]) for name in TOPICS}
        self._motors = affine(structure_matrix(model).T, model.motor_zeros)
        self._joints = np.linalg.pinv(model.structure_matrix.T) @ structure_matrix(model).T
        dims = [
            MultiArrayDimension(label=label, size=size, stride=size)
            for label, size in labels(given)
        ]
        self._message = Float64MultiArray()
        self._message.layout.dim = dims
        self.look()

    def look(self) -> None:
        """See who listens: asked between cycles, for asking costs as much as sending."""
        everything = {**self._publishers, "contact_wrench": self._wrench, "quality": self._quality}
        for name, publisher in everything.items():
            self._wanted[name] = publisher.get_subscription_count() > 0

    def send(self, given: Prepared, output: Output, stamp: int) -> None:
        """Publish what is known, the links first.

        Args:
            given: The model.
            output: Of a cycle.
            stamp: Of the joint state, or ROS time where none came [ns].
        """
        for name, publisher in self._publishers.items():
            if self._wanted[name]:
                values = self._values(name, output)
                publisher.publish(self._fields[name].serialised(output.level, stamp, values))
        if self._wanted["quality"]:
            self._message.data = numbers(given, output).tolist()
            self._quality.publish(self._message)

    def _values(self, name: str, output: Output) -> dict[str, Array | None]:
        """The numbers of a topic in its fields; nothing where the estimate is invalid."""
        state, given = output.moved, output.given
        if state is None:
            return {}
        mean, width, n = state.mean, given.gains.sizes.coordinates, given.model.n
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
        knows = isinstance(state, KalmanState)  # the other observer knows no force
        return {"effort": mean[2 * width : 2 * width + n] if knows else None}

    def send_contact(
        self, given: Prepared, output: Output, stamp: int, now: float, values: Any
    ) -> None:
        """Publish the contact wrench at its own rate, while somebody listens; its loss at once.

        Args:
            given: The model.
            output: Of a cycle, or what is told without one.
            stamp: As of ``send`` [ns].
            now: Steady time [s].
            values: The parameters.
        """
        frame = str(values["contact.frame"])
        if not frame or not self._wanted["contact_wrench"]:
            return
        lost = self._stands and output.level not in TOLD
        if not lost and now - self._told < 1.0 / values["contact.rate"]:
            return
        six = wrench(given.model, output, frame, moment=bool(values["contact.moment"]))
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
