"""rosbag2's SQLite files, all schemas: topics (id, name, type), messages (id, topic_id, ...)."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from geared_dynamics.analysis.reading.container import PIECE, Raw, Topic, not_there
from geared_dynamics.analysis.reading.problems import RecordingError

PROBES, PROBE = 32, 64  # windows of message numbers that are looked into, and their size
SKIPPED = 32  # message numbers that are given up at a time where a page is damaged
SELECT = (  # the plus keeps SQLite from looking for an index of the topics
    "SELECT id, timestamp, data FROM messages WHERE id >= ? AND id < ? AND +topic_id = ?"
    " ORDER BY id"
)
MAGIC = b"SQLite format 3\0"
# SQLite quotes damaged texts in its errors, and they are no UTF-8 then.
HARM = (sqlite3.Error, UnicodeDecodeError)
ZSTANDARD = b"\x28\xb5\x2f\xfd"  # first bytes of a message compressed by itself
DAMAGED = "is damaged or cut off: what is there is read"
REPAIR = "repair it: sqlite3 BAG.db3 .recover | sqlite3 repaired.db3, or ros2 bag reindex"


class SqliteFile:
    """A ``.db3`` file, read in ranges of message numbers: the primary key, so no sorting."""

    def __init__(self, path: Path) -> None:
        """Read its topics.

        Raises:
            RecordingError: If it is no rosbag2 file, or too damaged to tell its topics.
        """
        self.path, self.place = str(path), path.resolve()
        self.notes: tuple[str, ...] = ()
        self.tolerant = False
        self.first, self.last = 1, 0
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
            rows = base.execute("SELECT id, name, type FROM topics ORDER BY id").fetchall()
            if any(not isinstance(word, str) for row in rows for word in row[1:]):
                raise sqlite3.DatabaseError("its topics are damaged")
            self.first, self.last = self._ends(base)
            self.ids = {name: number for number, name, _ in rows}
            self._topics = tuple(Topic(name, kind) for _, name, kind in rows)
            self.width = {name: self._width(base, number) for name, number in self.ids.items()}

    def _open(self) -> sqlite3.Connection:
        try:
            base = sqlite3.connect(f"{self.place.as_uri()}?mode=ro", uri=True)
        except sqlite3.OperationalError as error:
            raise not_there(self.place, self.path, str(error)) from None
        base.text_factory = legible
        if self.tolerant:  # SQLite then opens a file that is shorter than it says
            base.execute("PRAGMA writable_schema = ON")
        return base

    def _ends(self, base: sqlite3.Connection) -> tuple[int, int]:
        """First and last message number; of a damaged file, the last that can be reached."""
        try:
            # Two questions: SQLite looks only one of the two up, and reads all for both.
            first, last = (
                base.execute(f"SELECT {end}(id) FROM messages").fetchone()[0]
                for end in ("min", "max")
            )
            return int(first or 1), int(last or 0)
        except HARM:
            self.notes = (f"{self.path} {DAMAGED}",)
        numbers: list[int] = []
        with suppress(*HARM):
            for (number,) in base.execute("SELECT id FROM messages NOT INDEXED ORDER BY id"):
                numbers.append(number)
        return (numbers[0], numbers[-1]) if numbers else (1, 0)

    def _width(self, base: sqlite3.Connection, topic: int) -> int:
        """Message numbers that hold about PIECE messages of the topic, seen in samples."""
        total = self.last - self.first + 1
        seen = hits = 0
        for k in range(PROBES):
            start = self.first + (total * k) // PROBES
            with suppress(*HARM):  # a damaged page: the other probes tell
                rows = base.execute(
                    "SELECT count(*), ifnull(sum(topic_id = ?), 0) FROM messages"
                    " WHERE id >= ? AND id < ?",
                    (topic, start, start + PROBE),
                ).fetchone()
                seen, hits = seen + int(rows[0]), hits + int(rows[1])
        share = max(hits, 1) / max(seen, 1)
        return max(PIECE, round(PIECE / share))

    def topics(self) -> tuple[Topic, ...]:
        """Its topics."""
        return self._topics

    def pieces(self, topic: str) -> int:
        """Number of ranges."""
        return -(-(self.last - self.first + 1) // self.width[topic])

    def read(self, topic: str, piece: int) -> Raw:
        """Messages of one range, without those on damaged pages."""
        start = self.first + piece * self.width[topic]
        end = start + self.width[topic]
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
        while start < end:
            try:
                for row in base.execute(SELECT, (start, end, self.ids[topic])):
                    rows.append(row)
                    start = row[0] + 1
                break
            except HARM:
                start += SKIPPED
        return rows


def legible(text: bytes) -> str:
    """Read a text that may be damaged."""
    return text.decode("utf-8", "replace")
