"""The emergency stop and the reset, as services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from std_srvs.srv import SetBool, Trigger

from geared_dynamics.control.safety import events as at
from geared_dynamics.nodes.feedforward.goals import stopped

if TYPE_CHECKING:
    from geared_dynamics.nodes.feedforward.node import FeedforwardNode


class Services:
    """Answers ``~/emergency_stop`` and ``~/reset``."""

    def __init__(self, node: FeedforwardNode) -> None:
        """Offer both."""
        self._node = node
        node.create_service(SetBool, "~/emergency_stop", self._on_emergency_stop)
        node.create_service(Trigger, "~/reset", self._on_reset)

    def _on_emergency_stop(self, request: SetBool.Request, response: SetBool.Response) -> Any:
        """True stops, false releases: the arm is held until a new trajectory comes.

        In the mode annotate another controller moves the arm: no trajectory goes there.
        """
        node = self._node
        if request.data and node.annotating:
            node.action.abort(stopped(at.EMERGENCY_STOP))
        node.stopped, response.success = bool(request.data), True
        if node.loop is None:
            kept = "it sends nothing, and holds once it is active" if node.stopped else "released"
            response.message = f"the node is {node.state_label}: {kept}"
            return response
        node.loop.emergency_stop = node.stopped
        if request.data:
            node.loop.motion = None
            node.references.drop()
        if node.annotating:
            response.message = "released; trajectories are sent again"
            if request.data:
                response.message = "no trajectory is sent until it is released; the one sent "
                response.message += "last goes on: stop the controller that follows it"
            return response
        response.message = "stopped" if request.data else "released; held until a new trajectory"
        return response

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Any:
        """Acknowledge what has stopped the arm; it stays held until a new trajectory comes."""
        node = self._node
        if node.loop is None:
            response.message = f"the node is {node.state_label}"
            return response
        node.loop.acknowledged = True
        response.success, response.message = True, "acknowledged"
        return response
