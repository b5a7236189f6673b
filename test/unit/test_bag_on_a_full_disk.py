"""Bags on a disk that is full: an error of the system with the path, and nothing left."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from geared_dynamics.files import new_files
from geared_dynamics.recordings import bag_writer


@pytest.mark.parametrize("library", [True, False])
def test_sqlite_without_room(
    library: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if library:
        pytest.importorskip("rosbags", reason="needs geared_dynamics[analysis]")
    monkeypatch.setattr(bag_writer, "has_library", lambda: library)

    connect = sqlite3.connect

    def small(*given: object, **options: object) -> sqlite3.Connection:
        base = connect(*given, **options)  # type: ignore[call-overload]
        base.execute("PRAGMA max_page_count = 30")  # of 4096 bytes: SQLite's own small disk
        return base

    monkeypatch.setattr(sqlite3, "connect", small)

    def write(count: int) -> None:
        with new_files(tmp_path / "bag") as (draft,):
            with bag_writer.Bag(draft, {"/a": "std_msgs/msg/String"}, "sqlite3") as bag:
                for k in range(count):
                    bag.write("/a", k, bytes(1000))

    with pytest.raises(OSError, match="cannot be written: No space left") as caught:
        write(200)
    assert caught.value.filename == str(tmp_path / "bag")
    assert not list(tmp_path.iterdir())
    write(5)
    assert [path.name for path in tmp_path.iterdir()] == ["bag"]
