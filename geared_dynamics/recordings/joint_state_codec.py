"""``sensor_msgs/msg/JointState`` straight from its serialised bytes, many messages at a time.

CDR: four bytes of encapsulation, then the fields, each aligned to its size as counted from
byte 4. Messages of one publisher have the same length and differ in stamp and numbers only:
they are stacked, compared with the first one in all other bytes, and read as a table.
Bytes of padding, between fields and behind the last one, hold anything.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray, IntArray

# -- ``sensor_msgs/msg/JointState`` straight from its serialised bytes, many messages at a time ---


HEADER = 4  # bytes of encapsulation
LONGEST = 4096  # names, and numbers of a list; more means that these bytes are no JointState
LAYOUTS = 16  # of a batch that are looked for one after the other
MOST_NAMES = 2**15  # in all layouts of a batch: what has more is no recording of robots
SECOND = 10**9  # [ns]
Bytes = np.ndarray[tuple[int, int], np.dtype[np.uint8]]


class NotJointStateError(ValueError):
    """These bytes are no JointState in plain CDR."""


class BatchLayout(NamedTuple):
    """Where a message has its numbers.

    Attributes:
        names: The joints.
        order: ``<`` little endian, ``>`` big endian.
        lists: Offset [bytes] and count of positions, velocities and efforts.
        counts: Offsets of these counts.
        fixed: Bytes that all messages of this layout share (b,).
        length: Bytes of the message.
    """

    names: tuple[str, ...]
    order: str
    lists: tuple[tuple[int, int], ...]
    counts: tuple[int, ...]
    fixed: IntArray
    length: int


class MessageTable(NamedTuple):
    """Messages of one layout: their numbers in the batch (k,), stamps and lists (k, count)."""

    layout: BatchLayout
    place: IntArray
    stamp: IntArray
    lists: tuple[Array, ...]


class Cursor:
    """A place in a message that moves on as fields are read."""

    def __init__(self, data: bytes, order: str) -> None:
        """Start behind the encapsulation."""
        self.data, self.order, self.at = data, order, HEADER
        self.fixed = bytearray(len(data))
        self.share(0, 2)

    def share(self, start: int, end: int) -> None:
        """Mark bytes that all messages of the layout share."""
        self.fixed[start:end] = b"\1" * (end - start)

    def align(self, size: int) -> None:
        """Skip padding."""
        self.at = aligned(self.at, size)

    def whole(self) -> int:
        """Read an unsigned number that all messages of the layout share."""
        self.align(4)
        try:
            (value,) = struct.unpack_from(self.order + "I", self.data, self.at)
        except struct.error:
            raise NotJointStateError("it ends in the middle of a field") from None
        self.share(self.at, self.at + 4)
        self.at += 4
        return int(value)

    def text(self, keep: bool) -> bytes:
        """Read a string; ``keep``: all messages of the layout share it."""
        size = self.whole()
        end = self.at + size
        if not 0 < size <= LONGEST or end > len(self.data):
            raise NotJointStateError("it contains a string that is too long")
        if self.data[end - 1]:
            raise NotJointStateError("it contains a string without a terminating zero")
        self.share(self.at if keep else end - 1, end)
        text = self.data[self.at : end - 1]
        self.at = end
        return text

    def numbers(self) -> tuple[tuple[int, int], int]:
        """Skip a list of doubles; return its offset and count, and where the count stands."""
        count = self.whole()
        place = self.at - 4
        if count:
            self.align(8)
        start = self.at
        self.at += 8 * count
        if count > LONGEST or self.at > len(self.data):
            raise NotJointStateError("it contains an array that is too long")
        return (start, count), place


def aligned(offset: int, size: int) -> int:
    """The next offset at which a number of a size may begin, counted from behind the head."""
    return HEADER + -(-(offset - HEADER) // size) * size


def layout_of(data: bytes) -> BatchLayout:
    """Read the layout of one message.

    Raises:
        NotJointStateError: If it is none.
    """
    if len(data) < HEADER or data[0] != 0 or data[1] not in (0, 1):
        raise NotJointStateError("it is not plain CDR")
    cursor = Cursor(data, "<" if data[1] else ">")
    cursor.at += 8  # the stamp
    cursor.text(keep=False)
    count = cursor.whole()
    if count > LONGEST:
        raise NotJointStateError("it has too many names")
    try:
        names = tuple(cursor.text(keep=True).decode() for _ in range(count))
    except UnicodeDecodeError:
        raise NotJointStateError("its joint names are not UTF-8") from None
    start = cursor.at
    lists, counts = zip(*(cursor.numbers() for _ in range(3)), strict=True)
    if len(data) - cursor.at > 3 and len(data) != reserved(start, lists):
        raise NotJointStateError("it is longer than a JointState")
    fixed = np.flatnonzero(np.frombuffer(cursor.fixed, np.uint8))
    return BatchLayout(names, cursor.order, lists, counts, fixed, len(data))


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


def tables(messages: list[bytes]) -> tuple[list[MessageTable], int]:
    """Read messages, those of one layout together.

    Returns:
        The tables, in the order of their first messages, and how many messages are damaged.
    """
    batches: list[MessageTable] = []
    layouts = names = damaged = 0
    rest = np.arange(len(messages))
    while rest.size and layouts < LAYOUTS and names <= MOST_NAMES:
        first = messages[rest[0]]
        try:
            layout = layout_of(first)
        except NotJointStateError:
            damaged += 1
            rest = rest[1:]
            continue
        lengths = np.fromiter(map(len, chosen(messages, rest)), np.int64, len(rest))
        alike = rest[lengths == layout.length]
        raw = stacked(messages, alike)
        same = alike_first(raw, layout.fixed)
        damaged += add(batches, table(layout, alike[same], raw if same.all() else raw[same]), same)
        layouts, names = layouts + 1, names + len(layout.names)
        taken = np.zeros(len(messages), bool)
        taken[alike[same]] = True
        rest = rest[~taken[rest]]
    more, harm = scattered(messages, rest.tolist(), names)
    return batches + more, damaged + harm


def alike_first(raw: Bytes, fixed: IntArray) -> BoolArray:
    """Which messages (k, length) have the fixed bytes of the first one (k,)."""
    runs = np.split(fixed, np.flatnonzero(np.diff(fixed) > 1) + 1)
    ranges = [slice(run[0], run[-1] + 1) for run in runs]
    if all((raw[:, run] == raw[0, run]).all() for run in ranges):  # mostly, and much faster
        return np.ones(len(raw), bool)
    return np.asarray((raw[:, fixed] == raw[0, fixed]).all(axis=1))


def scattered(
    messages: list[bytes], places: list[int], names: int
) -> tuple[list[MessageTable], int]:
    """Read messages of many layouts: each message alone says which one it has.

    To compare the first one with all others, layout by layout, would take the square of their
    number.

    Args:
        messages: The batch.
        places: Those of it that are read.
        names: How many names the layouts have that were found before.
    """
    groups: dict[tuple[object, ...], tuple[BatchLayout, list[int]]] = {}
    damaged = 0
    for k, place in enumerate(places):
        if names > MOST_NAMES:
            damaged += len(places) - k
            break
        try:
            layout = layout_of(messages[place])
        except NotJointStateError:
            damaged += 1
            continue
        key = (layout.names, layout.order, layout.lists, layout.length)
        if key not in groups:
            names += len(layout.names)
            groups[key] = (layout, [])
        groups[key][1].append(place)
    batches: list[MessageTable] = []
    for layout, members in groups.values():
        index = np.array(members)
        damaged += add(batches, table(layout, index, stacked(messages, index)), index >= 0)
    return batches, damaged


def add(batches: list[MessageTable], one: MessageTable, read: BoolArray) -> int:
    """Add a table, unless nothing is left of it; return how many of what was read is damaged."""
    if len(one.place):
        batches.append(one)
    return int(read.sum()) - len(one.place)


def stacked(messages: list[bytes], index: IntArray) -> Bytes:
    """Messages of one length (k, length)."""
    raw = np.frombuffer(b"".join(chosen(messages, index)), np.uint8)
    return raw.reshape(len(index), -1)


def chosen(messages: list[bytes], index: IntArray) -> Iterable[bytes]:
    """Some of the messages, by numbers in rising order, each once."""
    return messages if len(index) == len(messages) else map(messages.__getitem__, index.tolist())


def table(layout: BatchLayout, index: IntArray, raw: Bytes) -> MessageTable:
    """Read stacked messages (k, length), but those whose stamps are no times."""
    stamp = np.ascontiguousarray(raw[:, HEADER : HEADER + 8]).view(layout.order + "u4")
    timed = stamp[:, 1] < SECOND
    if not timed.all():
        index, raw, stamp = index[timed], raw[timed], stamp[timed]
    seconds = stamp[:, 0].astype(np.int32).astype(np.int64)  # signed in the message
    lists = tuple(
        np.ascontiguousarray(raw[:, start : start + 8 * count])
        .view(layout.order + "f8")
        .reshape(len(raw), count)
        .astype(np.float64, copy=False)
        for start, count in layout.lists
    )
    return MessageTable(layout, index, seconds * SECOND + stamp[:, 1], lists)


# -- ``sensor_msgs/msg/JointState`` serialised, many messages at a time (plain CDR) ---------------


def serialised(
    stamp: IntArray, names: Sequence[str], lists: tuple[Array | None, Array | None, Array | None]
) -> list[bytes]:
    """Serialise messages that share their names.

    Args:
        stamp: Header stamps (k,) [ns].
        names: Joints.
        lists: Positions, velocities, efforts (k, n) each; None is left empty.
    """
    head = struct.pack("<I", 1) + b"\0"  # an empty frame_id
    head = padded(head, 4, 8) + struct.pack("<I", len(names))
    for name in names:
        text = name.encode() + b"\0"
        head = padded(head, 4, 8) + struct.pack("<I", len(text)) + text
    count = len(stamp)
    seconds = np.stack([stamp // 10**9, stamp % 10**9], axis=1).astype("<u4")
    parts = [constant(b"\0\1\0\0", count), bytes_of(seconds)]
    at = 8 + len(head)
    parts.append(constant(head, count))
    for values in lists:
        size = 0 if values is None else values.shape[1]
        lead = b"\0" * (-at % 4) + struct.pack("<I", size)
        if size:
            lead += b"\0" * (-(at + len(lead)) % 8)
        parts.append(constant(lead, count))
        at += len(lead) + 8 * size
        if values is not None:
            parts.append(bytes_of(values.astype("<f8")))
    table = np.ascontiguousarray(np.hstack(parts))
    length = table.shape[1]
    data = table.tobytes()
    return [data[k * length : (k + 1) * length] for k in range(count)]


def padded(text: bytes, size: int, before: int) -> bytes:
    """Fill up to a multiple of ``size``, with ``before`` bytes ahead of the text."""
    return text + b"\0" * (-(before + len(text)) % size)


def constant(text: bytes, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """The same bytes in each message."""
    return np.broadcast_to(np.frombuffer(text, np.uint8), (count, len(text)))


def bytes_of(
    values: np.ndarray[tuple[int, ...], np.dtype[np.generic]],
) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Bytes of numbers (k, ...), a row per message."""
    flat = np.ascontiguousarray(values)
    return flat.view(np.uint8).reshape(len(flat), -1)
