"""The test's own node: it publishes, listens and calls, and waits on conditions only.

Every wait spins until its condition holds. It fails at once when a process has died, and at
its deadline, with all that the processes have said.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from ros_harness.processes import Processes

T = TypeVar("T")
TIMEOUT = 60.0  # [s]; usually 0.3 s, but in a fresh clone a node first compiles its kernels
PATIENCE = 10.0  # [s] for an answer that can be asked for again
KEPT = 10_000  # messages of a topic


class Inbox:
    """What a subscription has received, oldest first."""

    def __init__(self) -> None:
        self.messages: deque[Any] = deque(maxlen=KEPT)
        self.count = 0

    def add(self, message: Any) -> None:
        self.messages.append(message)
        self.count += 1

    @property
    def last(self) -> Any:
        """The newest message."""
        assert self.messages, "no message yet"
        return self.messages[-1]


class Graph:
    """A node with its own context in the test's process."""

    def __init__(self, domain: int, processes: Processes, name: str = "test") -> None:
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node

        self.processes = processes
        self.context = Context()
        self.context.init(domain_id=domain)
        self.node = Node(name, context=self.context, enable_rosout=False)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._inboxes: dict[tuple[Any, ...], Inbox] = {}
        self._clients: dict[str, Any] = {}

    def close(self) -> None:
        """Leave the graph."""
        self._executor.shutdown()
        self.node.destroy_node()
        self.context.shutdown()

    # -- waiting -----------------------------------------------------------------------------

    def spin_once(self, longest: float = 0.01) -> None:
        """Handle what has arrived, or wait for it at most so long [s]."""
        self._executor.spin_once(timeout_sec=longest)

    def until(self, condition: Callable[[], T], what: str, timeout: float = TIMEOUT) -> T:
        """Spin until ``condition()`` is true (or not None, not empty) and return it."""
        deadline = time.monotonic() + timeout
        while not (value := condition()):
            self.processes.check()
            if time.monotonic() > deadline:
                raise AssertionError(
                    f"waited {timeout} s in vain for {what}.\n\n{self.processes.report()}"
                )
            self.spin_once()
        return value

    # -- topics ------------------------------------------------------------------------------

    def publisher(self, topic: str, kind: Any, qos: Any = 10) -> Any:
        """Return a new publisher; it may have no subscribers yet."""
        return self.node.create_publisher(kind, topic, qos)

    def listen(self, topic: str, kind: Any, qos: Any = 10) -> Inbox:
        """Return the inbox of a topic, subscribing to it at the first call."""
        key = (topic, kind, repr(qos))
        if key not in self._inboxes:
            inbox = Inbox()
            self.node.create_subscription(kind, topic, inbox.add, qos)
            self._inboxes[key] = inbox
        return self._inboxes[key]

    def wait_for_message(
        self,
        topic: str,
        kind: Any,
        predicate: Callable[[Any], bool] = lambda message: True,
        *,
        qos: Any = 10,
        timeout: float = TIMEOUT,
    ) -> Any:
        """Return the first message from now on for which the predicate holds."""
        inbox = self.listen(topic, kind, qos)
        seen = inbox.count

        def matching() -> list[Any]:
            nonlocal seen
            fresh = min(inbox.count - seen, len(inbox.messages))
            seen = inbox.count
            new = list(inbox.messages)[len(inbox.messages) - fresh :]
            return [message for message in new if predicate(message)]

        return self.until(matching, f"a message on {topic}", timeout)[0]

    def wait_for_subscribers(self, publisher: Any, count: int = 1) -> None:
        """Wait until a publisher of this node has subscribers."""
        self.until(
            lambda: publisher.get_subscription_count() >= count,
            f"{count} subscribers of {publisher.topic_name}",
        )

    def wait_for_publishers(self, topic: str, count: int = 1) -> None:
        """Wait until somebody publishes a topic."""
        name = self.node.resolve_topic_name(topic)
        self.until(
            lambda: self.node.count_publishers(name) >= count, f"{count} publishers of {name}"
        )

    def publish_until(
        self,
        publisher: Any,
        message: Any | Callable[[], Any],
        condition: Callable[[], T],
        what: str,
        *,
        period: float = 0.005,
        timeout: float = TIMEOUT,
    ) -> T:
        """Publish a message, or what a function makes, every period until a condition holds."""
        due = time.monotonic()

        def met() -> T | None:
            nonlocal due
            value = condition()
            if not value and time.monotonic() >= due:
                due = time.monotonic() + period
                publisher.publish(message() if callable(message) else message)
            return value

        return self.until(met, what, timeout)  # type: ignore[return-value]

    # -- services ----------------------------------------------------------------------------

    def wait_for_node(self, name: str) -> None:
        """Wait until the node's own list has a node: later than its services, at times."""
        self.until(lambda: name in self.node.get_node_names(), f"the node {name}")

    def client(self, name: str, kind: Any) -> Any:
        """Return the client of a service, which may not be there yet."""
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name)
        return self._clients[name]

    def wait_for_service(self, name: str, kind: Any) -> Any:
        """Wait until somebody offers a service, and return a client of it."""
        client = self.client(name, kind)
        self.until(client.service_is_ready, f"the service {name}")
        return client

    def call(self, name: str, kind: Any, request: Any = None, timeout: float = TIMEOUT) -> Any:
        """Call a service, with an empty request by default, and return its response."""
        client = self.wait_for_service(name, kind)
        future = client.call_async(kind.Request() if request is None else request)
        self.until(future.done, f"an answer of the service {name}", timeout)
        return future.result()

    def set_parameters(self, node: str, values: dict[str, Any]) -> Any:
        """Set a node's parameters in one step and return the result."""
        from rcl_interfaces.srv import SetParametersAtomically
        from rclpy.parameter import Parameter

        request = SetParametersAtomically.Request()
        request.parameters = [
            Parameter(name, value=value).to_parameter_msg() for name, value in values.items()
        ]
        service = f"{node}/set_parameters_atomically"
        return self.call(service, SetParametersAtomically, request).result

    def get_parameters(self, node: str, names: list[str]) -> dict[str, Any]:
        """Return a node's parameters by name."""
        from rcl_interfaces.srv import GetParameters
        from rclpy.parameter import parameter_value_to_python

        answer = self.ask(
            f"{node}/get_parameters", GetParameters, GetParameters.Request(names=names)
        )
        values = (parameter_value_to_python(value) for value in answer.values)
        return dict(zip(names, values, strict=True))

    def ask(self, name: str, kind: Any, request: Any = None) -> Any:
        """Call a service that changes nothing; again after a while.

        An answer that the service sends before it has found this client's reader is lost.
        """
        for _ in range(round(TIMEOUT / PATIENCE) - 1):
            with contextlib.suppress(AssertionError):
                return self.call(name, kind, request, PATIENCE)
        return self.call(name, kind, request, PATIENCE)

    # -- lifecycle ---------------------------------------------------------------------------

    def state(self, node: str) -> str:
        """Return a lifecycle node's state: unconfigured, inactive, active or finalized."""
        from lifecycle_msgs.srv import GetState

        return str(self.ask(f"{node}/get_state", GetState).current_state.label)

    def change_state(self, node: str, transition: str) -> bool:
        """Ask for a transition (configure, activate, ...); tell whether it succeeded."""
        from lifecycle_msgs.srv import ChangeState

        request = ChangeState.Request()
        request.transition.id = TRANSITIONS[transition]
        return bool(self.call(f"{node}/change_state", ChangeState, request).success)

    def wait_for_state(self, node: str, state: str, timeout: float = TIMEOUT) -> None:
        """Wait until a lifecycle node is in a state."""
        self.until(lambda: self.state(node) == state, f"{node} to become {state}", timeout)


# lifecycle_msgs/msg/Transition
TRANSITIONS = {
    "configure": 1,
    "cleanup": 2,
    "activate": 3,
    "deactivate": 4,
    "unconfigured_shutdown": 5,
    "inactive_shutdown": 6,
    "active_shutdown": 7,
}
