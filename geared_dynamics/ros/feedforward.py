"""The feedforward node: messages to arrays, the loop, arrays to messages."""

from __future__ import annotations

import time
from typing import Any

from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from geared_dynamics.arrays import Array
from geared_dynamics.errors import DamagedMessageError
from geared_dynamics.model import GearedModel
from geared_dynamics.ros import process
from geared_dynamics.ros.action import TrajectoryAction
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
from geared_dynamics.ros.joint_state_wire import NEWEST_BEST_EFFORT, StateReader, WireState
from geared_dynamics.ros.lifecycle_node import compiled_model
from geared_dynamics.ros.model_node import FeedforwardBase
from geared_dynamics.ros.relay import controllers_action
from geared_dynamics.ros.reporter import FeedforwardReporter
from geared_dynamics.ros.trajectories import References, SpeedScaling, WrenchInput, publisher
from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.feedforward_settings import (
    feedforward_setup,
    refuse_wider_than_start,
    remarks,
)
from geared_dynamics.runtime.goals import DEACTIVATED
from geared_dynamics.runtime.joint_readings import EncoderMap, JointMap, Reading, encoders
from geared_dynamics.runtime.parameters import signs
from geared_dynamics.runtime.rehearsal import rehearse_feedforward

BACK = 100_000_000  # [ns] by which stamps go back when a recording begins again
PAUSE = 0.02  # [s] without joint states after which nothing is to be waited for
REHEARSAL = 200  # cycles before the first real one


class FeedforwardNode(FeedforwardBase):
    """See docs/nodes.md."""

    exchanged = "the new model is in use"

    def __init__(self, name: str = "feedforward_node", **options: Any) -> None:
        """Declare parameters; all else comes with ``start`` and the transitions."""
        super().__init__(name, FeedforwardParameters, **options)
        self.exchange = Exchange(self)
        self.action = TrajectoryAction(self)
        self.publishers_by_topic = Publishers(self)
        self.loop = None
        self.joint_map = JointMap([])
        self.encoders: EncoderMap | None = None
        self.commands: Commands | None = None
        self.state_topics: StateTopics | None = None
        self.annotating = False
        self.stopped = False  # whether the emergency stop is pressed, whatever the lifecycle does
        self.reader = StateReader()
        self.data: bytes | None = None  # the newest joint state, for the tuning topics
        self.heard = 0.0  # when a joint state of ours came last [s], steady
        self.tuning_sent = 0.0  # when the tuning topics were published last [s], steady
        self._stamp = 0  # of the newest joint state [ns]
        self.posture_stamp = 0  # of that whose posture the mode annotate begins with [ns]
        self.states: Any = None  # the subscription to joint states
        self.references = References(self)
        self.reporter = FeedforwardReporter(self)
        self.speed_scaling: SpeedScaling | None = None
        self.contact_wrench: WrenchInput | None = None
        self.surroundings = Surroundings(self)
        self.departure = Departure(self)

    # -- start and end -----------------------------------------------------------------------

    def offer_services(self) -> None:
        """The emergency stop, and the reset."""
        self.services_of_ours = Services(self)

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

    def keep_halting(self) -> None:
        """Go on braking where no joint states come."""
        self.departure.keep_halting()

    @property
    def halting(self) -> bool:
        """Whether the arm is still brought to rest."""
        return self.departure.under_way

    # -- transitions -------------------------------------------------------------------------

    def prepare(self, parameters: FeedforwardParameters, model: GearedModel) -> list[str]:
        """Make all that a cycle needs, warm; remarks for the log."""
        refuse_wider_than_start(parameters, self.declared.start, model)
        annotating, measured = parameters.mode == "annotate", self.encoders_of(model)
        signs(parameters.motors.command_sign, "motors.{}.command_sign", model.motor_names)
        loop = FeedforwardLoop(feedforward_setup(parameters, model))
        rehearse_feedforward(loop, REHEARSAL)
        self.annotating, self.encoders = annotating, measured
        self.commands = Commands(self.publishers_by_topic, parameters, model)
        if self.annotating:
            publisher(self)
            controllers_action(self)
        names = names_to_send(parameters, model)[1]
        self.state_topics = StateTopics(
            self.publishers_by_topic, model.joint_names, names, parameters.publish_terms
        )
        self.joint_map = JointMap(measured.names)
        self.loop, self.exchange.carrying = loop, None
        self._make_inputs()
        return remarks(parameters, model, loop.setup.policy)

    def accelerated(self, parameters: FeedforwardParameters, model: GearedModel) -> GearedModel:
        """Return the model compiled, where that is asked for and can be done."""
        return compiled_model(self, model) if parameters.compiled else model

    def summary(self, parameters: FeedforwardParameters) -> str:
        """Mode and joints."""
        joints = ", ".join(parameters.joint_names)
        return f"mode {parameters.mode}, joints {joints}"

    def endpoints(self, parameters: FeedforwardParameters) -> str:
        """A line about where the node listens, where it sends, and what it waits for."""
        name, annotating = self.resolve_topic_name, self.annotating
        outputs = {
            parameters.annotate.topic: annotating,
            "~/commands": not annotating and parameters.publish_commands,
            "~/joint_commands": not annotating and parameters.publish_joint_commands,
        }
        sent = ", ".join(name(topic) for topic, used in outputs.items() if used) or "no topic"
        what = "trajectories with effort" if annotating else "commands"
        return (
            f"waiting for trajectories on {name('~/joint_trajectory')} and joint states on "
            f"{name('joint_states')}; {what} go to {sent}"
        )

    def exchange_model(self, parameters: FeedforwardParameters, model: GearedModel) -> None:
        """Go on with the model of a changed description."""
        assert self.loop is not None  # asked before
        measured = self.encoders_of(model)
        self.loop.exchange(feedforward_setup(parameters, model))
        self.exchange.carrying, self.encoders = None, measured

    def encoders_of(self, model: GearedModel) -> EncoderMap:
        """How a model's joints follow from what is measured."""
        own, names = self.parameters.motors, model.motor_names
        turned = signs(own.encoder_sign, "motors.{}.encoder_sign", names)
        return encoders(model, self.parameters.feedback, own.encoder_offset, turned)

    def _make_inputs(self) -> None:
        """Subscribe, once."""
        if self.states is not None:
            return
        self.states = self.create_subscription(
            JointState, "joint_states", self.on_joint_state, NEWEST_BEST_EFFORT, raw=True
        )
        self.create_subscription(
            JointTrajectory,
            "~/joint_trajectory",
            self.references.take,
            QoSProfile(depth=10),
            raw=True,
        )
        self.speed_scaling, self.contact_wrench = SpeedScaling(self), WrenchInput(self)
        self.action.offer()

    def begin(self) -> None:
        """Hold the arm from its first joint state on."""
        assert self.loop is not None  # activated
        self.loop = FeedforwardLoop(self.loop.setup)
        self.loop.emergency_stop = self.stopped
        if self.speed_scaling is not None:
            self.loop.pace.ask(self.speed_scaling.factor)
        self._stamp, self.heard = 0, time.monotonic()
        self.references.begin()
        self.action.begin(self.loop)
        self.surroundings.begin(self.heard)

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
            self.failures.log(second, "the last computed gravity torque is sent")
            command = loop.remaining()
        self.send(command)
        self.failures.log(error, "the arm is held; a new trajectory or ~/reset ends it")
        self.reporter.report(loop.decision)

    def send(self, command: Array | None) -> None:
        """Send a command that answers no joint state."""
        if command is not None and self.commands is not None:
            self.commands.send(command, self.ros_time.now())

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
                self.reporter.report(decision)
            self.action.judge(begin, 1e-9 * (now - self.zero))
            if self.loop.contact.news:  # type: ignore[union-attr]
                self.contact_wrench.log_news()  # type: ignore[union-attr]
        if self.exchange.carrying is not None:
            self.exchange.take_load()
        if self.references.work is not None:
            self.references.take_result()
        if self.references.waiting is not None:
            self.references.take_waiting()

    def respond(self, data: bytes, begin: float, now: int) -> tuple[Array | None, float | None]:
        """Command for a joint state and the state's age [s]; both None for another device's state.

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
        self.reporter.say(str(error), "damaged")
        if self.annotating or self.loop is None:
            return None, float("nan")
        clock = 1e-9 * (now - self.zero)
        return self.loop.unusable(begin, clock, missing=False), float("nan")

    def watch(self) -> None:
        """Between joint states, or without: on a steady clock."""
        self.take_description()
        loop = self.loop
        now = time.monotonic()
        if self.exchange.carrying is not None and (not self.active or now - self.heard > PAUSE):
            self.exchange.take_load()
        if not self.active or loop is None:
            return
        if not self.annotating and now - self.heard > loop.stale_after:
            clock = self.clock_time()
            self.send(loop.silence(now, clock))
            self.reporter.report(loop.decision)
            self.action.judge(now, clock)
        if self.references.work is not None:
            self.references.take_result()
        self.references.take_waiting()
        self.action.watch()
        publish_state(self, now)
        self.surroundings.report_changes(now)


def run(argv: list[str]) -> int:
    """Run the node until SIGINT, SIGTERM or SIGHUP."""
    return process.run(argv, "feedforward_node", FeedforwardNode)
