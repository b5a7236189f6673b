"""Readings of sensors on the links, brought to the time of an observer that runs behind."""

from __future__ import annotations

from collections import deque

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.nodes.observer.past import MARGIN, lagrange

SLACK = 1e-3  # of a period: instants that are nearer are one


class Late:
    """The last readings of each sensor; each is used once, when the observer gets to it.

    A reading of an instant t_k is used in the step that leads past t_k, to a time t that may be
    a little later: what the sensor showed at t is the cubic through two readings before and two
    after; where none came after, the newest goes on by its rate.

    Attributes:
        fresh: Whether there may be readings that have not been used.
    """

    def __init__(self, count: int, delay: float, period: float, hold: float) -> None:
        """Begin empty.

        Args:
            count: Of the sensors, k.
            delay: By which the observer runs behind [s].
            period: Of the joint states [s].
            hold: Readings that are farther apart do not belong together [s].
        """
        most = int(delay / period) + MARGIN
        self._seen: list[deque[tuple[float, float]]] = [deque(maxlen=most) for _ in range(count)]
        self._used = [-np.inf] * count
        self._slack, self._hold = SLACK * period, hold
        self.fresh = False

    def clear(self) -> None:
        """Forget all."""
        for seen in self._seen:
            seen.clear()
        self._used = [-np.inf] * len(self._used)
        self.fresh = False

    def add(self, times: Array, values: Array) -> None:
        """Note readings.

        Args:
            times: Instants of which they are (k,) [s].
            values: What the sensors showed (k,); NaN for those that showed nothing.
        """
        for seen, time, value in zip(self._seen, times.tolist(), values.tolist(), strict=True):
            if not np.isfinite(value) or (seen and 0.0 <= seen[-1][0] - time < self._hold):
                continue
            if seen and not 0.0 < time - seen[-1][0] < self._hold:
                seen.clear()
            seen.append((time, value))
            self.fresh = True

    def at(self, time: float, rates: Array | None = None) -> Array | None:
        """What the sensors showed at a time (k,), NaN for nothing new; None for nothing at all.

        Args:
            time: Of the observer [s], not before that of the last call.
            rates: Of the readings (k,), zero if not given.
        """
        if not self.fresh:
            return None
        found = np.full(len(self._seen), np.nan)
        waiting = False
        for k, seen in enumerate(self._seen):
            known = sum(when <= time + self._slack for when, _ in seen)
            waiting |= known < len(seen)
            if known and seen[known - 1][0] > self._used[k]:
                self._used[k] = seen[known - 1][0]
                rate = 0.0 if rates is None else float(rates[k])
                found[k] = self._shown(seen, known, time, rate)
        self.fresh = waiting
        return found

    def _shown(
        self, seen: deque[tuple[float, float]], known: int, time: float, rate: float
    ) -> float:
        """A sensor's reading at a time that ``known`` of those seen are not after."""
        when, value = seen[known - 1]
        if abs(time - when) <= self._slack:
            return value
        if known == len(seen):
            return value + rate * (time - when)
        t, shown = np.array(
            [seen[k] for k in range(max(known - 2, 0), min(known + 2, len(seen)))]
        ).T
        return float(shown @ lagrange(t, time))
