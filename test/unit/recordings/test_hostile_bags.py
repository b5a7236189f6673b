"""Bags in folders and MCAP files that were made to do harm."""

from __future__ import annotations

import os
import resource
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest

from geared_dynamics.errors import RecordingError
from geared_dynamics.recordings import mcap_records, sqlite_file
from geared_dynamics.recordings.bag import files_of, open_bag
from geared_dynamics.recordings.container import LONGEST_NAME
from geared_dynamics.recordings.mcap_file import McapFile
from geared_dynamics.recordings.recording import open_recording
from geared_dynamics.recordings.sqlite_file import SqliteFile
from recorded_motions import JOINT_STATE, messages, motion, unclosed_mcap, write_sqlite

NAMES = ("joint_1", "joint_2", "joint_3")
T, Q, V, A = motion(2.0, 1000.0)
DATA = messages(NAMES, T, Q, V, A)
TOPIC = "/joint_states"
MEGABYTE = 2**20


def folder(tmp_path: Path, listed: str, *names: str) -> Path:
    """A bag's folder with these files, and what its metadata list."""
    path = tmp_path / "bag"
    path.mkdir()
    for name in names or ("bag_0.db3",):
        write_sqlite(path / name, {TOPIC: (JOINT_STATE, DATA)})
    text = f"rosbag2_bagfile_information:\n  relative_file_paths: {listed}\n"
    (path / "metadata.yaml").write_text(text)
    return path


TWICE_IN_SCHEMA = (
    "PRAGMA writable_schema = ON; INSERT INTO sqlite_master"
    " SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master"
)
TOPICS = "INSERT INTO topics SELECT {0}, {1}, 'x', 'cdr', '' FROM many"
MANY = "CREATE TABLE many AS WITH RECURSIVE n(k) AS (SELECT 2 UNION ALL SELECT k + 1 FROM n"
DAMAGED = ": cannot be read as a bag (its topics are damaged); repair it: sqlite3 BAG.db3 .recover"


@pytest.mark.parametrize(
    ("count", "name", "said"),
    [
        (1, f"substr(hex(zeroblob({LONGEST_NAME})), 1, {LONGEST_NAME})", ""),
        (1, f"substr(hex(zeroblob({LONGEST_NAME})), 1, {LONGEST_NAME + 1})", DAMAGED),
        (1, "CAST('/x' AS BLOB)", DAMAGED),
        (9, "'/' || k", ""),
        (10, "'/' || k", DAMAGED),
        (4, "'/x'", ""),
        (5, "'/x'", DAMAGED),
    ],
)
def test_topics_that_no_bag_has(
    count: int, name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name may be just so long; ten topics, and four numbers of one, are all there may be."""
    monkeypatch.setattr(sqlite_file, "MOST_TOPICS", 10)
    monkeypatch.setattr(sqlite_file, "MOST_IDS", 4)
    path = write_sqlite(tmp_path / "bag.db3", {TOPIC: (JOINT_STATE, DATA[:20])}, old=True)
    with closing(sqlite3.connect(path)) as base:
        rows = f"WHERE k <= {count}) SELECT k FROM n"
        base.executescript(f"{MANY} {rows}; {TOPICS.format('k', name)}")
        base.execute("DROP TABLE many")
        base.commit()
    if not said:
        assert len(SqliteFile(path).topics()) == 1 + (count if "k" in name else 1)
        return
    with pytest.raises(RecordingError) as caught:
        SqliteFile(path)
    assert str(caught.value).startswith(f"{path}{said}")


@pytest.mark.parametrize("name", ["topics", "messages"])
def test_a_table_that_is_there_twice(name: str, tmp_path: Path) -> None:
    path = write_sqlite(tmp_path / "bag.db3", {TOPIC: (JOINT_STATE, DATA[:20])})
    with closing(sqlite3.connect(path)) as base:
        base.executescript(f"{TWICE_IN_SCHEMA} WHERE name = '{name}'")
    with pytest.raises(RecordingError) as caught:
        SqliteFile(path)
    said = f"{path}, {name}: the table exists twice; give a file that rosbag2 wrote"
    assert str(caught.value) == said


LISTED = {
    "itself": "['.', bag_0.db3]",
    "above": "[../other/bag_0.db3, bag_0.db3]",
    "absolute": "[/etc/passwd, bag_0.db3]",
    "no bag": "[metadata.yaml, bag_0.db3]",
    "again and again": f"[{'bag_0.db3, ' * 5000}]",
    "long": f"[{'x' * 300}.db3, bag_0.db3]",
    "zero byte": '["a\\0.db3", bag_0.db3]',
    "many": f"[{', '.join(f'a_{k}.db3' for k in range(5000))}, bag_0.db3]",
}


@pytest.mark.parametrize("case", LISTED)
def test_only_files_of_the_folder_are_opened_and_each_once(case: str, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    write_sqlite(tmp_path / "other" / "bag_0.db3", {TOPIC: (JOINT_STATE, DATA)})
    bag = open_bag(folder(tmp_path, LISTED[case]))
    count = sum(len(bag.read(TOPIC, k).messages) for k in range(bag.pieces(TOPIC)))
    assert count == len(DATA)
    assert len(bag.notes) <= 11
    assert bool(bag.notes) == (case != "again and again")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = folder(tmp_path, "[bag_0.db3, bag_1.db3]")
    os.mkfifo(path / "bag_1.db3")
    assert "bag_1.db3 belongs to this bag, but is not there" in open_bag(path).notes[0]
    (path / "metadata.yaml").unlink()
    os.mkfifo(path / "metadata.yaml")
    assert open_bag(path).notes == ()
    with pytest.raises(RecordingError, match="not a regular file"):
        open_recording(path / "bag_1.db3", NAMES)


def test_a_large_number_in_a_name_costs_nothing(tmp_path: Path) -> None:
    path = folder(tmp_path, "[]", "x_0.db3", "x_99999999999.db3")
    names, notes = files_of(path)
    assert names == ["x_0.db3", "x_99999999999.db3"]
    assert notes[0].endswith("has no split 1")
    assert notes[-1] == "and 99999999988 more"


def peak() -> int:
    """Most memory that this process has had [bytes]."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def record(kind: int, content: bytes) -> bytes:
    """A record of MCAP."""
    return struct.pack("<BQ", kind, len(content)) + content


def chunk(packed: str, data: bytes, stated: int) -> bytes:
    """A chunk's record."""
    name = struct.pack("<I", len(packed)) + packed.encode()
    head = struct.pack("<QQQI", 0, 0, stated, 0) + name
    return record(6, head + struct.pack("<Q", len(data)) + data)


@pytest.mark.parametrize("packed", ["zstd", "lz4"])
@pytest.mark.parametrize("stated", [1000, 2**30, 2**63])
def test_a_chunk_is_no_larger_than_it_says_and_than_any_is(
    packed: str, stated: int, tmp_path: Path
) -> None:
    """Some kilobytes that unpack to a gigabyte."""
    zstd, lz4 = pytest.importorskip("backports.zstd"), pytest.importorskip("lz4.frame")
    bomb = {"zstd": zstd.compress, "lz4": lz4.compress}[packed](bytes(512 * MEGABYTE // 2))
    good = unclosed_mcap(tmp_path / "good.mcap", DATA)
    path = tmp_path / "bag.mcap"
    path.write_bytes(good.read_bytes() + chunk(packed, bomb, stated))
    before = peak()
    bag = McapFile(path)
    raws = [bag.read(TOPIC, k) for k in range(bag.pieces(TOPIC))]
    assert peak() - before < 64 * MEGABYTE
    assert [data for raw in raws for data in raw.messages] == DATA
    assert sum(raw.lost for raw in raws) == 1


@pytest.mark.parametrize("packed", ["zstd", "lz4"])
def test_frames_that_follow_each_other_are_one_chunk(packed: str) -> None:
    zstd, lz4 = pytest.importorskip("backports.zstd"), pytest.importorskip("lz4.frame")
    squeeze = {"zstd": zstd.compress, "lz4": lz4.compress}[packed]
    data = squeeze(b"a" * 100) + squeeze(b"b" * 50)
    whole = b"a" * 100 + b"b" * 50
    assert mcap_records.decompressed(packed, data, "x", 150) == (whole, True)
    assert mcap_records.decompressed(packed, data, "x", 149) == (b"", False)
    assert mcap_records.decompressed(packed, data[:-4], "x", 150)[1] is False


def head_of_chunk(name: bytes, stated: int, size: int) -> bytes:
    """What a chunk has before its data."""
    return struct.pack("<QQQII", 0, 0, stated, 0, len(name)) + name + struct.pack("<Q", size)


def test_heads_of_chunks_just_so_long() -> None:
    """A whole head without data is looked at; one a byte short, or of a long name, is not."""
    assert mcap_records.uncompressed(head_of_chunk(b"", 3, 3) + b"abc", "x") == b"abc"
    for name in (b"bz2", b"x" * 16):
        with pytest.raises(RecordingError, match=f"chunks compressed as '{name.decode()}'"):
            mcap_records.uncompressed(head_of_chunk(name, 0, 0), "x")
        assert mcap_records.uncompressed(head_of_chunk(name, 0, 0)[:-1], "x") == b""
    assert mcap_records.uncompressed(head_of_chunk(b"x" * 17, 0, 0), "x") == b""
    for stated, size in ((2**27, 2**18), (2**26 + 2**16, 2**16)):
        data = bytes(size)
        with pytest.raises(RecordingError, match="bz2"):
            mcap_records.uncompressed(head_of_chunk(b"bz2", stated, size) + data, "x")
        assert not mcap_records.uncompressed(head_of_chunk(b"bz2", stated + 1, size) + data, "x")


def test_damaged_records_are_noted_once(tmp_path: Path) -> None:
    """Half a megabyte of schemas without contents, which took longer with each of them."""
    path = tmp_path / "bag.mcap"
    good = unclosed_mcap(tmp_path / "good.mcap", DATA).read_bytes()
    path.write_bytes(good + record(3, b"") * 60_000 + record(4, b"") * 1000)
    bag = McapFile(path)
    assert len(bag.notes) == 2
    assert sum(len(bag.read(TOPIC, k).messages) for k in range(bag.pieces(TOPIC))) == len(DATA)
