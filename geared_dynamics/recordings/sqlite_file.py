"""rosbag2's SQLite files, all schemas: topics (id, name, type), messages (id, topic_id, ...).

A file may come from anywhere, and SQL that stands in it would run here: views, virtual tables and
generated columns. Only plain tables are read, and what sqlite.org/security.html advises is set.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from geared_dynamics.errors import RecordingError, quoted
from geared_dynamics.recordings.container import (
    LONGEST_NAME,
    NOTED,
    PIECE,
    Raw,
    Topic,
    is_file,
    not_there,
    refuse_packed,
)

Value = TypeVar("Value", bytes, int)

PROBES, PROBE = 32, 64  # windows of message numbers that are looked into, and their size
SKIPPED = 32  # message numbers that are given up at a time where a page is damaged
ATTEMPTS = 4096  # of reading on behind such a page, within one range
# rowid is the number id by which rosbag2 counts; the plus keeps SQLite from looking for an index
# of the topics.
SELECT = (
    "SELECT rowid, timestamp, data FROM messages WHERE rowid BETWEEN ? AND ?"
    " AND +topic_id IN ({}) ORDER BY rowid"
)
COUNT = "SELECT topic_id, count(*) FROM messages WHERE rowid BETWEEN ? AND ? GROUP BY topic_id"
COLUMNS = {"topics": {"id", "name", "type"}, "messages": {"topic_id", "timestamp", "data"}}
LARGEST = 2**63 - 1  # row number
LONGEST = 2**24  # bytes of a message
HELD = 2**28  # bytes of messages that are taken at once before they are counted
MOST_TOPICS, MOST_IDS = 100_000, 100  # of a bag, and of one topic
# Steps of SQLite's machine after which a connection is given up: many times what reading takes.
STEPS, STEPS_PER_BYTE, ASKED = 10**6, 20, 10**5
PATIENCE = 1.0  # [s] for which another program may hold a file
BESIDE = ("-journal", "-wal", "-shm")  # what SQLite looks for beside a file
LOGGED = b"\2"  # in byte 18 of a file whose changes stand in a log
MAGIC = b"SQLite format 3\0"
# SQLite quotes damaged texts in its errors, and they are no UTF-8 then.
HARM = (sqlite3.Error, UnicodeDecodeError)
DAMAGED = "is damaged or cut off: what is there is read"
REPAIR = "repair it: sqlite3 BAG.db3 .recover | sqlite3 repaired.db3, or ros2 bag reindex"
FOREIGN = "give a file that rosbag2 wrote"


class SqliteFile:
    """A ``.db3`` file, read in ranges of message numbers: the primary key, so no sorting.

    Attributes:
        ends: First and last message number.
        starts: Where each range begins, if the numbers are so far apart that they do not tell.
        width: By topic, how many numbers a range has else.
    """

    def __init__(self, path: Path) -> None:
        """Read its topics.

        Raises:
            RecordingError: If it is no rosbag2 file, or too damaged to tell its topics.
        """
        self.path, self.place = str(path), path.resolve()
        self.notes: tuple[str, ...] = ()
        self.tolerant = False
        self.ends = (1, 0)
        self.starts: list[int] = []
        self.ids: dict[str, list[int]] = {}
        self.width: dict[str, int] = {}
        self._topics: tuple[Topic, ...] = ()
        self._refuse_beside()
        try:
            self._learn()
        except HARM as first:
            self._refuse_held(first)
            self.tolerant, self.notes = True, (f"{self.path} {DAMAGED}",)
            try:
                self._learn()
            except HARM as error:
                why = error if isinstance(error, sqlite3.Error) else "damaged text"
                finding = f"cannot be read as a bag ({why})"
                raise RecordingError(self.path, finding, REPAIR) from None

    def _learn(self) -> None:
        """Read its topics, and where its messages are."""
        with closing(self._open()) as base:
            for table, columns in COLUMNS.items():
                self._refuse_foreign(base, table, columns)
            self._learn_topics(base)
            self.ends = self._ends(base)
            first, last = self.ends
            # A message takes some bytes: so many numbers for so few mean gaps, or damage.
            if not -1 <= last - first <= max(self._size(), PIECE):
                self.starts = [row for k, row in enumerate(self._rows(base)) if k % PIECE == 0]
            else:
                self.width = self._widths(base)

    def _learn_topics(self, base: sqlite3.Connection) -> None:
        """Read the topics; one that is there twice has the messages of both."""
        columns = [row[1].lower() for row in base.execute("PRAGMA table_xinfo(topics)")]
        encoding = "serialization_format" if "serialization_format" in columns else "'cdr'"
        rows = base.execute(f"SELECT id, name, type, {encoding} FROM topics ORDER BY rowid")
        topics: list[Topic] = []
        twice: dict[str, None] = {}
        self.ids = {}
        for number, *words in rows:
            if len(topics) == MOST_TOPICS or not all(
                isinstance(word, str) and len(word) <= LONGEST_NAME for word in words
            ):
                raise sqlite3.DatabaseError("its topics are damaged")
            topics.append(Topic.of(*words))
            ids = self.ids.setdefault(words[0], [])
            if ids:
                twice[words[0]] = None
            if len(ids) == MOST_IDS:
                raise sqlite3.DatabaseError("its topics are damaged")
            ids.append(number)
        self._topics = tuple(dict.fromkeys(topics))
        if twice:
            more = f"{self.path} lists {quoted(list(twice), NOTED)} twice: both are read"
            self.notes = (*self.notes, more)

    def _refuse_beside(self) -> None:
        """Raise if SQLite would read something beside the file that is none: a pipe, a device."""
        for ending in BESIDE:
            other = self.place.with_name(self.place.name + ending)
            if os.path.lexists(other) and not is_file(other):
                remedy = "remove it: SQLite reads it together with the bag"
                raise RecordingError(str(other), "is not a regular file", remedy)

    def _refuse_held(self, error: Exception) -> None:
        """Raise if the file is not damaged, but in use, or was left in the midst of a change."""
        if "locked" in str(error):
            remedy = "wait until it has ended, or copy the bag"
            raise RecordingError(self.path, "is locked by another program", remedy) from None
        name = self.place.name
        for journal in (self.place.with_name(name + ending) for ending in BESIDE[:2]):
            if "readonly" in str(error) and is_file(journal) and journal.stat().st_size:
                finding = f"was not closed properly: {journal.name} is beside it"
                remedy = (
                    f"copy both to a folder of your own, and run there: sqlite3 {name} .schema"
                )
                raise RecordingError(self.path, finding, remedy) from None

    def _open(self) -> sqlite3.Connection:
        try:
            size = self._size()
            mode = "mode=ro&immutable=1" if self._settled() else "mode=ro"
            base = sqlite3.connect(f"{self.place.as_uri()}?{mode}", uri=True, timeout=PATIENCE)
        except OSError as error:
            raise not_there(self.place, self.path, str(error.strerror)) from None
        except sqlite3.OperationalError as error:
            raise not_there(self.place, self.path, str(error)) from None
        base.text_factory = legible
        base.execute("PRAGMA trusted_schema = OFF")
        base.execute("PRAGMA cell_size_check = ON")
        base.execute("PRAGMA mmap_size = 0")
        if hasattr(base, "setlimit"):  # from Python 3.11 on
            base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(LONGEST, max(size, 2**16)))
        left = (STEPS + STEPS_PER_BYTE * size) // ASKED

        def enough() -> bool:
            nonlocal left
            left -= 1
            return left < 0

        base.set_progress_handler(enough, ASKED)
        if self.tolerant:  # SQLite then opens a file that is shorter than it says
            base.execute("PRAGMA writable_schema = ON")
        return base

    def _log(self) -> int:
        """Bytes of the log beside the file, in which its last changes stand."""
        log = self.place.with_name(self.place.name + "-wal")
        return log.stat().st_size if is_file(log) else 0

    def _size(self) -> int:
        """Bytes of the file and its log: no message, and not all of them, can have more."""
        return self.place.stat().st_size + self._log()

    def _settled(self) -> bool:
        """Whether a file asks for a log and has none: SQLite would make one beside it."""
        with self.place.open("rb") as stream:
            return stream.read(19)[18:] == LOGGED and not self._log()

    def _refuse_foreign(self, base: sqlite3.Connection, table: str, columns: set[str]) -> None:
        """Raise if a table is not one of rosbag2's: SQL of the file would run when it is read."""
        question = "SELECT type, sql FROM sqlite_master WHERE lower(name) = ?"
        rows = base.execute(question, (table,)).fetchall()
        location = f"{self.path}, {table}"
        if not rows:
            raise RecordingError(location, "there is no such table", FOREIGN)
        (kind, text), *others = rows
        if others:
            raise RecordingError(location, "the table exists twice", FOREIGN)
        # SQLite begins the text of each table so, whatever its maker wrote.
        if kind != "table" or not str(text).startswith("CREATE TABLE"):
            what = kind if kind != "table" else "virtual table"
            raise RecordingError(location, f"is not a plain table but a {what}", FOREIGN)
        info = base.execute(f"PRAGMA table_xinfo({table})").fetchall()
        generated = [row[1] for row in info if row[6]]
        if generated:
            raise RecordingError(f"{location}.{generated[0]}", "is a generated column", FOREIGN)
        names = {str(row[1]).lower() for row in info}
        missing = sorted(columns - names)
        if missing or "rowid" in names:
            finding = f"has no column {missing[0]!r}" if missing else "has a column 'rowid'"
            raise RecordingError(location, finding, FOREIGN)
        try:
            base.execute(f"SELECT rowid FROM {table} LIMIT 0")
        except sqlite3.OperationalError as error:
            if "rowid" not in str(error):
                raise
            raise RecordingError(location, "has no row numbers", FOREIGN) from None

    def _ends(self, base: sqlite3.Connection) -> tuple[int, int]:
        """First and last message number; of a damaged file, the last that can be reached."""
        try:
            # Two questions: SQLite looks only one of the two up, and reads all for both.
            first, last = (
                base.execute(f"SELECT {end}(rowid) FROM messages").fetchone()[0]
                for end in ("min", "max")
            )
            return (1, 0) if first is None or last is None else (int(first), int(last))
        except HARM:
            self.notes = (f"{self.path} {DAMAGED}",)
        numbers = self._rows(base)
        return (numbers[0], numbers[-1]) if numbers else (1, 0)

    def _rows(self, base: sqlite3.Connection) -> list[int]:
        """Message numbers that can be reached, in rising order."""
        numbers: list[int] = []
        with suppress(*HARM):
            for (number,) in base.execute("SELECT rowid FROM messages NOT INDEXED ORDER BY rowid"):
                if numbers and number <= numbers[-1]:
                    break  # damaged: in order they never fall
                numbers.append(number)
        return numbers

    def _widths(self, base: sqlite3.Connection) -> dict[str, int]:
        """Message numbers that hold about PIECE messages of each topic, seen in samples."""
        first, last = self.ends
        seen, hits = 0, {number: 0 for numbers in self.ids.values() for number in numbers}
        for k in range(PROBES):
            start = first + ((last - first + 1) * k) // PROBES
            with suppress(*HARM):  # a damaged page: the other probes tell
                end = min(start + PROBE - 1, last)
                for topic, count in base.execute(COUNT, (start, end)):
                    seen += count
                    if topic in hits:
                        hits[topic] += count
        return {
            name: max(PIECE, round(PIECE * max(seen, 1) / max(sum(hits[k] for k in numbers), 1)))
            for name, numbers in self.ids.items()
        }

    def topics(self) -> tuple[Topic, ...]:
        """Its topics."""
        return self._topics

    def pieces(self, topic: str) -> int:
        """Number of ranges."""
        if self.starts:
            return len(self.starts)
        first, last = self.ends
        return -(-(last - first + 1) // self.width[topic])

    def _range(self, topic: str, piece: int) -> tuple[int, int]:
        """First and last message number of a piece."""
        if self.starts:
            return self.starts[piece], [*self.starts, LARGEST + 1][piece + 1] - 1
        start = self.ends[0] + piece * self.width[topic]
        return start, min(start + self.width[topic] - 1, self.ends[1])

    def read(self, topic: str, piece: int) -> Raw:
        """Messages of one range, without those on damaged pages."""
        start, end = self._range(topic, piece)
        with closing(self._open()) as base:
            try:
                raw = self._taken(base, topic, start, end)
            except HARM as error:
                self._refuse_held(error)
                raw = self._salvaged(base, topic, start, end)
        refuse_packed(self.path, raw.messages)
        return raw

    def _rows_of(
        self, base: sqlite3.Connection, topic: str, start: int, end: int
    ) -> sqlite3.Cursor:
        """Ask for the messages of a range: their numbers, times and bytes."""
        ids = self.ids[topic]
        return base.execute(SELECT.format(", ".join("?" * len(ids))), (start, end, *ids))

    def _taken(self, base: sqlite3.Connection, topic: str, start: int, end: int) -> Raw:
        """Messages of a range.

        Raises:
            DatabaseError: If they cannot be read, are not in order, or are more than there can be:
                pages and chains of pages may lead back to themselves.
        """
        messages: list[bytes] = []
        received: list[int] = []
        size = self._size()
        left, count = size, max(HELD // min(LONGEST, max(size, 2**16)), 1)
        rows = self._rows_of(base, topic, start, end)
        while some := rows.fetchmany(count):
            numbers, stamps, blocks = zip(*some, strict=True)
            first, last = numbers[0], numbers[-1]
            data_blocks = of_type(blocks, bytes, b"")
            left -= sum(map(len, data_blocks))
            if first < start or last - first < len(some) - 1 or left < 0:
                raise sqlite3.DatabaseError("its pages form a loop")
            start = last + 1
            messages += data_blocks
            received += of_type(stamps, int, 0)
        return Raw(messages, received)

    def _salvaged(self, base: sqlite3.Connection, topic: str, start: int, end: int) -> Raw:
        """Messages of a range, one by one, without those on damaged pages."""
        messages: list[bytes] = []
        received: list[int] = []
        left = self._size()
        for _ in range(ATTEMPTS):
            try:
                for number, stamp, data in self._rows_of(base, topic, start, end):
                    left -= len(data) if isinstance(data, bytes) else 0
                    if number < start or left < 0:
                        return Raw(messages, received, 1)
                    messages.append(data if isinstance(data, bytes) else b"")
                    received.append(stamp if isinstance(stamp, int) else 0)
                    start = number + 1
                break
            except HARM:
                start += SKIPPED
            if start > end:
                break
        return Raw(messages, received, 1)


def of_type(column: Sequence[Any], kind: type[Value], other: Value) -> Sequence[Value]:
    """Return a column with another value for those of other types: SQLite keeps any in any."""
    if set(map(type, column)) == {kind}:
        return column
    return [value if isinstance(value, kind) else other for value in column]


def legible(text: bytes) -> str:
    """Read a text that may be damaged."""
    return text.decode("utf-8", "replace")
