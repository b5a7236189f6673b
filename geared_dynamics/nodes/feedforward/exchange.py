"""What the user changes while the arm runs: parameters, payload, description."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.model import GearedModel
from geared_dynamics.nodes.common.parameters import Value
from geared_dynamics.nodes.common.values import loaded, payload_words
from geared_dynamics.nodes.feedforward.ceilings import refuse_wider_than_start
from geared_dynamics.nodes.feedforward.prepared import POLICY, Prepared, differ, prepared

if TYPE_CHECKING:
    from geared_dynamics.nodes.feedforward.node import FeedforwardNode


class Exchange:
    """Prepares what is new, and hands it to the loop between two cycles.

    Attributes:
        carrying: The model with a new payload, soon to be used; None for none.
    """

    def __init__(self, node: FeedforwardNode) -> None:
        """Validate the node's parameters from here on."""
        self._node = node
        self.carrying: GearedModel | None = None
        node.parameters.on_change(self._validated)

    def _validated(self, values: dict[str, Value]) -> Any:
        """Prepare for new parameter values; what applies them."""
        node = self._node
        if node.loop is None or node.model is None:
            return lambda: None
        old = node.loop.prepared
        others = tuple(name for name in values if not name.startswith("payload."))
        if not differ(old.values, values, others):
            carrying = loaded(node.model, values)
            # What answers the request and the rest of the work do not fit into one period.
            return functools.partial(setattr, self, "carrying", carrying)
        if differ(old.values, values, POLICY):
            refuse_wider_than_start(values, node.parameters.start, node.model)
        return functools.partial(self._exchange, prepared(values, node.model, old))

    def take_load(self) -> None:
        """Go on with a new payload, between two joint states."""
        node = self._node
        carrying, self.carrying = self.carrying, None
        if node.loop is None or node.model is None:
            return
        try:
            values, old = node.parameters.values, node.loop.prepared
            self._exchange(prepared(values, node.model, old, carrying))
        except GearedDynamicsError as error:
            node.get_logger().error(f"payload not used: {error}")

    def _exchange(self, given: Prepared) -> None:
        self.carrying = None  # an older payload than that of what is used now
        loop = self._node.loop
        if loop is None:
            return
        changed = differ(loop.prepared.values, given.values, ("payload.",))
        loop.exchange(given)
        if changed:
            self._node.get_logger().info(f"payload: {payload_words(given.bare, given.values)}")

    def take_description(self) -> None:
        """Take over a model that was built because the description has changed."""
        node = self._node
        model = node.description.taken()
        if model is None or node.loop is None or node.model is None:
            return
        try:
            measured = node.encoders_of(model)
            node.loop.exchange(prepared(node.parameters.values, model))
        except GearedDynamicsError as error:
            node.get_logger().error(f"new description not used: {error}")
            return
        node.model, self.carrying, node.encoders = model, None, measured
        node.get_logger().info("the robot description has changed; the new model is in use")
