"""Random states of a robot in a physical range."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description.records import LimitRecord
from geared_dynamics.errors import ArrayError
from geared_dynamics.model.model import GearedModel

DEFAULT_SPEED = 1.0  # [rad/s or m/s] where the URDF gives no velocity limit
LARGEST_SPEED = 10.0  # [rad/s or m/s] a limit beyond this is taken as this
TIME_TO_SPEED = 0.5  # [s] accelerations: top speed is reached in this time
FREE_ANGLE, FREE_STROKE = np.pi, 1.0  # [rad], [m] without finite position limits


class Ranges(NamedTuple):
    """What the random states are drawn from, uniformly, per joint (n,).

    Attributes:
        lower: Lowest position [rad or m].
        upper: Highest position.
        velocity: Largest speed [rad/s or m/s].
        acceleration: Largest acceleration [rad/s^2 or m/s^2].
    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array


class States(NamedTuple):
    """Positions, velocities and accelerations of N states, each (N, n)."""

    q: Array
    v: Array
    a: Array


def state_ranges(model: GearedModel) -> Ranges:
    """Return physical ranges of the robot's joints.

    Positions: the URDF's limits, else ±pi rad or ±1 m. Speeds: the URDF's velocity
    limit (at most 10 rad/s or m/s), else 1. Accelerations: top speed in 0.5 s.
    """
    joints = {joint.name: joint for joint in model.robot.joints}
    rows = []
    for name in model.joint_names:
        joint = joints[name]
        free = FREE_STROKE if joint.kind == "prismatic" else FREE_ANGLE
        limit = joint.limit or LimitRecord()
        bounded = joint.kind != "continuous"
        rows.append((*_positions(limit if bounded else LimitRecord(), free), _speed(limit)))
    lower, upper, velocity = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return Ranges(lower, upper, velocity, velocity / TIME_TO_SPEED)


def random_states(model: GearedModel, count: int, seed: int) -> States:
    """Draw ``count`` states uniformly from the robot's ``state_ranges``."""
    if not isinstance(count, (int, np.integer)) or count < 1:
        raise ArrayError("states", f"is {count!r}", "ask for one state or more")
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ArrayError("seed", f"is {seed!r}", "give a whole number of 0 or more")
    rng = np.random.default_rng(seed)
    ranges = state_ranges(model)
    shape = (count, model.n)
    q = rng.uniform(ranges.lower, ranges.upper, shape)
    v = rng.uniform(-ranges.velocity, ranges.velocity, shape)
    a = rng.uniform(-ranges.acceleration, ranges.acceleration, shape)
    return States(q, v, a)


def _positions(limit: LimitRecord, free: float) -> tuple[float, float]:
    """Return the position limits where both are given and in order, else ±free."""
    lower, upper = limit.lower, limit.upper
    if lower is None or upper is None or not lower < upper:
        return -free, free
    return max(lower, -2 * free), min(upper, 2 * free)


def _speed(limit: LimitRecord) -> float:
    """Return the velocity limit where one is given and positive, else the default."""
    if limit.velocity is None or not limit.velocity > 0:
        return DEFAULT_SPEED
    return min(limit.velocity, LARGEST_SPEED)
