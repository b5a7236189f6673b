"""The feedforward node: messages to arrays, the loop, arrays to messages."""

from __future__ import annotations

import time
from typing import Any, cast

from rclpy.clock import Clock, ClockType
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from geared_dynamics.arrays import Array
from geared_dynamics.errors import DamagedMessageError
from geared_dynamics.model import GearedModel
from geared_dynamics.ros import process
from geared_dynamics.ros.action import TrajectoryAction
from geared_dynamics.ros.declared import Declared
from geared_dynamics.ros.departure import Departure, Surroundings
from geared_dynamics.ros.feedforward_topics import (
    Commands,
    Exchange,
    Publishers,
    Services,
    StateTopics,
    names_to_send,
    publish_state,
)
from geared_dynamics.ros.joint_state_wire import StateReader, WireState
from geared_dynamics.ros.model_node import SUCCESS, Description, SteadyLifecycleNode
from geared_dynamics.ros.process import Failures, RosTime
from geared_dynamics.ros.reporter import FeedforwardReporter
from geared_dynamics.ros.trajectories import References, SpeedScaling, publisher
from geared_dynamics.runtime import model_source
from geared_dynamics.runtime import model_source as payload_limit
from geared_dynamics.runtime.ceilings import refuse_wider_than_start
from geared_dynamics.runtime.cycle_report import Timing
from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
from geared_dynamics.runtime.feedforward_schema import SCHEMA
from geared_dynamics.runtime.feedforward_settings import prepared, remarks
from geared_dynamics.runtime.goals import DEACTIVATED
from geared_dynamics.runtime.joint_readings import EncoderMap, JointMap, Reading, encoders
from geared_dynamics.runtime.model_source import numbers, payload_words, signs
from geared_dynamics.runtime.parameters import Value

NEWEST_STATE = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
BACK = 100_000_000  # [ns] by which stamps go back when a recording begins again
PAUSE = 0.02  # [s] without joint states after which nothing is to be waited for
REHEARSAL = 200  # cycles before the first real one


class FeedforwardNode(SteadyLifecycleNode):
    """See docs/nodes.md."""

    def __init__(self, name: str = "feedforward_node", **options: Any) -> None:
        """Declare parameters; all else comes with ``start`` and the transitions."""
        super().__init__(name, automatically_declare_parameters_from_overrides=True, **options)
        self.parameters = Declared(self, SCHEMA)
        self.exchange = Exchange(self)
        self.action = TrajectoryAction(self)
        self.publishers_by_topic = Publishers(self)
        self.description = Description(self, str(self._value("robot_description_topic")))
        self.timing = Timing()
        self.model: GearedModel | None = None
        self.loop: FeedforwardLoop | None = None
        self.joint_map = JointMap([])
        self.encoders: EncoderMap | None = None
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
        self.posture_stamp = 0  # of that whose posture the mode annotate begins with [ns]
        self.ros_time = RosTime(self.get_clock())
        self.states: Any = None  # the subscription to joint states
        self.references = References(self)
        self.reporter = FeedforwardReporter(self)
        self.failures = Failures(self)
        self.speed_scaling: SpeedScaling | None = None
        self.surroundings = Surroundings(self)
        self.departure = Departure(self)

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
            self.create_timer(1.0 / rate, self._report, clock=steady)
        self.services_of_ours = Services(self)
        refused = process.requested(
            cast(int, self._value("thread_priority")),
            cast("list[int]", self._value("cpu_affinity")),
            bool(self._value("lock_memory")),
        )
        for line in refused:
            self.get_logger().warning(line)
        self.autostarting = bool(self._value("autostart"))
        if not self.autostarting:
            self.logs_waiting("configure")
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

    def _report(self) -> None:
        """Publish diagnostics; a defect there is no reason to stop."""
        try:
            self.reporter.publish()
        except Exception as error:
            self.failures.log(error, "no diagnostics; everything else continues")

    def end(self) -> None:
        """Leave the arm its last command."""
        self.deactivated()
        self.action.flush()

    def halt(self) -> None:
        """Begin to bring the arm to rest; who waits for a motion learns that it is none."""
        self.references.drop()
        self.action.abort(DEACTIVATED)
        self.departure.begin()

    def hurry(self) -> None:
        """End without braking."""
        self.departure.hurry()

    def pace(self) -> None:
        """Go on braking where no joint states come."""
        self.departure.pace()

    @property
    def halting(self) -> bool:
        """Whether the arm is still brought to rest."""
        return self.departure.under_way

    # -- transitions -------------------------------------------------------------------------

    def configured(self) -> None:
        """Load the model and prepare all that a cycle needs."""
        self.preparing = True
        try:
            self._prepare()
        finally:
            self.preparing = False

    def _prepare(self) -> None:
        self.parameters.refuse_wrong()
        model = model_source.load(self.parameters.values, self.description.text)
        self.parameters.declare(model.joint_names, model.motor_names)
        self.parameters.refuse_wrong()
        self.parameters.warn_of_unknown()
        values = self.parameters.values
        refuse_wider_than_start(values, self.parameters.start, model)
        payload_limit.warm_up(model, values)
        self.annotating = values["mode"] == "annotate"
        self.encoders = self.encoders_of(model)
        signs(values, "motors.{}.command_sign", model.motor_names)
        loop = FeedforwardLoop(prepared(values, model))
        loop.rehearse(REHEARSAL)
        self.commands = Commands(self.publishers_by_topic, values, model)
        if self.annotating:
            publisher(self)
        names = names_to_send(values, model)[1]
        self.state_topics = StateTopics(
            self.publishers_by_topic, model.joint_names, names, bool(values["publish_terms"])
        )
        self.joint_map = JointMap(self.encoders.names)
        self.model, self.loop, self.exchange.carrying = model, loop, None
        self._make_inputs()
        self.parameters.configured = True
        self.description.used = self.description.text
        self.description.begin(model)
        for note in (*model.notes, *remarks(values, model, loop.prepared.policy)):
            self.get_logger().warning(note)
        self.get_logger().info(
            f"configured: {model.name}, mode {values['mode']}, joints "
            f"{', '.join(model.joint_names)}; payload: {payload_words(model, values)}"
        )
        self.get_logger().info(self.reporter.endpoints(self.annotating))
        if not self.autostarting:
            self.logs_waiting("activate")

    def encoders_of(self, model: GearedModel) -> EncoderMap:
        """How a model's joints follow from what is measured."""
        values = self.parameters.values
        return encoders(
            model,
            cast(Any, values["feedback"]),
            numbers(values, "motors.{}.encoder_offset", model.motor_names),
            signs(values, "motors.{}.encoder_sign", model.motor_names),
        )

    def _make_inputs(self) -> None:
        """Subscribe, once."""
        if self.states is not None:
            return
        self.states = self.create_subscription(
            JointState, "joint_states", self.on_joint_state, NEWEST_STATE, raw=True
        )
        self.create_subscription(
            JointTrajectory,
            "~/joint_trajectory",
            self.references.take,
            QoSProfile(depth=10),
            raw=True,
        )
        self.speed_scaling = SpeedScaling(self)
        self.action.offer()

    def activated(self) -> None:
        """Hold the arm from its first joint state on."""
        assert self.loop is not None  # rclpy has configured us
        self.autostarting = False
        self.description.begin(self.model)
        self.loop = FeedforwardLoop(self.loop.prepared)
        self.loop.emergency_stop = self.stopped
        if self.speed_scaling is not None:
            self.loop.pace.ask(self.speed_scaling.factor)
        self.zero = self.ros_time.now()
        self._stamp, self.heard = 0, time.monotonic()
        self.timing = Timing()
        self.references.begin()
        self.action.begin(self.loop)
        self.reporter.begin()
        self.surroundings.begin(self.heard)
        process.settle()
        self.active = True

    def deactivated(self) -> None:
        """End, once the arm rests and has the command that is left behind."""
        if not self.active:
            return
        self.references.drop()
        self.action.abort(DEACTIVATED)
        try:
            self.departure.complete()
        finally:
            self.active = False
            process.unsettle()

    def failed(self, error: Exception) -> None:
        """Hold the arm after an unexpected exception of a callback.

        Args:
            error: What was raised.
        """
        loop = self.loop
        if not self.active or self.annotating or loop is None:
            self.failures.log(error, "the node keeps running")
            return
        try:
            command = loop.failing(time.monotonic(), self.clock_time(), error)
        except Exception as second:
            self.failures.log(second, "gravity as computed last is sent")
            command = loop.remaining()
        self.send(command)
        self.failures.log(error, "the arm is held; a new trajectory or ~/reset ends it")
        self.reporter.look(loop.decision)

    def clock_time(self) -> float:
        """ROS time as the loop counts it [s]."""
        return 1e-9 * (self.ros_time.now() - self.zero)

    def send(self, command: Array | None) -> None:
        """Send a command that answers no joint state."""
        if command is not None and self.commands is not None:
            self.commands.send(command, self.ros_time.now())

    def cleaned_up(self) -> None:
        """Forget the model."""
        self.parameters.configured = False
        self.model = self.loop = None

    # -- each cycle --------------------------------------------------------------------------

    def on_joint_state(self, data: bytes) -> None:
        """Answer a joint state, serialised, whatever goes wrong."""
        if not self.active:
            return
        try:
            self._cycle(data)
        except Exception as error:
            self.failed(error)

    def _cycle(self, data: bytes) -> None:
        """Answer a joint state, serialised."""
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
            self.action.look(begin, 1e-9 * (now - self.zero))
        if self.exchange.carrying is not None:
            self.exchange.take_load()
        if self.references.work is not None:
            self.references.look()

    def respond(self, data: bytes, begin: float, now: int) -> tuple[Array | None, float | None]:
        """Command to a joint state, and how old that is [s]; None for another device's.

        Args:
            data: The joint state, serialised.
            begin: When it came [s], steady.
            now: ROS time [ns].
        """
        found = self.joint_map
        try:
            names, position, velocity, _, stamp = seen = self.reader.read(data)
        except DamagedMessageError as error:
            return self._damaged(error, begin, now)
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
            return self._unusable(reading, seen, begin, clock), latency
        q, v = self.encoders.joints(found.q, found.v)
        if self.annotating:
            loop.q, loop.v, loop.stamp, self.posture_stamp = q, v, begin, stamp or now
            return None, latency
        sampled = 1e-9 * (stamp - self.zero) if stamp else None
        return loop.cycle(begin, clock, q, v, found.reordered, sampled), latency

    def _unusable(
        self, reading: Reading, seen: WireState, begin: float, clock: float
    ) -> Array | None:
        """Command where a joint state of ours lacks something, and a line in the log."""
        self.reporter.complain(reading, self.joint_map, seen)
        if self.annotating or self.loop is None:
            return None
        return self.loop.unusable(begin, clock, reading is Reading.MISSING)

    def _damaged(
        self, error: DamagedMessageError, begin: float, now: int
    ) -> tuple[Array | None, float]:
        """``respond`` to a message that cannot be read: whose it is, is not known."""
        self.reporter.say("damaged", str(error))
        if self.annotating or self.loop is None:
            return None, float("nan")
        clock = 1e-9 * (now - self.zero)
        return self.loop.unusable(begin, clock, missing=False), float("nan")

    def _watch(self) -> None:
        """Between joint states, or without: on a steady clock."""
        self.exchange.take_description()
        loop = self.loop
        now = time.monotonic()
        if self.exchange.carrying is not None and (not self.active or now - self.heard > PAUSE):
            self.exchange.take_load()
        if not self.active or loop is None:
            return
        if not self.annotating and now - self.heard > loop.stale:
            clock = self.clock_time()
            self.send(loop.silence(now, clock))
            self.reporter.look(loop.decision)
            self.action.look(now, clock)
        if self.references.work is not None:
            self.references.look()
        self.action.watch()
        publish_state(self, now)
        self.surroundings.look(now)
