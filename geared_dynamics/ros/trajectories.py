"""What comes in for a motion: trajectories, speed scaling, a desired contact force."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.exceptions import InvalidTopicNameException
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64
from trajectory_msgs.msg import JointTrajectory

from geared_dynamics.control import Setting, compensation
from geared_dynamics.errors import DamagedMessageError, GearedDynamicsError
from geared_dynamics.ros import process
from geared_dynamics.ros.joint_state_wire import SECOND, trajectory_message, whole
from geared_dynamics.ros.model_node import FeedforwardBase
from geared_dynamics.ros.trajectory_wire import read_trajectory, serialised, trajectory_of
from geared_dynamics.runtime.acceptance import CheckedRoute, limits_of, routed
from geared_dynamics.runtime.annotation import (
    Annotated,
    Annotation,
    Posture,
    Tail,
    annotate,
    refusal,
    tail_of,
)
from geared_dynamics.runtime.contact_force import PLACE, ContactForce
from geared_dynamics.runtime.feedforward_settings import FeedforwardSetup
from geared_dynamics.runtime.parameters import ParameterError
from geared_dynamics.trajectory import (
    ReferenceMotion,
    TrajectoryError,
    checked,
    follow,
    sample,
    state,
)

# -- Trajectories as they come in: followed, or sent on with effort -------------------------------
#
# Short ones are taken over at once. Long ones, whose reading takes longer than a joint state may,
# are prepared by a thread beside the loop and handed over between two joint states.


SHORT = 20_000  # [bytes], 100 points of six joints; below a millisecond


class Work(NamedTuple):
    """A trajectory that is being prepared.

    Attributes:
        data: The trajectory, serialised.
        given: The parameters by which it is prepared.
        future: What comes of it.
    """

    data: bytes
    given: FeedforwardSetup
    future: Future[tuple[Any, CheckedRoute | Tail]]


class References:
    """Takes trajectories.

    Attributes:
        work: The one that is being prepared, None for none; looked at between joint states.
        accepted: How many were taken.
        last: What was said of the last one, empty where it was taken without a remark.
        waiting: The newest one that came after another since the last joint state, None for none.
    """

    def __init__(self, node: FeedforwardBase) -> None:
        """Begin with none."""
        self._node = node
        self.work: Work | None = None
        self.accepted = 0
        self.last = ""
        self.waiting: bytes | None = None
        self._taken = -1.0  # ``heard`` of the node when one was taken last [s]
        self._beside: ThreadPoolExecutor | None = None
        self._sent: ReferenceMotion | None = None  # annotated last: the next one continues it

    def begin(self) -> None:
        """Forget what came before an activation."""
        self.drop()
        self._sent, self.last = None, ""

    def drop(self) -> None:
        """Do not take what waits or is being prepared."""
        self.waiting = None
        if self.work is not None:
            self.work.future.cancel()
            self.work = None

    # -- from the message to the loop --------------------------------------------------------

    def take(self, data: bytes) -> None:
        """Follow a serialised trajectory, or annotate it; log why not.

        Between two joint states one is taken, and then the newest of those after it: no flood of
        them keeps joint states waiting.
        """
        self.waiting = data
        if not self._node.active or self._taken != self._node.heard:
            self.take_waiting()

    def take_waiting(self) -> None:
        """Take the one that waits, after a joint state or where none comes."""
        data, self.waiting = self.waiting, None
        if data is not None:
            self._taken = self._node.heard
            self._attempt(lambda: self._begun(data))

    def take_result(self) -> None:
        """Take over what was prepared beside the loop, between two joint states."""
        work = self.work
        if work is None or not work.future.done():
            return
        self.work, newer = None, self.waiting
        self._attempt(lambda: self._finished(work))
        self.waiting = newer  # it came after this one

    def _begun(self, data: bytes) -> None:
        """Prepare a trajectory, here or beside the loop."""
        given = self._ready()
        if len(data) <= SHORT:
            self._hand_over(*prepare(data, given, self._node.zero, self._node.clock_time()))
            self.drop()  # what came before is replaced
            return
        self.drop()
        if self._beside is None:
            self._beside = ThreadPoolExecutor(1, "trajectories", process.step_back)
        arguments = data, given, self._node.zero, self._node.clock_time()
        self.work = Work(data, given, self._beside.submit(prepare, *arguments))

    def _finished(self, work: Work) -> None:
        """Hand over, unless parameters have changed since it was prepared."""
        if self._ready() is not work.given:
            self._begun(work.data)
            return
        self._hand_over(*work.future.result())

    def _ready(self) -> FeedforwardSetup:
        """What trajectories are prepared by; an error where none can be taken now."""
        node = self._node
        if not node.active or node.loop is None:
            raise TrajectoryError("node", f"is {node.state_label}", "activate it first")
        if node.loop.emergency_stop:
            remedy = "release ~/emergency_stop first"
            raise TrajectoryError("emergency stop", "is active", remedy)
        return node.loop.setup

    def _hand_over(self, received: Any, prepared: CheckedRoute | Tail) -> None:
        """Follow what was prepared, or send it on."""
        loop = self._node.loop
        assert loop is not None
        if isinstance(prepared, Tail):
            self._annotate(received, prepared)
        else:
            loop.begin(prepared, time.monotonic(), self._node.clock_time())
            self.last = ""
        self.accepted += 1

    def _attempt(self, act: Callable[[], None]) -> None:
        """Act, and log why a trajectory is refused."""
        node = self._node
        try:
            act()
        except GearedDynamicsError as error:
            if node.loop is not None:
                node.loop.counters.refused += 1
            self.last = refusal(error)
            node.get_logger().error(self.last)

    # -- the mode annotate -------------------------------------------------------------------

    def _annotate(self, received: Any, tail: Tail) -> None:
        """Publish a trajectory with the model's effort."""
        node = self._node
        dense = self._annotated(received, tail)
        rows = dense.q, dense.v, dense.a, dense.effort
        output = publisher(node)
        assert node.loop is not None
        joints = node.loop.setup.rules.joints
        output.publish(serialised(received.header, joints, dense.times, rows))
        if not output.get_subscription_count():
            remedy = "start and activate the controller, or give its topic, then send it again"
            node.get_logger().warning(
                f"trajectory sent, but there is no subscriber on {output.topic_name}: {remedy}"
            )

    def _annotated(self, received: Any, tail: Tail) -> Annotated:
        """The motion with the model's effort; the time of its beginning goes into the header."""
        node = self._node
        assert node.loop is not None
        given, header, posture = node.loop.setup, received.header, self._posture()
        answer = annotate(tail, posture, annotation_of(given))
        stamp = node.posture_stamp if answer.stamp == "posture" else 0
        if answer.stamp == "given":
            stamp = received.stamp
        header.stamp.sec, header.stamp.nanosec = divmod(stamp, SECOND)
        self._sent = None
        if given.continued and posture is not None:
            self._sent = follow(tail.waypoints, posture.state, posture.time, given.rules)
        self.last = "; ".join(answer.warnings)
        for line in answer.warnings:
            node.get_logger().warning(f"trajectory sent although it is beyond limits: {line}")
        return answer.dense

    def annotation(self, message: JointTrajectory) -> JointTrajectory:
        """The trajectory of a goal with the model's effort.

        Args:
            message: As it came.

        Raises:
            GearedDynamicsError: where it is refused.
        """
        node, given = self._node, self._ready()
        received, tail = prepare(serialize_message(message), given, node.zero, node.clock_time())
        assert isinstance(tail, Tail)  # of the mode annotate
        dense = self._annotated(received, tail)
        rows = dense.q, dense.v, dense.a, dense.effort
        return trajectory_message(received.header, given.rules.joints, dense.times, rows)

    def _posture(self) -> Posture | None:
        """Where the next motion begins, in the controller's time; None: not known.

        The joint state's stamp is the controller's time: both are stamped by one clock.
        """
        node, loop = self._node, self._node.loop
        assert loop is not None
        if loop.q is None or loop.v is None or loop.stamp is None:
            return None
        age = time.monotonic() - loop.stamp
        if age > loop.stale_after:
            finding = f"no valid message for {age:.2f} s"
            remedy = "start the robot driver, then send the trajectory again"
            raise TrajectoryError("joint_states", finding, remedy)
        when = 1e-9 * (node.posture_stamp - node.zero)
        if self._sent is None or not loop.setup.continued:
            return Posture(state(loop.q, loop.v), when)
        return Posture(sample(self._sent, when), when)


def prepare(
    data: bytes, setup: FeedforwardSetup, zero: int, clock: float
) -> tuple[Any, CheckedRoute | Tail]:
    """What came, and the trajectory ready for the state from which it begins.

    Args:
        data: The trajectory, serialised.
        setup: The node's parameters.
        zero: ROS time from which the loop counts [ns].
        clock: ROS time, so counted [s].
    """
    received = read_trajectory(data)
    trajectory = trajectory_of(received, zero)
    if setup.parameters.mode != "annotate":
        return received, routed(trajectory, setup.rules, limits_of(setup.policy), clock)
    return received, tail_of(checked(trajectory, setup.rules, clock), annotation_of(setup))


def annotation_of(setup: FeedforwardSetup) -> Annotation:
    """How trajectories are annotated, from the node's parameters."""
    own, policy, control = setup.parameters.annotate, setup.policy, setup.control
    return Annotation(
        setting=Setting(compensation(control.model, control.terms)),
        rules=setup.rules,
        limits=limits_of(policy),
        effort=np.array(policy.command),
        jump=policy.resume_error,
        resting=policy.hold_velocity,
        period=own.period,
        tolerance=own.tolerance,
        refuse=own.beyond_limits == "refuse",
    )


def publisher(node: FeedforwardBase) -> Any:
    """Where annotated trajectories go.

    Raises:
        ParameterError: where the topic is none.
    """
    topic = node.parameters.annotate.topic
    try:
        return node.publishers_by_topic.get(topic, JointTrajectory)
    except InvalidTopicNameException:
        remedy = "give a topic, such as ~/annotated_trajectory, and restart the node"
        raise ParameterError("annotate.topic", f"is {topic!r}", remedy) from None


# -- ``~/speed_scaling_input``: how fast the robot lets a motion be -------------------------------


TOPIC = "~/speed_scaling_input"
ROUNDING = 1e-6  # of a part that a driver computes


class SpeedScaling:
    """Listens, and keeps what came last for loops to come.

    Attributes:
        factor: From 0 to 1.
    """

    def __init__(self, node: FeedforwardBase) -> None:
        """Subscribe."""
        self._node = node
        self.factor = 1.0
        node.create_subscription(Float64, TOPIC, self.take, QoSProfile(depth=1), raw=True)

    def take(self, data: bytes) -> None:
        """Let the reference go so fast from now on.

        Args:
            data: The message, serialised.
        """
        node = self._node
        try:
            value = float(whole(data, Float64, TOPIC).data)
        except DamagedMessageError as error:
            node.reporter.say(str(error), "speed_scaling")
            return
        full = node.parameters.speed_scaling.full
        factor = value / full
        if not math.isfinite(factor) or factor < 0.0:
            text = f"{TOPIC}: {value:g} is not a valid factor; it is ignored"
            node.reporter.say(text, "speed_scaling")
            return
        if factor > 1.0 + ROUNDING:
            text = f"{TOPIC}: {value:g} is more than full speed, speed_scaling.full: {full:g}; "
            text += "no reference goes faster than it was given"
            node.reporter.say(text, "speed_scaling")
        factor = min(factor, 1.0)
        if abs(factor - self.factor) > 0.01 or (factor == 0.0) != (self.factor == 0.0):
            node.get_logger().info(f"speed scaling: {100.0 * factor:.3g} %")
        self.factor = factor
        if node.annotating:
            text = f"{TOPIC} has no effect in the mode annotate: the controller sets the pace"
            node.get_logger().warning(text, once=True)
        elif node.loop is not None:
            node.loop.pace.ask(factor)


# -- ``~/contact_wrench``: what the environment shall exert on the tool ---------------------------


class WrenchInput:
    """Listens, and hands each wrench to the loop; logs what is refused and what becomes of it."""

    def __init__(self, node: FeedforwardBase) -> None:
        """Subscribe."""
        self._node = node
        newest = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        node.create_subscription(WrenchStamped, PLACE, self.take, newest, raw=True)

    def take(self, data: bytes) -> None:
        """Want this wrench from now on.

        Args:
            data: The message, serialised.
        """
        node, loop = self._node, self._node.loop
        if not node.active or loop is None:
            text = f"contact force not used: the node is {node.state_label}; activate it first"
            node.reporter.say(text, PLACE)
            return
        try:
            message = whole(data, WrenchStamped, PLACE)
            force, torque = message.wrench.force, message.wrench.torque
            contact: ContactForce = loop.contact
            contact.take(
                loop.setup.contact,
                (force.x, force.y, force.z),
                (torque.x, torque.y, torque.z),
                message.header.frame_id,
                time.monotonic(),
                loop.following,
            )
        except GearedDynamicsError as error:
            loop.counters.forces += 1
            node.reporter.say(f"contact force not used: {error}", PLACE)

    def log_news(self) -> None:
        """Log what has become of a force since the last cycle."""
        loop = self._node.loop
        if loop is not None and loop.contact.news:
            self._node.get_logger().warning(loop.contact.news)
            loop.contact.news = ""
