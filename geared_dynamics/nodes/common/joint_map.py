"""Joint names to indices: found once, found again when the names change."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import IntArray, readonly_int


class Reading(enum.IntEnum):
    """What a message held for us."""

    COMPLETE = 0
    FOREIGN = 1  # joints of another device only
    MISSING = 2  # some of ours, not all
    SIZES = 3  # arrays of another length than the names
    NO_VELOCITY = 4  # positions only
    TWICE = 5  # one of ours more than once: nobody knows which entry is right


class Places(NamedTuple):
    """Where names are among others.

    Attributes:
        at: Index of each name (n,); one behind the last for those absent or there more than once.
        absent: Names that are not there.
        twice: Names that are there more than once: nobody knows which entry is right.
    """

    at: IntArray
    absent: tuple[str, ...]
    twice: tuple[str, ...]


def places(wanted: Sequence[str], names: Sequence[str]) -> Places:
    """Find names among those of a message."""
    place = {name: index for index, name in enumerate(names)}
    absent = tuple(name for name in wanted if name not in place)
    twice = tuple(name for name in wanted if names.count(name) > 1)
    gone = len(names)
    index = [gone if name in twice else place.get(name, gone) for name in wanted]
    return Places(readonly_int(index), absent, twice)


class JointMap:
    """Picks the joints of ours from messages whose order is not known before.

    Attributes:
        wanted: Names in the order of the arrays (n,).
        q: Positions of the last complete message (n,), as they came; a new array each time.
        v: Velocities, likewise.
        reordered: Whether the last message had its names in another order than the one before.
        absent: Names that the last message did not have.
        twice: Names that it had more than once.
    """

    def __init__(self, wanted: Sequence[str]) -> None:
        """Begin without having seen a message."""
        self.wanted = tuple(wanted)
        self.q = np.zeros(len(self.wanted))
        self.v = np.zeros(len(self.wanted))
        self.reordered = False
        self.absent: tuple[str, ...] = ()
        self.twice: tuple[str, ...] = ()
        self._names: list[str] | None = None
        self._size = 0
        self._index: IntArray | None = None
        self._plain = False  # whether the names are ours, in our order
        self._state = Reading.FOREIGN
        self._before: IntArray | None = None  # of the last complete message

    def read(self, names: list[str], position: object, velocity: object) -> Reading:
        """Take over a message's numbers.

        Args:
            names: ``JointState.name``.
            position: ``JointState.position``, an ``array.array`` of doubles.
            velocity: ``JointState.velocity``, likewise; may be empty.
        """
        if names != self._names:
            self._look_up(names)
        else:
            self.reordered = False
        if self._index is None:
            return self._state
        found = np.frombuffer(position)  # type: ignore[call-overload]
        if found.size != self._size:
            return Reading.SIZES
        self.q = found.copy() if self._plain else found.take(self._index)
        rates = np.frombuffer(velocity) if len(velocity) else found[:0]  # type: ignore[arg-type,call-overload]
        if rates.size == self._size:
            self.v = rates.copy() if self._plain else rates.take(self._index)
            return Reading.COMPLETE
        return Reading.SIZES if rates.size else Reading.NO_VELOCITY

    def _look_up(self, names: Sequence[str]) -> None:
        """Find our joints among other names."""
        self._names, self._size = list(names), len(names)
        index, self.absent, self.twice = places(self.wanted, self._names)
        self.reordered = False
        if self.twice:
            self._index, self._state = None, Reading.TWICE
            return
        if self.absent:
            self._index = None
            none = len(self.absent) == len(self.wanted)
            self._state = Reading.FOREIGN if none else Reading.MISSING
            return
        self._index = index
        self._state = Reading.COMPLETE
        self._plain = self._names == list(self.wanted)
        if self._before is not None:
            self.reordered = not np.array_equal(self._before, self._index)
        self._before = self._index


def order(names: Sequence[str], chosen: Sequence[str]) -> IntArray:
    """Where each chosen name stands among the names."""
    place = {name: index for index, name in enumerate(names)}
    return readonly_int([place[name] for name in chosen])
