"""Bringing the arm to rest before the node stops sending, whatever ends it.

The equations are in ``control/safety/stopping.py``; here are the clock, the timer and the end.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from rclpy.clock import Clock, ClockType
from sensor_msgs.msg import JointState

if TYPE_CHECKING:
    from geared_dynamics.nodes.feedforward.node import FeedforwardNode

PACE = 5e-3  # [s] between two commands where no joint states come
DEADLINE = 2.0  # [s] after which the node ends all the same: launch escalates after five
HURRY = 0.4  # [s] left for the way to gravity's command after a second signal, if it takes any


class Departure:
    """The stop at the end of a node's activity.

    Attributes:
        begun: When it began [s], steady; None: the node goes on.
    """

    def __init__(self, node: FeedforwardNode) -> None:
        """Make the timer, which rests until ``begin``."""
        self._node = node
        self.begun: float | None = None
        self._hurried: float | None = None
        self._timer = node.create_timer(
            PACE, self._tick, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        self._timer.cancel()

    def begin(self) -> None:
        """Begin to brake; nothing where nothing is sent."""
        node = self._node
        if self.begun is not None or not node.active or node.annotating or node.loop is None:
            return
        self.begun = time.monotonic()
        zero = node.parameters.values["on_deactivate"] == "zero"
        node.loop.leave("zero" if zero else "gravity")
        self._timer.reset()

    def hurry(self) -> None:
        """Brake no more: the command goes to what is left behind as its rate allows."""
        loop = self._node.loop
        if self._hurried is None and self.begun is not None and loop is not None:
            self._hurried = time.monotonic()
            loop.hurried = True

    @property
    def under_way(self) -> bool:
        """Whether the arm is still brought to rest."""
        loop = self._node.loop
        if self.begun is None or loop is None or not self._node.active:
            return False
        now = time.monotonic()
        if now - self.begun >= DEADLINE:
            return False
        if self._hurried is not None and now - self._hurried >= HURRY:
            return False
        return not loop.left

    def pace(self) -> None:
        """Go on without a joint state, where none has come for a while."""
        node = self._node
        loop, now = node.loop, time.monotonic()
        if self.begun is None or loop is None or now - loop.decided < PACE:
            return
        node.send(loop.silence(now, node.clock_time()))
        node.reporter.look(loop.decision)

    def _tick(self) -> None:
        """Go on, and end what waits for the end."""
        self.pace()
        if not self.under_way:
            self._timer.cancel()
            self._node.finish_transition()

    def complete(self) -> None:
        """Be done with it: here and now where the executor did not bring the arm to rest."""
        node = self._node
        self.begin()
        while self.under_way:
            taken = node.states.handle.take_message(JointState, True)
            if taken is not None:
                node.on_joint_state(taken[0])
            else:
                time.sleep(0.2 * PACE)
            self.pace()
        self._timer.cancel()
        if self.begun is not None:
            self._report()
        self.begun = self._hurried = None

    def _report(self) -> None:
        loop, begun = self._node.loop, self.begun
        if loop is None or loop.v is None or loop.stamp is None or begun is None:
            return
        log, now = self._node.get_logger(), time.monotonic()
        if loop.left:
            log.info(f"ended after {now - begun:.2f} s; what is sent last holds")
            return
        fast = float(np.abs(loop.v).max(initial=0.0))
        why = "in a hurry" if self._hurried is not None else "at the deadline"
        log.warning(
            f"ended {why} after {now - begun:.2f} s, the fastest joint at {fast:.3g} 1/s "
            f"{now - loop.stamp:.2f} s ago"
        )
