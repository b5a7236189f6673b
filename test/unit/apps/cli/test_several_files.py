"""Recordings over several files: what is one recording, and what are several."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elbow_run import MODEL, ROBOT, TAU, Q, T, V
from geared_dynamics.analysis import open_recording
from geared_dynamics.apps.cli.main import main
from geared_dynamics.errors import RecordingError
from recorded_motions import JOINT_STATE, messages, write_sqlite

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")

CUT = len(T) // 3
EFFORT = TAU + np.random.default_rng(0).normal(size=TAU.shape)
PARTS = {"0": slice(0, CUT), "1": slice(CUT, 2 * CUT), "2": slice(2 * CUT, None)}


def write(path: Path, rows: slice) -> Path:
    """A bag's file or a table of some samples."""
    if path.suffix == ".db3":
        data = messages(MODEL.joint_names, T[rows], Q[rows], V[rows], EFFORT[rows])
        return write_sqlite(path, {"/joint_states": (JOINT_STATE, data)})
    heads = [
        "time",
        *(f"{kind}.{j}" for kind in ("position", "effort") for j in MODEL.joint_names),
    ]
    table = np.column_stack([T, Q, EFFORT])[rows]
    np.savetxt(path, table, delimiter=",", header=",".join(heads), comments="", fmt="%.17g")
    return path


def parts(folder: Path, ending: str) -> list[str]:
    """The recording in three files; their places in order."""
    folder.mkdir()
    return [str(write(folder / f"run_{n}{ending}", rows)) for n, rows in PARTS.items()]


def output(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a command prints beside the recording's name."""
    assert main(words) == 0
    return capsys.readouterr().out.partition(":")[2]


@pytest.mark.parametrize("ending", [".db3", ".csv"])
def test_a_folder_of_parts_is_one_recording(
    ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = str(write(tmp_path / f"whole{ending}", slice(None)))
    folder = tmp_path / "split"
    parts(folder, ending)
    expected = output(["analyze", whole, *ROBOT], capsys)
    assert output(["analyze", str(folder), *ROBOT], capsys) == expected


@pytest.mark.parametrize("ending", [".db3", ".csv"])
def test_files_on_the_command_line_are_several(
    ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("clarabel", reason="needs geared_dynamics[analysis]")
    files = parts(tmp_path / "split", ending)
    text = output(["analyze", *files, *ROBOT], capsys)
    assert text.count("residual over all joints") == 3
    assert main(["identify", *files, *ROBOT]) == 0
    assert "26 base parameters" in capsys.readouterr().out
    assert main(["identify", *files, str(tmp_path / "none.db3"), *ROBOT]) == 2
    assert "none.db3: cannot be read" in capsys.readouterr().err
    assert main(["analyze", *files, str(tmp_path / "none.db3"), *ROBOT]) == 2
    assert capsys.readouterr().out.count("residual over all joints") == 3


def test_a_folder_of_tables_of_several_recordings(tmp_path: Path) -> None:
    for name in ("one.csv", "other.csv"):
        write(tmp_path / name, slice(0, 500))
    with pytest.raises(RecordingError, match=r"tables of 2 recordings: one\.csv, other\.csv; g"):
        open_recording(tmp_path, MODEL.joint_names)


def test_the_parts_of_a_table_are_joined_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "split"
    parts(folder, ".csv")
    (folder / "notes.md").write_text("not a table", encoding="utf-8")
    reader = open_recording(folder, MODEL.joint_names).reader
    samples = [reader.read(k) for k in range(reader.pieces)]
    np.testing.assert_array_equal(np.concatenate([s.position for s in samples]), Q)
    np.testing.assert_array_equal(np.concatenate([s.effort for s in samples]), EFFORT)
    (folder / "run_2.csv").rename(folder / "run_10.csv")  # after run_1, and eight are missing
    reader = open_recording(folder, MODEL.joint_names).reader
    samples = [reader.read(k) for k in range(reader.pieces)]
    np.testing.assert_array_equal(np.concatenate([s.position for s in samples]), Q)
    assert [note.partition("has no ")[2] for note in reader.notes] == [
        f"split {number}" for number in range(2, 10)
    ]
