"""Records of MCAP files (mcap.dev/spec): an opcode, a length and contents."""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Iterator

import numpy as np

from geared_dynamics.errors import RecordingError, extra

SCHEMA, CHANNEL, MESSAGE, CHUNK, INDEX, FOOTER = 3, 4, 5, 6, 7, 2
STATISTICS, DATA_END = 11, 15
RECORD = struct.Struct("<BQ")
HEAD_OF_MESSAGE = struct.Struct("<HIQQ")
HEAD_OF_CHUNK = struct.Struct("<QQQII")
HEAD_OF_STATISTICS = struct.Struct("<QHIIIIQQI")
COUNT_OF_CHANNEL = struct.Struct("<HQ")
HEAD_OF_INDEX = struct.Struct("<HI")  # of one channel's messages in a chunk
ENTRY = 16  # bytes of a message in it
ALIKE = RECORD.size + 2  # bytes of a message's record that say its kind, size and channel
STAMP = 6  # of HEAD_OF_MESSAGE: where the time of receiving stands
FEW = 32  # records that are compared at first
LATEST = 2**63 - 1  # [ns] that a stamp can be
LARGEST = 2**27  # bytes of a chunk's records: writers of bags take a thousandth of it
# A chunk's records are no more than so many times its own bytes, and some: else kilobytes would
# cost minutes. Joint states shrink to a twentieth.
RATIO, SLACK = 1024, 2**16
FRAMES = 64  # of a chunk; writers make one
LONGEST_NAME = 16  # of a compression
SHORTEST = RECORD.size + HEAD_OF_MESSAGE.size  # bytes of a message's record


class BrokenRecordsError(ValueError):
    """Records that do not follow each other to the end."""


def uncompressed(content: bytes, path: str, cut: bool = False) -> bytes:
    """Records of a chunk; none where it is damaged.

    Of one at which the file was ``cut`` off, those that are there whole.
    """
    if len(content) < HEAD_OF_CHUNK.size:
        return b""
    _, _, stated, check, length = HEAD_OF_CHUNK.unpack_from(content)
    at = HEAD_OF_CHUNK.size + length
    if length > LONGEST_NAME or at + 8 > len(content) or stated > LARGEST:
        return b""
    name = content[HEAD_OF_CHUNK.size : at].decode("ascii", "replace")
    size = int.from_bytes(content[at : at + 8], "little")
    data = content[at + 8 : at + 8 + size]
    if stated > RATIO * len(data) + SLACK or not (name.isalnum() or not name):
        return b""
    records, complete = decompressed(name, data, path, stated)
    if len(data) < size:
        return whole_records(records) if cut else b""
    good = complete and len(records) == stated and not (check and zlib.crc32(records) != check)
    return records if good else b""


def is_empty(content: bytes) -> bool:
    """Whether a chunk says that it has no records."""
    return len(content) >= HEAD_OF_CHUNK.size and not HEAD_OF_CHUNK.unpack_from(content)[2]


def indexed(content: bytes) -> tuple[int, int] | None:
    """Channel and number of messages that an index record names; None if it is damaged."""
    if len(content) < HEAD_OF_INDEX.size:
        return None
    channel, size = HEAD_OF_INDEX.unpack_from(content)
    return (channel, size // ENTRY) if size <= len(content) - HEAD_OF_INDEX.size else None


def counted(records: bytes) -> dict[int, int]:
    """Number of messages of each channel."""
    counts: dict[int, int] = {}
    try:
        for at, step, count in runs(records):
            if step < SHORTEST:
                continue
            channel = int.from_bytes(records[at + RECORD.size : at + ALIKE], "little")
            counts[channel] = counts.get(channel, 0) + count
    except BrokenRecordsError:
        return counts
    return counts


def messages_of(records: bytes, channels: set[int]) -> tuple[list[bytes], list[int], bool]:
    """Messages of some channels, when they were received [ns], and whether some are damaged."""
    messages: list[bytes] = []
    received: list[int] = []
    damaged = False
    try:
        for at, step, count in runs(records):
            if step < SHORTEST:
                damaged = True
                continue
            channel = int.from_bytes(records[at + RECORD.size : at + ALIKE], "little")
            if channel in channels:
                starts = range(at, at + step * count, step)
                messages += [records[start + SHORTEST : start + step] for start in starts]
                received += stamps(records, at, step, count)
    except BrokenRecordsError:
        return messages, received, True
    return messages, received, damaged


def of_kinds(records: bytes, kinds: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
    """Kind, start and end of the records of these kinds."""
    at, head, read = 0, RECORD.size, RECORD.unpack_from
    while at + head <= len(records):
        kind, size = read(records, at)
        end = at + head + size
        if kind in kinds:
            yield kind, at + head, end
        elif not kind:
            return
        at = end


def runs(records: bytes) -> Iterator[tuple[int, int, int]]:
    """Start, length of a record and number of records of runs of alike messages.

    Messages of one topic mostly have one size. Records of the same kind, size and channel that
    follow each other are found by comparing many at a time.

    Raises:
        BrokenRecordsError: Behind the last whole record, if there is more.
    """
    at, read = 0, RECORD.unpack_from
    while at + RECORD.size <= len(records):
        kind, size = read(records, at)
        step, count = RECORD.size + size, 1
        if not kind or at + step > len(records):
            break
        if kind == MESSAGE:
            head = records[at : at + ALIKE]
            if step >= SHORTEST and records[at + step : at + step + ALIKE] == head:
                count = alike(records, at, step)
            yield at, step, count
        at += step * count
    if at != len(records):
        raise BrokenRecordsError


def alike(records: bytes, at: int, step: int) -> int:
    """Number of records from a place on that are of the same kind, size and channel."""
    whole = (len(records) - at) // step
    count, window = 1, FEW
    head = np.frombuffer(records, np.uint8, ALIKE, at)
    while count < whole:
        some = min(window, whole - count)
        table = np.frombuffer(records, np.uint8, some * step, at + count * step)
        same = (table.reshape(some, step)[:, :ALIKE] == head).all(axis=1)
        if not same.all():
            return count + int(np.argmin(same))
        count, window = count + some, 2 * window
    return count


def stamps(records: bytes, at: int, step: int, count: int) -> list[int]:
    """When the messages of a run were received [ns]."""
    if count == 1:  # not worth an array
        stamp = HEAD_OF_MESSAGE.unpack_from(records, at + RECORD.size)[2]
        return [min(int(stamp), LATEST)] * count
    table = np.frombuffer(records, np.uint8, step * count, at).reshape(count, step)
    start = RECORD.size + STAMP
    column = np.ascontiguousarray(table[:, start : start + 8]).view("<u8")
    return [int(stamp) for stamp in np.minimum(column[:, 0], np.uint64(LATEST)).tolist()]


def decompressed(name: str, data: bytes, path: str, stated: int) -> tuple[bytes, bool]:
    """Uncompressed contents of a chunk as far as they go, none of damaged ones; if complete.

    Args:
        name: Of the compression.
        data: The compressed contents, or their beginning.
        path: The file, for errors.
        stated: How many bytes they are: more are neither made nor accepted.
    """
    if name == "":
        return (data, True) if len(data) <= LARGEST else (b"", False)
    if name not in ("zstd", "lz4"):
        remedy = "convert it: ros2 bag convert, with compression zstd or none"
        raise RecordingError(path, f"has chunks compressed as {name!r}", remedy)
    if name == "lz4":
        frames = extra("lz4.frame", path)
        make, harm = frames.LZ4FrameDecompressor, (RuntimeError, EOFError)
    else:
        # In the standard library from Python 3.14 on; before, what the bag library brings.
        zstd = extra("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd", path)
        make, harm = zstd.ZstdDecompressor, (zstd.ZstdError, EOFError)
    records = b""
    try:
        for _ in range(FRAMES):
            if not data:
                return records, True
            frame = make()
            # One byte more than there should be, to see whether it is more.
            records += bytes(frame.decompress(data, max_length=stated + 1 - len(records)))
            if len(records) > stated:
                return b"", False
            if not frame.eof:
                return records, False
            data = bytes(frame.unused_data or b"")
    except harm:
        return b"", False
    return b"", False  # frame behind frame, each a copy of the rest


def whole_records(records: bytes) -> bytes:
    """The records without one at their end that is cut off."""
    at = 0
    while at + RECORD.size <= len(records):
        end = at + RECORD.size + RECORD.unpack_from(records, at)[1]
        if end > len(records):
            break
        at = end
    return records[:at]


def text(content: bytes, at: int) -> tuple[str, int]:
    """Read a text with its length before it; return it and where it ends."""
    (size,) = struct.unpack_from("<I", content, at)
    end = at + 4 + size
    return content[at + 4 : end].decode("utf-8", "replace"), end


def stated_counts(content: bytes) -> dict[int, int] | None:
    """Messages by channel that a record of statistics names; None if it names none."""
    if len(content) < HEAD_OF_STATISTICS.size:
        return None
    total, *_, size = HEAD_OF_STATISTICS.unpack_from(content)
    end = HEAD_OF_STATISTICS.size + size
    if end > len(content) or size % COUNT_OF_CHANNEL.size or not (size or not total):
        return None
    return dict(COUNT_OF_CHANNEL.iter_unpack(content[HEAD_OF_STATISTICS.size : end]))
