"""The motion that the driver's joints make, and the trajectory that asks for it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike

STEP = 0.04  # [s] between the trajectory's points


class Motion(NamedTuple):
    """Joint j at time t: q0_j + A (1 - cos w_j t), from rest at t = 0.

    Attributes:
        start: q0 (n,) [rad].
        amplitude: A [rad].
        pulsation: w (n,) [rad/s]; different, so that the joints do not move in step.
    """

    start: Array
    amplitude: float
    pulsation: Array

    def positions(self, t: float) -> Array:
        """Return q (n,) [rad]."""
        return self.start + self.amplitude * (1.0 - np.cos(self.pulsation * t))

    def velocities(self, t: float) -> Array:
        """Return dq/dt (n,) [rad/s]."""
        return self.amplitude * self.pulsation * np.sin(self.pulsation * t)

    def accelerations(self, t: float) -> Array:
        """Return the second derivative (n,) [rad/s^2]."""
        return self.amplitude * self.pulsation**2 * np.cos(self.pulsation * t)


def motion(start: ArrayLike) -> Motion:
    """Return a motion of a fifth of a radian from a posture, slow enough for any arm."""
    begin = np.asarray(start, dtype=np.float64)
    frequency = 0.2 + 0.05 * np.arange(begin.size, dtype=np.float64)
    return Motion(begin, 0.1, np.multiply(2.0 * math.pi, frequency))


def waypoints(moving: Motion, duration: float) -> list[tuple[float, Array, Array, Array]]:
    """Return time, position, velocity and acceleration of points that lead along a motion.

    The last point rests, as the joint trajectory controller wants it: let the duration
    reach beyond what is measured.
    """
    times = [STEP * k for k in range(math.ceil(duration / STEP) + 1)]
    points = [
        (t, moving.positions(t), moving.velocities(t), moving.accelerations(t)) for t in times
    ]
    end, position, velocity, _ = points[-1]
    points[-1] = (end, position, np.zeros_like(velocity), np.zeros_like(velocity))
    return points
