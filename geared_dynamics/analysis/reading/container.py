"""Files of messages: what all kinds of them offer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from geared_dynamics.analysis.reading.problems import RecordingError

JOINT_STATE = "sensor_msgs/msg/JointState"
PIECE = 4096  # messages, about, that are read at a time


class Topic(NamedTuple):
    """A topic's name and type."""

    name: str
    type: str


class Raw(NamedTuple):
    """Serialised messages, when they were received [ns], and parts of the file that were lost."""

    messages: list[bytes]
    received: list[int]
    lost: int = 0


class Container(Protocol):
    """A bag's file, or several that follow each other; it can be pickled."""

    @property
    def path(self) -> str:
        """The file or folder."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong with it, though it can be read."""

    def topics(self) -> tuple[Topic, ...]:
        """Its topics."""

    def pieces(self, topic: str) -> int:
        """Number of pieces that a topic is read in."""

    def read(self, topic: str, piece: int) -> Raw:
        """Messages of one piece, in the file's order."""


@contextmanager
def reopened(place: Path, path: str) -> Iterator[BinaryIO]:
    """Open a file that was opened before, perhaps on another machine.

    Raises:
        RecordingError: If it is not there any more.
    """
    try:
        stream = place.open("rb")
    except OSError as error:
        raise not_there(place, path, str(error.strerror)) from None
    with stream:
        yield stream


def not_there(place: Path, path: str, why: str) -> RecordingError:
    """The error of a file that cannot be opened again."""
    remedy = "leave it in place; workers of a cluster must see it under the same path"
    return RecordingError(path, f"cannot be opened again as {place} ({why})", remedy)
