"""Periodic motions: finite Fourier series that start and end at rest.

    q_j(t) = q0_j + sum_k  s_jk sin(k w t) + c_jk (cos(k w t) - 1),    w = 2 pi / T

With v(0) = a(0) = 0: sum_k k s_jk = 0 and sum_k k^2 c_jk = 0. Being periodic, such a motion can
be repeated, and its derivatives are exact (Swevers et al. 1997).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array


class Fourier(NamedTuple):
    """A motion.

    Attributes:
        centre: Position at the start (n,) [rad or m].
        sines: s (n, K).
        cosines: c (n, K).
        duration: T [s].
    """

    centre: Array
    sines: Array
    cosines: Array
    duration: float

    def at(self, times: Array) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration at times (k,): (k, n) each."""
        order = np.arange(1, self.sines.shape[1] + 1)
        w = 2.0 * np.pi / self.duration * order
        angle = np.outer(times, w)
        s, c = np.sin(angle), np.cos(angle)
        q = self.centre + s @ self.sines.T + (c - 1.0) @ self.cosines.T
        v = (c * w) @ self.sines.T - (s * w) @ self.cosines.T
        a = -(s * w**2) @ self.sines.T - (c * w**2) @ self.cosines.T
        return q, v, a


def at_rest(sines: Array, cosines: Array) -> tuple[Array, Array]:
    """Nearest coefficients with no velocity and acceleration at the start (n, K)."""
    order = np.arange(1, sines.shape[1] + 1, dtype=float)
    return without(sines, order), without(cosines, order**2)


def without(values: Array, along: Array) -> Array:
    """Take off the component along a vector, row by row."""
    return values - np.outer(values @ along, along) / (along @ along)
