"""Trajectories as they come in: followed, or sent on with effort."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from rclpy.exceptions import InvalidTopicNameException
from trajectory_msgs.msg import JointTrajectory

from geared_dynamics.control import Controller
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.nodes.common.messages import trajectory_message, trajectory_of
from geared_dynamics.nodes.common.parameters import ParameterError
from geared_dynamics.nodes.common.wire import whole
from geared_dynamics.nodes.feedforward.annotate import annotated, refusal
from geared_dynamics.trajectory import TrajectoryError, checked, follow, state

if TYPE_CHECKING:
    from geared_dynamics.nodes.feedforward.node import FeedforwardNode


def take(node: FeedforwardNode, data: bytes) -> None:
    """Follow a trajectory, or annotate it; log why not.

    Args:
        node: The node.
        data: The trajectory, serialised.
    """
    try:
        message = whole(data, JointTrajectory, "joint_trajectory")
        if not node.active or node.loop is None:
            raise TrajectoryError("node", f"is {node.state_label}", "activate it first")
        clock = 1e-9 * (node.ros_time.now() - node.zero)
        if node.annotating:
            annotate(node, message, clock)
            return
        node.loop.accept(trajectory_of(message, node.zero), time.monotonic(), clock)
    except GearedDynamicsError as error:
        if node.loop is not None:
            node.loop.counters.refused += 1
        node.get_logger().error(refusal(error))


def annotate(node: FeedforwardNode, message: JointTrajectory, clock: float) -> None:
    """Publish a trajectory with the model's effort."""
    publisher(node).publish(annotation(node, message, clock))


def annotation(node: FeedforwardNode, message: JointTrajectory, clock: float) -> JointTrajectory:
    """A trajectory with the model's effort.

    Args:
        node: The node.
        message: As it came.
        clock: ROS time, counted as the loop does [s].
    """
    loop, values = node.loop, node.parameters.values
    assert loop is not None
    given = loop.prepared
    assert isinstance(given.control, Controller)  # also for elastic arms, in this mode
    waypoints = checked(trajectory_of(message, node.zero), given.rules, clock)
    at_once = waypoints.times[0] == 0.0 and not waypoints.held.any()
    if loop.q is None and not at_once:
        finding = "there was no joint state yet to start from"
        remedy = "start the robot's driver, or give a first point at time 0"
        raise TrajectoryError("joint_states", finding, remedy)
    before = state(waypoints.positions[0] if loop.q is None else loop.q, loop.v)
    motion = follow(replace(waypoints, start=None), before, 0.0, given.rules)
    made = annotated(
        motion,
        given.control,
        cast(float, values["annotate.period"]),
        cast(float, values["annotate.tolerance"]),
    )
    return trajectory_message(
        message.header, given.rules.joints, made.times, (made.q, made.v, made.a, made.effort)
    )


def publisher(node: FeedforwardNode) -> Any:
    """Where annotated trajectories go.

    Raises:
        ParameterError: where the topic is none.
    """
    topic = str(node.parameters.values["annotate.topic"])
    try:
        return node.publishers_by_topic.get(topic, JointTrajectory)
    except InvalidTopicNameException:
        remedy = "give a topic, such as ~/annotated_trajectory, and restart the node"
        raise ParameterError("annotate.topic", f"is {topic!r}", remedy) from None
