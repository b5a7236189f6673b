"""Cases of all formats that were written when the readers had passed all others."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import lz4.frame
from backports import zstd

from hostile.cases import (
    COUNT,
    DATA,
    NAMES,
    TOPIC,
    A,
    Case,
    Cases,
    Make,
    Q,
    V,
    bag_of,
    joint_state,
    of_bytes,
)
from hostile.folders import INFORMATION, TABLE, folder_of
from hostile.mcap import (
    CUT,
    END,
    FOOTER,
    HEAD,
    KNOWN,
    LOST,
    PARTS,
    SECOND,
    SKIPPED_FRAME,
    TAIL,
    WHOLE,
    channel,
    chunk,
    good,
    index,
    mcap,
    message,
    record,
    schema,
    text,
    three,
)
from hostile.sqlite_files import PAGE, base, changed, patched, root
from hostile.tables import HEADS, LINES, table, written
from recorded_motions import JOINT_STATE

COPY = "ALTER TABLE messages RENAME TO old"
WIDE = ", ".join(f"c{k}" for k in range(1900))
BYTES = tuple(name.encode() + b"\0" for name in NAMES)


def on_root(place: int, content: bytes) -> Make:
    """A bag with other bytes on the first page of its messages."""

    def change(data: bytearray) -> None:
        start = root(data) + place
        data[start : start + len(content)] = content

    return patched(change)


def on_leaf(change: Callable[[bytearray, int], None]) -> Make:
    """A bag of which one page with messages is changed; the function gets where it begins."""

    def make_it(data: bytearray) -> None:
        start = root(data)
        cell = start + struct.unpack_from(">H", data, start + 12 + 2 * 5)[0]
        change(data, PAGE * (struct.unpack_from(">I", data, cell)[0] - 1))

    return patched(make_it)


def first_cell(data: bytearray, page: int) -> int:
    """Where the first message of a page begins."""
    return page + int(struct.unpack_from(">H", data, page + 8)[0])


def wiped(data: bytearray, page: int) -> None:
    """A page of zeros."""
    data[page : page + PAGE] = bytes(PAGE)


def scattered_cells(data: bytearray, page: int) -> None:
    """Messages that begin behind the page."""
    for k in range(struct.unpack_from(">H", data, page + 3)[0]):
        struct.pack_into(">H", data, page + 8 + 2 * k, 65535 - k)


def endless_payload(data: bytearray, page: int) -> None:
    """A message of 2^64-1 bytes."""
    cell = first_cell(data, page)
    data[cell : cell + 9] = b"\xff" * 9


def long_header(data: bytearray, page: int) -> None:
    """A row whose header is longer than the row."""
    data[first_cell(data, page) + 4] = 127


def reserved_type(data: bytearray, page: int) -> None:
    """A column of a type that SQLite keeps for itself."""
    data[first_cell(data, page) + 6] = 11


def hole(folder: Path) -> Path:
    """A good bag with a hole of 1 TB behind it."""
    path = base()(folder)
    with path.open("r+b") as stream:
        stream.truncate(2**40)
    return path


def linked(folder: Path) -> Path:
    """A link to a bag's folder."""
    folder_of()(folder)
    (folder / "link").symlink_to("bag")
    return folder / "link"


def both(change: Callable[[int], bytes]) -> Make:
    """A bag whose second hundred of messages comes from a function of the number."""
    return bag_of([change(k) if 100 <= k < 200 else DATA[k] for k in range(COUNT)])


DAMAGED = "100 damaged messages"
UNSUMMED = END + KNOWN + FOOTER
LATE = PARTS[1] + PARTS[0] + PARTS[2]
CASES: Cases = {
    "channel at the end": Case("a channel behind its messages",
        mcap(*PARTS, KNOWN, tail=END + FOOTER), COUNT),
    "two channels": Case("two publishers of the topic, in turn", mcap(
        KNOWN, channel(2), *(message(k, number=1 + k % 2) for k in range(COUNT)), tail=UNSUMMED),
        COUNT),
    "metadata of a channel": Case("a channel whose metadata's length lies", mcap(schema(), record(
        4, struct.pack("<HH", 1, 1) + text(TOPIC) + text("cdr") + b"\xff" * 4), *PARTS,
        tail=END + FOOTER), COUNT),
    "text of a schema": Case("a schema whose text's length lies", mcap(record(
        3, struct.pack("<H", 1) + text(JOINT_STATE) + text("ros2msg") + b"\xff" * 4), channel(),
        *PARTS,
        tail=END + FOOTER), COUNT),
    "5000 empty chunks": Case("chunks of nothing", mcap(KNOWN, *PARTS, chunk(b"") * 5000), COUNT),
    "no last magic": Case("the last eight bytes are missing", of_bytes("a.mcap", good()[:-8]),
        COUNT, CUT),
    "wrong last magic": Case("the last eight bytes are others",
        of_bytes("a.mcap", good()[:-8] + b"abcdefgh"),
                             COUNT, CUT),
    "header twice": Case("a second header", mcap(HEAD[8:], KNOWN, *PARTS), COUNT),
    "magic within": Case("a magic between the records",
        mcap(KNOWN, PARTS[0], HEAD[:8], *PARTS[1:]), (100, COUNT),
                         CUT),
    "data end of nothing": Case("a data end without its checksum",
        three(WHOLE, tail=record(15) + TAIL[len(END):]),
                                COUNT),
    "data end twice": Case("messages behind the data's end",
        mcap(KNOWN, PARTS[0], END, *PARTS[1:]), COUNT),
    "skipped frame first": Case("a zstd frame to be skipped, then the right one",
                                three(chunk(SECOND, data=SKIPPED_FRAME + zstd.compress(SECOND),
                                packed="zstd")
                                      + index(100)), COUNT),
    "lz4 checksum": Case("a wrong checksum within lz4",
        three(chunk(SECOND, "lz4", data=lz4.frame.compress(
        SECOND, content_checksum=True)[:-1] + b"x") + index(100)), 200, LOST),
    "zstd dictionary": Case("a zstd frame that needs a dictionary", three(chunk(
        SECOND, "zstd",
        data=b"\x28\xb5\x2f\xfd\x01\x2a" + zstd.compress(SECOND)[5:]) + index(100)), 200, LOST),
    "cut message": Case("a chunk that ends within a message, its checksum right", three(
        chunk(SECOND[:-5]) + index(100)), 299, LOST),
    "length within": Case("the first message of a chunk is longer than the chunk", three(
        chunk(SECOND[:1] + b"\xff" * 8 + SECOND[9:]) + index(100)), 200, LOST),
    "many columns": Case("1900 columns before those that are read", changed(
        COPY, f"CREATE TABLE messages({WIDE}, topic_id, timestamp, data)",
        "INSERT INTO messages(topic_id, timestamp, data) SELECT topic_id, timestamp, data"
        " FROM old"), COUNT),
    "capital columns": Case("columns in capitals", changed(
        COPY, "CREATE TABLE messages(ID INTEGER PRIMARY KEY, TOPIC_ID, TIMESTAMP, DATA)",
        "INSERT INTO messages SELECT * FROM old"), COUNT),
    "ids of one value": Case("all messages have the same id", changed(
        COPY, "CREATE TABLE messages(id INTEGER, topic_id, timestamp, data)",
        "INSERT INTO messages SELECT 7, topic_id, timestamp, data FROM old"), COUNT),
    "wiped page": Case("a page of messages was overwritten by zeros", on_leaf(wiped), (200, 299),
        LOST),
    "scattered cells": Case("messages that begin behind their page", on_leaf(scattered_cells),
        (100, 299), LOST),
    "endless payload": Case("a message of 2^64-1 bytes", on_leaf(endless_payload), (200, 299),
        "damaged|" + LOST),
    "long row header": Case("a row whose header is longer than the row", on_leaf(long_header),
        (200, 299),
                            "damaged|" + LOST),
    "reserved type": Case("a column of a type that does not exist", on_leaf(reserved_type),
        (200, 299),
                          "damaged|" + LOST),
    "65535 children": Case("a page with more children than fit", on_root(3, b"\xff\xff"), None,
                           "cannot be read|holds no messages"),
    "leaf as root": Case("an inner page that says it is a leaf", on_root(0, b"\x0d"), None,
                         "cannot be read|holds no messages"),
    "hole behind": Case("a bag with a hole of 1 TB behind it", hole, COUNT),
    "negative topic": Case("a topic whose number is the smallest of all", changed(
        "UPDATE topics SET id = -9223372036854775807 - 1",
        "UPDATE messages SET topic_id = -9223372036854775807 - 1"),
        COUNT),
    "fractions of time": Case("times of receiving that are fractions", changed(
        "UPDATE messages SET timestamp = timestamp + 0.5"), COUNT),
    "2000 others": Case("the joints among 2000 others", both(lambda k: joint_state(
        k, names=[*(b"x%d\0" % i for i in range(2000)), *BYTES],
        lists=[[*[9.0] * 2000, *x[k]] for x in (Q, V, A)])),
        COUNT),
    "orders in turn": Case("both orders of bytes in turn",
        both(lambda k: joint_state(k, order="<>"[k % 2])), COUNT),
    "long tail": Case("100 000 bytes behind each message",
        both(lambda k: DATA[k] + bytes(100_000)), 200, DAMAGED),
    "half without stamps": Case("some headers without stamps among others",
        both(lambda k: joint_state(
        k, seconds=0, nanoseconds=0)), 200, "", 100),
    "sep=": Case("what Excel writes before the headings",
        of_bytes("t.csv", b"sep=,\n" + written().encode()), None,
                 "has no"),
    "headings with blanks": Case("blanks around the headings",
        table([f" {head} " for head in HEADS]), COUNT),
    "signs": Case("a plus before the numbers",
        table(cell=lambda k, i, x: x if x[0] == "-" else f"+{x}"), COUNT),
    "form feeds": Case("a form feed between the rows",
        table(row={50: "\x0c" + ",".join(LINES[50])}), COUNT),
    "CR CR LF": Case("line ends that were converted twice", table(ends="\r\r\n"), COUNT),
    "70 000 letters": Case("headings longer than what is looked at",
        table([*HEADS, "x" * 70_000]), COUNT),
    "gzip": Case("a packed table", of_bytes("t.csv", b"\x1f\x8b\x08\0" + bytes(range(256))), None,
        "is not text"),
    "JSON": Case("JSON for a table", of_bytes("t.csv", b'{"time": 1, "position": [1, 2]}\n' * 9),
        None, "has no"),
    "Windows path": Case("a path with a backslash", folder_of(
        INFORMATION + "  relative_file_paths: ['bag\\bag_0.db3']\n"), COUNT, "no file of a bag"),
    "another file in metadata": Case("a file that is not there, beside one that is", folder_of(
        INFORMATION + "  relative_file_paths: [other_0.db3]\n"), None,
        "none of the files that metadata.yaml lists is there: .*other_0.db3.* is not there"),
    "metadata with a mark": Case("metadata with a mark of UTF-8 and CR LF", folder_of(
        "\ufeff" + INFORMATION.replace("\n", "\r\n") + "  relative_file_paths: [bag_0.db3]\r\n"),
        COUNT),
    "other systems' files": Case("what macOS and editors leave", folder_of(
        INFORMATION + "  relative_file_paths: [bag_0.db3]\n", lambda path: [
            (path / name).write_bytes(TABLE) for name in ("._bag_0.db3", ".bag_0.db3.swp",
            ".DS_Store")]), COUNT,
        "is not in metadata.yaml"),
    "link to a folder": Case("a link to a folder", linked, COUNT),
}  # fmt: skip
