"""Whether the motors rest, from their angles over a short while."""

from __future__ import annotations

from collections import deque

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.nodes.observer.sensors import finite

WINDOW = 0.1  # [s]
SLOW = 0.01  # [rad/s or m/s], at the joints
MOST = 64  # samples of the window that are kept


class Rest:
    """Follows the motors' angles, as seen from the joints."""

    def __init__(self, turn: Array) -> None:
        """Begin without having seen any.

        Args:
            turn: Joints' positions by the motors' angles (n, m).
        """
        self._turn = turn
        self._seen: deque[tuple[float, Array]] = deque()

    def clear(self) -> None:
        """Begin anew."""
        self._seen.clear()

    def add(self, time: float, shown: Array) -> None:
        """Note the motors' angles (m,); incomplete ones say nothing."""
        seen = self._seen
        if not finite(shown):
            return
        if seen and time - seen[-1][0] < WINDOW / MOST:
            return
        seen.append((time, shown))
        while len(seen) > 1 and time - seen[1][0] >= WINDOW:
            seen.popleft()

    @property
    def resting(self) -> bool:
        """Whether the motors were at rest over the window until the newest angles."""
        seen = self._seen
        if not seen or not WINDOW <= seen[-1][0] - seen[0][0] < 2.0 * WINDOW:
            return False
        angles = np.array([angle for _, angle in seen]) - seen[0][1]
        return bool(np.abs(angles @ self._turn.T).max() < SLOW * WINDOW)
