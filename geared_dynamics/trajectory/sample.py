"""One instant of a reference, and memory to write it to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.trajectory.checks import as_order, finite_array
from geared_dynamics.trajectory.errors import TrajectoryError

MOST_JOINTS = 10_000


class Sample(NamedTuple):
    """What is wanted at one time.

    Attributes:
        q: Position (n,) [rad or m].
        v: Velocity (n,) [rad/s or m/s].
        a: Acceleration (n,) [rad/s² or m/s²].
        effort: Feedforward that the trajectory brought along (n,) [Nm or N].
        finished: Whether the last point has been reached.
    """

    q: Array
    v: Array
    a: Array
    effort: Array
    finished: bool = False


class SampleBuffer:
    """Memory that ``sample_into`` writes to; make one per loop and keep it.

    Attributes:
        values: q, v, a and effort as rows (4, n); ``q``, ``v``, ``a``, ``effort`` are views of it.
        finished: Whether the last point has been reached.
        powers: Scratch, powers of the time (6,).
    """

    __slots__ = ("a", "effort", "finished", "flat", "powers", "q", "v", "values")

    def __init__(self, n: int) -> None:
        """Reserve memory for n joints."""
        n = as_order("n", n, MOST_JOINTS)
        self.values = np.zeros((4, n))
        self.flat = self.values.reshape(-1)
        self.q, self.v, self.a, self.effort = self.values
        self.powers = np.zeros(6)
        self.powers[0] = 1.0
        self.finished = False


def state(
    q: ArrayLike,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
    effort: ArrayLike | None = None,
) -> Sample:
    """Make a sample of what is known, for ``follow``; the rest is zero.

    Args:
        q: Position (n,) [rad or m].
        v: Velocity (n,).
        a: Acceleration (n,).
        effort: Effort commanded last (n,).
    """
    position = finite_array("q", q, 1)
    zero = np.zeros_like(position)
    velocity, acceleration, force = (
        zero.copy() if value is None else finite_array(name, value, 1)
        for name, value in (("v", v), ("a", a), ("effort", effort))
    )
    for name, row in (("v", velocity), ("a", acceleration), ("effort", force)):
        if row.shape != position.shape:
            finding = f"has {row.size} numbers, q {position.size}"
            raise TrajectoryError(name, finding, "give one for each joint")
    return Sample(position, velocity, acceleration, force)
