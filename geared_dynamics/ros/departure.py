"""What is missing around the node, and bringing the arm to rest before it ends."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from rclpy.clock import Clock, ClockType
from sensor_msgs.msg import JointState

from geared_dynamics.ros import trajectories
from geared_dynamics.ros.diagnostics import OK, WARN, Status
from geared_dynamics.ros.model_node import FeedforwardBase

# -- Bringing the arm to rest before the node stops sending, whatever ends it ---------------------
#
# The equations are in ``control/safety/commands.py``; here are the clock, the timer and the end.


PACE = 5e-3  # [s] between two commands where no joint states come
DEADLINE = 2.0  # [s] after which the node ends all the same: launch escalates after five
HURRY = 0.4  # [s] left for the way to gravity's command after a second signal, if it takes any


class Departure:
    """The stop at the end of a node's activity.

    Attributes:
        begun: When it began [s], steady; None: the node goes on.
    """

    def __init__(self, node: FeedforwardBase) -> None:
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
        node.loop.leave(node.parameters.on_deactivate)
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

    def keep_halting(self) -> None:
        """Go on without a joint state, where none has come for a while."""
        node = self._node
        loop, now = node.loop, time.monotonic()
        if self.begun is None or loop is None or now - loop.decided < PACE:
            return
        node.send(loop.silence(now, node.clock_time()))
        node.reporter.report(loop.decision)

    def _tick(self) -> None:
        """Go on, and end what waits for the end."""
        self.keep_halting()
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
            self.keep_halting()
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
            log.info(f"stopped after {now - begun:.2f} s; the final command remains in effect")
            return
        fast = float(np.abs(loop.v).max(initial=0.0))
        why = "by a second signal" if self._hurried is not None else "at the deadline"
        log.warning(
            f"stopped {why} after {now - begun:.2f} s; {now - loop.stamp:.2f} s ago the fastest "
            f"joint moved at {fast:.3g} rad/s or m/s"
        )


# -- What is wrong around the node ----------------------------------------------------------------


WINDOW = 2.0  # [s] between two looks; in that time nodes have found each other
SLOW = 0.9  # part of update_rate below which joint states are slow
NOT_SLOW = 0.95  # and above which they no longer are
NAMELESS = "a node whose name is not known yet"


class Surroundings:
    """Looks every two seconds while the node is active; logs what has changed.

    Attributes:
        unheard: Topics on which the node sends and that have no subscriber.
        rivals: Other nodes that publish commands where this one does.
        rate: At which joint states come [1/s], ROS time, where that is too slow; else 0.
    """

    def __init__(self, node: FeedforwardBase) -> None:
        """Begin with nothing wrong."""
        self._node = node
        self.unheard = self.rivals = ""
        self.rate = 0.0
        self._due, self._before = 0.0, 0
        self._states = 0

    def begin(self, now: float) -> None:
        """Begin to look, a window from now.

        Args:
            now: Steady time [s].
        """
        self.unheard, self.rivals, self.rate = "", "", 0.0
        self._next(now)

    def _next(self, now: float) -> None:
        self._due = now + WINDOW
        self._before = self._node.ros_time.now()
        self._states = self._node.timing.total

    def report_changes(self, now: float) -> None:
        """Look, where it is time to.

        Args:
            now: Steady time [s].
        """
        if now < self._due:
            return
        self._find_listeners()
        self._find_rivals()
        self._check_rate()
        self._next(now)

    def _find_listeners(self) -> None:
        log, outputs = self._node.get_logger(), self._outputs()
        heard = any(output.get_subscription_count() for output in outputs)
        topics = "" if heard else " and ".join(output.topic_name for output in outputs)
        if topics and topics != self.unheard:
            log.warning(
                f"no subscriber on {topics}: what the node sends moves nothing. Start and "
                "activate the controller (ros2 control list_controllers), or give its topic"
            )
        elif self.unheard and heard:
            log.info(f"{self.unheard}: there is a subscriber now")
        self.unheard = topics

    def _find_rivals(self) -> None:
        """Whether the controller gets commands of two nodes in turn, for two motions."""
        node = self._node
        outputs = [] if node.annotating else self._outputs()
        shared = [o.topic_name for o in outputs if node.count_publishers(o.topic_name) > 1]
        found = " and ".join(f"{topic} ({others(node, topic)})" for topic in shared)
        if found and found != self.rivals:
            node.get_logger().error(
                f"others publish commands on {found}: the arm receives both in turn. Stop one "
                "of them, or give each its own topic"
            )
        elif self.rivals and not found:
            node.get_logger().info("this node is again the only publisher of commands")
        self.rivals = found

    def _outputs(self) -> list[Any]:
        node = self._node
        if node.annotating:
            return [trajectories.publisher(node)]
        return [] if node.commands is None else node.commands.publishers

    def _check_rate(self) -> None:
        node = self._node
        wanted = node.parameters.update_rate
        span = 1e-9 * (node.ros_time.now() - self._before)
        states = node.timing.total - self._states
        if not (wanted and states and self._before) or span < 0.25 * WINDOW:
            self.rate = 0.0  # not asked, none, or a simulated clock that has just begun
            return
        rate = states / span
        if rate < SLOW * wanted and not self.rate:
            node.get_logger().warning(
                f"joint states come {rate:.3g} times a second, update_rate says {wanted}: "
                f"the feedforward is computed for {1e3 / wanted:.3g} ms ahead. Listen to the "
                f"topic that has {wanted} (remap joint_states), or set update_rate to the true one"
            )
        self.rate = rate if rate < (NOT_SLOW if self.rate else SLOW) * wanted else 0.0

    def status(self) -> Status:
        """An entry of ``/diagnostics``."""
        found = []
        if self.unheard:
            found.append(f"no subscriber on {self.unheard}")
        if self.rivals:
            found.append(f"others publish commands on {self.rivals}")
        if self.rate:
            found.append(
                f"joint states come {self.rate:.3g} times a second, slower than update_rate"
            )
        return Status("surroundings", WARN if found else OK, "; ".join(found) or "as expected", {})


def others(node: FeedforwardBase, topic: str) -> str:
    """Names of the nodes that publish a topic, once this one is taken away once."""
    found = [
        NAMELESS
        if info.node_name == "_NODE_NAME_UNKNOWN_"  # rmw's word while it is discovered
        else f"{info.node_namespace.rstrip('/')}/{info.node_name}"
        for info in node.get_publishers_info_by_topic(topic)
    ]
    own = node.get_fully_qualified_name()
    if own in found:
        found.remove(own)
    return ", ".join(sorted(set(found)))
