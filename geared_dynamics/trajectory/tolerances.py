"""How far an arm may be from its trajectory: ros2_controllers' rules (JTC, tolerances.hpp)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, readonly

ERASED = -1.0  # in a goal: no tolerance, whatever the default is
EPSILON = float(np.finfo(np.float32).eps)  # what JTC compares with
KINDS = ("position", "velocity", "acceleration")


class JointTolerance(NamedTuple):
    """What a goal says of one joint; 0 takes the default, -1 takes the tolerance away.

    Attributes:
        name: The joint.
        position: [rad or m].
        velocity: [rad/s or m/s].
        acceleration: [rad/s² or m/s²].
    """

    name: str
    position: float = 0.0
    velocity: float = 0.0
    acceleration: float = 0.0


class Tolerances(NamedTuple):
    """Largest errors; 0 is any.

    Attributes:
        path: Position, velocity and acceleration on the way (3, n).
        goal: The same after the last point (3, n).
        goal_time: How long after the last point the arm may be outside of ``goal`` [s]; 0: for
            any time.
    """

    path: Array
    goal: Array
    goal_time: float


class ToleranceError(ValueError):
    """A tolerance in a goal that has no meaning; its text says which."""


def default_tolerances(path: Array, goal: Array, stopped: float, goal_time: float) -> Tolerances:
    """Tolerances as parameters give them.

    Args:
        path: Position on the way (n,) [rad or m].
        goal: Position after the last point (n,) [rad or m].
        stopped: Velocity after the last point, of every joint [rad/s or m/s].
        goal_time: See ``Tolerances`` [s].
    """
    zero = np.zeros(len(path))
    ends = np.array([goal, np.full(len(path), stopped), zero])
    return Tolerances(readonly(np.array([path, zero, zero])), readonly(ends), goal_time)


def goal_tolerances(
    default: Tolerances,
    joints: Sequence[str],
    path: Sequence[JointTolerance],
    goal: Sequence[JointTolerance],
    goal_time: float,
) -> Tolerances:
    """Tolerances of a goal, where it gives some, and the default for the rest.

    Args:
        default: Of the parameters.
        joints: In the order of all arrays (n,).
        path: What the goal says of the way.
        goal: What it says of the end.
        goal_time: What it says of the time [s].

    Raises:
        ToleranceError: for an unknown joint or a negative number but -1. JTC then takes
            the default for everything.
    """
    time = resolved("goal_time_tolerance", default.goal_time, goal_time)
    rows = [default.path.copy(), default.goal.copy()]
    defaults = (default.path, default.goal)
    for place, row, usual, given in zip(
        ("path_tolerance", "goal_tolerance"), rows, defaults, (path, goal), strict=True
    ):
        for one in given:
            if one.name not in joints:
                raise ToleranceError(
                    f"{place} names joint {one.name!r}, which this arm does not have"
                )
            k = joints.index(one.name)
            for kind, name in enumerate(KINDS):
                what = f"{place} of joint {one.name!r}, {name},"
                row[kind, k] = resolved(what, float(usual[kind, k]), getattr(one, name))
    return Tolerances(readonly(rows[0]), readonly(rows[1]), time)


def resolved(what: str, default: float, given: float) -> float:
    """The default for 0, none for -1, else what is given."""
    if given > 0.0:
        return given
    if abs(given - ERASED) < EPSILON:
        return 0.0
    if given < 0.0:
        raise ToleranceError(f"{what} is {given:g}; 0 takes the default, -1 takes it away")
    return default


def violation(limits: Array, error: Array, joints: Sequence[str]) -> str:
    """The first error beyond its limit in words, empty where there is none.

    Args:
        limits: (3, n), 0 for any.
        error: Of positions and velocities (2, n). Accelerations are not measured.
        joints: Their names (n,).
    """
    bounds = limits[:2]
    beyond = (bounds > 0.0) & ~(np.abs(error) <= bounds)  # what is no number is beyond, too
    if not beyond.any():
        return ""
    k = int(np.argmax(beyond.any(axis=0)))
    kind = int(np.argmax(beyond[:, k]))
    return (
        f"{KINDS[kind]} of joint {joints[k]!r} is off by {abs(error[kind, k]):.4g}, "
        f"tolerance {bounds[kind, k]:.4g}"
    )
