"""MCAP files (mcap.dev/spec): records of an opcode, a length and contents, mostly in chunks.

The file is walked record by record, not by its index, so that one that was never closed is
read as far as it goes.
"""

from __future__ import annotations

import mmap
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from geared_dynamics.analysis.extras import extra
from geared_dynamics.analysis.reading.container import PIECE, Raw, Topic
from geared_dynamics.analysis.reading.problems import RecordingError

MAGIC = b"\x89MCAP0\r\n"
SCHEMA, CHANNEL, MESSAGE, CHUNK, DATA_END, FOOTER = 3, 4, 5, 6, 15, 2
RECORD = struct.Struct("<BQ")
HEAD_OF_MESSAGE = struct.Struct("<HIQQ")
HEAD_OF_CHUNK = struct.Struct("<QQQII")
ALIKE = RECORD.size + 2  # bytes of a message's record that say its kind, size and channel
STAMP = 6  # of HEAD_OF_MESSAGE: where the time of receiving stands
LONGEST = 1 << 28  # bytes of a chunk that is believed to be one, cut off by the file's end
FEW = 32  # records that are compared at first
TRUNCATED = "was not closed or is cut off: what is there is read"


class McapFile:
    """An ``.mcap`` file, read chunk by chunk."""

    def __init__(self, path: Path) -> None:
        """Walk its records and read its channels.

        Raises:
            RecordingError: If it is no MCAP file.
        """
        self.path = str(path)
        self.notes: tuple[str, ...] = ()
        self.schemas: dict[int, str] = {}
        self.channels: dict[int, Topic] = {}
        self.chunks: list[tuple[int, int, bool]] = []  # start, end, whether it is a chunk
        with path.open("rb") as stream:
            if stream.read(len(MAGIC)) != MAGIC:
                raise RecordingError(self.path, "does not start as an MCAP file", "check the file")
            with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
                if not self._walk(data):
                    self.notes = (f"{self.path} {TRUNCATED}",)
                    self._learn_from_chunks(data)

    def _walk(self, data: mmap.mmap) -> bool:
        """Note where the chunks are; whether the file has a proper end."""
        at, loose, count = len(MAGIC), -1, 0
        while at + RECORD.size <= len(data):
            kind, size = RECORD.unpack_from(data, at)
            start, end = at + RECORD.size, at + RECORD.size + size
            if end > len(data):
                if kind == CHUNK and HEAD_OF_CHUNK.size < len(data) - start < LONGEST:
                    self.chunks.append((start, len(data), True))
                break
            if kind == MESSAGE:
                loose = at if loose < 0 else loose
                count += 1
            if loose >= 0 and (kind != MESSAGE or count >= PIECE):
                self.chunks.append((loose, end if kind == MESSAGE else at, False))
                loose, count = -1, 0
            if kind == CHUNK:
                self.chunks.append((start, end, True))
            elif kind in (SCHEMA, CHANNEL):
                self._learn(kind, data[start:end])
            elif kind == FOOTER:
                if not self.channels:
                    self._learn_from_chunks(data)
                return True
            at = end
        if loose >= 0:
            self.chunks.append((loose, at, False))
        return False

    def _learn_from_chunks(self, data: mmap.mmap) -> None:
        """Read the channels that only stand among the messages."""
        for start, end, packed in self.chunks:
            records = self._records(data[start:end], packed)
            for kind, first, last in of_kinds(records, (SCHEMA, CHANNEL)):
                self._learn(kind, records[first:last])

    def _learn(self, kind: int, content: bytes) -> None:
        """Note a schema or a channel."""
        if kind == SCHEMA:
            (number,) = struct.unpack_from("<H", content)
            self.schemas[number] = text(content, 2)[0]
        else:
            number, schema = struct.unpack_from("<HH", content)
            self.channels[number] = Topic(text(content, 4)[0], self.schemas.get(schema, ""))

    def _records(self, content: bytes, packed: bool) -> bytes:
        """Uncompressed records of a chunk; none where it is damaged.

        Of one at which the file was cut off, those that are there whole.
        """
        if not packed:
            return content
        *_, check, length = HEAD_OF_CHUNK.unpack_from(content)
        at = HEAD_OF_CHUNK.size + length
        name, data = content[HEAD_OF_CHUNK.size : at].decode("ascii", "replace"), content[at + 8 :]
        there = int.from_bytes(content[at : at + 8], "little")
        if len(data) < there:
            return whole_records(begun(name, data, self.path))
        records = decompressed(name, data, self.path)
        return b"" if check and zlib.crc32(records) != check else records

    def topics(self) -> tuple[Topic, ...]:
        """Its topics."""
        return tuple(dict.fromkeys(self.channels.values()))

    def pieces(self, topic: str) -> int:
        """Number of chunks."""
        return len(self.chunks)

    def read(self, topic: str, piece: int) -> Raw:
        """Messages of one chunk."""
        start, end, packed = self.chunks[piece]
        with Path(self.path).open("rb") as stream:
            stream.seek(start)
            records = self._records(stream.read(end - start), packed)
        wanted = {number for number, known in self.channels.items() if known.name == topic}
        messages: list[bytes] = []
        received: list[int] = []
        skip = RECORD.size + HEAD_OF_MESSAGE.size
        try:
            for at, step, count in runs(records):
                channel, *_ = HEAD_OF_MESSAGE.unpack_from(records, at + RECORD.size)
                if channel in wanted:
                    starts = range(at, at + step * count, step)
                    messages += [records[start + skip : start + step] for start in starts]
                    received += stamps(records, at, step, count)
        except struct.error:
            return Raw(messages, received, 1)
        return Raw(messages, received, int(not records))


def of_kinds(records: bytes, kinds: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
    """Kind, start and end of the records of these kinds."""
    at, head, read = 0, RECORD.size, RECORD.unpack_from
    while at + head <= len(records):
        kind, size = read(records, at)
        end = at + head + size
        if kind in kinds:
            yield kind, at + head, end
        at = end


def runs(records: bytes) -> Iterator[tuple[int, int, int]]:
    """Start, length of a record and number of records of runs of alike messages.

    Messages of one topic mostly have one size. Records of the same kind, size and channel that
    follow each other are found by comparing many at a time.
    """
    at, read = 0, RECORD.unpack_from
    while at + RECORD.size <= len(records):
        kind, size = read(records, at)
        step, count = RECORD.size + size, 1
        if kind == MESSAGE:
            head = records[at : at + ALIKE]
            if records[at + step : at + step + ALIKE] == head:
                count = alike(records, at, step)
            yield at, step, count
        at += step * count


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
    if at + step * count > len(records) or count == 1:  # cut off, or not worth an array
        return [HEAD_OF_MESSAGE.unpack_from(records, at + RECORD.size)[2]] * count
    table = np.frombuffer(records, np.uint8, step * count, at).reshape(count, step)
    start = RECORD.size + STAMP
    column = np.ascontiguousarray(table[:, start : start + 8]).view("<u8")
    return [int(stamp) for stamp in column[:, 0].tolist()]


def decompressed(name: str, data: bytes, path: str) -> bytes:
    """Uncompressed contents of a chunk; none where they are damaged."""
    if name == "":
        return data
    if name not in ("zstd", "lz4"):
        remedy = "convert it: ros2 bag convert, with compression zstd or none"
        raise RecordingError(path, f"has chunks compressed as {name!r}", remedy)
    if name == "lz4":
        frames = extra("lz4.frame", path)
        try:
            return bytes(frames.decompress(data))
        except RuntimeError:
            return b""
    # In the standard library from Python 3.14 on; before, what the bag library brings.
    zstd = extra("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd", path)
    try:
        return bytes(zstd.decompress(data))
    except zstd.ZstdError:
        return b""


def begun(name: str, data: bytes, path: str) -> bytes:
    """Uncompressed contents of the beginning of a chunk, as far as they go."""
    if name == "":
        return data
    if name == "lz4":
        frames = extra("lz4.frame", path)
        try:
            return bytes(frames.LZ4FrameDecompressor().decompress(data))
        except RuntimeError:
            return b""
    zstd = extra("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd", path)
    try:
        return bytes(zstd.ZstdDecompressor().decompress(data))
    except zstd.ZstdError:
        return b""


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
