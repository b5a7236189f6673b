"""Samples of one robot in pieces: from a bag's topic, or from arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from geared_dynamics.analysis.reading.container import PIECE, Container
from geared_dynamics.analysis.reading.joints import joint_samples
from geared_dynamics.analysis.reading.samples import Samples


class Reader(Protocol):
    """Samples of one robot in pieces; it can be pickled."""

    @property
    def path(self) -> str:
        """Where they come from."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong with it, though it can be read."""

    @property
    def other(self) -> str:
        """What may hold what is missing here."""

    @property
    def pieces(self) -> int:
        """Number of pieces."""

    def read(self, piece: int) -> Samples:
        """Samples of one piece."""


@dataclass(frozen=True)
class BagReader:
    """One topic of a bag.

    Attributes:
        container: The bag.
        topic: Its topic.
        names: The joints as its messages call them.
        units: What their positions and velocities are multiplied with; empty: nothing.
    """

    container: Container
    topic: str
    names: tuple[str, ...]
    units: tuple[float, ...] = ()

    @property
    def path(self) -> str:
        """The bag."""
        return self.container.path

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong with the bag."""
        return self.container.notes

    @property
    def pieces(self) -> int:
        """Number of pieces."""
        return self.container.pieces(self.topic)

    @property
    def other(self) -> str:
        """What may hold what is missing here."""
        return "choose another topic with --topic"

    def read(self, piece: int) -> Samples:
        """Samples of one piece."""
        samples = joint_samples(self.container.read(self.topic, piece), self.names)
        if not self.units:
            return samples
        units = np.array(self.units)
        return samples._replace(
            position=samples.position * units, velocity=samples.velocity * units
        )


@dataclass(frozen=True, eq=False)
class ArrayReader:
    """Samples that are in memory already."""

    samples: Samples
    path: str = "<arrays>"
    notes: tuple[str, ...] = ()
    other: str = "give other arrays"

    @property
    def pieces(self) -> int:
        """Number of pieces."""
        return -(-len(self.samples.stamp) // PIECE)

    def read(self, piece: int) -> Samples:
        """Samples of one piece."""
        return self.samples.rows(slice(piece * PIECE, (piece + 1) * PIECE))


@dataclass(frozen=True, eq=False)
class SeriesReader:
    """Recordings that follow each other, read as one.

    Attributes:
        path: The folder that holds them.
        parts: Their readers, in order.
        lost: What is missing among them.
    """

    path: str
    parts: tuple[Reader, ...]
    lost: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong with them."""
        return (*self.lost, *(note for part in self.parts for note in part.notes))

    @property
    def other(self) -> str:
        """What may hold what is missing here."""
        return self.parts[0].other

    @property
    def pieces(self) -> int:
        """Number of pieces of all together."""
        return sum(part.pieces for part in self.parts)

    def read(self, piece: int) -> Samples:
        """Samples of one piece."""
        for part in self.parts:
            if piece < part.pieces:
                return part.read(piece)
            piece -= part.pieces
        raise IndexError(piece)
