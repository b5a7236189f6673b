"""A table of torques over time, which the driver shows in its joint states."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from geared_dynamics.arrays import Array

RATE = 100  # rows per second
SPARE = 10.0  # [s] by which tables and trajectories are longer than the run


def save(table: Array, path: Path) -> str:
    """Write a table (k, n); return its path."""
    np.save(path, table)
    return str(path)


class Table:
    """Torques by time, between rows by a straight line."""

    def __init__(self, path: str, width: int) -> None:
        """Read a table; without a path all are zero."""
        self._rows = np.load(path) if path else np.zeros((2, width))

    def at(self, t: float) -> Array:
        """Return the torques (n,) at a time [s]; beyond the ends those of the ends."""
        place = min(max(t * RATE, 0.0), len(self._rows) - 1.000001)
        k = int(place)
        part = place - k
        return np.asarray((1.0 - part) * self._rows[k] + part * self._rows[k + 1])
