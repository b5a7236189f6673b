"""What a joint trajectory controller does with action goals, cycle by cycle, as its C++ reads.

``update`` of joint_trajectory_controller.cpp with its action callbacks: only what decides about
results is here. The desired state is given, for the trajectory itself is tested elsewhere.
"""

from __future__ import annotations

from typing import Any

SUCCESSFUL, INVALID_GOAL, PATH, GOAL = 0, -1, -4, -5


class Controller:
    """Results by goal, in ``results``: (status, error code)."""

    def __init__(self, default: dict[str, Any]) -> None:
        self.default = default
        self.tolerances = default
        self.active: Any = None
        self.holding = True
        self.sampled = False
        self.results: dict[Any, tuple[str, int]] = {}

    def goal_accepted(self, goal: Any, tolerances: dict[str, Any] | None) -> None:
        if self.active is not None:
            self.results[self.active] = ("aborted", INVALID_GOAL)
        self.active, self.holding, self.sampled = goal, False, False
        self.tolerances = self.default if tolerances is None else tolerances

    def goal_cancelled(self, goal: Any) -> None:
        if self.active is not None and self.active == goal:
            self.results[goal] = ("canceled", SUCCESSFUL)
            self.active, self.holding = None, True

    def on_deactivate(self) -> None:
        if self.active is not None:
            self.results[self.active] = ("aborted", INVALID_GOAL)
            self.active = None

    def update(self, before_last_point: bool, time_difference: float, errors: Any) -> None:
        """One cycle; ``errors`` holds position and velocity error of each joint."""
        first_sample = not self.sampled
        self.sampled = True
        violated = outside = False
        within_time = True
        for joint, (position, velocity) in enumerate(errors):
            if (before_last_point or first_sample) and not self.holding:
                violated |= not self.valid("path", joint, position, velocity)
            if not before_last_point and not self.holding:
                if not self.valid("goal", joint, position, velocity):
                    outside = True
                    limit = self.tolerances["goal_time"]
                    if limit != 0.0 and time_difference > limit:
                        within_time = False
        if self.active is None:
            if violated or (not before_last_point and not within_time):
                self.holding = True
            return
        if violated:
            self.finish("aborted", PATH)
        elif not before_last_point:
            if not outside:
                self.finish("succeeded", SUCCESSFUL)
            elif not within_time:
                self.finish("aborted", GOAL)

    def finish(self, status: str, code: int) -> None:
        self.results[self.active] = (status, code)
        self.active, self.holding = None, True

    def valid(self, which: str, joint: int, position: float, velocity: float) -> bool:
        limits = self.tolerances[which][joint]
        return not (limits[0] > 0.0 and abs(position) > limits[0]) and not (
            limits[1] > 0.0 and abs(velocity) > limits[1]
        )
