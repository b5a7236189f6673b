"""MCAP files (mcap.dev/spec): chunks of messages, and where the messages of a topic are.

The file is walked record by record, not by its index, so that one that was never closed is
read as far as it goes. Records that follow each other make a block of bounded size; the index
behind each chunk says how many messages of each channel it holds. A piece of a topic is PIECE
of its messages, whatever the writer's chunks are: numbers do not depend on them.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.arrays import IntArray
from geared_dynamics.errors import RecordingError
from geared_dynamics.recordings.container import (
    LONGEST_NAME,
    PIECE,
    Raw,
    Topic,
    refuse_packed,
    reopened,
)
from geared_dynamics.recordings.mcap_records import (
    CHANNEL,
    CHUNK,
    DATA_END,
    FOOTER,
    HEAD_OF_MESSAGE,
    INDEX,
    MESSAGE,
    RECORD,
    SCHEMA,
    STATISTICS,
    counted,
    indexed,
    is_empty,
    messages_of,
    of_kinds,
    stated_counts,
    text,
    uncompressed,
)

MAGIC = b"\x89MCAP0\r\n"
BLOCK = 1 << 20  # bytes of a block, unless a chunk is larger
LONGEST = 1 << 28  # bytes of a chunk that is believed to be one, cut off by the file's end
CHECKED = 1 << 24  # bytes that a checksum is formed of at a time
TRUNCATED = "was not closed or is cut off: what is there is read"


class Block(NamedTuple):
    """Part of a file: start and end, messages by channel, chunks that can not be read."""

    start: int
    end: int
    counts: dict[int, int]
    lost: int


class Chunk(NamedTuple):
    """A chunk: start and end of its contents, messages by channel, where it has an index."""

    start: int
    end: int
    counts: dict[int, int] | None


class McapFile:
    """An ``.mcap`` file, read block by block."""

    def __init__(self, path: Path) -> None:
        """Walk its records and read its channels.

        Raises:
            RecordingError: If it is no MCAP file.
        """
        self.path, self.place = str(path), path.resolve()
        self.notes: tuple[str, ...] = ()
        self.schemas: dict[int, str] = {}
        self.channels: dict[int, Topic] = {}
        self.blocks: list[Block] = []
        self._cached: dict[str, Any] = {}
        with path.open("rb") as stream:
            if stream.read(len(MAGIC)) != MAGIC:
                raise RecordingError(
                    self.path, "does not begin as an MCAP file does", "give an MCAP file"
                )
            with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
                if not self._walk(data):
                    self.notes = (f"{self.path} {TRUNCATED}", *self.notes)
                    self._learn_from_chunks(data)
                elif not self.channels:
                    self._learn_from_chunks(data)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what was read last."""
        return self.__dict__ | {"_cached": {}}

    def _walk(self, data: mmap.mmap) -> bool:
        """Note blocks and what they hold; whether the file has a proper end."""
        at, open_block = len(MAGIC), OpenBlock(self.path)
        closed = False
        stated: dict[int, int] | None = None
        while at + RECORD.size <= len(data):
            kind, size = RECORD.unpack_from(data, at)
            start, end = at + RECORD.size, at + RECORD.size + size
            if end > len(data):
                if kind == CHUNK and len(data) - start < LONGEST:
                    open_block.settle(data)
                    open_block.add(kind, at, end, data)
                break
            if kind in (MESSAGE, CHUNK):
                open_block.settle(data)
                if open_block.full(end):
                    self.blocks.append(open_block.closed())
                open_block.add(kind, at, end, data)
            elif kind == INDEX:
                open_block.index(data[start:end], end)
            elif kind in (SCHEMA, CHANNEL):
                self._learn(kind, data[start:end])
            elif kind == STATISTICS:
                stated = stated_counts(data[start:end])
            elif kind == DATA_END:
                self._check(data, at, int.from_bytes(data[start : min(start + 4, end)], "little"))
            elif kind == FOOTER:
                closed = True
                self._refuse_more(data, end)
                break
            elif not kind:  # no record: what a disk has behind the end of what was written
                break
            at = end
        open_block.settle(data)
        if open_block.start >= 0:
            self.blocks.append(open_block.closed())
        if closed and stated is not None:
            self._compare(stated)
        return closed

    def _note(self, finding: str) -> None:
        """Note damage, once."""
        note = f"{self.path} {finding}"
        self.notes = self.notes if note in self.notes else (*self.notes, note)

    def _refuse_more(self, data: mmap.mmap, end: int) -> None:
        """Note what follows the footer: the magic is the end of a file."""
        more = len(data) - end - len(MAGIC)
        if more > 0:
            self._note(f"has {more} bytes behind its end, which are not read")
        elif data[end:] != MAGIC:
            self._note(TRUNCATED)

    def _check(self, data: mmap.mmap, end: int, stated: int) -> None:
        """Note a wrong checksum of all that is before the data's end, where there is one.

        Writers begin with the file, with what follows the magic, or with what follows the header.
        """
        head = len(MAGIC) + RECORD.size + RECORD.unpack_from(data, len(MAGIC))[1]
        starts = (0, len(MAGIC), head)
        if stated and all(checksum(data, start, end) != stated for start in starts):
            self._note("does not have the checksum that it states: something in it is damaged")

    def _compare(self, stated: dict[int, int]) -> None:
        """Note other numbers of messages than the file's statistics name."""
        there: dict[int, int] = {}
        for block in self.blocks:
            for number, count in block.counts.items():
                there[number] = there.get(number, 0) + count
        if {k: n for k, n in there.items() if n} != {k: n for k, n in stated.items() if n}:
            said, counted = sum(stated.values()), sum(there.values())
            self._note(f"states {said} messages and has {counted}, or others: some may be lost")

    def _learn_from_chunks(self, data: mmap.mmap) -> None:
        """Read the channels that only stand among the messages."""
        for block in self.blocks:
            if block.counts and self.channels.keys() >= block.counts.keys():
                continue
            content = data[block.start : block.end]
            for a, b, _ in chunks_of(content):
                records = uncompressed(content[a:b], self.path, b > len(content))
                for kind, first, last in of_kinds(records, (SCHEMA, CHANNEL)):
                    self._learn(kind, records[first:last])

    def _learn(self, kind: int, content: bytes) -> None:
        """Note a schema or a channel; a damaged one is none, and the first of a number counts."""
        try:
            if kind == SCHEMA:
                (number,) = struct.unpack_from("<H", content)
                name = self._name(content, 2)[0]
                other = self.schemas.setdefault(number, name) != name
            else:
                number, schema = struct.unpack_from("<HH", content)
                name, end = self._name(content, 4)
                encoding = self._name(content, end)[0]
                topic = Topic.of(name, self.schemas.get(schema, ""), encoding)
                other = self.channels.setdefault(number, topic) != topic
        except struct.error:
            self._note("has a damaged list of topics")
            return
        if other:
            what = "schema" if kind == SCHEMA else "channel"
            self._note(f"has a {what} {number} that is defined twice: the first one counts")

    @staticmethod
    def _name(content: bytes, at: int) -> tuple[str, int]:
        """Read a name and where it ends; raise struct.error if it is damaged."""
        name, end = text(content, at)
        if end > len(content) or len(name) > LONGEST_NAME:
            raise struct.error
        return name, end

    def topics(self) -> tuple[Topic, ...]:
        """Its topics."""
        return tuple(dict.fromkeys(self.channels.values()))

    def _wanted(self, topic: str) -> set[int]:
        """Channels of a topic."""
        return {number for number, known in self.channels.items() if known.name == topic}

    def _starts(self, topic: str) -> IntArray:
        """How many messages of a topic are before each block, and in all blocks."""
        key = f"starts of {topic}"
        if key not in self._cached:
            channels = self._wanted(topic)
            counts = [
                sum(block.counts[k] for k in channels & block.counts.keys())
                for block in self.blocks
            ]
            self._cached[key] = np.concatenate([[0], np.cumsum(np.array(counts, np.int64))])
        starts: IntArray = self._cached[key]
        return starts

    def pieces(self, topic: str) -> int:
        """Number of pieces."""
        return -(-int(self._starts(topic)[-1]) // PIECE)

    def read(self, topic: str, piece: int) -> Raw:
        """Messages of one piece."""
        starts = self._starts(topic)
        low, high = piece * PIECE, (piece + 1) * PIECE
        first = int(np.searchsorted(starts[:-1], low, "left"))
        if first and starts[first] > low:
            first -= 1
        last = int(np.searchsorted(starts[:-1], high, "left"))
        if high >= starts[-1]:  # with what is damaged at the end
            last = len(self.blocks)
        messages: list[bytes] = []
        received: list[int] = []
        lost = 0
        for k in range(first, last):
            count = int(starts[k + 1] - starts[k])
            if not count and not self.blocks[k].lost:
                continue
            block = self._block(topic, k)
            a = max(low - int(starts[k]), 0)
            b = high - int(starts[k]) if starts[k + 1] > high else None
            messages += block.messages[a:b]
            received += block.received[a:b]
            lost += 0 if a else block.lost
        refuse_packed(self.path, messages)
        return Raw(messages, received, lost)

    def _block(self, topic: str, number: int) -> Raw:
        """Messages of a topic in a block; the one that was read last is kept."""
        key, kept = self._cached.get("block", (None, None))
        if key != (topic, number):
            kept = self._read_block(self._wanted(topic), self.blocks[number])
            self._cached["block"] = ((topic, number), kept)
        raw: Raw = kept
        return raw

    def _read_block(self, channels: set[int], block: Block) -> Raw:
        """Messages of some channels in a block."""
        with reopened(self.place, self.path) as stream:
            stream.seek(block.start)
            content = stream.read(block.end - block.start)
        messages: list[bytes] = []
        received: list[int] = []
        lost = at = 0
        behind = Chunk(len(content) + RECORD.size, 0, {})
        for start, end, counts in [*chunks_of(content), behind]:
            some, when, damaged = messages_of(content[at : start - RECORD.size], channels)
            at = end  # what is outside of chunks
            if counts is None or not channels.isdisjoint(counts) or self._unknown(counts):
                cut = end > len(content)
                records = uncompressed(content[start:end], self.path, cut)
                more, when_more, harm = messages_of(records, channels)
                stated = None if counts is None else sum(counts.get(k, 0) for k in channels)
                # Damaged, or not what its index says.
                empty = not records and not is_empty(content[start:end])
                damaged |= empty or harm or stated not in (None, len(more))
                some, when = some + more, when + when_more
            messages += some
            received += when
            lost += damaged
        return Raw(messages, received, lost)

    def _unknown(self, counts: dict[int, int]) -> bool:
        """Whether an index names channels that the file does not have: it is not believed."""
        return not self.channels.keys() >= counts.keys()


class OpenBlock:
    """The block that a walk is in."""

    def __init__(self, path: str) -> None:
        """Start without any."""
        self.path = path
        self.start = self.end = -1
        self.counts: dict[int, int] = {}
        self.lost = 0
        self.chunk: tuple[int, int] | None = None  # without an index so far

    def full(self, end: int) -> bool:
        """Whether it is too large for more, up to ``end``."""
        if self.start < 0:
            return False
        return end - self.start > BLOCK or sum(self.counts.values()) >= PIECE

    def add(self, kind: int, at: int, end: int, data: mmap.mmap) -> None:
        """Add a chunk or a message."""
        self.start, self.end = at if self.start < 0 else self.start, min(end, len(data))
        if kind == CHUNK:
            self.chunk = (at + RECORD.size, end)
        elif end - at >= RECORD.size + HEAD_OF_MESSAGE.size:
            self.count(HEAD_OF_MESSAGE.unpack_from(data, at + RECORD.size)[0], 1)

    def count(self, channel: int, messages: int) -> None:
        """Count messages of a channel."""
        self.counts[channel] = self.counts.get(channel, 0) + messages

    def index(self, content: bytes, end: int) -> None:
        """Take what an index says of the chunk before it."""
        entry = indexed(content)
        if entry is not None and self.start >= 0:
            self.count(*entry)
            self.chunk, self.end = None, end

    def settle(self, data: mmap.mmap) -> None:
        """Count the messages of a chunk that has no index."""
        if self.chunk is None:
            return
        start, end = self.chunk
        records = uncompressed(data[start:end], self.path, end > len(data))
        self.lost += not records and not is_empty(data[start:end])
        for channel, messages in counted(records).items():
            self.count(channel, messages)
        self.chunk = None

    def closed(self) -> Block:
        """Return the block, and start again."""
        block = Block(self.start, self.end, self.counts, self.lost)
        self.start, self.counts, self.lost = -1, {}, 0
        return block


def chunks_of(content: bytes) -> list[Chunk]:
    """Chunks of a block; the records of an index follow their chunk."""
    chunks: list[Chunk] = []
    for kind, start, end in of_kinds(content, (CHUNK, INDEX)):
        if kind == CHUNK:
            chunks.append(Chunk(start, end, None))
            continue
        entry = indexed(content[start:end])
        if entry is not None and chunks:
            counts = chunks[-1].counts or {}
            counts[entry[0]] = counts.get(entry[0], 0) + entry[1]
            chunks[-1] = chunks[-1]._replace(counts=counts)
    return chunks


def checksum(data: mmap.mmap, start: int, end: int) -> int:
    """CRC-32 of a part of a file."""
    check = 0
    for at in range(start, end, CHECKED):
        check = zlib.crc32(data[at : min(at + CHECKED, end)], check)
    return check
