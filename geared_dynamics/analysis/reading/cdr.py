"""``sensor_msgs/msg/JointState`` straight from its serialised bytes, many messages at a time.

CDR: four bytes of encapsulation, then the fields, each aligned to its size as counted from
byte 4. Messages of one publisher have the same length and differ in stamp and numbers only:
they are stacked, compared with the first one in all other bytes, and read as a table.
Bytes of padding, between fields and behind the last one, hold anything.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, IntArray

HEADER = 4  # bytes of encapsulation
LONGEST = 4096  # names, and numbers of a list; more means that these bytes are no JointState


class NotJointStateError(ValueError):
    """These bytes are no JointState in plain CDR."""


class Layout(NamedTuple):
    """Where a message has its numbers.

    Attributes:
        names: The joints.
        order: ``<`` little endian, ``>`` big endian.
        lists: Offset [bytes] and count of positions, velocities and efforts.
        fixed: Bytes that all messages of this layout share (b,).
        length: Bytes of the message.
    """

    names: tuple[str, ...]
    order: str
    lists: tuple[tuple[int, int], ...]
    fixed: IntArray
    length: int


class Table(NamedTuple):
    """Messages of one layout: their numbers in the batch (k,), stamps and lists (k, count)."""

    layout: Layout
    place: IntArray
    stamp: IntArray
    lists: tuple[Array, ...]


class Cursor:
    """A place in a message that moves on as fields are read."""

    def __init__(self, data: bytes, order: str) -> None:
        """Start behind the encapsulation."""
        self.data, self.order, self.at = data, order, HEADER
        self.fixed = [0, 1]

    def align(self, size: int) -> None:
        """Skip padding."""
        self.at += -(self.at - HEADER) % size

    def whole(self) -> int:
        """Read an unsigned number that all messages of the layout share."""
        self.align(4)
        try:
            (value,) = struct.unpack_from(self.order + "I", self.data, self.at)
        except struct.error:
            raise NotJointStateError("it ends within a field") from None
        self.fixed += range(self.at, self.at + 4)
        self.at += 4
        return int(value)

    def text(self, keep: bool) -> bytes:
        """Read a string; ``keep``: all messages of the layout share it."""
        size = self.whole()
        end = self.at + size
        if not 0 < size <= LONGEST or end > len(self.data):
            raise NotJointStateError("a text of it is too long")
        if keep:
            self.fixed += range(self.at, end)
        text = self.data[self.at : end - 1]
        self.at = end
        return text

    def numbers(self) -> tuple[int, int]:
        """Skip a list of doubles; return its offset and count."""
        count = self.whole()
        if count:
            self.align(8)
        start = self.at
        self.at += 8 * count
        if count > LONGEST or self.at > len(self.data):
            raise NotJointStateError("a list of it is too long")
        return start, count


def layout_of(data: bytes) -> Layout:
    """Read the layout of one message.

    Raises:
        NotJointStateError: If it is none.
    """
    if len(data) < HEADER or data[0] != 0 or data[1] not in (0, 1):
        raise NotJointStateError("it is not in plain CDR")
    cursor = Cursor(data, "<" if data[1] else ">")
    cursor.at += 8  # the stamp
    cursor.text(keep=False)
    count = cursor.whole()
    if count > LONGEST:
        raise NotJointStateError("it has too many names")
    try:
        names = tuple(cursor.text(keep=True).decode() for _ in range(count))
    except UnicodeDecodeError:
        raise NotJointStateError("its names are no text") from None
    start = cursor.at
    lists = tuple(cursor.numbers() for _ in range(3))
    if len(data) - cursor.at > 3 and len(data) != reserved(start, lists):
        raise NotJointStateError("it is longer than a JointState")
    fixed = np.array(cursor.fixed, np.int64)
    return Layout(names, cursor.order, lists, fixed, len(data))


def reserved(start: int, lists: Sequence[tuple[int, int]]) -> int:
    """Bytes that Fast DDS reserves for a message whose lists start behind ``start``.

    It aligns empty lists of doubles as well when it adds up sizes, but not when it writes:
    ``serialize_message`` of rclpy and rclcpp returns all that was reserved, with up to 12 bytes
    of anything behind the message.
    """
    at = start - HEADER
    for _, count in lists:
        at += -at % 4 + 4
        at += -at % 8 + 8 * count
    return HEADER + at


def tables(messages: list[bytes]) -> tuple[list[Table], int]:
    """Read messages, those of one layout together.

    Returns:
        The tables, in the order of their first messages, and how many messages are damaged.
    """
    found: list[Table] = []
    damaged = 0
    rest = np.arange(len(messages))
    while rest.size:
        first = messages[rest[0]]
        try:
            layout = layout_of(first)
        except NotJointStateError:
            damaged += 1
            rest = rest[1:]
            continue
        lengths = np.fromiter((len(messages[i]) for i in rest), np.int64, len(rest))
        alike = rest[lengths == layout.length]
        raw = np.frombuffer(b"".join([messages[i] for i in alike]), np.uint8)
        raw = raw.reshape(len(alike), layout.length)
        same = (raw[:, layout.fixed] == raw[0, layout.fixed]).all(axis=1)
        found.append(table(layout, alike[same], raw if same.all() else raw[same]))
        taken = np.zeros(len(messages), bool)
        taken[alike[same]] = True
        rest = rest[~taken[rest]]
    return found, damaged


def table(
    layout: Layout, index: IntArray, raw: np.ndarray[tuple[int, int], np.dtype[np.uint8]]
) -> Table:
    """Read stacked messages (k, length)."""
    stamp = np.ascontiguousarray(raw[:, HEADER : HEADER + 8]).view(layout.order + "u4")
    seconds = stamp[:, 0].astype(np.int32).astype(np.int64)  # signed in the message
    lists = tuple(
        np.ascontiguousarray(raw[:, start : start + 8 * count])
        .view(layout.order + "f8")
        .reshape(len(raw), count)
        .astype(np.float64, copy=False)
        for start, count in layout.lists
    )
    return Table(layout, index, seconds * 10**9 + stamp[:, 1], lists)
