"""Files and options of recordings that are refused: each with its place, finding and remedy."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from geared_dynamics.errors import RecordingError
from geared_dynamics.recordings import mcap_file, sqlite_file
from geared_dynamics.recordings.recording import open_recording
from recorded_motions import JOINT_STATE, messages, motion, write_sqlite

NAMES = ("joint_1", "joint_2", "joint_3")
T, Q, V, A = motion(0.2, 1000.0)


def bag(folder: Path) -> Path:
    """A good bag."""
    return write_sqlite(folder / "b.db3", {"/j": (JOINT_STATE, messages(NAMES, T, Q, V, A))})


def table(folder: Path, *, twice: bool = False, wide: bool = False) -> Path:
    """A table, with a heading that stands twice, or rows wider than the headings."""
    head = [f"{kind}.{name}" for kind in ("position", "velocity", "effort") for name in NAMES]
    head += [head[0]] if twice else []
    more = A if wide else A[:, :1] if twice else A[:, :0]
    rows = np.column_stack([T, Q, V, A, more])
    path = folder / "t.csv"
    np.savetxt(path, rows, delimiter=",", header=",".join(["time", *head]), comments="")
    return path


def test_good_ones_are_read(tmp_path: Path) -> None:
    for path in (bag(tmp_path), table(tmp_path)):
        assert len(open_recording(path, NAMES).read(0, 0).samples.stamp) == len(T)


@pytest.mark.parametrize("rate", [0.0, -1.0, np.inf, np.nan])
def test_rates_that_are_none(rate: float, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"--rate: is .*; give samples per second, above 0"):
        open_recording(table(tmp_path), NAMES, rate=rate)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"twice": True},
            r"has 2 columns position\.joint_1; give each column a heading of its own",
        ),
        ({"wide": True}, r"more cells in its rows \(13\) than headings \(10\)"),
    ],
)
def test_tables_that_do_not_fit_their_headings(
    options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(RecordingError, match=words):
        open_recording(table(tmp_path, **options), NAMES)


def test_a_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_path: Path) -> Any:
        raise PermissionError(13, "Permission denied")

    bag(tmp_path)
    monkeypatch.setattr(Path, "iterdir", refused)
    with pytest.raises(RecordingError, match=r"cannot be read \(Permission denied\)"):
        open_recording(tmp_path, NAMES)


def test_a_bag_that_another_program_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "PATIENCE", 0.01)
    path = bag(tmp_path)
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(RecordingError, match="is locked by another program; wait until"):
            open_recording(path, NAMES)
    open_recording(path, NAMES)


@pytest.mark.parametrize("ending", ["-wal", "-journal", "-shm"])
def test_what_stands_beside_a_bag_must_be_a_file(ending: str, tmp_path: Path) -> None:
    path = bag(tmp_path)
    path.with_name(path.name + ending).mkdir()
    with pytest.raises(RecordingError, match=f"{ending}: is not a regular file; remove it"):
        open_recording(path, NAMES)


def longer(base: sqlite3.Connection) -> None:
    base.execute("UPDATE topics SET name = ?", ("x" * 10_000,))


def numbered(base: sqlite3.Connection) -> None:
    base.execute("UPDATE topics SET type = 5.5")


def again(base: sqlite3.Connection) -> None:
    given = base.execute("SELECT * FROM topics").fetchone()[1:]
    places = ", ".join("?" * (len(given) + 1))
    for k in range(2, 103):
        base.execute(f"INSERT INTO topics VALUES ({places})", (k, *given))


@pytest.mark.parametrize("harm", [longer, numbered, again])
def test_damaged_lists_of_topics(
    harm: Callable[[sqlite3.Connection], None], tmp_path: Path
) -> None:
    path = bag(tmp_path)
    with closing(sqlite3.connect(path)) as base:
        harm(base)
        base.commit()
    with pytest.raises(RecordingError):
        open_recording(path, NAMES)


def test_a_file_of_another_kind_is_no_mcap(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="does not begin as an MCAP file"):
        mcap_file.McapFile(bag(tmp_path))
