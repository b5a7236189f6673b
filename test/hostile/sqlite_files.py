"""Files of SQLite with other schemas, pages and neighbours than rosbag2 writes."""

from __future__ import annotations

import shutil
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from hostile.cases import DATA, TOPIC, Make
from recorded_motions import JOINT_STATE

TABLES = (
    "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT)",
    "CREATE TABLE messages("
    "id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB)",
    f"INSERT INTO topics VALUES(1, '{TOPIC}', '{JOINT_STATE}', 'cdr')",
)
FILL = "INSERT INTO messages VALUES(?, 1, ?, ?)"
ROWS = [(k + 1, k, data) for k, data in enumerate(DATA)]
PAGE = 4096


def base(*before: str, after: tuple[str, ...] = (), tables: tuple[str, ...] = TABLES) -> Make:
    """A bag made from SQL: pragmas before its tables, statements behind its messages."""

    def make(folder: Path) -> Path:
        path = folder / "bag.db3"
        with closing(sqlite3.connect(path, isolation_level=None)) as opened:
            for statement in ("PRAGMA synchronous = OFF", *before, *tables):
                opened.execute(statement)
            opened.execute("BEGIN")
            opened.executemany(FILL, ROWS)
            opened.execute("COMMIT")
            for statement in after:
                opened.execute(statement)
        return path

    return make


def changed(*after: str) -> Make:
    """The usual bag behind some SQL."""
    return base(after=after)


def patched(change: Callable[[bytearray], bytes | bytearray | None], *after: str) -> Make:
    """A bag whose bytes a function changes."""

    def make(folder: Path) -> Path:
        path = base(after=after)(folder)
        data = bytearray(path.read_bytes())
        path.write_bytes(change(data) or data)
        return path

    return make


def at(place: int, content: bytes) -> Make:
    """A bag with other bytes at a place."""

    def change(data: bytearray) -> None:
        data[place : place + len(content)] = content

    return patched(change)


def schema(*changes: str) -> Make:
    """A bag whose table of tables is written to."""
    return base(after=("PRAGMA writable_schema = ON", *changes))


def root(data: bytearray) -> int:
    """Where the first page of the messages begins."""
    return PAGE * (number_of_root(bytes(data)) - 1)


def number_of_root(data: bytes) -> int:
    """Number of the first page of the messages."""
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.deserialize(data)
        question = "SELECT rootpage FROM sqlite_master WHERE name = 'messages'"
        return int(opened.execute(question).fetchone()[0])


def loop(target: int | None) -> Make:
    """All children of the messages' first page are one page, or that page itself."""

    def change(data: bytearray) -> None:
        start, page = root(data), number_of_root(bytes(data)) if target is None else target
        cells = struct.unpack_from(">H", data, start + 3)[0]
        first = page or struct.unpack_from(
            ">I", data, start + struct.unpack_from(">H", data, start + 12)[0])[0]  # fmt: skip
        for k in range(cells):
            place = start + struct.unpack_from(">H", data, start + 12 + 2 * k)[0]
            struct.pack_into(">I", data, place, first)
        struct.pack_into(">I", data, start + 8, first)

    return patched(change)


def tower(fan: int) -> Make:
    """Inner pages whose children are all the next inner page: fan^5 rows in a small file."""

    def change(data: bytearray) -> bytes:
        start, count = root(data), len(data) // PAGE
        leaf = struct.unpack_from(
            ">I", data, start + struct.unpack_from(">H", data, start + 12)[0]
        )
        pages = []
        for level in range(5):
            child = count + level + 2 if level < 4 else leaf[0]
            pages.append(inner(child, fan))
        data[start : start + PAGE] = inner(count + 1, fan)
        struct.pack_into(">I", data, 28, count + 5)
        return bytes(data) + b"".join(pages)

    return patched(change)


def inner(child: int, fan: int) -> bytes:
    """An inner page of a table with one child, many times."""
    page = bytearray(PAGE)
    place = PAGE
    for k in range(fan):
        cell = struct.pack(">IB", child, k % 100)
        place -= len(cell)
        page[place : place + len(cell)] = cell
        struct.pack_into(">H", page, 12 + 2 * k, place)
    struct.pack_into(">BHHHBI", page, 0, 5, 0, fan, place, 0, child)
    return bytes(page)


def overflowing(size: int) -> Make:
    """Eight messages of this size, whose chain of pages is one page that follows itself."""

    size += 4000 - (size + 10 - 489) % 4092  # so that 489 bytes of each stand in the page itself

    def change(data: bytearray) -> bytes:
        page, place = bytearray(PAGE), PAGE
        for k in range(8):
            header = bytes([0, 9, 1]) + varint(2 * size + 12)  # NULL, the number 1, a byte, a blob
            payload = bytes([len(header) + 1]) + header + bytes([k])
            cell = varint(len(payload) + size) + bytes([k + 1]) + payload
            # What stands in the page itself, before the number of the first page of the chain.
            cell += bytes(489 - len(payload)) + struct.pack(">I", len(data) // PAGE + 1)
            place -= len(cell)
            page[place : place + len(cell)] = cell
            struct.pack_into(">H", page, 8 + 2 * k, place)
        struct.pack_into(">BHHHB", page, 0, 13, 0, 8, place, 0)
        start, chain = root(data), len(data) // PAGE + 1
        data[start : start + PAGE] = page
        struct.pack_into(">I", data, 28, chain)
        return bytes(data) + struct.pack(">I", chain) + bytes(PAGE - 4)

    return patched(change)


def varint(value: int) -> bytes:
    """A number as SQLite writes it."""
    groups = [value & 127]
    while value := value >> 7:
        groups.append(value & 127 | 128)
    return bytes(groups[::-1])


def beside(ending: str, make_it: Callable[[Path], None], first: Make | None = None) -> Make:
    """A bag with something beside it that SQLite looks for."""

    def make(folder: Path) -> Path:
        path = (first or base())(folder)
        make_it(path.with_name(path.name + ending))
        return path

    return make


def copied(journal: str) -> Make:
    """A bag in the state in which its writer was killed, with what stood beside it."""

    def make(folder: Path) -> Path:
        source = folder / "source"
        source.mkdir()
        path = source / "bag.db3"
        with closing(sqlite3.connect(path, isolation_level=None)) as opened:
            opened.execute(f"PRAGMA journal_mode = {journal}")
            opened.execute("PRAGMA cache_size = 2")
            opened.execute("PRAGMA synchronous = OFF")
            for statement in TABLES:
                opened.execute(statement)
            opened.executemany(FILL, ROWS[:200])
            opened.execute("PRAGMA synchronous = FULL")  # what is in the journal depends on it
            opened.execute("BEGIN")
            opened.executemany(FILL, ROWS[200:])
            for item in list(source.iterdir()):
                shutil.copy(item, folder / item.name)
            opened.execute("ROLLBACK")
        return folder / path.name

    return make


LOCKS: list[sqlite3.Connection] = []


def locked(folder: Path) -> Path:
    """A bag that another program has locked."""
    path = base()(folder)
    LOCKS.append(sqlite3.connect(path, isolation_level=None))
    LOCKS[-1].execute("BEGIN EXCLUSIVE")
    return path
