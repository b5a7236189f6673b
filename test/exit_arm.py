"""The elbow arm in the test's process, driven by a node on the graph in real time."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import geared_dynamics as gd
from feedforward_rig import JOINTS, POSTURE, SECOND, Rig, elbow, joint_state

STEP = 1e-3  # [s] of the integration
PERIOD = 4e-3  # [s] between joint states


def stamp_of(message: Any) -> int:
    """Stamp of a message's header [ns]."""
    return int(message.header.stamp.sec * SECOND + message.header.stamp.nanosec)


class Arm:
    """Moves with the newest command, and publishes its joint states.

    It follows the steady clock in steps of a millisecond; where the test's process stalls it
    waits as well, so that only the node's own time counts.

    Attributes:
        silent: Whether no joint states are published.
        way: Farthest that a joint came since ``mark`` [rad].
        fastest: The fastest joint's speed then [rad/s].
        path: Where it has been since (k, n).
    """

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.model = elbow()
        self.q, self.v = np.array(POSTURE), np.zeros(3)
        self.silent = False
        self.way = self.fastest = 0.0
        self._from, self.path = self.q, [self.q]
        self._left = (self.q, self.v, 0)
        self._due = self._time = time.monotonic()

    @property
    def speed(self) -> float:
        """Of the fastest joint [rad/s]."""
        return float(np.abs(self.v).max())

    @property
    def running(self) -> bool:
        return self.rig.said("running: following")

    def mark(self) -> None:
        """Measure ways from here."""
        self._from, self.path = self.q, [self.q]
        self.fastest, self.way = self.speed, 0.0

    def advance(self) -> None:
        """Integrate to now, and publish what is due."""
        now = time.monotonic()
        self._time = max(self._time, now - 0.02)
        inbox = self.rig.commands
        while self._time < now:
            self._time += STEP
            if inbox.messages:
                tau = np.array(inbox.last.data)
            else:
                tau = gd.gravity_forces(self.model, self.q)
            self.step(tau)
        if now >= self._due and not self.silent:
            self._due = now + PERIOD
            self.rig.states.publish(joint_state(JOINTS, self.q, self.v, time.time_ns()))

    def step(self, tau: np.ndarray) -> None:
        """Go on for a step under torques (n,)."""
        tau = tau - gd.friction_forces(self.model, self.v)
        self.v = self.v + STEP * gd.forward_dynamics(self.model, self.q, self.v, tau)
        self.q = self.q + STEP * self.v
        self.path.append(self.q)
        self.way = max(self.way, float(np.abs(self.q - self._from).max()))

    def fall_silent(self) -> None:
        """Publish no more, after one that says where the arm is now."""
        self._due = 0.0
        self.advance()
        self._left, self.silent = (self.q, self.v, time.time_ns()), True

    def replay(self, sent: Sequence[Any]) -> None:
        """Move once more since ``fall_silent``, by commands at the times of their stamps.

        Without joint states the node counts on its own time only: where the test's process
        stalls, the arm must not wait.

        Args:
            sent: ``JointState`` with efforts, oldest first.
        """
        self.q, self.v, now = self._left
        self.way = 0.0
        for before, after in itertools.pairwise(sent):
            tau, until = np.array(before.effort), stamp_of(after)
            while now < until:
                self.step(tau)
                now += round(STEP * SECOND)

    def until(self, condition: Callable[[], Any], what: str, timeout: float = 20.0) -> None:
        """Move until a condition holds."""

        def met() -> Any:
            self.advance()
            return condition()

        self.rig.graph.until(met, what, timeout)
