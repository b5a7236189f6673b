"""The base of both nodes with a loop: parameters, description, model, timers, real time."""

from __future__ import annotations

import contextlib
import functools
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Generic, TypeVar

from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidTopicNameException
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.validate_topic_name import validate_topic_name
from std_msgs.msg import String

from geared_dynamics.arrays import Array
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.model import GearedModel
from geared_dynamics.ros import process
from geared_dynamics.ros.declared import Declared
from geared_dynamics.ros.lifecycle_node import SUCCESS, RosTime, SteadyLifecycleNode
from geared_dynamics.ros.log import Failures
from geared_dynamics.runtime import model_source
from geared_dynamics.runtime.common_parameters import LifecycleParameters
from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.joint_readings import JointMap
from geared_dynamics.runtime.loop_time import Timing
from geared_dynamics.runtime.model_source import Builder, Rebuilt, rebuilt, summary
from geared_dynamics.runtime.parameters import ParameterError

# -- ``/robot_description``: the first one, a late one, a changed one -----------------------------


LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Description:
    """Listens for URDFs.

    Attributes:
        topic: Where.
        text: The newest, None for none yet.
        used: That of the model in use, or of one that is being built.
        reference: Model with which new ones are compared while the node is active: many small
            changes do not add up. None before there is one.
        problem: Why the newest is not used, empty if it is.
    """

    def __init__(self, node: ModelNode[Any], topic: str) -> None:
        """Check the topic, and listen where the URDF is not given as a parameter."""
        self._node = node
        self._subscription: Any = None
        self.text: str | None = None
        self.used: str | None = None
        self.reference: GearedModel | None = None
        self.problem = ""
        self._refused: str | None = None
        self._builder: Builder[Rebuilt] = Builder()
        self.topic = topic
        try:
            validate_topic_name(topic)
            self.topic = node.resolve_topic_name(topic)
        except InvalidTopicNameException:
            name, finding = (
                "robot_description_topic",
                f"is {topic!r}, which is not the name of a topic",
            )
            remedy = "give one such as robot_description, and restart the node"
            error = ParameterError(name, finding, remedy)
            node.declared.wrong[name] = str(error)
            node.get_logger().error(f"parameter {error}")
            return
        self.listen()

    def listen(self) -> None:
        """Subscribe, once, where the URDF is not given as a parameter."""
        node = self._node
        if self._subscription is None and model_source.needs_topic(node.parameters):
            self._subscription = node.create_subscription(
                String, self.topic, self._on_message, LATCHED
            )

    def _on_message(self, message: Any) -> None:
        node = self._node
        self.text = message.data
        if node.loop is None:
            if node.autostarting and node.state_label == "unconfigured":
                node.autostart()
            return
        if node.active and self.text == self._refused:
            return
        if self.text != self.used and model_source.needs_topic(node.parameters):
            self.used = self.text
            given, text, old = node.parameters, self.text, self.reference
            finished = functools.partial(node.accelerated, given)
            self._builder.start(lambda: rebuilt(given, text, old, finished))

    def begin(self, model: GearedModel | None) -> None:
        """Compare with this model from here on: that of the node's configuration."""
        self.reference, self._refused = model, None

    def forget(self) -> None:
        """Do without what is being built: it has the parameters of a configuration that ended."""
        self._builder, self.problem = Builder(), ""

    def taken(self) -> GearedModel | None:
        """A model built from a changed description, once; None for one that is not to be used."""
        if not self._builder.busy:
            return None
        try:
            found = self._builder.taken()
        except Exception as error:  # whatever a strange description may cause
            self.problem = f"the new robot description is not used: {error}"
            wrong = isinstance(error, GearedDynamicsError)
            lines = "" if wrong else "\n" + "".join(traceback.format_exception(error))
            self._node.get_logger().error(self.problem + lines)
            return None
        if found is None:
            return None
        allowed = self._node.parameters.allow_description_changes
        if found.changes and self._node.active and not allowed:
            self._refuse(found)
            return None
        self.problem, self._refused = "", None
        return found.model

    def _refuse(self, found: Rebuilt) -> None:
        """Whoever publishes a description does not thereby change limits of a driven arm."""
        self._refused, self.used = found.text, None
        self.problem = (
            f"the new robot description is not used while the node is active: it changes "
            f"{summary(found.changes)}; deactivate the node, clean it up and configure it again "
            f"to use it, or find who publishes on {self.topic}"
        )
        self._node.get_logger().error(self.problem)


# -- What both nodes with a model and a loop do alike ---------------------------------------------


P = TypeVar("P", bound=LifecycleParameters)
ASKED = 0.05  # [s] after which a signal interrupts a computation


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let signals interrupt a long computation in Python.

    A signal that the system gives to a thread of the middleware is noticed where the main thread
    takes the interpreter, which it need not give back for long. A second thread asks for it.
    """
    ended = threading.Event()

    def ask() -> None:
        while not ended.wait(ASKED):
            pass

    threading.Thread(target=ask, name="interruptible", daemon=True).start()
    try:
        yield
    finally:
        ended.set()


class ModelNode(SteadyLifecycleNode, ABC, Generic[P]):
    """Parameters, description, model, timers, real time, diagnostics; subclasses have the loop.

    Attributes:
        declared: The parameters on this node.
        description: Where the URDF comes from.
        model: Without payload; None before there is one.
        loop: What answers joint states; None before there is a model.
        reporter: Logs changes, publishes diagnostics.
        active: Whether the node answers joint states.
        preparing: Whether a model is loaded and kernels are compiled.
        autostarting: Until it was active once, or was configured on request: what is stopped
            then, stays so.
        zero: ROS time from which the loop counts [ns].
    """

    exchanged: ClassVar[str]  # what is logged after a change of the description
    reporter: Any
    loop: Any

    def __init__(self, name: str, kind: type[P], **options: Any) -> None:
        """Declare parameters; all else comes with ``start`` and the transitions."""
        super().__init__(name, automatically_declare_parameters_from_overrides=True, **options)
        self.declared = Declared(self, kind)
        self.description = Description(self, self.parameters.robot_description_topic)
        self.failures = Failures(self)
        self.ros_time = RosTime(self.get_clock())
        self.timing = Timing()
        self.model: GearedModel | None = None
        self.active = self.preparing = self.autostarting = False
        self._unasked = False  # whether the transition is the node's own
        self.zero = 0

    @property
    def parameters(self) -> P:
        """The parameters with their values."""
        return self.declared.now

    # -- for subclasses ----------------------------------------------------------------------

    def offer_services(self) -> None:
        """Create services, once."""

    @abstractmethod
    def prepare(self, parameters: P, model: GearedModel) -> list[str]:
        """Make ``loop`` and all that a cycle needs, warm; return remarks for the log.

        Raises:
            GearedDynamicsError: what does not fit.
        """

    @abstractmethod
    def summary(self, parameters: P) -> str:
        """What the node is configured as, in a few words."""

    @abstractmethod
    def endpoints(self, parameters: P) -> str:
        """A line about where the node listens, where it sends, and what it waits for."""

    def accelerated(self, parameters: P, model: GearedModel) -> GearedModel:
        """Return the model as cycles use it; called beside the loop too."""
        return model

    def begin(self) -> None:
        """Begin again, with the next joint state."""

    def exchange_model(self, parameters: P, model: GearedModel) -> None:
        """Go on with the model of a changed description.

        Raises:
            GearedDynamicsError: where it cannot be used; nothing has changed then.
        """

    def watch(self) -> None:
        """Between joint states, or without: on a steady clock."""

    # -- start -------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin: timers, services, real time; configure and activate where that is wanted."""
        given, steady = self.parameters, Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(1.0 / given.watchdog_rate, self.watch, clock=steady)
        if given.diagnostics_rate:
            self.create_timer(1.0 / given.diagnostics_rate, self._report, clock=steady)
        self.offer_services()
        for line in process.requested(
            given.thread_priority, given.cpu_affinity, given.lock_memory
        ):
            self.get_logger().warning(line)
        self.autostarting = given.autostart
        if not self.autostarting:
            self.logs_waiting("configure")
        elif model_source.needs_topic(given) and self.description.text is None:
            self.get_logger().info(f"waiting for a URDF on {self.description.topic}")
        else:
            self.autostart()

    def autostart(self) -> None:
        """Configure and activate."""
        self._unasked = True
        try:
            if self.trigger_configure() == SUCCESS:
                self.trigger_activate()
        finally:
            self._unasked = False

    def _report(self) -> None:
        """Publish diagnostics; a defect there is no reason to stop."""
        try:
            self.reporter.publish()
        except Exception as error:
            self.failures.log(error, "no diagnostics; everything else continues")

    # -- transitions -------------------------------------------------------------------------

    def configured(self) -> None:
        """Load the model and prepare all that a cycle needs."""
        self.preparing = True
        try:
            with interruptible():
                self._configure()
        except Exception:
            self.cleaned_up()
            raise
        finally:
            self.preparing = False

    def _configure(self) -> None:
        self.declared.refuse_wrong()
        self.description.listen()
        model = model_source.load(self.parameters, self.description.text)
        self.declared.declare(model.joint_names, model.motor_names)
        self.declared.refuse_wrong()
        self.declared.warn_of_unknown()
        given, log = self.parameters, self.get_logger()
        model = self.accelerated(given, model)
        model_source.warm_up(model, given.payload)
        remarks = self.prepare(given, model)
        self.model = model
        self.declared.configured = True
        self.description.used = self.description.text
        self.description.begin(model)
        unknown = model.knowledge.rotor_note
        for line in (*model.notes, *remarks, *([unknown] if unknown else [])):
            log.warning(line)
        payload = model_source.payload_words(model, given.payload)
        log.info(f"configured: {model.name}, {self.summary(given)}; payload: {payload}")
        log.info(self.endpoints(given))
        if not self._unasked:
            self.autostarting = False
            self.logs_waiting("activate")

    def activated(self) -> None:
        """Answer joint states from the next one on."""
        assert self.loop is not None  # rclpy has configured us
        self.description.begin(self.model)
        self.zero, self.timing = self.ros_time.now(), Timing()
        self.begin()
        self.reporter.begin()
        process.settle()
        self.active, self.autostarting = True, False

    def cleaned_up(self) -> None:
        """Forget the model."""
        self.declared.configured = False
        self.model = self.loop = None
        self.description.forget()

    def take_description(self) -> None:
        """Take over a model that was built because the description has changed."""
        model = self.description.taken()
        if model is None or self.loop is None:
            return
        try:
            self.exchange_model(self.parameters, model)
        except GearedDynamicsError as error:
            self.get_logger().error(f"new description not used: {error}")
            return
        self.model = model
        self.get_logger().info(f"the robot description has changed; {self.exchanged}")


# -- What the parts of the feedforward node see of it ---------------------------------------------


class FeedforwardBase(ModelNode[FeedforwardParameters]):
    """What the parts of the feedforward node see of it; the node makes them.

    Attributes:
        annotating: Whether the mode is annotate.
        stopped: Whether the emergency stop is pressed, whatever the lifecycle does.
        data: The newest joint state, serialised; None before the first.
        heard: When a joint state of ours came last [s], steady.
        tuning_sent: When the tuning topics were published last [s], steady.
        posture_stamp: Of the joint state whose posture the mode annotate begins with [ns].
        joint_map: The names of the joint states.
        states: The subscription to joint states.
        publishers_by_topic: Its publishers.
        commands: What sends commands, None before the node is configured.
        state_topics: The topics to tune by, None before too.
        action: Its goals.
        references: Its trajectories.
        surroundings: What is wrong around it.
    """

    loop: FeedforwardLoop | None
    annotating: bool
    stopped: bool
    data: bytes | None
    heard: float
    tuning_sent: float
    posture_stamp: int
    joint_map: JointMap
    states: Any
    publishers_by_topic: Any
    commands: Any
    state_topics: Any
    action: Any
    references: Any
    surroundings: Any

    def clock_time(self) -> float:
        """ROS time as the loop counts it [s]."""
        return 1e-9 * (self.ros_time.now() - self.zero)

    @abstractmethod
    def send(self, command: Array | None) -> None:
        """Send a command that answers no joint state."""

    @abstractmethod
    def on_joint_state(self, data: bytes) -> None:
        """Answer a joint state, serialised, whatever goes wrong."""
