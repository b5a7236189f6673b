"""Folders of bags: which files belong together, and what is said of those that are lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from geared_dynamics.errors import RecordingError
from geared_dynamics.recordings.bag import files_of
from geared_dynamics.recordings.recording import open_recording
from recorded_motions import (
    JOINT_STATE,
    messages,
    motion,
    nanoseconds,
    write_sqlite,
    write_with_library,
)

NAMES = ("joint_1", "joint_2", "joint_3")
T, Q, V, A = motion(3.0, 1000.0)
DATA = messages(NAMES, T, Q, V, A)
STAMP = nanoseconds(T)


def split(folder: Path, number: int, name: str = "bag") -> Path:
    """One of the three splits of a bag."""
    part = DATA[number * 1000 : (number + 1) * 1000]
    return write_sqlite(folder / f"{name}_{number}.db3", {"/joint_states": (JOINT_STATE, part)})


def metadata(folder: Path, *names: str) -> None:
    """The list of a bag's files."""
    lines = ["rosbag2_bagfile_information:", "  version: 9", "  relative_file_paths:"]
    (folder / "metadata.yaml").write_text("\n".join(lines + [f"    - {x}" for x in names]))


def empty(path: Path) -> None:
    """A file without a byte."""
    path.write_bytes(b"")


def zeros(path: Path) -> None:
    """A file that was never written."""
    path.write_bytes(bytes(5000))


def packed(path: Path) -> None:
    """A file that is still compressed."""
    path.rename(path.with_name(path.name + ".zstd"))


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (empty, "is empty: it is left out"),
        (zeros, "neither an SQLite nor an MCAP file: it is left out"),
        (packed, "is compressed and left out (zstd -d"),
    ],
)
def test_a_lost_file_costs_its_own_samples_only(
    tmp_path: Path, harm: Callable[[Path], None], said: str, number: int, listed: bool
) -> None:
    files = [split(tmp_path, k) for k in range(3)]
    if listed:
        metadata(tmp_path, *(file.name for file in files))
    harm(files[number])
    recording = open_recording(tmp_path, NAMES)
    parts = [recording.reader.read(k) for k in range(recording.reader.pieces)]
    stamp = np.concatenate([part.stamp for part in parts])
    np.testing.assert_array_equal(
        stamp, np.delete(STAMP, slice(number * 1000, number * 1000 + 1000))
    )
    (note,) = recording.reader.notes
    assert said in note
    assert files[number].name in note


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    files = [split(tmp_path, k) for k in range(3)]
    files[1].unlink()
    assert open_recording(tmp_path, NAMES).reader.notes == (f"{tmp_path} has no split 1",)
    metadata(tmp_path, *(file.name for file in files))
    (note,) = open_recording(tmp_path, NAMES).reader.notes
    assert note == f"{files[1]} belongs to this bag, but is not there"


def test_metadata_decide_which_files_belong_together(tmp_path: Path) -> None:
    files = [split(tmp_path, k) for k in range(3)]
    split(tmp_path, 0, "other")
    with pytest.raises(RecordingError, match=r"2 bags: bag\.db3, other\.db3; give the files one"):
        open_recording(tmp_path, NAMES)
    metadata(tmp_path, *(file.name for file in files))
    recording = open_recording(tmp_path, NAMES)
    parts = [recording.reader.read(k) for k in range(recording.reader.pieces)]
    np.testing.assert_array_equal(np.concatenate([part.stamp for part in parts]), STAMP)
    assert recording.reader.notes == (
        f"{tmp_path / 'other_0.db3'} is not in metadata.yaml: it is left out",
    )


@pytest.mark.parametrize("text", ["", "[1, 2]", "a: {", "rosbag2_bagfile_information: 3"])
def test_senseless_metadata_leave_the_names_to_decide(tmp_path: Path, text: str) -> None:
    for k in range(3):
        split(tmp_path, k)
    (tmp_path / "metadata.yaml").write_text(text)
    recording = open_recording(tmp_path, NAMES)
    assert sum(len(recording.reader.read(k).stamp) for k in range(recording.reader.pieces)) == 3000


def test_the_library_s_metadata_are_understood(tmp_path: Path) -> None:
    pytest.importorskip("rosbags", reason="needs geared_dynamics[analysis]")
    path = write_with_library(tmp_path / "bag", DATA, STAMP, storage="MCAP")
    (file,) = path.glob("*.mcap")
    split(path, 0, "other")
    names, notes = files_of(path)
    assert names == [file.name]
    assert notes == [f"{path / 'other_0.db3'} is not in metadata.yaml: it is left out"]


def test_without_a_file_that_can_be_read_the_first_problem_is_told(tmp_path: Path) -> None:
    for k in range(2):
        empty(tmp_path / f"bag_{k}.mcap")
    with pytest.raises(RecordingError, match=r"bag_0\.mcap: is empty"):
        open_recording(tmp_path, NAMES)
    for file in tmp_path.glob("*.mcap"):
        packed(file)
    with pytest.raises(RecordingError, match=r"compressed files only \(bag_0\.mcap\.zstd\)"):
        open_recording(tmp_path, NAMES)


def test_joints_are_a_list() -> None:
    """A topic in the joints' place would be read as joints of one letter."""
    with pytest.raises(RecordingError, match=r"joints: expected a list of names, found the text"):
        open_recording("run.mcap", "/complete/joint_states")
