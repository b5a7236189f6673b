"""Recordings in CSV files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from geared_dynamics.analysis.reading.problems import RecordingError
from geared_dynamics.analysis.reading.recording import open_recording
from recorded_motions import motion, nanoseconds

NAMES = ("joint_1", "joint_2", "joint_3")
T, Q, V, A = motion(9.0, 1000.0)


def table(path: Path, heads: list[str], *parts: np.ndarray, delimiter: str = ",") -> Path:
    """Write a CSV file."""
    np.savetxt(
        path,
        np.column_stack(parts),
        delimiter=delimiter,
        header=delimiter.join(heads),
        comments="",
    )
    return path


def heads(pattern: str) -> list[str]:
    """Headings of all joints."""
    return [pattern.format(joint=name, i=i) for i, name in enumerate(NAMES, 1)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_usual_headings(tmp_path: Path, delimiter: str) -> None:
    columns = ["time", *heads("position.{joint}"), *heads("effort.{joint}")]
    path = table(tmp_path / "run.csv", columns, T, Q, A, delimiter=delimiter)
    recording = open_recording(path, NAMES)
    parts = [recording.reader.read(k) for k in range(recording.reader.pieces)]
    assert [len(part.stamp) for part in parts] == [4096, 4096, 9000 - 2 * 4096]
    np.testing.assert_array_equal(np.concatenate([p.stamp for p in parts]), nanoseconds(T))
    np.testing.assert_array_equal(np.concatenate([p.position for p in parts]), Q)
    np.testing.assert_array_equal(np.concatenate([p.effort for p in parts]), A)
    assert np.isnan(parts[0].velocity).all()


def test_named_headings_degrees_and_rate(tmp_path: Path) -> None:
    columns = [*heads("motor_deg_{i}"), *heads("torque[{i}]")]
    path = table(tmp_path / "run.csv", columns, np.rad2deg(Q), A)
    names = {"position": "motor_deg_{i}", "effort": "torque[{i}]"}
    recording = open_recording(path, NAMES, columns=names, rate=500.0, degrees=True)
    assert recording.rate == 500.0
    np.testing.assert_allclose(recording.reader.read(1).position, Q[4096:8192], rtol=1e-14)
    assert recording.reader.read(1).stamp[0] == 4096 * 2_000_000


def test_what_is_no_number_is_left_out(tmp_path: Path) -> None:
    columns = ["time", *heads("position_{i}"), *heads("effort_{i}")]
    path = table(tmp_path / "run.csv", columns, T[:50], Q[:50], A[:50])
    lines = path.read_text().splitlines()
    lines[10], lines[20] = "broken," + lines[10], lines[20].split(",")[0]
    path.write_text("\n".join(lines))
    samples = open_recording(path, NAMES).reader.read(0)
    assert len(samples.stamp) == 49  # the broken time is gone
    assert samples.tally.damaged == 1
    assert np.isnan(samples.position).any(axis=1).sum() == 1


BAD = {
    "no positions": (["time", "x", "y", "z", *heads("effort_{i}")], {}, "no position columns"),
    "no efforts": (["time", *heads("q_{i}"), "a", "b", "c"], {}, "no effort columns"),
    "no times": (["a", *heads("q_{i}"), *heads("tau_{i}")], {}, "no column of times"),
    "wrong heading": (
        ["time", *heads("q_{i}"), *heads("tau_{i}")],
        {"columns": {"effort": "torque_{i}"}},
        "torque_1",
    ),
    "wrong quantity": (
        ["time", *heads("q_{i}"), *heads("tau_{i}")],
        {"columns": {"torque": "tau_{i}"}},
        "no quantity 'torque'",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_tables_say_what_was_found(tmp_path: Path, case: str) -> None:
    columns, options, words = BAD[case]
    path = table(tmp_path / "run.csv", columns, T[:50], Q[:50], A[:50])
    with pytest.raises(RecordingError, match=words.replace("(", r"\(")):
        open_recording(path, NAMES, **options)


def test_a_heading_alone_is_no_recording(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text(",".join(["time", *heads("q_{i}"), *heads("tau_{i}")]) + "\n")
    with pytest.raises(RecordingError, match="0 samples"):
        open_recording(path, NAMES)
