"""Publishing a trajectory once, with ROS."""

from __future__ import annotations

import argparse
import time
from array import array
from collections.abc import Callable

import rclpy
from builtin_interfaces.msg import Duration
from rclpy.duration import Duration as Wait
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.ros.joint_state_wire import POINT, SECOND
from geared_dynamics.runtime.acceptance import refuse_elsewhere
from geared_dynamics.trajectory import Waypoints

NAME = "publish_trajectory"
STEP = 0.05  # [s] of waiting at a time
# Whoever comes late still gets it; those who ask for less get it too.
LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)


def run(args: argparse.Namespace, ros_arguments: list[str], found: Waypoints) -> None:
    """Wait for the arm and a subscriber, publish, wait until it has arrived.

    Raises:
        GearedDynamicsError: If there is no subscriber, or the arm is elsewhere.
    """
    rclpy.init(args=[NAME, *ros_arguments])
    node = Node(NAME)
    try:
        publisher = node.create_publisher(JointTrajectory, args.topic, LATCHED)
        if not args.no_check and args.approach is None:
            measured = positions(node, args, found)
            refuse_elsewhere(found, measured, args.tolerance)
        remedy = "start its controller, name its --topic, or wait longer with --timeout"
        waited(node, lambda: publisher.get_subscription_count() > 0, args.timeout,
               GearedDynamicsError(publisher.topic_name, "has no subscriber", remedy))  # fmt: skip
        publisher.publish(message_of(found))
        if not publisher.wait_for_all_acked(Wait(seconds=args.timeout)):
            finding = f"did not arrive within {args.timeout:g} s"
            raise GearedDynamicsError(publisher.topic_name, finding, "check its subscriber")
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def positions(node: Node, args: argparse.Namespace, found: Waypoints) -> dict[str, float]:
    """Wait until each joint's position has come; messages may hold some of them."""
    known: dict[str, float] = {}

    def listen(message: JointState) -> None:
        known.update(zip(message.name, message.position, strict=False))

    subscription = node.create_subscription(
        JointState, args.joint_states, listen, qos_profile_sensor_data
    )
    wanted = set(found.joint_names)
    remedy = (
        "start the driver, name its topic with --joint-states, or publish without knowing where "
        "the arm is: --no-check"
    )
    finding = "does not contain the positions of all joints of the trajectory"
    waited(node, lambda: wanted <= set(known), args.timeout,
           GearedDynamicsError(subscription.topic_name, finding, remedy))  # fmt: skip
    return known


def waited(
    node: Node, condition: Callable[[], bool], timeout: float, error: GearedDynamicsError
) -> None:
    """Spin until a condition holds; raise the error when that takes longer than [s]."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            raise error
        rclpy.spin_once(node, timeout_sec=STEP)


def message_of(found: Waypoints) -> JointTrajectory:
    """The message; without a stamp, so that it starts on arrival."""
    message = JointTrajectory(joint_names=list(found.joint_names))
    for k, seconds in enumerate(found.times.tolist()):
        stamp = round(seconds * SECOND)
        point = JointTrajectoryPoint()
        point.time_from_start = Duration(sec=stamp // SECOND, nanosec=stamp % SECOND)
        for field in POINT:
            if getattr(found, f"has_{field}")[k]:
                setattr(point, field, array("d", getattr(found, field)[k].tobytes()))
        message.points.append(point)
    return message
