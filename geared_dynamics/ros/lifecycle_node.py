"""Bases of nodes: empty lists as parameters, ROS time, a lifecycle that survives its users."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.clock import JumpThreshold
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.model import GearedModel
from geared_dynamics.ros.log import PrintableLog
from geared_dynamics.trace.compiled import attempt


class EmptyLists:
    """Base of a node, before rclpy's: it accepts ``[]`` in a parameter file.

    rclpy gives an empty list of a file no type and refuses to declare such a parameter.
    """

    def declare_parameters(self, namespace: str, parameters: Any, *args: Any, **more: Any) -> Any:
        """Declare parameters as rclpy does, those without a value with any type."""
        typed = [
            (*row[:2], ParameterDescriptor(dynamic_typing=True)) if row[1:2] == (None,) else row
            for row in map(tuple, parameters)
        ]
        return super().declare_parameters(namespace, typed, *args, **more)  # type: ignore[misc]


def compiled_model(node: Any, model: GearedModel) -> GearedModel:
    """Return a model with compiled functions, or as it is; the log of the node says which."""
    found = attempt(model)
    if found.done:
        node.get_logger().info(found.line)
    else:
        node.get_logger().warning(found.line)
    return found.model


# -- ROS time for a loop: the system's clock read directly, unless time is simulated --------------


class RosTime:
    """Tells ROS time.

    Where nothing simulates it, ROS time is the system's, and rclpy's way to it costs four
    microseconds, a tenth of a cycle. rclpy calls back when that changes.

    Attributes:
        now: ROS time [ns].
        simulated: Whether something simulates it.
    """

    def __init__(self, clock: Any) -> None:
        """Begin to follow a clock of the kind ROS_TIME."""
        self.now: Callable[[], int] = time.time_ns
        self.simulated = False
        self._clock = clock
        threshold = JumpThreshold(min_forward=None, min_backward=None, on_clock_change=True)
        self._kept = clock.create_jump_callback(threshold, post_callback=self._changed)
        self._changed(None)

    def _changed(self, _jump: Any) -> None:
        self.simulated = bool(self._clock.ros_time_is_active)
        self.now = self._simulated if self.simulated else time.time_ns

    def _simulated(self) -> int:
        return int(self._clock.now().nanoseconds)


# -- A lifecycle node: rclpy's two traps closed ---------------------------------------------------
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

    def destroy_node(self) -> None:
        """Leave the graph now: each action, and the state machine, would keep the node there."""
        super().destroy_node()
        for waitable in list(self.waitables):
            waitable.destroy()
        self._state_machine.destroy_when_not_in_use()

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
        name, here = self.get_fully_qualified_name(), self.state_label
        if here == "configuring":  # its last line is about what follows
            here = "inactive"
        self.get_logger().info(
            f"{here}: waiting for the transition {transition} "
            f"(ros2 lifecycle set {name} {transition}); the parameter autostart does it by itself"
        )

    def halt(self) -> None:
        """Begin to bring to rest what moves, before the node is deactivated or ends."""

    def hurry(self) -> None:
        """Do without."""

    def keep_halting(self) -> None:
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
