"""Files of messages: what all kinds of them offer."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

import numpy as np

from geared_dynamics.errors import RecordingError, unreadable

JOINT_STATE = "sensor_msgs/msg/JointState"
PIECE = 4096  # messages, about, that are read at a time
LONGEST_NAME = 4096  # characters of a topic's name or type; ROS takes 255
ENCODINGS = ("cdr", "")  # of messages that are read
ZSTANDARD = b"\x28\xb5\x2f\xfd"  # first bytes of what zstd compressed
NOTED = 10  # files that notes name
ALIKE = 8  # messages that show whether all are compressed


class Topic(NamedTuple):
    """A topic's name and type."""

    name: str
    type: str

    @classmethod
    def of(cls, name: str, kind: str, encoding: str) -> Topic:
        """Return a topic whose type says how its messages are encoded, unless it is CDR."""
        return cls(name, kind if encoding in ENCODINGS else f"{kind}, encoded as {encoding}")


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
def regular_file(path: Path, remedy: str) -> Iterator[BinaryIO]:
    """Open a file for the first time; a pipe would be waited for without end.

    Args:
        path: The file.
        remedy: What to do where it is something else.

    Raises:
        RecordingError: If it cannot be opened, or is no regular file.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise RecordingError(str(path), "is not a regular file", remedy)
        stream = path.open("rb")
    except (OSError, ValueError) as error:  # ValueError: a zero in the path
        raise unreadable(path, error) from None
    with stream:
        yield stream


def is_file(path: Path) -> bool:
    """Return whether a path leads to a regular file: opening a pipe would wait for ever."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


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


def refuse_packed(path: str, messages: Sequence[bytes]) -> None:
    """Raise if messages are compressed one by one; a single one that looks so is damaged."""
    if messages and all(data[:4] == ZSTANDARD for data in messages[:ALIKE]):
        remedy = "decompress it: ros2 bag convert, with compression_mode none"
        raise RecordingError(path, "has messages compressed one by one", remedy)


# -- Some of many pieces, spread over all of them -------------------------------------------------


def spread(count: int, most: int) -> list[int]:
    """Numbers of at most ``most`` of ``count`` pieces, with the first and the last one."""
    places = np.linspace(0, max(count - 1, 0), min(count, most))
    return [int(place) for place in np.unique(places.round())]
