"""Base: lifecycle, autostart, description, real time."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from rclpy.exceptions import InvalidTopicNameException
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.validate_topic_name import validate_topic_name
from std_msgs.msg import String

from geared_dynamics.control import controller
from geared_dynamics.errors import GearedDynamicsError, ModelError
from geared_dynamics.model import GearedModel
from geared_dynamics.ros.declared import Declared, EmptyLists
from geared_dynamics.ros.process import PrintableLog
from geared_dynamics.runtime import model_source
from geared_dynamics.runtime.model_source import Builder, changes, summary
from geared_dynamics.runtime.parameters import ParameterError

# -- A lifecycle node that survives its users: rclpy's two traps closed ---------------------------
#
# A request for a transition that the present state does not have raises out of ``spin`` in rclpy
# and ends the process; here it is answered with ``success: false`` and a log line. An exception
# in a transition's callback is swallowed there; here it is logged.
#
# A transition out of the active state may take time, in which the node has to go on: it is made,
# and the request answered, by ``finish_transition`` once ``halting`` is over. rclpy's
# EventsExecutor has no coroutines for this: what sends the answer is kept from sending it.


SUCCESS = TransitionCallbackReturn.SUCCESS
FAILURE = TransitionCallbackReturn.FAILURE
ERROR = TransitionCallbackReturn.ERROR


class Later(NamedTuple):
    """In place of an answer: what makes it, later."""

    answer: Callable[[], Any]


class SteadyLifecycleNode(EmptyLists, PrintableLog, LifecycleNode):  # type: ignore[misc]  # untyped
    """Override ``configured`` and so on: they return nothing and raise what is wrong."""

    def __init__(self, name: str, **options: Any) -> None:
        """Create the node and guard its service."""
        super().__init__(name, **options)
        service = self._service_change_state
        service.callback = self._guarded(service.callback)
        service.send_response = self._postponing(service.send_response)
        self._postponed: Callable[[], None] | None = None  # the transition, and its answer

    # -- for subclasses ----------------------------------------------------------------------

    def configured(self) -> None:
        """Read parameters, load, prepare."""

    def activated(self) -> None:
        """Begin to act."""

    def deactivated(self) -> None:
        """End to act."""

    def cleaned_up(self) -> None:
        """Forget what ``configured`` made."""

    def logs_waiting(self, transition: str) -> None:
        """Log that nothing happens before somebody asks for a transition."""
        name = self.get_fully_qualified_name()
        self.get_logger().info(
            f"{self.state_label}: waiting for the transition {transition} "
            f"(ros2 lifecycle set {name} {transition}); the parameter autostart does it by itself"
        )

    def halt(self) -> None:
        """Begin to bring to rest what moves, before the node is deactivated or ends."""

    def hurry(self) -> None:
        """Do without."""

    def pace(self) -> None:
        """Go on with it, between two events."""

    @property
    def halting(self) -> bool:
        """Whether that is under way."""
        return False

    # -- rclpy's side ------------------------------------------------------------------------

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Configure."""
        return self._attempt("configure", self.configured, super().on_configure, state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Activate."""
        return self._attempt("activate", self.activated, super().on_activate, state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Deactivate."""
        return self._attempt("deactivate", self.deactivated, super().on_deactivate, state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Clean up."""
        return self._attempt("clean up", self.cleaned_up, super().on_cleanup, state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Shut down, from any state."""
        return self._attempt("shut down", self._all_ended, super().on_shutdown, state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Go back to unconfigured after an unforeseen exception."""
        return self._attempt("recover", self._all_ended, super().on_error, state)

    def _all_ended(self) -> None:
        self.deactivated()
        self.cleaned_up()

    def _attempt(
        self,
        what: str,
        act: Callable[[], None],
        then: Callable[[LifecycleState], TransitionCallbackReturn],
        state: LifecycleState,
    ) -> TransitionCallbackReturn:
        """Act and tell of what went wrong."""
        try:
            act()
        except GearedDynamicsError as error:
            self.get_logger().error(f"cannot {what}: {error}")
            return FAILURE
        except Exception:  # rclpy would swallow it
            self.get_logger().error(f"cannot {what}:\n{traceback.format_exc()}")
            return ERROR
        return then(state)

    def _guarded(self, callback: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """The service's callback, which answers where rclpy's raises."""

        def change_state(request: Any, response: Any) -> Any:
            wanted = request.transition
            possible = {row[1]: row[0] for row in self._state_machine.available_transitions}
            known = wanted.label in possible if wanted.label else wanted.id in possible.values()
            if not known:
                name = wanted.label or wanted.id
                here = self._state_machine.current_state[1]
                choices = ", ".join(f"{label} ({number})" for label, number in possible.items())
                self.get_logger().error(
                    f"transition {name} is not possible in state {here}; possible: {choices}"
                )
                response.success = False
                return response
            if self._postponed is not None:
                self.get_logger().error("a transition is under way; ask again after it")
                response.success = False
                return response
            if self.state_label == "active":
                self.halt()
                if self.halting:
                    return Later(lambda: callback(request, response))
            return callback(request, response)

        return change_state

    def _postponing(self, send: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        """What sends the service's answers, which keeps those that are not there yet."""

        def send_response(response: Any, header: Any) -> None:
            if isinstance(response, Later):
                self._postponed = lambda: send(response.answer(), header)
            else:
                send(response, header)

        return send_response

    def finish_transition(self) -> None:
        """Make a transition that has waited for the end of ``halting``, and answer its request."""
        postponed, self._postponed = self._postponed, None
        if postponed is not None:
            postponed()

    @property
    def state_label(self) -> str:
        """Present state: unconfigured, inactive, active, finalized."""
        return str(self._state_machine.current_state[1])


# -- ``/robot_description``: the first one, a late one, a changed one -----------------------------


LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Described(Protocol):
    """A node with a model, as this file sees it."""

    parameters: Declared
    model: GearedModel | None
    active: bool
    loop: Any
    autostarting: bool

    @property
    def state_label(self) -> str:
        """Its lifecycle's state."""

    def autostart(self) -> None:
        """Configure and activate."""

    def get_logger(self) -> Any:
        """Its log."""

    def resolve_topic_name(self, topic: str) -> str:
        """A topic's full name."""

    def create_subscription(self, kind: Any, topic: str, callback: Any, qos: Any) -> Any:
        """Subscribe."""


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

    def __init__(self, node: Described, topic: str) -> None:
        """Subscribe, where the URDF is not given as a parameter."""
        self._node = node
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
            node.parameters.wrong[name] = str(error)
            node.get_logger().error(f"parameter {error}")
            return
        if model_source.needs_topic(node.parameters.values):
            node.create_subscription(String, topic, self._on_message, LATCHED)

    def _on_message(self, message: Any) -> None:
        node = self._node
        self.text = message.data
        if node.loop is None:
            if node.autostarting and node.state_label == "unconfigured":
                node.autostart()
            return
        if node.active and self.text == self._refused:
            return
        if self.text != self.used and model_source.needs_topic(node.parameters.values):
            self.used = self.text
            values, text, old = dict(node.parameters.values), self.text, self.reference
            self._builder.start(lambda: rebuilt(values, text, old))

    def begin(self, model: GearedModel | None) -> None:
        """Compare with this model from here on: that of the node's configuration."""
        self.reference, self._refused = model, None

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
        allowed = bool(self._node.parameters.values["allow_description_changes"])
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


class Rebuilt(NamedTuple):
    """What became of a new description.

    Attributes:
        text: The description.
        model: Its model.
        changes: What differs by more than 1 % from the model of the node's configuration.
    """

    text: str | None
    model: GearedModel
    changes: list[str]


def rebuilt(values: Any, text: str | None, old: GearedModel | None) -> Rebuilt:
    """The model of a new description, with its kernels run once.

    Raises:
        GearedDynamicsError: if it is wrong, or of other joints or motors.
    """
    model = model_source.load(values, text)
    controller(model)
    for kind in ("joint_names", "motor_names"):
        before, now = getattr(old, kind, None), getattr(model, kind)
        if before is not None and before != now:
            finding = f"has other {kind.replace('_names', 's')}: {', '.join(now)}"
            remedy = "deactivate the node, clean it up and configure it again"
            raise ModelError("robot description", finding, remedy)
    return Rebuilt(text, model, [] if old is None else changes(old, model))
