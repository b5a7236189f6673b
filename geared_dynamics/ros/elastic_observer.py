"""The observer node: messages to arrays, the loop, arrays to messages."""

from __future__ import annotations

import functools
import time
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.frames import pose
from geared_dynamics.errors import DamagedMessageError
from geared_dynamics.model import GearedModel
from geared_dynamics.ros import process
from geared_dynamics.ros.joint_state_wire import NEWEST_BEST_EFFORT, StateReader
from geared_dynamics.ros.model_node import ModelNode
from geared_dynamics.ros.observer_topics import Outputs, SensorTopic, Torques, wrench
from geared_dynamics.ros.reporter import ObserverReporter
from geared_dynamics.runtime.joint_readings import Picker
from geared_dynamics.runtime.model_source import payload_words
from geared_dynamics.runtime.observer_estimates import Level, ObserverOutput, Sensed, state_names
from geared_dynamics.runtime.observer_loop import ObserverLoop
from geared_dynamics.runtime.observer_settings import (
    ObserverParameters,
    ObserverSetup,
    observer_setup,
)
from geared_dynamics.runtime.rehearsal import rehearse_observer

SIX = 6  # numbers of a wrench
BLIND = (
    "contact.moment: fewer than six joints do not determine a force and a moment; what they do "
    "not is NaN in ~/contact_wrench: set contact.moment to false where contacts pass none"
)


class ElasticObserverNode(ModelNode[ObserverParameters]):
    """See docs/observer_node.md."""

    exchanged = "the observer starts again"
    loop: ObserverLoop | None

    def __init__(self, name: str = "elastic_observer_node", **options: Any) -> None:
        """Declare parameters; all else comes with ``start`` and the transitions."""
        super().__init__(name, ObserverParameters, **options)
        self.declared.on_change(self._validated)
        self.reporter = ObserverReporter(self)
        self.torques = Torques(self, self.reporter.say, self._for_ages)
        self.links = SensorTopic(self, "link_states", "position", self.reporter.say)
        self.sensors = SensorTopic(self, "joint_torques", "effort", self.reporter.say)
        self.outputs = Outputs(self)
        self.loop = None
        self._payload = "none"
        self._picker = Picker(())
        self._reader = StateReader()
        self._inputs = False
        self._heard = False  # whether a joint state of ours came
        self._last = 0.0, 0  # when, steady [s] and ROS time [ns]

    # -- start and end -----------------------------------------------------------------------

    def offer_services(self) -> None:
        """The reset."""
        self.create_service(Trigger, "~/reset", self._on_reset)

    def end(self) -> None:
        """Say that nothing is known any more."""
        self.deactivated()

    # -- transitions -------------------------------------------------------------------------

    def prepare(self, parameters: ObserverParameters, model: GearedModel) -> list[str]:
        """Make all that a cycle needs, warm; remarks for the log."""
        setup, contact, remarks = observer_setup(parameters, model), parameters.contact, []
        if contact.frame:
            pose(model, np.zeros(model.n), contact.frame)  # is it a frame?
        output = rehearse_observer(setup)
        if contact.frame:
            good = output._replace(level=Level.GOOD)  # rehearsed is a bridge, which tells none
            wrench(model, good, contact.frame, moment=False)
            if contact.moment and model.n < SIX:
                remarks.append(BLIND)
        self._picker = Picker(state_names(parameters, model))
        self.outputs.prepare(setup)
        self.torques.prepare(parameters, model)
        if setup.has_links.any():
            self.links.prepare(model.joint_names)
        if setup.has_torques:
            self.sensors.prepare(model.joint_names)
        self.loop = ObserverLoop(setup)
        if not self._inputs:
            self._inputs = True
            self.create_subscription(
                JointState, "joint_states", self._on_joint_state, NEWEST_BEST_EFFORT, raw=True
            )
        self._payload = payload_words(model, parameters.payload)
        return remarks

    def summary(self, parameters: ObserverParameters) -> str:
        """Observer and springs."""
        springs = () if self.loop is None else self.loop.setup.model.elasticity.names
        return f"observer {parameters.observer}, springs {', '.join(springs)}"

    def endpoints(self, parameters: ObserverParameters) -> str:
        """A line about where the node listens, where it sends, and what it waits for."""
        source, name = parameters.torque_source, self.resolve_topic_name
        torques = "" if source == "effort" else f" and torques on {name(source)}"
        return (
            f"waiting for joint states on {name('joint_states')}{torques}; estimates go to "
            f"{name('~/link_state')} and the topics beside it"
        )

    def begin(self) -> None:
        """Estimate from the next joint state on."""
        assert self.loop is not None  # activated
        self.loop = ObserverLoop(self.loop.setup)
        self._heard = False
        self.torques.forget()

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
        found = self.respond(data, begin, ros)
        if found is None:
            return
        output, stamp = found
        self.outputs.send(loop.setup, output, stamp)
        self.timing.add(begin, time.monotonic(), 1e-9 * (ros - stamp))
        self.outputs.send_contact(loop.setup, output, stamp, begin, self.parameters.contact)
        self.reporter.report(output)

    def respond(self, data: bytes, begin: float, ros: int) -> tuple[ObserverOutput, int] | None:
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
            torques=self.torques.newest(self._for_ages(), self.parameters.torque_timeout),
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
            given, now = self.loop.setup, time.monotonic()
            self.outputs.send(given, output, stamp)
            self.outputs.send_contact(given, output, stamp, now, self.parameters.contact)

    def watch(self) -> None:
        """Between joint states, or without: on a steady clock."""
        self.take_description()
        if self.loop is not None:
            self.outputs.see_subscribers()
        if not self.active or self.loop is None or not self._heard:
            return
        ros = self.ros_time.now()
        found = self.loop.silence(self._steady(ros))
        if found is None:
            return
        output, when = found
        self._send(output, ros if np.isnan(when) else self.zero + round(1e9 * when))
        self.reporter.report(output)

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

    def _validated(self, own: ObserverParameters) -> Any:
        """Prepare for new parameter values; what applies them."""
        if self.loop is None or self.model is None:
            return lambda: None
        given = observer_setup(own, self.model)
        return functools.partial(self._exchange, given, payload_words(self.model, own.payload))

    def _exchange(self, setup: ObserverSetup, payload: str) -> None:
        if self.loop is not None:
            self.loop.exchange(setup)
        if payload != self._payload:
            self._payload = payload
            self.get_logger().info(f"payload: {payload}")

    def exchange_model(self, parameters: ObserverParameters, model: GearedModel) -> None:
        """Go on with the model of a changed description."""
        assert self.loop is not None  # asked before
        setup = observer_setup(parameters, model)
        self.outputs.prepare(setup)
        self.loop.exchange(setup)
        self.loop.reset()

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Any:
        """Start again, whatever the estimate was lost by."""
        if self.loop is None:
            response.message = f"the node is {self.state_label}"
            return response
        self.loop.reset()
        response.success, response.message = True, "starts again"
        return response


def run(argv: list[str]) -> int:
    """Run the node until SIGINT, SIGTERM or SIGHUP."""
    return process.run(argv, "elastic_observer_node", ElasticObserverNode)
