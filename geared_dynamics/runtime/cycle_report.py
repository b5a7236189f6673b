"""Periods, ages and compute times of the loop: counters in the cycle, figures once a second."""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array

KEPT = 4096  # cycles between two reports; a faster loop keeps the newest


class Figures(NamedTuple):
    """Of the time since the last report; NaN without a cycle.

    Attributes:
        cycles: How many there were.
        rate: Cycles per second [1/s].
        period: Mean, standard deviation, largest [s].
        compute: Median, 99th percentile, largest [s].
        latency: Median, largest time from the joint state's stamp to the command [s].
    """

    cycles: int
    rate: float
    period: tuple[float, float, float]
    compute: tuple[float, float, float]
    latency: tuple[float, float]


class Timing:
    """Keeps each cycle's times in memory reserved once."""

    def __init__(self) -> None:
        """Begin with no cycle."""
        self._rows = np.zeros((KEPT, 3))  # period, compute, latency [s]
        self._flat: MutableSequence[float] = self._rows.reshape(-1).data  # type: ignore[assignment]
        self.cycles = 0
        self._last = 0.0
        self._since = 0.0
        self._reported = 0

    @property
    def total(self) -> int:
        """Cycles since the beginning, reported or not."""
        return self._reported + self.cycles

    def add(self, begin: float, end: float, latency: float) -> None:
        """Note a cycle.

        Args:
            begin: When the joint state arrived [s], steady.
            end: When the command was handed over [s], steady.
            latency: From the stamp of the joint state to the command [s].
        """
        at = 3 * (self.cycles % KEPT)
        flat = self._flat
        flat[at] = begin - self._last
        flat[at + 1] = end - begin
        flat[at + 2] = latency
        self._last = begin
        self.cycles += 1

    def report(self, now: float) -> Figures:
        """Figures since the last report; begins again."""
        count, span = self.cycles, now - self._since
        rows = self._rows[: min(count, KEPT)]
        fresh = rows[1:, 0] if count <= KEPT else rows[:, 0]  # the first came after a gap
        self._since, self.cycles = now, 0
        self._reported += count
        if not count:
            nothing = float("nan")
            return Figures(0, 0.0, (nothing,) * 3, (nothing,) * 3, (nothing,) * 2)
        compute, latency = rows[:, 1], rows[:, 2]
        return Figures(
            cycles=count,
            rate=count / span if span > 0.0 else float("nan"),
            period=_spread(fresh),
            compute=(_part(compute, 0.5), _part(compute, 0.99), float(compute.max())),
            latency=(_part(latency, 0.5), float(latency.max())),
        )


def _spread(values: Array) -> tuple[float, float, float]:
    """Mean, standard deviation, largest."""
    if not values.size:
        return (float("nan"),) * 3
    return float(values.mean()), float(values.std()), float(values.max())


def _part(values: Array, share: float) -> float:
    """A quantile."""
    return float(np.quantile(values, share))


class FeedforwardCounters:
    """What diagnostics tell; integers that a cycle adds to."""

    __slots__ = ("failed", "forces", "limited", "missing", "nan", "refused")

    def __init__(self) -> None:
        """Begin at zero."""
        self.nan = self.missing = self.failed = self.limited = self.refused = self.forces = 0
