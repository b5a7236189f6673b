"""A feedforward loop with goals and a robot that is where it is told to be; no ROS."""

from __future__ import annotations

from typing import Any

import numpy as np

import geared_dynamics as gd
from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
from geared_dynamics.runtime.feedforward_settings import feedforward_setup
from geared_dynamics.runtime.goals import Goals
from geared_dynamics.trajectory import JointTolerance, JointTrajectory, Point, sample
from node_values import feedforward

REST = np.array([0.3, 0.5, -0.4])
STILL = np.zeros(3)
PERIOD = 0.01


class Bench:
    """A loop with goals and a robot that is where it is told to be."""

    def __init__(self, model: gd.GearedModel, **changes: Any) -> None:
        self.parameters = feedforward(model, **changes)
        self.model, self.t = model, 0.0
        self.loop = FeedforwardLoop(feedforward_setup(self.parameters, model))
        self.goals = Goals(self.loop)
        self.q, self.v = REST.copy(), STILL.copy()
        self.offset = np.zeros((2, 3))  # by which the robot is away from the reference
        self.wanted = np.zeros((2, 3))  # to where that goes, at 1 rad/s
        self.followed: Any = None
        self.ended: dict[Any, Any] = {}
        self.command: Any = None
        self.cycle()

    def cycle(self) -> None:
        """One period: the robot follows, up to its offset, and never jumps."""
        self.t += PERIOD
        if self.loop.motion is not self.followed:
            self.followed = self.loop.motion
            self.offset = np.zeros((2, 3))
        self.offset += np.clip(self.wanted - self.offset, -PERIOD, PERIOD)
        if self.loop.motion is not None:
            wanted = sample(self.loop.motion, self.t)
            self.q, self.v = wanted.q - self.offset[0], wanted.v - self.offset[1]
        else:
            self.v = STILL.copy()
        self.command = self.loop.cycle(self.t, self.t, self.q.copy(), self.v.copy())
        self.look()

    def silence(self) -> None:
        self.t += PERIOD
        self.command = self.loop.silence(self.t, self.t)
        self.look()

    def look(self) -> None:
        if self.goals.judging:
            self.goals.judge(self.t)
        self.collect()

    def collect(self) -> None:
        for key, ending in self.goals.take()[0]:
            assert key not in self.ended, "a goal ends once"
            self.ended[key] = ending

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / PERIOD)):
            self.cycle()

    def send(
        self, key: Any, goal: Any = REST, time: float = 0.5, path: Any = (), end: Any = (),
        goal_time: float = 0.0,
    ) -> None:  # fmt: skip
        points = JointTrajectory(self.model.joint_names, [Point(time, goal, STILL)])
        self.goals.accept(key, points, path, end, goal_time, self.t, self.t)
        self.collect()

    def end(self, key: Any) -> tuple[str, int]:
        return self.ended[key][:2]


def tolerance(position: float, velocity: float = 0.0) -> list[JointTolerance]:
    return [JointTolerance(f"joint_{k}", position, velocity) for k in (1, 2, 3)]
