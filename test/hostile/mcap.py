"""MCAP files whose records, chunks and indexes lie (mcap.dev/spec)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from functools import reduce
from pathlib import Path

import lz4.frame
from backports import zstd

from hostile.cases import COUNT, DATA, STAMP, TOPIC, Case, Cases, Make, joint_state, of_bytes
from recorded_motions import JOINT_STATE

MAGIC = b"\x89MCAP0\r\n"
SQUEEZE = {"": bytes, "zstd": zstd.compress, "lz4": lz4.frame.compress}
MEGABYTE = 2**20


def record(kind: int, content: bytes = b"", size: int | None = None) -> bytes:
    """A record, with another length where one is given."""
    return struct.pack("<BQ", kind, len(content) if size is None else size) + content


def text(word: str | bytes, size: int | None = None) -> bytes:
    """A string, with another length where one is given."""
    data = word.encode() if isinstance(word, str) else word
    return struct.pack("<I", len(data) if size is None else size) + data


def schema(number: int = 1, name: str | bytes = JOINT_STATE, size: int | None = None) -> bytes:
    """A schema's record."""
    return record(3, struct.pack("<H", number) + text(name, size) + text("ros2msg") + bytes(4))


def channel(
    number: int = 1,
    topic: str | bytes = TOPIC,
    *,
    schema_id: int = 1,
    encoding: str = "cdr",
    size: int | None = None,
) -> bytes:
    """A channel's record."""
    head = struct.pack("<HH", number, schema_id)
    return record(4, head + text(topic, size) + text(encoding) + bytes(4))


def message(
    k: int, data: bytes | None = None, *, number: int = 1, when: int | None = None
) -> bytes:
    """The record of a message, by default of sample k."""
    stamp = int(STAMP[k]) if when is None else when
    content = DATA[k] if data is None else data
    return record(5, struct.pack("<HIQQ", number, k, stamp, stamp) + content)


def chunk(
    body: bytes,
    packed: str = "",
    *,
    stated: int | None = None,
    check: int | None = None,
    named: bytes | None = None,
    size: int | None = None,
    length: int | None = None,
    data: bytes | None = None,
) -> bytes:
    """A chunk's record, with lies where they are given.

    Args:
        body: Its records.
        packed: Compression.
        stated: Uncompressed size.
        check: CRC of the records.
        named: The name of the compression as it stands there, with its length.
        size: Of the compressed records.
        length: Of the record.
        data: The compressed records.
    """
    small = SQUEEZE[packed](body) if data is None else data
    crc = zlib.crc32(body) if check is None else check
    head = struct.pack("<QQQI", 0, 0, len(body) if stated is None else stated, crc)
    head += text(packed) if named is None else named
    return record(
        6, head + struct.pack("<Q", len(small) if size is None else size) + small, length
    )


def index(
    entries: int, number: int = 1, *, size: int | None = None, offset: int | None = None
) -> bytes:
    """The record of an index of a chunk."""
    body = b"".join(
        struct.pack("<QQ", k, 9 * k if offset is None else offset) for k in range(entries)
    )
    return record(7, struct.pack("<HI", number, len(body) if size is None else size) + body)


def statistics(messages: int, counts: dict[int, int], chunks: int = 3) -> bytes:
    """The record of statistics."""
    table = b"".join(struct.pack("<HQ", number, count) for number, count in counts.items())
    head = struct.pack("<QHIIIIQQ", messages, 1, len(counts), 0, 0, chunks, 0, 0)
    return record(11, head + struct.pack("<I", len(table)) + table)


HEAD = MAGIC + record(1, text("ros2") + text("test"))
KNOWN = schema() + channel()
END = record(15, bytes(4))
FOOTER = record(2, bytes(20)) + MAGIC
TAIL = END + KNOWN + statistics(COUNT, {1: COUNT}) + FOOTER
PARTS = [b"".join(message(k) for k in range(a, a + 100)) for a in (0, 100, 200)]


def mcap(*parts: bytes, tail: bytes = TAIL, head: bytes = HEAD) -> Make:
    """A file of these records."""
    return of_bytes("bag.mcap", head + b"".join(parts) + tail)


def three(*middle: bytes, packed: str = "", tail: bytes = TAIL) -> Make:
    """A file of three chunks with indexes, of which the second one is replaced."""
    first = chunk(KNOWN + PARTS[0], packed) + index(100)
    return mcap(first, *middle, chunk(PARTS[2], packed) + index(100), tail=tail)


def good(packed: str = "") -> bytes:
    """A whole file."""
    parts = [chunk((KNOWN if k == 0 else b"") + part, packed) + index(100)
             for k, part in enumerate(PARTS)]  # fmt: skip
    return HEAD + b"".join(parts) + TAIL


def later(make: Callable[[], Make]) -> Make:
    """A large file, made when it is needed."""
    return lambda folder: make()(folder)


def sparse(size: int) -> Make:
    """A good beginning, and a hole up to a size."""

    def make(folder: Path) -> Path:
        path = folder / "bag.mcap"
        with path.open("wb") as stream:
            stream.write(HEAD + KNOWN + b"".join(PARTS))
            stream.truncate(size)
        return path

    return make


LOST = "cannot be read to the end"
CUT = "not closed or is cut off"
SECOND = PARTS[1]
WHOLE = chunk(SECOND) + index(100)
EMPTY_FRAME = zstd.compress(b"")
SKIPPED_FRAME = b"\x50\x2a\x4d\x18" + bytes(4)
ALTERNATING = b"".join(
    record(5, struct.pack("<HIQQ", 1 + k % 2, k, k, k) + bytes(k % 2)) for k in range(2000)
)

CASES: Cases = {
    "whole": Case("the good file itself", mcap(head=good(), tail=b""), COUNT),
    "whole zstd": Case("the good file, zstd", mcap(head=good("zstd"), tail=b""), COUNT),
    "whole lz4": Case("the good file, lz4", mcap(head=good("lz4"), tail=b""), COUNT),
    "magic only": Case("nothing behind the magic", of_bytes("a.mcap", MAGIC), None,
        "nothing in it"),
    "wrong version": Case("magic of another version",
        of_bytes("a.mcap", b"\x89MCAP1\r\n" + good()[8:]),
                          None, "neither an SQLite nor an MCAP"),
    "line ends": Case("sent as text: CR LF became LF",
        of_bytes("a.mcap", good().replace(b"\r\n", b"\n")),
                      None, "neither an SQLite nor an MCAP"),
    "no footer": Case("the recorder was killed", three(WHOLE, tail=b""), COUNT, CUT),
    "no data end": Case("footer at once", three(WHOLE, tail=FOOTER), COUNT),
    "footer first": Case("a footer before the messages hides them", mcap(FOOTER, *PARTS), None,
                         "behind its end"),
    "twice": Case("two files were joined by cat", of_bytes("a.mcap", good() + good()), COUNT,
                  "behind its end"),
    "tail of zeros": Case("power was lost: 20 MB of zeros at the end",
                          later(lambda: of_bytes("a.mcap",
                          HEAD + KNOWN + b"".join(PARTS) + bytes(20 * MEGABYTE))),
                          COUNT, CUT),
    "hole of a terabyte": Case("a sparse file, 1 TiB of zeros", sparse(2**40), COUNT, CUT),
    "opcode 0": Case("an opcode that does not exist in the middle",
        mcap(KNOWN, PARTS[0], bytes(9), PARTS[1]),
                     100, CUT),
    "unknown opcodes": Case("private records between the messages are skipped",
                            mcap(KNOWN, PARTS[0], record(0x99, b"x" * 99), PARTS[1], record(0x7F),
                            PARTS[2]),
                            COUNT),
    "messages of no channel": Case("a channel that nothing describes",
                                   mcap(KNOWN, *PARTS,
                                   *(message(k, number=9) for k in range(99))), COUNT, "has 399"),
    "channel without schema": Case("schema id 0: the type is unknown",
                                   mcap(channel(schema_id=0), *PARTS, tail=END + FOOTER), None,
                                   "no topic of type"),
    "schema afterwards": Case("the channel comes before its schema",
                              mcap(channel(), schema(), *PARTS, tail=END + FOOTER), None,
                              "no topic of type"),
    "schema redefined": Case("the same schema number, another type",
                             mcap(KNOWN, *PARTS, schema(1, "std_msgs/msg/String"),
                             tail=END + FOOTER), COUNT,
                             "defined twice"),
    "channel redefined": Case("the same channel number, another topic",
                              mcap(KNOWN, *PARTS, channel(1, "/other"), tail=END + FOOTER), COUNT,
                              "defined twice"),
    "summary lies of channels": Case("the summary gives the messages to another topic",
                                     mcap(KNOWN, *PARTS,
                                     tail=END + schema() + channel(1, "/other") + FOOTER),
                                     COUNT, "defined twice"),
    "65535 channels": Case("every number is a channel of the topic",
                           mcap(KNOWN, *(channel(k) for k in range(2, 65536)), *PARTS), COUNT),
    "20000 topics": Case("a topic for each of 20 000 channels",
                         mcap(KNOWN, *(channel(k, f"/t{k}") for k in range(2, 20000)), *PARTS),
                         None,
                         "topics of type"),
    "long topic": Case("a topic's name of 5 MB",
        mcap(KNOWN, channel(2, "/" + "x" * 5 * MEGABYTE), *PARTS), COUNT,
                       "damaged list of topics"),
    "only a long topic": Case("an error must not quote 5 MB",
        mcap(schema(), channel(2, "/" + "x" * 5 * MEGABYTE), tail=END + FOOTER),
                              None, "no topic of type"),
    "topic with escapes": Case("a name that renames the terminal",
                               mcap(schema(), channel(1, "\x1b]0;x\x07\u202e"), *PARTS,
                               tail=END + FOOTER), COUNT),
    "topic not UTF-8": Case("a name of bytes",
        mcap(schema(), channel(1, b"\xff\xfe"), *PARTS, tail=END + FOOTER),
                            COUNT),
    "json": Case("messages are said to be JSON",
        mcap(schema(), channel(encoding="json"), *PARTS, tail=END + FOOTER),
                 None, "encoded as json"),
    "ros1": Case("messages are said to be ROS 1's",
        mcap(schema(), channel(encoding="ros1"), *PARTS,
                 tail=END + FOOTER), None, "encoded as ros1"),
    "chunk in a chunk": Case("a chunk within a chunk is no record of one",
                             three(chunk(WHOLE) + index(0)), 200, "messages"),
    "deep chunks": Case("chunks within chunks, 400 deep",
                        three(reduce(lambda body, _: chunk(body), range(400), SECOND)), 200,
                        "300 messages"),
    "empty chunk": Case("a chunk without records", three(WHOLE, chunk(b"") + index(0)), COUNT),
    "short chunk": Case("a chunk's record of 3 bytes", three(WHOLE, record(6, b"abc")), COUNT,
        LOST),
    "wrong CRC": Case("a chunk whose checksum is wrong",
        three(chunk(SECOND, check=7) + index(100)), 200, LOST),
    "wrong CRC zstd": Case("the same, compressed",
        three(chunk(SECOND, "zstd", check=7) + index(100), packed="zstd"),
                           200, LOST),
    "CRC 0": Case("a chunk without a checksum", three(chunk(SECOND, check=0) + index(100)), COUNT),
    "flipped bit": Case("one bit of a message in a chunk",
                        of_bytes("a.mcap", good().replace(DATA[150], DATA[150][:-1] + b"\0")),
                        200, LOST),
    "flipped bit, no chunks": Case("one bit, where the file's checksum shows it",
                                   mcap(KNOWN, *PARTS[:2], PARTS[2][:-1] + b"\0",
                                   tail=record(15, struct.pack(
                                       "<I",
                                       zlib.crc32(
                                       HEAD + KNOWN + b"".join(PARTS)))) + KNOWN + FOOTER),
                                   COUNT - 1, "checksum", 1),
    "data CRC": Case("a right checksum of the whole file",
                     mcap(KNOWN, *PARTS, tail=record(15, struct.pack(
                         "<I", zlib.crc32(HEAD + KNOWN + b"".join(PARTS)))) + KNOWN + FOOTER),
                         COUNT),
    "stated too small": Case("a chunk larger than it says",
        three(chunk(SECOND, "zstd", stated=100) + index(100)),
                             200, LOST),
    "stated too large": Case("a chunk smaller than it says",
                             three(chunk(SECOND, "zstd", stated=len(SECOND) + 1,
                             check=0) + index(100)), 200, LOST),
    "stated, uncompressed": Case("a chunk without compression that is not of its size",
                                 three(chunk(SECOND, stated=5, check=0) + index(100)), 200, LOST),
    "unknown compression": Case("chunks packed with brotli",
        mcap(chunk(KNOWN + PARTS[0], named=text("brotli"))), None,
                                "compressed as 'brotli'"),
    "compression of megabytes": Case("the name of a compression is the chunk",
                                     three(chunk(SECOND, named=text("x" * 3 * MEGABYTE))), 200,
                                     LOST),
    "compression of escapes": Case("the name of a compression is garbage",
                                   three(chunk(SECOND, named=text(b"\xff\x1b[2J")) + index(100)),
                                   200, LOST),
    "garbage as zstd": Case("what is said to be zstd is not",
        three(chunk(SECOND, named=text("zstd")) + index(100)),
                            200, LOST),
    "garbage as lz4": Case("what is said to be lz4 is not",
        three(chunk(SECOND, named=text("lz4")) + index(100)),
                           200, LOST),
    "lz4 as zstd": Case("the wrong one of two compressions",
                        three(chunk(SECOND, named=text("zstd"),
                        data=lz4.frame.compress(SECOND)) + index(100)), 200,
                        LOST),
    "cut frame": Case("half of a zstd frame",
                      three(chunk(SECOND, "zstd", data=zstd.compress(SECOND)[:900]) + index(100)),
                      200, LOST),
    "bytes behind a frame": Case("rubbish behind a zstd frame",
                                 three(chunk(SECOND, "zstd",
                                 data=zstd.compress(SECOND) + b"abc") + index(100)), 200,
                                 LOST),
    "100 000 frames": Case("empty zstd frames, one by one", three(
        chunk(SECOND, "zstd", data=EMPTY_FRAME * 100_000 + zstd.compress(SECOND)) + index(100)),
        200, LOST),
    "100 000 skipped frames": Case("zstd frames to be skipped", three(
        chunk(SECOND, "zstd", data=SKIPPED_FRAME * 100_000 + zstd.compress(SECOND)) + index(100)),
        200, LOST),
    "lz4 frames": Case("empty lz4 frames, one by one", three(
        chunk(SECOND, "lz4",
        data=lz4.frame.compress(b"") * 50_000 + lz4.frame.compress(SECOND)) + index(100)), 200,
        LOST),
    "large window": Case("a zstd frame that asks for a window of 2 GB", three(
        chunk(SECOND, "zstd", data=b"\x28\xb5\x2f\xfd\x00\xa8" + b"\x01\x00\x00") + index(100)),
        200, LOST),
    "zeros": Case("a chunk of zeros is no records",
        three(chunk(bytes(50_000), check=0) + index(100)), 200, LOST),
    "bomb of zeros": Case("12 KB that are 120 MiB of zeros",
                          later(lambda: three(chunk(bytes(120 * MEGABYTE), "zstd", check=0))),
                          200, LOST),
    "bomb of records": Case("7 KB that are 7 million empty records",
                            later(lambda: three(chunk(record(0x80) * (7 * MEGABYTE), "zstd",
                            check=0))), 200, LOST),
    "bomb of messages": Case("messages without end, of two channels in turn",
                             later(lambda: three(chunk(ALTERNATING * 1000, "zstd", check=0))),
                             200, LOST),
    "200 bombs": Case("200 chunks of 120 MiB each",
        later(lambda: three(chunk(bytes(120 * MEGABYTE), "zstd", check=0) * 200)),
                      200, LOST),
    "200 bombs with indexes": Case(
        "200 chunks of 120 MiB each, said to hold the joints",
        later(lambda: three((chunk(bytes(120 * MEGABYTE), "zstd", check=0) + index(4096)) * 200)),
        200, LOST),
    "empty messages": Case("message records of no length, alike",
        mcap(KNOWN, *PARTS, record(5) * 50), COUNT, LOST),
    "empty messages in a chunk": Case("the same in a chunk",
                                      three(WHOLE, chunk(record(5) * 50)), COUNT, LOST),
    "short messages": Case("message records of one byte",
        mcap(KNOWN, *PARTS, record(5, b"\1") * 50), COUNT, LOST),
    "headless messages": Case("message records of 21 bytes",
        mcap(KNOWN, *PARTS, record(5, b"\1" + bytes(20)) * 50),
                              COUNT, LOST),
    "bare messages": Case("messages without contents",
        mcap(KNOWN, *PARTS, *(message(k, b"") for k in range(50))),
                          COUNT, "50 damaged messages"),
    "index of nothing": Case("an index with the wrong channel hides a chunk",
                             three(chunk(SECOND) + index(100, 5)), COUNT, LOST),
    "index too many": Case("an index that counts more than there are",
        three(chunk(SECOND) + index(5000)), COUNT,
                           LOST),
    "index too few": Case("an index that counts fewer than there are",
        three(chunk(SECOND) + index(1)), COUNT, LOST),
    "index twice": Case("an index that is there twice", three(WHOLE + index(100)), COUNT, LOST),
    "index out of the chunk": Case("offsets beyond the chunk are not followed",
                                   three(chunk(SECOND) + index(100, offset=2**63)), COUNT),
    "index loops": Case("all offsets lead to one message",
        three(chunk(SECOND) + index(100, offset=0)), COUNT),
    "index first": Case("an index before any chunk", mcap(index(100), KNOWN, *PARTS), COUNT),
    "no index": Case("chunks without an index", three(chunk(SECOND)), COUNT),
    "statistics too many": Case("statistics count more messages than there are",
                                three(WHOLE,
                                tail=END + KNOWN + statistics(999, {1: 999}) + FOOTER), COUNT,
                                "999 messages"),
    "statistics too few": Case("statistics count fewer messages than there are",
                               three(WHOLE, tail=END + KNOWN + statistics(9, {1: 9}) + FOOTER),
                               COUNT, "9 messages"),
    "no statistics": Case("a summary without statistics", three(WHOLE, tail=END + KNOWN + FOOTER),
        COUNT),
    "statistics cut": Case("a record of statistics that is too short",
                           three(WHOLE, tail=END + KNOWN + record(11, b"abc") + FOOTER), COUNT),
    "a lost chunk": Case("a chunk cut out of a closed file", three(), 200, "300 messages"),
    "the latest times": Case("received at 2^64-1 ns, headers without stamps",
                             mcap(KNOWN,
                             *(message(k, joint_state(k, seconds=0, nanoseconds=0),
                             when=2**64 - 1 - k)
                                           for k in range(50))), None, "none later"),
    "messages packed": Case("rosbag2 packed the messages one by one",
                            mcap(KNOWN, *(message(k, zstd.compress(DATA[k])) for k in range(50))),
                            None,
                            "compressed one by one"),
    "attachment": Case("an attachment of a megabyte is skipped",
        mcap(KNOWN, record(9, bytes(MEGABYTE)), *PARTS), COUNT),
    "metadata": Case("a record of metadata is skipped",
        mcap(KNOWN, record(12, text("x") * 9), *PARTS), COUNT),
}  # fmt: skip

# A file that ends at a border between records, and one byte before and behind it.
BORDERS = {
    "header": len(HEAD),
    "channels": len(HEAD + KNOWN),
    "messages": len(HEAD + KNOWN + PARTS[0]),
}
CASES |= {
    f"cut {shift:+d} at {name}": Case(
        "a file that ends at a record's border or beside it",
        of_bytes("a.mcap", (HEAD + KNOWN + b"".join(PARTS))[: at + shift]),
        None if name != "messages" else 100 - (shift < 0), CUT,
    )
    for name, at in BORDERS.items()
    for shift in (-1, 0, 1)
}  # fmt: skip
