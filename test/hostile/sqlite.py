"""Files of SQLite whose schema, pages or neighbours lie (sqlite.org/fileformat2.html)."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from hostile.cases import COUNT, LENGTHS_32, TOPIC, Case, Cases, of_bytes
from hostile.sqlite_files import (
    PAGE,
    at,
    base,
    beside,
    changed,
    copied,
    locked,
    loop,
    overflowing,
    patched,
    schema,
    tower,
)
from recorded_motions import JOINT_STATE

COPY = "ALTER TABLE messages RENAME TO old"
ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT "
MASTER = "UPDATE sqlite_master SET"
COLUMNS = "id INTEGER PRIMARY KEY, topic_id, timestamp, data"
NO_BAG = "cannot be read as a bag|is damaged or cut off"
PART = (0, COUNT)
CASES: Cases = {
    "whole": Case("the good bag", base(), COUNT),
    "magic only": Case("16 bytes", of_bytes("a.db3", b"SQLite format 3\0"), None,
        "cannot be read as a bag"),
    "99 bytes": Case("less than a header", of_bytes("a.db3", b"SQLite format 3\0" + bytes(83)),
        None,
                     "cannot be read as a bag"),
    "one page": Case("the first page only", patched(lambda data: data[:PAGE]), None,
        "cannot be read as a bag"),
    "half a page": Case("the last page is cut", patched(lambda data: data[:-2000]), (280, 299),
        "cut off|damaged"),
    "a page more": Case("a page of rubbish behind the file",
        patched(lambda data: data + b"\xff" * PAGE), COUNT),
    "page size 512": Case("the smallest pages", base("PRAGMA page_size = 512"), COUNT),
    "page size 65536": Case("the largest pages, whose size stands there as 1",
        base("PRAGMA page_size = 65536"),
                            COUNT),
    "UTF-16le": Case("texts in UTF-16", base("PRAGMA encoding = 'UTF-16le'"), COUNT),
    "UTF-16be": Case("texts in UTF-16, big endian", base("PRAGMA encoding = 'UTF-16be'"), COUNT),
    "auto vacuum": Case("pointer map pages", base("PRAGMA auto_vacuum = FULL"), COUNT),
    "reserved bytes": Case("200 bytes reserved on each page, which are not", at(20, b"\xc8"),
        None, "has no column|cannot be read as a bag"),
    "file format": Case("a later file format", at(18, b"\x09\x09"), None,
        "cannot be read as a bag"),
    "payload fractions": Case("fractions that no version writes", at(21, b"\xff\xff\xff"), None,
                              "cannot be read as a bag"),
    "encoding 9": Case("an encoding that does not exist", at(56, struct.pack(">I", 9)),
        (COUNT, COUNT), ""),
    "schema format 9": Case("a later schema format", at(44, struct.pack(">I", 9)), None,
        "cannot be read as a bag"),
    "application id": Case("the id of another application", at(68, b"\xff" * 4), COUNT),
    "version numbers": Case("a version-valid-for that lies", at(92, b"\xff" * 8), COUNT),
    "WAL without a WAL": Case("a header that asks for a log that is not there", at(18, b"\2\2"),
        COUNT),
    "view": Case("messages are a view without end",
        changed(COPY, f"CREATE VIEW messages AS {ENDLESS} n AS id,"
                 " 1 AS topic_id, n AS timestamp, zeroblob(1000000) AS data FROM r"), None,
                 "not a plain table"),
    "view of the copy": Case("a view of the right messages", changed(
        COPY, "CREATE VIEW messages AS SELECT * FROM old"), None, "not a plain table"),
    "topics as view": Case("topics are a view", changed("ALTER TABLE topics RENAME TO t",
                           "CREATE VIEW topics AS SELECT * FROM t"), None, "not a plain table"),
    "generated": Case("a generated column",
        changed(COPY, "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id,"
                      " timestamp, data AS (zeroblob(1 << 30)))"), None, "generated column"),
    "virtual": Case("a virtual table", changed(COPY, "CREATE VIRTUAL TABLE messages USING fts5("
                    "id, topic_id, timestamp, data)"), None, "not a plain table"),
    "hidden virtual": Case("a virtual table whose SQL has a comment", schema(
        "UPDATE sqlite_master SET rootpage = 0, sql = 'CREATE/*(*/VIRTUAL TABLE messages USING"
        " fts5(id, topic_id, timestamp, data)' WHERE name = 'messages'"), None,
        "not a plain table|cannot be read"),
    "WITHOUT ROWID": Case("no row numbers",
        changed(COPY, "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id,"
                          " timestamp, data) WITHOUT ROWID"), None, "no row numbers"),
    "hidden WITHOUT ROWID": Case("no row numbers, behind a comment", changed(
        COPY, f"CREATE TABLE messages({COLUMNS}) WITHOUT/*)*/ROWID"), None,
        "no row numbers"),
    "STRICT": Case("a strict table",
        changed(COPY, "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INT,"
                   " timestamp INT, data BLOB) STRICT", "INSERT INTO messages SELECT * FROM old"),
                   COUNT),
    "triggers": Case("triggers on every change", changed(
        "CREATE TRIGGER t BEFORE INSERT ON messages BEGIN DELETE FROM topics; END"), COUNT),
    "collation": Case("a collation that nobody has", schema(
        "UPDATE sqlite_master SET sql = replace(sql, 'name TEXT', 'name TEXT COLLATE foo')"),
        COUNT),
    "index of an expression": Case("an index whose expression makes a gigabyte", schema(
        "CREATE INDEX i ON messages(topic_id)",
        f"{MASTER} sql = 'CREATE INDEX i ON messages(hex(zeroblob(1 << 29)))' WHERE name = 'i'"),
        COUNT),
    "statistics": Case("statistics of SQLite that lie", changed(
        "CREATE INDEX i ON messages(topic_id, timestamp)", "ANALYZE",
        "UPDATE sqlite_stat1 SET stat = '1 1 1'"), COUNT),
    "bad SQL": Case("a schema that is no SQL", schema(
        "INSERT INTO sqlite_master VALUES('table', 'x', 'x', 3, 'CREATE TABLE x nonsense')"),
        PART, NO_BAG),
    "two tables": Case("two tables of one name", schema(
        "INSERT INTO sqlite_master SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master"),
        None, "twice"),
    "root page 0": Case("messages that stand nowhere", schema(
        "UPDATE sqlite_master SET rootpage = 0 WHERE name = 'messages'"), None,
        "not a plain table|cannot be read|holds no messages"),
    "root page far off": Case("messages behind the file", schema(
        "UPDATE sqlite_master SET rootpage = 99999 WHERE name = 'messages'"), None,
        "cannot be read|holds no messages"),
    "root page of topics": Case("messages and topics on one page", schema(
        f"{MASTER} rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'topics')"
        " WHERE name = 'messages'"), None, "holds no messages|cannot be read"),
    "upper case": Case("names in capitals", changed("ALTER TABLE messages RENAME TO x",
                       "ALTER TABLE x RENAME TO MESSAGES"), COUNT),
    "no messages": Case("no table of messages", changed("DROP TABLE messages"), None,
        "no such table"),
    "no topics": Case("no table of topics", changed("DROP TABLE topics"), None, "no such table"),
    "no topic": Case("no topic", changed("DELETE FROM topics"), None, "no topic of type"),
    "no rows": Case("no message", changed("DELETE FROM messages"), None, "holds no messages"),
    "topic twice": Case("a topic that is there twice", changed(
        f"INSERT INTO topics VALUES(2, '{TOPIC}', '{JOINT_STATE}', 'cdr')"), COUNT, "twice"),
    "topic twice, in turn": Case("a topic that is there twice, with messages of both", changed(
        f"INSERT INTO topics VALUES(2, '{TOPIC}', '{JOINT_STATE}', 'cdr')",
        "UPDATE messages SET topic_id = 2 WHERE id > 100"), COUNT, "twice"),
    "topic of two types": Case("a topic of two types", changed(
        f"INSERT INTO topics VALUES(0, '{TOPIC}', 'std_msgs/msg/String', 'cdr')"), COUNT, "twice"),
    "json": Case("messages that are said to be JSON",
        changed("UPDATE topics SET serialization_format = 'json'"), None,
                 "encoded as json"),
    "topic NULL": Case("a topic without a name",
        changed("INSERT INTO topics VALUES(2, NULL, 'x', 'cdr')"), None,
                       "cannot be read as a bag"),
    "topic BLOB": Case("a topic's name of bytes",
        changed("INSERT INTO topics VALUES(2, x'00ff', 'x', 'cdr')"), None,
                       "cannot be read as a bag"),
    "topic not UTF-8": Case("a name that is no text", changed(
        "INSERT INTO topics VALUES(2, CAST(x'fffe' AS TEXT), 'x', 'cdr')"), COUNT),
    "topic of 5 MB": Case("a name of 5 MB", changed(
        f"INSERT INTO topics VALUES(2, hex(zeroblob(2500000)), '{JOINT_STATE}', 'cdr')"), None,
        "cannot be read as a bag"),
    "type of 5 MB": Case("an error must not quote a type of 5 MB", changed(
        "UPDATE topics SET type = hex(zeroblob(2500000))"), None,
        "cannot be read as a bag|no topic"),
    "topic with a zero": Case("a name with a zero in it", changed(
        "UPDATE topics SET name = CAST(x'2f6100621b5b324a' AS TEXT)"), COUNT),
    "ids as text": Case("ids that are texts", changed(
        COPY, "CREATE TABLE messages(id, topic_id, timestamp, data)",
        "INSERT INTO messages SELECT 'x' || id, topic_id, timestamp, data FROM old"), COUNT),
    "topic id as text": Case("the messages' topic is a text", changed(
        COPY, "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp, data)",
        "INSERT INTO messages SELECT id, '1', timestamp, data FROM old"), None,
        "holds no messages"),
    "topic id NULL": Case("messages of no topic",
        changed("UPDATE messages SET topic_id = NULL WHERE id > 200"), 200),
    "time as text": Case("times of receiving that are texts",
        changed("UPDATE messages SET timestamp = 'x'"), COUNT),
    "time NULL": Case("times of receiving that are missing",
        changed("UPDATE messages SET timestamp = NULL"), COUNT),
    "time 2^63-1": Case("the last time of all",
        changed("UPDATE messages SET timestamp = 9223372036854775807"), COUNT),
    "data as text": Case("messages that are texts", changed(
        "UPDATE messages SET data = 'hello' WHERE id > 200"), 200, "100 damaged messages"),
    "data as numbers": Case("messages that are numbers", changed(
        "UPDATE messages SET data = 1e300 WHERE id > 200"), 200, "100 damaged messages"),
    "data NULL": Case("messages that are missing", changed(
        "UPDATE messages SET data = NULL WHERE id > 200"), 200, "100 damaged messages"),
    "data of 20 MB": Case("a message of 20 MB", changed(
        "UPDATE messages SET data = zeroblob(20000000) WHERE id = 200"), (260, 299),
        "damaged|cannot be read"),
    "zstd messages": Case("messages packed one by one", changed(
        "UPDATE messages SET data = CAST(x'28b52ffd' || data AS BLOB)"), None,
        "compressed one by one"),
    "one zstd message": Case("a damaged message that begins as a packed one", changed(
        "UPDATE messages SET data = x'28b52ffd00' WHERE id = 1"), 299, "1 damaged messages"),
    "id 2^63-1": Case("the largest id",
        changed("UPDATE messages SET id = 9223372036854775807 WHERE id = 300"), COUNT),
    "id -2^63": Case("the smallest id",
        changed("UPDATE messages SET id = -9223372036854775807 - 1 WHERE id = 1"),
                     COUNT),
    "ids far apart": Case("ids with gaps of 10^15",
        changed("UPDATE messages SET id = id * 1000000000000000"), COUNT),
    "freelist loop": Case("a freelist that leads to itself", patched(
        lambda data: data[:32] + struct.pack(">II", 3, 9999) + data[40:]), COUNT),
    "children are one page": Case("all children of a page are one", loop(0), PART,
        "cannot be read|damaged"),
    "a page is its own child": Case("a page that is its own child", loop(None), None,
        "cannot be read|damaged|holds no"),
    "children are page 1": Case("all children are the first page", loop(1), None,
        "cannot be read|damaged|holds no"),
    "tower": Case("five inner pages make 10^9 rows", tower(60), PART,
        "cannot be read|damaged|holds no"),
    "high tower": Case("five inner pages make 10^12 rows", tower(300), PART,
        "cannot be read|damaged|holds no"),
    "overflow": Case("eight messages of 200 MB in 100 KB: a chain of pages that is a ring",
                     overflowing(200 * 2**20), None, "holds no messages"),
    "small overflow": Case("eight messages of 10 MB in 100 KB", overflowing(10 * 2**20), None,
        "holds no messages"),
    "locked": Case("another program holds the file", locked, None, "locked"),
    "killed, WAL": Case("a writer with a log was killed", copied("WAL"), 200),
    "killed, journal": Case("a writer with a journal was killed", copied("DELETE"), None,
        "journal is beside it"),
    "journal is a pipe": Case("a pipe where SQLite looks for a journal",
        beside("-journal", os.mkfifo), None,
                              "not a regular file"),
    "log is a pipe": Case("a pipe where SQLite looks for a log",
        beside("-wal", os.mkfifo, at(18, b"\2\2")), None,
                          "not a regular file"),
    "journal is a folder": Case("a folder where SQLite looks for a journal",
        beside("-journal", Path.mkdir), None,
                                "not a regular file"),
    "journal of rubbish": Case("a journal that is none", beside(
        "-journal", lambda path: path.write_bytes(b"\xff" * 9000) and None), None,
        "journal is beside it"),
    "log of rubbish": Case("a log that is none", beside(
        "-wal", lambda path: path.write_bytes(b"\xff" * 9000) and None, at(18, b"\2\2")), COUNT),
    "journal to a device": Case("a journal that leads to /dev/zero", beside(
        "-journal", lambda path: path.symlink_to("/dev/zero")), None, "not a regular file"),
}  # fmt: skip
for size in LENGTHS_32:
    four = struct.pack(">I", size)
    CASES |= {
        f"page size {size}": Case(
            "the size of a page: 1 is 65536, and its lower half stands there", at(16, four[2:]),
                                  None, "cannot be read as a bag"),
        f"{size} pages": Case("the number of pages; 0: as many as there are", at(28, four),
                              {0: COUNT, 1: None}.get(size, COUNT),
                              {0: "", 1: "cannot be read"}.get(size, "cut off")),
        f"freelist at {size}": Case("the first free page", at(32, four), COUNT),
        f"{size} free pages": Case("the number of free pages", at(36, four), COUNT),
        f"largest root {size}": Case("the largest root page, where there is none", at(52, four),
            COUNT),
    }  # fmt: skip
