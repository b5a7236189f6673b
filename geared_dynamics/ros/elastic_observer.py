"""The observer node: messages to arrays, the loop, arrays to messages."""

from __future__ import annotations

import functools
import time
from typing import Any, cast

import numpy as np
from rclpy.clock import Clock, ClockType
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.frames import pose
from geared_dynamics.errors import DamagedMessageError, GearedDynamicsError
from geared_dynamics.model import GearedModel
from geared_dynamics.ros import process
from geared_dynamics.ros.declared import Declared
from geared_dynamics.ros.joint_state_wire import StateReader
from geared_dynamics.ros.model_node import SUCCESS, Description, SteadyLifecycleNode
from geared_dynamics.ros.observer_reporter import ObserverReporter
from geared_dynamics.ros.observer_topics import NEWEST_INPUT, Beside, Outputs, Torques, wrench
from geared_dynamics.ros.process import Failures, RosTime
from geared_dynamics.runtime import model_source
from geared_dynamics.runtime import model_source as payload_limit
from geared_dynamics.runtime.cycle_report import Timing
from geared_dynamics.runtime.joint_readings import Picker
from geared_dynamics.runtime.model_source import payload_words
from geared_dynamics.runtime.observer_loop import ObserverLoop, rehearse
from geared_dynamics.runtime.observer_settings import SCHEMA, ObserverSetup, prepared, state_names
from geared_dynamics.runtime.observer_values import Level, ObserverOutput, Sensed
from geared_dynamics.runtime.parameters import Value

SIX = 6  # numbers of a wrench
BLIND = (
    "contact.moment: fewer than six joints do not determine a force and a moment; what they do "
    "not is NaN in ~/contact_wrench: set contact.moment to false where contacts pass none"
)


class ElasticObserverNode(SteadyLifecycleNode):
    """See docs/observer_node.md."""

    def __init__(self, name: str = "elastic_observer_node", **options: Any) -> None:
        """Declare parameters; all else comes with ``start`` and the transitions."""
        super().__init__(name, automatically_declare_parameters_from_overrides=True, **options)
        self.parameters = Declared(self, SCHEMA)
        self.parameters.on_change(self._validated)
        self.description = Description(self, str(self._value("robot_description_topic")))
        self.reporter = ObserverReporter(self)
        self.failures = Failures(self)
        self.ros_time = RosTime(self.get_clock())
        self.torques = Torques(self, self.reporter.say, self._for_ages)
        self.links = Beside(self, "link_states", "position", self.reporter.say)
        self.sensors = Beside(self, "joint_torques", "effort", self.reporter.say)
        self.outputs = Outputs(self)
        self.timing = Timing()
        self.model: GearedModel | None = None
        self.loop: ObserverLoop | None = None
        self.active = False
        self.preparing = False  # whether a model is loaded and kernels are compiled
        self._payload = "none"
        self.autostarting = False  # until it was active once: what is stopped then, stays so
        self.zero = 0  # ROS time from which the loop counts [ns]
        self._picker = Picker(())
        self._reader = StateReader()
        self._inputs = False
        self._heard = False  # whether a joint state of ours came
        self._last = 0.0, 0  # when, steady [s] and ROS time [ns]

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
        self.create_service(Trigger, "~/reset", self._on_reset)
        for line in process.requested(
            cast(int, self._value("thread_priority")),
            cast("list[int]", self._value("cpu_affinity")),
            bool(self._value("lock_memory")),
        ):
            self.get_logger().warning(line)
        self.autostarting = bool(self._value("autostart"))
        if not self.autostarting:
            self.logs_waiting("configure")
            return
        if model_source.needs_topic(self.parameters.values) and self.description.text is None:
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
        """Say that nothing is known any more."""
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
        self.parameters.refuse_wrong()
        model = model_source.load(self.parameters.values, self.description.text)
        self.parameters.declare(model.joint_names, model.motor_names)
        self.parameters.refuse_wrong()
        self.parameters.warn_of_unknown()
        values = self.parameters.values
        payload_limit.warm_up(model, values)
        given = prepared(values, model)
        if values["contact.frame"]:
            pose(model, np.zeros(model.n), str(values["contact.frame"]))  # is it a frame?
        output = rehearse(given)
        if values["contact.frame"]:
            good = output._replace(level=Level.GOOD)  # rehearsed is a bridge, which tells none
            wrench(model, good, str(values["contact.frame"]), moment=False)
            if values["contact.moment"] and model.n < SIX:
                self.get_logger().warning(BLIND)
        self._picker = Picker(state_names(values, model))
        self.outputs.prepare(given)
        self.torques.prepare(values, model)
        if given.has_links.any():
            self.links.prepare(model.joint_names)
        if given.has_torques:
            self.sensors.prepare(model.joint_names)
        self.model, self.loop = model, ObserverLoop(given)
        if not self._inputs:
            self._inputs = True
            self.create_subscription(
                JointState, "joint_states", self._on_joint_state, NEWEST_INPUT, raw=True
            )
        self._payload = payload_words(model, values)
        self.parameters.configured = True
        self.description.used = self.description.text
        self.description.begin(model)
        for note in model.notes:
            self.get_logger().warning(note)
        springs = ", ".join(model.elasticity.names)
        self.get_logger().info(
            f"configured: {model.name}, observer {values['observer']}, springs {springs}; "
            f"payload: {self._payload}"
        )
        source = str(values["torque_source"])
        name = self.resolve_topic_name
        torques = "" if source == "effort" else f" and torques on {name(source)}"
        self.get_logger().info(
            f"waiting for joint states on {name('joint_states')}{torques}; estimates go to "
            f"{name('~/link_state')} and the topics beside it"
        )
        if not self.autostarting:
            self.logs_waiting("activate")

    def activated(self) -> None:
        """Estimate from the next joint state on."""
        assert self.loop is not None  # rclpy has configured us
        self.autostarting = False
        self.description.begin(self.model)
        self.loop = ObserverLoop(self.loop.prepared)
        self.zero, self._heard = self.ros_time.now(), False
        self.torques.forget()
        self.timing = Timing()
        self.reporter.begin()
        process.settle()
        self.active = True

    def deactivated(self) -> None:
        """End; the last messages say that nothing is known any more."""
        if not self.active:
            return
        self.active = False
        try:
            self._give_up()
        finally:
            process.unsettle()

    def failed(self, error: Exception) -> None:
        """Start again from the next joint state after an exception of a callback.

        Args:
            error: What was raised.
        """
        if self.active:
            self._give_up()
        self.failures.log(error, "the estimate is invalid; the observer starts again")

    def _give_up(self) -> None:
        """Publish that nothing is known."""
        if self.loop is not None and self._heard:
            self.loop.reset()
            self._send(self.loop.output, self.ros_time.now())

    def cleaned_up(self) -> None:
        """Forget the model."""
        self.parameters.configured = False
        self.model = self.loop = None

    # -- each cycle --------------------------------------------------------------------------

    def _on_joint_state(self, data: bytes) -> None:
        if not self.active or self.loop is None:
            return
        try:
            self._cycle(self.loop, data)
        except DamagedMessageError as error:  # as if it had not come
            self.reporter.say(str(error))
        except Exception as error:
            self.failed(error)

    def _cycle(self, loop: ObserverLoop, data: bytes) -> None:
        """Answer a joint state, serialised."""
        begin, ros = time.monotonic(), self.ros_time.now()
        found = self.observed(data, begin, ros)
        if found is None:
            return
        output, stamp = found
        self.outputs.send(loop.prepared, output, stamp)
        self.timing.add(begin, time.monotonic(), 1e-9 * (ros - stamp))
        self.outputs.send_contact(loop.prepared, output, stamp, begin, self.parameters.values)
        self.reporter.look(output)

    def observed(self, data: bytes, begin: float, ros: int) -> tuple[ObserverOutput, int] | None:
        """What is known after a joint state, and its stamp [ns]; None for another device's.

        Args:
            data: The joint state, serialised.
            begin: When it came [s], steady.
            ros: ROS time [ns].

        Raises:
            DamagedMessageError: where it cannot be read.
        """
        loop = self.loop
        assert loop is not None
        names, position, _, effort, stamp = self._reader.read(data)
        if self._picker.foreign(names):
            return None
        if self.torques.source == "effort":
            self.torques.measured(names, effort)
        self._heard, self._last = True, (begin, ros)
        positions = self._positions(names, position)
        stamp = stamp or ros
        links, links_stamp = self.links.taken()
        sensors, sensors_stamp = self.sensors.taken()
        sensed = Sensed(
            time=1e-9 * (stamp - self.zero),
            positions=positions,
            torques=self.torques.newest(
                self._for_ages(), cast(float, self._value("torque_timeout"))
            ),
            links=links,
            links_time=1e-9 * ((links_stamp or stamp) - self.zero),
            sensors=sensors,
            sensors_time=1e-9 * ((sensors_stamp or stamp) - self.zero),
        )
        return loop.cycle(begin, sensed), stamp

    def _positions(self, names: list[str], position: Any) -> Array:
        """Positions of ours; NaN for those that are not there."""
        found = self._picker.picked(names, position)
        if not self._picker.whole:
            self.reporter.say(f"joint_states {self._picker.trouble}")
        if found is None:
            sizes = f"{len(names)} names and {len(position)} positions"
            self.reporter.say(f"joint_states has {sizes}; give one for each name")
            return np.full(len(self._picker.wanted), np.nan)
        return found

    def _send(self, output: ObserverOutput, stamp: int) -> None:
        """Tell what is known without a joint state."""
        if self.loop is not None:
            given, now = self.loop.prepared, time.monotonic()
            self.outputs.send(given, output, stamp)
            self.outputs.send_contact(given, output, stamp, now, self.parameters.values)

    def _watch(self) -> None:
        """Between joint states, or without: on a steady clock."""
        self._exchange_description()
        if self.loop is not None:
            self.outputs.look()
        if not self.active or self.loop is None or not self._heard:
            return
        ros = self.ros_time.now()
        found = self.loop.silence(self._steady(ros))
        if found is None:
            return
        output, when = found
        self._send(output, ros if np.isnan(when) else self.zero + round(1e9 * when))
        self.reporter.look(output)

    def _for_ages(self) -> float:
        """Steady time, or the simulated one [s]: while that pauses nothing ages."""
        return 1e-9 * self.ros_time.now() if self.ros_time.simulated else time.monotonic()

    def _steady(self, ros: int) -> float:
        """Steady time [s]; where time is simulated it goes on as that does, however slowly."""
        if not self.ros_time.simulated:
            return time.monotonic()
        came, then = self._last
        # Zero is what a simulated clock shows before its first message.
        return came + max(1e-9 * (ros - then), 0.0) if then else came

    # -- what the user changes ---------------------------------------------------------------

    def _validated(self, values: dict[str, Value]) -> Any:
        """Prepare for new parameter values; what applies them."""
        if self.loop is None or self.model is None:
            return lambda: None
        given = prepared(values, self.model)
        return functools.partial(self._exchange, given, payload_words(self.model, values))

    def _exchange(self, given: ObserverSetup, payload: str) -> None:
        if self.loop is not None:
            self.loop.exchange(given)
        if payload != self._payload:
            self._payload = payload
            self.get_logger().info(f"payload: {payload}")

    def _exchange_description(self) -> None:
        """Take over a model that was built because the description has changed."""
        model = self.description.taken()
        if model is None or self.loop is None:
            return
        try:
            given = prepared(self.parameters.values, model)
            self.outputs.prepare(given)
        except GearedDynamicsError as error:
            self.get_logger().error(f"new description not used: {error}")
            return
        self.model = model
        self.loop.exchange(given)
        self.loop.reset()
        self.get_logger().info("the robot description has changed; the observer starts again")

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Any:
        """Start again, whatever the estimate was lost by."""
        if self.loop is None:
            response.message = f"the node is {self.state_label}"
            return response
        self.loop.reset()
        response.success, response.message = True, "starts again"
        return response
