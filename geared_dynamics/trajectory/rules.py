"""What a trajectory may be, and how it is followed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from geared_dynamics.arrays import BoolArray
from geared_dynamics.errors import suggestion
from geared_dynamics.trajectory.errors import INVALID_JOINTS, TrajectoryError

METHODS = ("splines", "none")


@dataclass(frozen=True)
class Rules:
    """Rules under the parameter names of ros2_controllers' joint trajectory controller (JTC).

    Attributes:
        joints: All joints, in the order of every array (n,).
        continuous: Names of those that turn without end: they start by the shorter way.
        interpolation_method: "splines", or "none" for the next waypoint as it is.
        allow_partial_joints_goal: Whether joints may be missing; they then hold.
        allow_nonzero_velocity_at_trajectory_end: Whether it may end in motion.
        allow_integration_in_goal_trajectories: Whether positions may be missing where there are
            velocities or accelerations to integrate.
        command_interfaces: Effort is refused where "effort" is not among them.
        rest_after_end: Not JTC's: velocity and acceleration are zero after the end. JTC repeats
            those of the last point for ever; a torque from a model would then push for ever.
    """

    joints: tuple[str, ...]
    continuous: tuple[str, ...] = ()
    interpolation_method: str = "splines"
    allow_partial_joints_goal: bool = False
    allow_nonzero_velocity_at_trajectory_end: bool = False
    allow_integration_in_goal_trajectories: bool = False
    command_interfaces: tuple[str, ...] = ("effort",)
    rest_after_end: bool = False

    def __post_init__(self) -> None:
        """Check the names."""
        for field in ("joints", "continuous", "command_interfaces"):
            object.__setattr__(self, field, _names(field, getattr(self, field)))
        if not self.joints:
            raise TrajectoryError("joints", "are none", "name at least one", INVALID_JOINTS)
        for name in self.continuous:
            if name not in self.joints:
                finding = f"names {name!r}, which is not among the joints"
                remedy = suggestion(name, self.joints)
                raise TrajectoryError("continuous", finding, remedy, INVALID_JOINTS)
        if self.interpolation_method not in METHODS:
            finding = f"is {self.interpolation_method!r}"
            remedy = suggestion(self.interpolation_method, METHODS)
            raise TrajectoryError("interpolation_method", finding, remedy)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    @cached_property
    def turning(self) -> BoolArray:
        """Whether each joint is continuous (n,)."""
        found = np.array([name in self.continuous for name in self.joints])
        found.setflags(write=False)
        return found


def _names(field: str, value: Iterable[str]) -> tuple[str, ...]:
    """Check that names are different texts."""
    try:
        names = (value,) if isinstance(value, str) else tuple(value)
    except TypeError:
        names = (None,)  # type: ignore[assignment]
    if isinstance(value, str) or not all(isinstance(name, str) for name in names):
        raise TrajectoryError(field, f"is {value!r}", "give a list of names", INVALID_JOINTS)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise TrajectoryError(
            field, f"has {twice[0]!r} twice", "name each joint once", INVALID_JOINTS
        )
    return names
