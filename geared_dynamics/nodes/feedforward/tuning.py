"""The topics to tune by: reference, feedback, error, output, and each term."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from geared_dynamics.arrays import Array
from geared_dynamics.control import Controller, Reference, State
from geared_dynamics.nodes.common.measured_effort import joint_effort
from geared_dynamics.trajectory import shortest_way

if TYPE_CHECKING:
    from geared_dynamics.nodes.feedforward.loop import Loop
    from geared_dynamics.nodes.feedforward.node import FeedforwardNode


def publish_state(node: FeedforwardNode, now: float) -> None:
    """Publish what is listened to, at the rate asked for.

    Args:
        node: The node.
        now: Steady time [s].
    """
    loop, topics = node.loop, node.state_topics
    rate = cast(float, node.parameters.values["state_publish_rate"])
    if loop is None or topics is None or not rate or now - node.told < 1.0 / rate:
        return
    node.told = now
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
        way = shortest_way(q, wanted[0], loop.prepared.rules.turning)
        topics.send("error", stamp, position=way, velocity=wanted[1] - v)
    if loop.motion is None:
        return
    present = loop.present
    control = loop.prepared.control
    listened = any(topics.wanted(f"terms/{name}") for name in topics.terms)
    if listened and isinstance(control, Controller):
        reference = Reference(present.q, present.v, present.a)
        terms = control.term_torques(State(q, v), reference)
        for name in topics.terms:
            topics.send(f"terms/{name}", stamp, effort=getattr(terms, name))


def reference_of(loop: Loop) -> tuple[Array, Array] | None:
    """Wanted position and velocity (n,): of the motion, or the posture at which the arm is held.

    None while it is neither followed nor held.
    """
    posture = loop.held
    if posture is not None:
        return posture, np.zeros_like(posture)
    if loop.motion is None:
        return None
    return loop.present.q, loop.present.v


def measured(node: FeedforwardNode, q: Array) -> Array | None:
    """Measured effort as joint torque (n,), None where it is not known.

    Args:
        node: The node, with its newest joint state.
        q: Joint position (n,).
    """
    meaning = str(node.parameters.values["effort_feedback"])
    model = node.model
    if meaning == "none" or model is None or node.data is None:
        return None
    message = deserialize_message(node.data, JointState)
    names = model.motor_names if meaning.startswith("motor") else model.joint_names
    if meaning.startswith("motor") and not set(names) <= set(message.name):
        names = tuple(node.joint_map.wanted)  # a driver that calls the motors by their joints
    place = {name: k for k, name in enumerate(message.name)}
    if len(message.effort) != len(place) or any(name not in place for name in names):
        return None
    effort = np.array([message.effort[place[name]] for name in names])
    return joint_effort(model, meaning, effort, q)
