"""The plant node: commands to the plant, its measurements to messages."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger

from geared_dynamics.actuation.command_type import command_names
from geared_dynamics.dynamics.state import Measurement
from geared_dynamics.errors import GearedDynamicsError, printable
from geared_dynamics.model import GearedModel
from geared_dynamics.ros.declared import Declared
from geared_dynamics.ros.joint_state_wire import (
    NEWEST_BEST_EFFORT,
    SECOND,
    NamedState,
    NamedWrench,
    nanoseconds,
)
from geared_dynamics.ros.lifecycle_node import EmptyLists, compiled_model
from geared_dynamics.ros.log import Failures, PrintableLog
from geared_dynamics.ros.process import (
    REPEAT,
    catch_signals,
    init_rclpy,
    lock_step,
    make_executor,
    real_time,
    spin_once,
)
from geared_dynamics.runtime import model_source, plant_node_settings
from geared_dynamics.runtime.model_source import loaded, payload_words
from geared_dynamics.runtime.parameters import ParameterError
from geared_dynamics.runtime.plant_node_settings import CommandReader, PlantParameters
from geared_dynamics.simulation.plant import Plant

# -- The plant node: commands to the plant, its measurements to messages --------------------------


# States: reliable, so that a recorder gets each of them, also if the system keeps it waiting while
# the plant goes on in lock step for all of a motion.
DEEP = QoSProfile(depth=10_000)
NEWEST = QoSProfile(depth=1)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
PAUSE = 1.0  # [s] between two log lines about refused commands
COMMAND, OBSERVER = "command", "observer"  # what lock step waits for
OBSERVED = "~/observed"
WARM = 5  # steps before the first real one


class PlantNode(EmptyLists, PrintableLog, Node):  # type: ignore[misc]  # rclpy has no types
    """See docs/demo.md.

    Attributes:
        plant: The simulated arm; None until its description has come.
        paused: Whether the arm's time stands still.
        commanded: Whether a command has ever come; the brakes are closed before.
        answered: Whether all that lock step waits for has come for the newest joint state.
        outdated: Whether one has come that answers an earlier state.
        fresh: Whether the last step has given a measurement, and none was lost.
        zero: ROS time of the plant's time zero [ns].
    """

    def __init__(self, name: str = "plant_node", **options: Any) -> None:
        """Declare parameters, build the plant if its description is given."""
        super().__init__(name, automatically_declare_parameters_from_overrides=True, **options)
        self.declared = Declared(self, PlantParameters)
        self.declared.configured = True
        self.declared.on_change(self._validated)
        self._refuse_wrong()
        self.failures = Failures(self)
        self.plant: Plant | None = None
        self.paused = self.parameters.paused
        self.outdated = self.commanded = False
        self._awaited: set[str] = set()  # whose answers the newest joint state waits for
        self._answering: set[str] = set()  # who has ever answered
        self.fresh = True
        self.lock_step = self.parameters.pace == "lock_step"
        self._partners = {COMMAND, OBSERVER} if self.parameters.wait_for_observer else {COMMAND}
        self.period = 1.0 / self.parameters.rate
        self.zero = self._stamp = 0
        self._faults: set[str] = set()
        self._attached = False
        self._described = ""  # the URDF that came by topic and is used
        self._complained = -PAUSE
        if model_source.needs_topic(self.parameters):
            topic = self.parameters.robot_description_topic
            self.create_subscription(String, topic, self._on_description, LATCHED)
            self.get_logger().info(f"waiting for a URDF on {self.resolve_topic_name(topic)}")
        else:
            self._build(None)

    @property
    def parameters(self) -> PlantParameters:
        """The parameters with their values."""
        return self.declared.now

    @property
    def answered(self) -> bool:
        """See the class."""
        return not self._awaited

    @property
    def begun(self) -> bool:
        """Whether each of those that lock step waits for has answered once."""
        return self._answering >= self._partners

    # -- start -------------------------------------------------------------------------------

    def _refuse_wrong(self) -> None:
        if self.declared.wrong:
            lines = "; ".join(self.declared.wrong.values())
            raise ParameterError("parameters", lines, "start the node with other values")

    def _on_description(self, message: String) -> None:
        if self.plant is not None:
            if message.data != self._described:
                self.get_logger().warning(
                    "the new robot description is not used: the arm is already simulated; "
                    "restart the node to use it"
                )
            return
        try:
            self._build(message.data)
            self._described = message.data
        except GearedDynamicsError as error:
            self.get_logger().error(f"this description is not used: {error}")

    def _build(self, text: str | None) -> None:
        """Build the plant, the messages, the endpoints."""
        model = model_source.load(self.parameters, text)
        self.declared.declare(model.joint_names, model.motor_names)
        self._refuse_wrong()
        self.declared.warn_of_unknown()
        given = self.parameters
        model = compiled_model(self, model) if given.compiled else model
        loaded(model, given)  # refuses a load that the arm cannot hold
        plant, note = plant_node_settings.plant_of(given, model)
        if note:
            self.get_logger().warning(note)
        names = command_names(model, given.command)
        for _ in range(WARM):  # kernels compile before the clock runs
            plant.step(np.zeros(len(names)), self.period)
        plant.reset(given.initial)
        self.model, self.plant = model, plant
        self.reader = CommandReader(names, given.command)
        self.command = np.zeros(len(names))
        self._make_outputs(model)
        self._make_inputs()
        self.rewind()
        takes = f"takes {given.command} of {', '.join(names)}"
        self.get_logger().info(f"plant: {model.name} in {plant.engine}, {given.pace}, {takes}")

    def _make_outputs(self, model: GearedModel) -> None:
        fields = ("position", "velocity", "effort")
        self._joints = NamedState(model.joint_names, fields)
        self._motors = NamedState(model.motor_names, fields)
        self._time = Clock()
        self._send_joints = self.create_publisher(JointState, "joint_states", DEEP).publish
        self._send_motors = self.create_publisher(JointState, "motor_states", DEEP).publish
        self._links = NamedState(model.joint_names, fields[:2]) if model.elasticity.count else None
        if self._links:
            self._send_links = self.create_publisher(JointState, "link_states", DEEP).publish
        if self.lock_step:
            self._send_time = self.create_publisher(Clock, "/clock", NEWEST).publish
        self._currents = self.create_publisher(Float64MultiArray, "~/motor_currents", NEWEST)
        self._voltages = self.create_publisher(Float64MultiArray, "~/motor_voltages", NEWEST)
        if self.parameters.wall.frame:
            self._touch = NamedWrench(model.root)
            self._send_touch = self.create_publisher(WrenchStamped, "~/wall_wrench", DEEP).publish

    def _make_inputs(self) -> None:
        self.create_subscription(Float64MultiArray, "~/commands", self._on_flat, NEWEST)
        self.create_subscription(JointState, "~/joint_commands", self._on_named, NEWEST)
        if self.lock_step and self.parameters.wait_for_observer:
            self.create_subscription(JointState, OBSERVED, self._on_observed, NEWEST_BEST_EFFORT)
        self.create_service(Trigger, "~/reset", self._answer(self._on_reset))
        self.create_service(SetBool, "~/pause", self._answer(self._on_pause))
        self.create_service(SetBool, "~/attach_payload", self._answer(self._on_payload))
        self.create_service(SetBool, "~/remove_wall", self._answer(self._on_wall))
        for name in plant_node_settings.FAULT_NAMES:
            self.create_service(SetBool, f"~/{name}", self._answer(self._fault(name)))

    def rewind(self) -> None:
        """Make the plant's time now the time that it is."""
        assert self.plant is not None
        if self.lock_step:
            self.zero = round(self.parameters.start_time * SECOND)
        else:
            elapsed = round(self.plant.time * SECOND)
            self.zero = self.get_clock().now().nanoseconds - elapsed

    def failed(self, error: Exception) -> None:
        """Go on after an exception of a callback, under the last good command.

        Args:
            error: What was raised.
        """
        self.failures.log(error, "the plant keeps running")

    # -- each step ---------------------------------------------------------------------------

    def advance(self) -> None:
        """Let a period pass under the newest command."""
        plant = self.plant
        assert plant is not None
        before = plant.read()
        plant.step(self.command, self.period)
        self.fresh = plant.read() is not before

    def publish(self) -> None:
        """Send the time, where it is ours, and the newest measurement."""
        plant = self.plant
        assert plant is not None
        seen = plant.read()
        if self.lock_step:
            now = self.zero + round(plant.time * SECOND)
            self._time.clock.sec, self._time.clock.nanosec = divmod(now, SECOND)
            self._send_time(self._time)
        self.outdated = False
        self._awaited = set(self._partners)
        if self.fresh:
            self._send(seen)

    def _send(self, seen: Measurement) -> None:
        stamp = self._stamp = self.zero + round(seen.time * SECOND)
        plant = cast(Plant, self.plant)
        if self.parameters.wall.frame:
            self._send_touch(self._touch.filled(stamp, plant.touch))
        if self._links:  # what the motors' encoders do not see
            now, truth = self.zero + round(plant.time * SECOND), plant.state
            self._send_links(self._links.filled(now, truth.q, truth.v))
        angle, speed, torque = seen.motor_angle, seen.motor_speed, seen.motor_torque
        self._send_motors(self._motors.filled(stamp, angle, speed, torque))
        shown, effort = seen.joint_state(plant.model), plant.model.structure_matrix @ torque
        self._send_joints(self._joints.filled(stamp, shown.q, shown.v, effort))
        for publisher, values in ((self._currents, seen.current), (self._voltages, seen.voltage)):
            if values is not None and publisher.get_subscription_count():
                publisher.publish(Float64MultiArray(data=values.tolist()))

    # -- commands ----------------------------------------------------------------------------

    def _on_flat(self, message: Float64MultiArray) -> None:
        label = message.layout.dim[0].label if message.layout.dim else ""
        self._take(lambda: self.reader.flat(message.data, label))

    def _on_named(self, message: JointState) -> None:
        if self.lock_step and nanoseconds(message.header.stamp) != self._stamp:
            self.outdated = True  # it answers an earlier state
            return
        label = message.header.frame_id
        self._take(lambda: self.reader.named(message.name, message.effort, label))

    def _take(self, read: Callable[[], Any]) -> None:
        try:
            self.command = read()
        except GearedDynamicsError as error:
            now = time.monotonic()
            if now - self._complained >= PAUSE:
                self._complained = now
                self.get_logger().error(f"command not used: {error}")
            return
        self.commanded = True
        self._heard(COMMAND)

    def _on_observed(self, message: JointState) -> None:
        if nanoseconds(message.header.stamp) == self._stamp:
            self._heard(OBSERVER)

    def tell_what_is_missing(self) -> None:
        """Log that the observer has not answered the newest state, where all others have."""
        if self._awaited == {OBSERVER}:
            self.get_logger().info(
                f"waiting for an observer on {self.resolve_topic_name(OBSERVED)}",
                throttle_duration_sec=5.0,
                skip_first=True,
            )

    def _heard(self, partner: str) -> None:
        self._awaited.discard(partner)
        self._answering.add(partner)

    # -- services ----------------------------------------------------------------------------

    def _answer(self, act: Callable[..., str]) -> Callable[[Any, Any], Any]:
        """A service's callback from a function that returns a line or raises."""

        def callback(request: Any, response: Any) -> Any:
            given = [request.data] if hasattr(request, "data") else []
            try:
                response.message, response.success = act(*given), True
            except GearedDynamicsError as error:
                response.message, response.success = str(error), False
                self.get_logger().error(f"refused: {error}")
            return response

        return callback

    def _on_reset(self) -> str:
        """The arm at its start, time zero, no faults; the payload stays."""
        plant = cast(Plant, self.plant)
        plant.reset(self.parameters.initial)
        self._faults.clear()
        self.command = np.zeros_like(self.command)
        self.fresh = True
        self._awaited = set(self._partners)
        self.rewind()
        return "the arm is at its start, without faults"

    def _on_pause(self, wanted: bool) -> str:
        self.paused = bool(wanted)
        return "time is stopped" if wanted else "time runs"

    def _on_payload(self, wanted: bool) -> str:
        plant_node_settings.attach_payload(cast(Plant, self.plant), self.parameters, wanted)
        self._attached = bool(wanted)
        if not wanted:
            return "carrying nothing"
        return f"carrying {payload_words(self.model, self.parameters.payload)}"

    def _on_wall(self, wanted: bool) -> str:
        cast(Plant, self.plant).walled = not wanted
        return "there is no wall" if wanted else "the wall is where it was"

    def _fault(self, name: str) -> Callable[[bool], str]:
        def switch(wanted: bool) -> str:
            active = self._faults | {name} if wanted else self._faults - {name}
            plant = cast(Plant, self.plant)
            plant.faults = plant_node_settings.faults_of(self.parameters, self.model, active)
            self._faults = active
            return f"{name}: {'on' if wanted else 'off'}"

        return switch

    def _validated(self, parameters: PlantParameters) -> Callable[[], None]:
        """Check changed amounts; what applies them to what is switched on."""
        plant = self.plant
        if plant is None:
            return lambda: None
        faults = plant_node_settings.faults_of(parameters, self.model, self._faults)
        loaded(self.model, parameters)  # refuses a load that there cannot be

        def apply() -> None:
            plant.faults = faults
            if self._attached:
                plant_node_settings.attach_payload(plant, parameters, attached=True)

        return apply


# -- Its process ----------------------------------------------------------------------------------


def drive(node: PlantNode, executor: Executor, stopped: Callable[[], bool]) -> None:
    """Run the plant until it is stopped."""
    while node.plant is None and not stopped():
        spin_once(executor, REPEAT, node.failed)
    if node.lock_step:
        lock_step(node, executor, stopped)
    else:
        real_time(node, executor, stopped)


def run(argv: list[str]) -> int:
    """Run the node until a signal; exit code 2 for an arm that cannot be simulated, or no more."""
    signals = catch_signals()
    if code := init_rclpy(argv, "plant_node"):
        return code
    try:
        node, executor = PlantNode(), make_executor()
        executor.add_node(node)
        drive(node, executor, lambda: bool(signals) or not rclpy.ok())
        node.destroy_node()
    except GearedDynamicsError as error:
        print(printable(f"plant_node: {error}"), file=sys.stderr, flush=True)
        return 2
    finally:
        rclpy.try_shutdown()
    return 0
