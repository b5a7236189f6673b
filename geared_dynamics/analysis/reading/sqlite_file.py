"""rosbag2's SQLite files, all schemas: topics (id, name, type), messages (id, topic_id, ...).

A file may come from anywhere, and SQL that stands in it would run here: views, virtual tables and
generated columns. Only plain tables are read, and what sqlite.org/security.html advises is set.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from geared_dynamics.analysis.reading.container import PIECE, Raw, Topic, not_there
from geared_dynamics.analysis.reading.problems import RecordingError

PROBES, PROBE = 32, 64  # windows of message numbers that are looked into, and their size
SKIPPED = 32  # message numbers that are given up at a time where a page is damaged
ATTEMPTS = 4096  # of reading on behind such a page, within one range
# rowid is the number id by which rosbag2 counts; the plus keeps SQLite from looking for an index
# of the topics.
SELECT = (
    "SELECT rowid, timestamp, data FROM messages WHERE rowid BETWEEN ? AND ?"
    " AND +topic_id = ? ORDER BY rowid"
)
COUNT = "SELECT topic_id, count(*) FROM messages WHERE rowid BETWEEN ? AND ? GROUP BY topic_id"
COLUMNS = {"topics": {"id", "name", "type"}, "messages": {"topic_id", "timestamp", "data"}}
LARGEST = 2**63 - 1  # row number
LONGEST = 2**28  # bytes of a message
# Steps of SQLite's machine after which a connection is given up: many times what reading takes.
STEPS, STEPS_PER_BYTE, ASKED = 10**8, 100, 10**5
MAGIC = b"SQLite format 3\0"
# SQLite quotes damaged texts in its errors, and they are no UTF-8 then.
HARM = (sqlite3.Error, UnicodeDecodeError)
ZSTANDARD = b"\x28\xb5\x2f\xfd"  # first bytes of a message compressed by itself
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
        self.ids: dict[str, int] = {}
        self.width: dict[str, int] = {}
        self._topics: tuple[Topic, ...] = ()
        try:
            self._learn()
        except HARM:
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
            rows = base.execute("SELECT id, name, type FROM topics ORDER BY rowid").fetchall()
            if any(not isinstance(word, str) for row in rows for word in row[1:]):
                raise sqlite3.DatabaseError("its topics are damaged")
            self.ids = {name: number for number, name, _ in rows}
            self._topics = tuple(Topic(name, kind) for _, name, kind in rows)
            self.ends = self._ends(base)
            first, last = self.ends
            # A message takes some bytes: so many numbers for so few mean gaps, or damage.
            if not -1 <= last - first <= max(self.place.stat().st_size, PIECE):
                self.starts = [row for k, row in enumerate(self._rows(base)) if k % PIECE == 0]
            else:
                self.width = self._widths(base)

    def _open(self) -> sqlite3.Connection:
        try:
            base = sqlite3.connect(f"{self.place.as_uri()}?mode=ro", uri=True)
        except sqlite3.OperationalError as error:
            raise not_there(self.place, self.path, str(error)) from None
        base.text_factory = legible
        base.execute("PRAGMA trusted_schema = OFF")
        base.execute("PRAGMA cell_size_check = ON")
        base.execute("PRAGMA mmap_size = 0")
        if hasattr(base, "setlimit"):  # from Python 3.11 on
            base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        left = (STEPS + STEPS_PER_BYTE * self.place.stat().st_size) // ASKED

        def enough() -> bool:
            nonlocal left
            left -= 1
            return left < 0

        base.set_progress_handler(enough, ASKED)
        if self.tolerant:  # SQLite then opens a file that is shorter than it says
            base.execute("PRAGMA writable_schema = ON")
        return base

    def _refuse_foreign(self, base: sqlite3.Connection, table: str, columns: set[str]) -> None:
        """Raise if a table is not one of rosbag2's: SQL of the file would run when it is read."""
        question = "SELECT type, sql FROM sqlite_master WHERE lower(name) = ?"
        rows = base.execute(question, (table,)).fetchall()
        place = f"{self.path}, {table}"
        if not rows:
            raise RecordingError(place, "there is no such table", FOREIGN)
        (kind, text), *others = rows
        if others or kind != "table" or "VIRTUAL" in str(text).upper().split("(")[0]:
            raise RecordingError(place, f"is no plain table but a {kind}", FOREIGN)
        found = base.execute(f"PRAGMA table_xinfo({table})").fetchall()
        generated = [row[1] for row in found if row[6]]
        if generated:
            raise RecordingError(f"{place}.{generated[0]}", "is a generated column", FOREIGN)
        names = {str(row[1]).lower() for row in found}
        missing = sorted(columns - names)
        if missing or "rowid" in names:
            finding = f"has no column {missing[0]!r}" if missing else "has a column 'rowid'"
            raise RecordingError(place, finding, FOREIGN)
        if "WITHOUT" in str(text).rpartition(")")[2].upper():
            raise RecordingError(place, "has no row numbers", FOREIGN)

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
        seen, hits = 0, dict.fromkeys(self.ids.values(), 0)
        for k in range(PROBES):
            start = first + ((last - first + 1) * k) // PROBES
            with suppress(*HARM):  # a damaged page: the other probes tell
                end = min(start + PROBE - 1, last)
                for topic, count in base.execute(COUNT, (start, end)):
                    seen += count
                    if topic in hits:
                        hits[topic] += count
        return {
            name: max(PIECE, round(PIECE * max(seen, 1) / max(hits[number], 1)))
            for name, number in self.ids.items()
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
                rows, lost = base.execute(SELECT, (start, end, self.ids[topic])).fetchall(), 0
            except HARM:
                rows, lost = self._salvaged(base, topic, start, end), 1
        # SQLite keeps anything in any column: what is no blob is a damaged message.
        messages = [data if isinstance(data, bytes) else b"" for _, _, data in rows]
        if messages and messages[0][:4] == ZSTANDARD:
            remedy = "decompress it: ros2 bag convert, with compression_mode none"
            raise RecordingError(self.path, "has messages compressed one by one", remedy)
        received = [stamp if isinstance(stamp, int) else 0 for _, stamp, _ in rows]
        return Raw(messages, received, lost)

    def _salvaged(
        self, base: sqlite3.Connection, topic: str, start: int, end: int
    ) -> list[tuple[int, int, bytes]]:
        """Messages of a range, one by one, without those on damaged pages."""
        rows: list[tuple[int, int, bytes]] = []
        for _ in range(ATTEMPTS):
            try:
                for row in base.execute(SELECT, (start, end, self.ids[topic])):
                    rows.append(row)
                    start = row[0] + 1
                break
            except HARM:
                start += SKIPPED
            if start > end:
                break
        return rows


def legible(text: bytes) -> str:
    """Read a text that may be damaged."""
    return text.decode("utf-8", "replace")
