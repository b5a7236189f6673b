"""Readings of encoders with different delays, brought to one instant; torques over its step."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import numpy as np

from geared_dynamics.arrays import Array

MARGIN = 4  # samples beside those that span the delay


class Past:
    """The last joint states, for encoders that are read late.

    At a joint state of time t the encoder i shows its angle of t - d_i. All are told for the
    instant t - D with the longest delay D, those in between by a cubic through four samples.

    Attributes:
        delay: D [s].
    """

    def __init__(self, delays: Array, period: float) -> None:
        """Begin empty.

        Args:
            delays: d (m,) [s].
            period: Of the joint states [s].
        """
        self.delay = float(delays.max(initial=0.0))
        self._later = self.delay - delays  # how long ago the readings wanted came
        self._apart = bool(self._later.any())
        count = int(self.delay / period) + MARGIN
        self._times: deque[float] = deque(maxlen=count)
        self._shown: deque[Array] = deque(maxlen=count)
        self._torques: deque[tuple[float, float, Array]] = deque(maxlen=count)

    def clear(self) -> None:
        """Forget all."""
        self._times.clear()
        self._shown.clear()
        self._torques.clear()

    def add(self, time: float, shown: Array, torque: Array) -> None:
        """Note a joint state.

        Args:
            time: Its time [s], later than the last one's.
            shown: Angles as they came (m,).
            torque: Of the motors since the joint state before (m,).
        """
        begin = self._times[-1] if self._times else time
        self._torques.append((begin, time, torque))
        self._times.append(time)
        self._shown.append(shown)

    @property
    def spans(self) -> bool:
        """Whether there are samples of all instants that are asked for."""
        return bool(self._times) and self._times[-1] - self._times[0] >= self.delay

    def aligned(self) -> Array:
        """Angles (m,) at the newest time less D; NaN where a sample about it is missing."""
        newest = self._shown[-1]
        if not self._apart:
            return newest
        found = newest.copy()
        for motor in np.flatnonzero(self._later):
            found[motor] = self._at(self._times[-1] - self._later[motor], int(motor))
        return found

    def _at(self, time: float, motor: int) -> float:
        """A motor's reading between samples."""
        times = np.array(self._times)
        after = int(np.searchsorted(times, time))
        first = min(max(after - 2, 0), max(len(times) - 4, 0))
        chosen = range(first, min(first + 4, len(times)))
        t = times[chosen]
        shown = np.array([self._shown[k][motor] for k in chosen])
        return float(shown @ lagrange(t, time))

    def torque(self, begin: float, end: float) -> Array:
        """Mean torque (m,) between two times that were noted, NaN where it is not known."""
        a, b, torque = self._torques[-1]
        if a == begin and b == end:
            return torque
        total, span = np.zeros(len(self._shown[-1])), 0.0
        for a, b, torque in self._torques:
            part = min(b, end) - max(a, begin)
            if part > 0.0:
                total, span = total + part * torque, span + part
        return total / span if span > 0.0 else self._torques[-1][2]

    def since(self, begin: float, longest: float) -> list[tuple[float, Array]]:
        """Torques from a time to the newest, as pieces of about equal length, and their means."""
        end = self._times[-1]
        count = max(1, int(np.ceil((end - begin) / longest - 1e-9)))
        edges = np.linspace(begin, end, count + 1)
        spans = pairwise(edges.tolist())
        return [(b - a, self.torque(a, b)) for a, b in spans if b > a]


def lagrange(t: Array, time: float) -> Array:
    """Weights (k,) of samples at t (k,) in their polynomial's value at a time."""
    weights = np.ones(len(t))
    for i in range(len(t)):
        for j in range(len(t)):
            if i != j:
                weights[i] *= (time - t[j]) / (t[i] - t[j])
    return weights
