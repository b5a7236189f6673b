"""The feedforward node: messages to arrays, the loop, arrays to messages."""

from __future__ import annotations

import functools
import time
from dataclasses import replace
from typing import Any, cast

from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidTopicNameException
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from geared_dynamics.arrays import Array
from geared_dynamics.control import Controller
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.model import GearedModel
from geared_dynamics.nodes.common import model_source, realtime
from geared_dynamics.nodes.common.declaration import Declared
from geared_dynamics.nodes.common.description import Description
from geared_dynamics.nodes.common.encoders import Encoders, encoders
from geared_dynamics.nodes.common.joint_map import JointMap, Reading
from geared_dynamics.nodes.common.lifecycle import SUCCESS, SteadyLifecycleNode
from geared_dynamics.nodes.common.messages import trajectory_message, trajectory_of
from geared_dynamics.nodes.common.parameters import ParameterError, Value
from geared_dynamics.nodes.common.ros_time import RosTime
from geared_dynamics.nodes.common.timing import Timing
from geared_dynamics.nodes.common.values import loaded, numbers, signs
from geared_dynamics.nodes.common.wire import StateReader
from geared_dynamics.nodes.feedforward.annotate import annotated, refusal
from geared_dynamics.nodes.feedforward.loop import Loop, Prepared, differ, prepared
from geared_dynamics.nodes.feedforward.outputs import (
    Commands,
    Publishers,
    StateTopics,
    command_names,
)
from geared_dynamics.nodes.feedforward.report import Reporter
from geared_dynamics.nodes.feedforward.schema import SCHEMA
from geared_dynamics.nodes.feedforward.tuning import publish_state
from geared_dynamics.trajectory import TrajectoryError, checked, follow, state

NEWEST_STATE = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
BACK = 100_000_000  # [ns] by which stamps go back when a recording begins anew
PAUSE = 0.02  # [s] without joint states after which nothing is to be waited for
REHEARSAL = 200  # cycles before the first real one


class FeedforwardNode(SteadyLifecycleNode):
    """See docs/nodes.md."""

    def __init__(self, name: str = "feedforward_node", **options: Any) -> None:
        """Declare parameters; all else comes with ``start`` and the transitions."""
        super().__init__(name, automatically_declare_parameters_from_overrides=True, **options)
        self.parameters = Declared(self, SCHEMA)
        self.parameters.on_change(self._validated)
        self.publishers_by_topic = Publishers(self)
        self.description = Description(self, str(self._value("robot_description_topic")))
        self.timing = Timing()
        self.model: GearedModel | None = None
        self.loop: Loop | None = None
        self.joint_map = JointMap([])
        self.encoders: Encoders | None = None
        self.commands: Commands | None = None
        self.state_topics: StateTopics | None = None
        self.active = False
        self.preparing = False  # whether a model is loaded and kernels are compiled
        self.annotating = False
        self.stopped = False  # whether the emergency stop is pressed, whatever the lifecycle does
        self.autostarting = False  # until it was active once: what is stopped then, stays so
        self.reader = StateReader()
        self.data: bytes | None = None  # the newest joint state, for the tuning topics
        self.heard = 0.0  # when a joint state of ours came last [s], steady
        self.told = 0.0  # when the tuning topics were published last [s], steady
        self.zero = 0  # ROS time from which the loop counts [ns]
        self._stamp = 0  # of the newest joint state [ns]
        self.ros_time = RosTime(self.get_clock())
        self._inputs = False
        self._carrying: GearedModel | None = None  # with a new payload, soon to be used
        self.reporter = Reporter(self)

    def _value(self, name: str) -> Value:
        return self.parameters.values[name]

    # -- start and end -----------------------------------------------------------------------

    def start(self) -> None:
        """Begin: timers, services, real time; configure and activate where that is wanted."""
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        period = 1.0 / cast(float, self._value("watchdog_rate"))
        self.create_timer(period, self._watch, clock=steady)
        rate = cast(float, self._value("diagnostics_rate"))
        if rate:
            self.create_timer(1.0 / rate, self.reporter.publish, clock=steady)
        self.create_service(SetBool, "~/emergency_stop", self._on_emergency_stop)
        self.create_service(Trigger, "~/reset", self._on_reset)
        refused = realtime.requested(
            cast(int, self._value("thread_priority")),
            cast("list[int]", self._value("cpu_affinity")),
            bool(self._value("lock_memory")),
        )
        for line in refused:
            self.get_logger().warning(line)
        self.autostarting = bool(self._value("autostart"))
        if not self.autostarting:
            return
        waits = model_source.needs_topic(self.parameters.values)
        if waits and self.description.text is None:
            self.get_logger().info(f"waiting for a URDF on {self.description.topic}")
            return
        self.autostart()

    def autostart(self) -> None:
        """Configure and activate."""
        if self.trigger_configure() == SUCCESS:
            self.trigger_activate()

    def end(self) -> None:
        """Leave the arm its last command."""
        self.deactivated()

    # -- transitions -------------------------------------------------------------------------

    def configured(self) -> None:
        """Load the model and prepare all that a cycle needs."""
        self.preparing = True
        try:
            self._prepare()
        finally:
            self.preparing = False

    def _prepare(self) -> None:
        self._refuse_wrong()
        model = model_source.load(self.parameters.values, self.description.text)
        self.parameters.declare(model.joint_names, model.motor_names)
        self._refuse_wrong()
        self.parameters.warn_of_unknown()
        values = self.parameters.values
        self.annotating = values["mode"] == "annotate"
        self.encoders = self._encoders_of(model)
        signs(values, "motors.{}.command_sign", model.motor_names)
        loop = Loop(prepared(values, model))
        loop.rehearse(REHEARSAL)
        self.commands = Commands(self.publishers_by_topic, values, model)
        if self.annotating:
            self._publisher_of_annotated()
        names = command_names(values, model)[1]
        self.state_topics = StateTopics(
            self.publishers_by_topic, model.joint_names, names, bool(values["publish_terms"])
        )
        self.joint_map = JointMap(self.encoders.names)
        self.model, self.loop, self._carrying = model, loop, None
        self._make_inputs()
        self.parameters.configured = True
        self.description.used = self.description.text
        for note in model.notes:
            self.get_logger().warning(note)
        self.get_logger().info(
            f"configured: {model.name}, mode {values['mode']}, joints "
            f"{', '.join(model.joint_names)}"
        )

    def _encoders_of(self, model: GearedModel) -> Encoders:
        values = self.parameters.values
        return encoders(
            model,
            cast(Any, values["feedback"]),
            numbers(values, "motors.{}.encoder_offset", model.motor_names),
            signs(values, "motors.{}.encoder_sign", model.motor_names),
        )

    def _make_inputs(self) -> None:
        """Subscribe, once."""
        if self._inputs:
            return
        self._inputs = True
        self.create_subscription(
            JointState, "joint_states", self._on_joint_state, NEWEST_STATE, raw=True
        )
        self.create_subscription(
            JointTrajectory, "~/joint_trajectory", self._on_trajectory, QoSProfile(depth=10)
        )

    def _refuse_wrong(self) -> None:
        if self.parameters.wrong:
            lines = "; ".join(self.parameters.wrong.values())
            remedy = (
                "set them rightly and configure again; those that are read-only at a new start"
            )
            raise ParameterError("parameters", lines, remedy)

    def activated(self) -> None:
        """Hold the arm from its first joint state on."""
        assert self.loop is not None  # rclpy has configured us
        self.autostarting = False
        self.loop = Loop(self.loop.prepared)
        self.loop.emergency_stop = self.stopped
        self.zero = self.ros_time.now()
        self._stamp, self.heard = 0, time.monotonic()
        self.timing = Timing()
        self.reporter.begin()
        realtime.settle()
        self.active = True

    def deactivated(self) -> None:
        """Send the command to leave behind, and end."""
        if not self.active:
            return
        self.active = False
        realtime.unsettle()
        if self.annotating or self.loop is None or self.commands is None:
            return
        command = self.loop.farewell(self._value("on_deactivate") == "zero")
        if command is not None:
            self.commands.send(command, self.ros_time.now())

    def cleaned_up(self) -> None:
        """Forget the model."""
        self.parameters.configured = False
        self.model = self.loop = None

    # -- each cycle --------------------------------------------------------------------------

    def _on_joint_state(self, data: bytes) -> None:
        if not self.active:
            return
        begin = time.monotonic()
        now = self.ros_time.now()
        command, latency = self.respond(data, begin, now)
        if command is not None:
            self.commands.send(command, self._stamp or now)  # type: ignore[union-attr]
        if latency is not None:
            self.timing.add(begin, time.monotonic(), latency)
            decision = self.loop.decision  # type: ignore[union-attr]
            if decision is not None and not self.reporter.calm(decision):
                self.reporter.look(decision)
        if self._carrying is not None:
            self._take_load()

    def respond(self, data: bytes, begin: float, now: int) -> tuple[Array | None, float | None]:
        """Command to a joint state, and how old that is [s]; None for another device's.

        Args:
            data: The joint state, serialised.
            begin: When it came [s], steady.
            now: ROS time [ns].
        """
        found = self.joint_map
        names, position, velocity, stamp = seen = self.reader.read(data)
        reading = found.read(names, position, velocity)
        if reading is Reading.FOREIGN:
            return None, None
        loop = self.loop
        assert loop is not None
        assert self.encoders is not None
        self.data, self.heard = data, begin
        clock = 1e-9 * (now - self.zero)
        if stamp < self._stamp - BACK:
            clock = float("nan")
        self._stamp = stamp
        latency = 1e-9 * (now - stamp) if stamp else float("nan")
        if reading is not Reading.COMPLETE:
            self.reporter.complain(reading, found, seen)
            if self.annotating:
                return None, latency
            return loop.unusable(begin, clock, reading is Reading.MISSING), latency
        q, v = self.encoders.joints(found.q, found.v)
        if self.annotating:
            loop.q, loop.v, loop.stamp = q, v, begin
            return None, latency
        return loop.cycle(begin, clock, q, v, found.reordered), latency

    def _watch(self) -> None:
        """Between joint states, or without: on a steady clock."""
        self._exchange_description()
        loop = self.loop
        now = time.monotonic()
        if self._carrying is not None and (not self.active or now - self.heard > PAUSE):
            self._take_load()
        if not self.active or loop is None:
            return
        if not self.annotating and now - self.heard > loop.stale:
            ros = self.ros_time.now()
            command = loop.silence(now, 1e-9 * (ros - self.zero))
            if command is not None:
                self.commands.send(command, ros)  # type: ignore[union-attr]
            self.reporter.look(loop.decision)
        publish_state(self, now)

    # -- references --------------------------------------------------------------------------

    def _on_trajectory(self, message: JointTrajectory) -> None:
        try:
            if not self.active or self.loop is None:
                raise TrajectoryError("node", f"is {self.state_label}", "activate it first")
            now = self.ros_time.now()
            if self.annotating:
                self._annotate(message, 1e-9 * (now - self.zero))
                return
            trajectory = trajectory_of(message, self.zero)
            self.loop.accept(trajectory, time.monotonic(), 1e-9 * (now - self.zero))
        except GearedDynamicsError as error:
            if self.loop is not None:
                self.loop.counters.refused += 1
            self.get_logger().error(refusal(error))

    def _annotate(self, message: JointTrajectory, clock: float) -> None:
        """Publish a trajectory with the model's effort."""
        loop, values = self.loop, self.parameters.values
        assert loop is not None
        given = loop.prepared
        assert isinstance(given.control, Controller)  # also for elastic arms, in this mode
        waypoints = checked(trajectory_of(message, self.zero), given.rules, clock)
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
        sent = trajectory_message(
            message.header, given.rules.joints, made.times, (made.q, made.v, made.a, made.effort)
        )
        self._publisher_of_annotated().publish(sent)

    def _publisher_of_annotated(self) -> Any:
        topic = str(self._value("annotate.topic"))
        try:
            return self.publishers_by_topic.get(topic, JointTrajectory)
        except InvalidTopicNameException:
            remedy = "give a topic, such as ~/annotated_trajectory, and restart the node"
            raise ParameterError("annotate.topic", f"is {topic!r}", remedy) from None

    # -- what the user changes ---------------------------------------------------------------

    def _validated(self, values: dict[str, Value]) -> Any:
        """Prepare for new parameter values; what applies them."""
        if self.loop is None or self.model is None:
            return lambda: None
        old = self.loop.prepared
        others = tuple(name for name in values if not name.startswith("payload."))
        if not differ(old.values, values, others):
            carrying = loaded(self.model, values)
            # What answers the request and the rest of the work do not fit into one period.
            return functools.partial(setattr, self, "_carrying", carrying)
        return functools.partial(self._exchange, prepared(values, self.model, old))

    def _take_load(self) -> None:
        """Go on with a new payload, between two joint states."""
        carrying, self._carrying = self._carrying, None
        if self.loop is None or self.model is None:
            return
        try:
            values, old = self.parameters.values, self.loop.prepared
            self._exchange(prepared(values, self.model, old, carrying))
        except GearedDynamicsError as error:
            self.get_logger().error(f"payload not used: {error}")

    def _exchange(self, given: Prepared) -> None:
        self._carrying = None  # an older payload than that of what is used now
        if self.loop is not None:
            self.loop.exchange(given)

    def _exchange_description(self) -> None:
        """Take over a model that was built because the description has changed."""
        model = self.description.taken()
        if model is None or self.loop is None or self.model is None:
            return
        try:
            measured = self._encoders_of(model)
            self.loop.exchange(prepared(self.parameters.values, model))
        except GearedDynamicsError as error:
            self.get_logger().error(f"new description not used: {error}")
            return
        self.model, self._carrying, self.encoders = model, None, measured
        self.get_logger().info("the robot description has changed; the new model is in use")

    def _on_emergency_stop(self, request: SetBool.Request, response: SetBool.Response) -> Any:
        """True stops, false releases: the arm is held until a new trajectory comes."""
        if self.annotating:
            response.message = "in the mode annotate another controller moves the arm: stop that"
            return response
        self.stopped, response.success = bool(request.data), True
        if self.loop is None:
            kept = "it sends nothing, and holds once it is active" if self.stopped else "released"
            response.message = f"the node is {self.state_label}: {kept}"
            return response
        self.loop.emergency_stop = self.stopped
        if request.data:
            self.loop.motion = None
        else:
            self.loop.acknowledged = True
        response.message = "stopped" if request.data else "released; held until a new trajectory"
        return response

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Any:
        """Acknowledge what has stopped the arm; it stays held until a new trajectory comes."""
        if self.loop is None:
            response.message = f"the node is {self.state_label}"
            return response
        self.loop.acknowledged = True
        response.success, response.message = True, "acknowledged"
        return response
