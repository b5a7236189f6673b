"""The numbers of ours in messages by name; NaN for those not there, or there more than once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.nodes.common.joint_map import places


class Picker:
    """Picks by name; looks names up again only when they change.

    Attributes:
        wanted: Names in the order of the arrays (k,).
        absent: Names that the last message did not have.
        twice: Names that it had more than once.
        whole: Whether it had each once.
    """

    def __init__(self, wanted: Sequence[str]) -> None:
        """Begin without having seen a message."""
        self.wanted = tuple(wanted)
        self.absent: tuple[str, ...] = ()
        self.twice: tuple[str, ...] = ()
        self.whole = True
        self._names: list[str] | None = None
        self._index: IntArray = np.zeros(len(self.wanted), np.int64)

    def foreign(self, names: list[str]) -> bool:
        """Whether a message is about other devices only."""
        if names is not self._names and names != self._names:
            self._look_up(names)
        return len(self.absent) == len(self.wanted)

    def picked(self, names: list[str], numbers: object) -> Array | None:
        """Numbers of the names wanted (k,); None where names and numbers differ in size.

        Args:
            names: Of the message.
            numbers: As many doubles, an ``array.array`` or an array.
        """
        if names is not self._names and names != self._names:
            self._look_up(names)
        found = np.frombuffer(numbers) if len(names) else np.zeros(0)  # type: ignore[call-overload]
        if found.size != len(names):
            return None
        if self.whole:
            return np.asarray(found.take(self._index))
        picked = np.append(found, np.nan)[self._index]
        return np.asarray(picked)

    def _look_up(self, names: list[str]) -> None:
        self._names = names
        self._index, self.absent, self.twice = places(self.wanted, names)
        self.whole = not (self.absent or self.twice)

    @property
    def trouble(self) -> str:
        """What is the matter with the last message's names; empty where nothing is."""
        found = []
        if self.absent:
            found.append(f"lacks {', '.join(self.absent)}; publish all together")
        if self.twice:
            found.append(f"names {', '.join(self.twice)} more than once; publish it once")
        return ", ".join(found)
