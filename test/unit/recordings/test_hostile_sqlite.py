"""Files that call themselves bags of SQLite and were made to do harm."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from geared_dynamics.errors import RecordingError
from geared_dynamics.recordings.recording import open_recording
from geared_dynamics.recordings.sqlite_file import SqliteFile
from recorded_motions import JOINT_STATE, messages, motion, write_sqlite

NAMES = ("joint_1", "joint_2", "joint_3")
T, Q, V, A = motion(12.0, 1000.0)
DATA = messages(NAMES, T, Q, V, A)
TOPIC = "/joint_states"
ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT "


def bag(folder: Path, *statements: str) -> Path:
    """A bag, after some SQL."""
    path = write_sqlite(folder / "bag.db3", {TOPIC: (JOINT_STATE, DATA)})
    with closing(sqlite3.connect(path)) as base:
        for statement in statements:
            base.execute(statement)
        base.commit()
    return path


COPY = "ALTER TABLE messages RENAME TO old"
# SQL that changes the file, and words of the error
FOREIGN = {
    "endless view": (
        (COPY, f"CREATE VIEW messages AS {ENDLESS} n AS id, 1 AS topic_id, n AS timestamp,"
         " zeroblob(100) AS data FROM r"),
        "messages", "not a plain table but a view",
    ),
    "view of topics": (
        ("ALTER TABLE topics RENAME TO old", f"CREATE VIEW topics AS {ENDLESS} n AS id,"
         " 'x' AS name, 'y' AS type FROM r"),
        "topics", "not a plain table but a view",
    ),
    "generated column": (
        (COPY, "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp,"
         " data AS (zeroblob(1000000000)))", "INSERT INTO messages VALUES(1, 1, 1)"),
        "messages.data", "is a generated column",
    ),
    "stored column": (
        (COPY, "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp,"
         " data AS (hex(topic_id)) STORED)"),
        "messages.data", "is a generated column",
    ),
    "virtual table": (
        (COPY, "CREATE VIRTUAL TABLE messages USING fts5(id, topic_id, timestamp, data)"),
        "messages", "not a plain table",
    ),
    "index of that name": (
        (COPY, "CREATE INDEX messages ON old(timestamp)"), "messages", "but a index",
    ),
    "text as number": (
        (COPY, "CREATE TABLE messages(id TEXT PRIMARY KEY, topic_id, timestamp, data)"
         " WITHOUT ROWID"),
        "messages", "has no row numbers",
    ),
    "rowid": (
        (COPY, "CREATE TABLE messages(rowid TEXT, topic_id, timestamp, data)"),
        "messages", "has a column 'rowid'",
    ),
    "no data": ((COPY, "CREATE TABLE messages(id, topic_id, timestamp)"), "messages", "'data'"),
    "no messages": ((COPY,), "messages", "no such table"),
}  # fmt: skip


@pytest.mark.parametrize("case", FOREIGN)
def test_what_is_no_table_of_rosbag2_is_refused(case: str, tmp_path: Path) -> None:
    statements, place, finding = FOREIGN[case]
    path = bag(tmp_path, *statements)
    with pytest.raises(RecordingError, match="give a file that rosbag2 wrote") as caught:
        open_recording(path, NAMES)
    assert caught.value.place == f"{path}, {place}"
    assert finding in caught.value.finding


# SQL that changes the messages' numbers, and how many messages there are then
NUMBERS = {
    "one far off": ("UPDATE messages SET id = 1 << 40 WHERE id = 12000", 12000),
    "the largest": ("UPDATE messages SET id = 9223372036854775807 WHERE id = 12000", 12000),
    "the smallest": ("UPDATE messages SET id = -9223372036854775807 - 1 WHERE id = 1", 12000),
    "negative": ("UPDATE messages SET id = id - 5000", 12000),
    "far apart": ("UPDATE messages SET id = id * 1000000007", 12000),
    "with gaps": ("DELETE FROM messages WHERE id % 3 = 0", 8000),
    "one": ("DELETE FROM messages WHERE id < 12000", 1),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_messages_are_found_by_the_numbers_that_exist(case: str, tmp_path: Path) -> None:
    statement, count = NUMBERS[case]
    file = SqliteFile(bag(tmp_path, statement))
    found = [data for k in range(file.pieces(TOPIC)) for data in file.read(TOPIC, k).messages]
    with closing(sqlite3.connect(file.path)) as base:
        rows = base.execute("SELECT data FROM messages ORDER BY rowid").fetchall()
    assert found == [row[0] for row in rows]
    assert len(found) == count
    assert file.pieces(TOPIC) <= 4


def test_numbers_that_are_texts_or_fractions(tmp_path: Path) -> None:
    """Without a primary key SQLite keeps anything; the rows count."""
    path = bag(
        tmp_path,
        COPY,
        "CREATE TABLE messages(id, topic_id, timestamp, data)",
        "INSERT INTO messages SELECT CASE id % 2 WHEN 0 THEN 'x' || id ELSE id + 0.5 END,"
        " topic_id, timestamp, data FROM old ORDER BY id",
        "DROP TABLE old",
    )
    recording = open_recording(path, NAMES)
    parts = [recording.reader.read(k).position for k in range(recording.reader.pieces)]
    np.testing.assert_array_equal(np.concatenate(parts), Q)


def test_an_empty_bag(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="holds no messages"):
        open_recording(bag(tmp_path, "DELETE FROM messages"), NAMES)


def with_topics(folder: Path, count: int) -> Path:
    """A bag with more topics, without messages, of another type."""
    folder.mkdir()
    path = bag(folder)
    rows = [(n, f"/topic_{n}", "std_msgs/msg/String", "cdr", "", "") for n in range(2, 2 + count)]
    with closing(sqlite3.connect(path)) as base:
        base.executemany("INSERT INTO topics VALUES(?, ?, ?, ?, ?, ?)", rows)
        base.commit()
    return path


def test_many_topics_are_looked_at_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of questions to SQLite does not grow with the topics."""
    asked: dict[int, int] = {}
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect
    for count in (1, 500):
        path = with_topics(tmp_path / str(count), count)
        statements: list[str] = []

        def counting(*args: object, said: list[str] = statements, **options: object) -> object:
            base = connect(*args, **options)
            base.set_trace_callback(said.append)
            return base

        with monkeypatch.context() as patch:
            patch.setattr(sqlite3, "connect", counting)
            assert len(SqliteFile(path).topics()) == count + 1
        asked[count] = len(statements)
    assert asked[500] == asked[1]


def test_of_very_many_topics_one_must_be_chosen(tmp_path: Path) -> None:
    change = f"UPDATE topics SET type = '{JOINT_STATE}'"
    path = with_topics(tmp_path / "many", 300)
    with closing(sqlite3.connect(path)) as base:
        base.execute(change)
        base.commit()
    with pytest.raises(RecordingError, match=r"301 topics of type .* choose one with --topic"):
        open_recording(path, NAMES)
    assert open_recording(path, NAMES, topic=TOPIC).rate == 1000.0
    with pytest.raises(RecordingError, match=r"/topic_9 .*and 281 more"):
        open_recording(path, NAMES, topic="/other")
