"""Recordings in CSV files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from geared_dynamics.errors import GearedDynamicsWarning, RecordingError
from geared_dynamics.recordings.recording import open_recording
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
    "times and a rate": (
        ["time", *heads("q_{i}"), *heads("tau_{i}")],
        {"rate": 100.0},
        "--rate: the table has times",
    ),
    "a topic": (
        ["time", *heads("q_{i}"), *heads("tau_{i}")],
        {"topic": "/joint_states"},
        "--topic: does not apply to a table",
    ),
    "a senseless unit": (
        ["time", *heads("q_{i}"), *heads("tau_{i}")],
        {"time_unit": "h"},
        "unknown unit 'h'; give one of s, ms, us, ns",
    ),
    "wrong rename": (
        ["time", *heads("q_{i}"), *heads("tau_{i}")],
        {"rename": {"elbow": "x"}},
        "no joint 'elbow'",
    ),
    "wrong quantity": (
        ["time", *heads("q_{i}"), *heads("tau_{i}")],
        {"columns": {"torque": "tau_{i}"}},
        "unknown quantity 'torque'",
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


USUAL = ["time", *heads("position.{joint}"), *heads("effort.{joint}")]
ROWS = np.column_stack([T, Q, A])[:200]


def written(path: Path, rows: list[list[str]], delimiter: str, **options: str) -> Path:
    """A table of cells."""
    path.write_text("\n".join(delimiter.join(row) for row in rows) + "\n", **options)
    return path


def cells(pattern: str = "{}") -> list[list[str]]:
    """The rows below their headings."""
    return [USUAL, *([pattern.format(repr(float(x))) for x in row] for row in ROWS)]


@pytest.mark.parametrize(
    ("pattern", "delimiter", "first"),
    [
        ("{}", ";", "time"),
        ('"{}"', ",", "time"),
        ('"{}"', ";", "time"),
        ("{}", ",", "# time"),
        ("{}", ",", "#time"),
        ("comma", ";", "time"),
        ("comma", "\t", "time"),
        ('"comma"', ",", "time"),
    ],
)
def test_decimal_commas_quotes_and_commented_headings(
    tmp_path: Path, pattern: str, delimiter: str, first: str
) -> None:
    rows = cells(pattern.replace("comma", "{}"))
    if "comma" in pattern:
        rows[1:] = [[cell.replace(".", ",") for cell in row] for row in rows[1:]]
    rows[0] = [first, *USUAL[1:]]
    samples = open_recording(written(tmp_path / "run.csv", rows, delimiter), NAMES).reader.read(0)
    np.testing.assert_array_equal(samples.stamp, nanoseconds(T[:200]))
    np.testing.assert_array_equal(samples.position, Q[:200])
    np.testing.assert_array_equal(samples.effort, A[:200])


@pytest.mark.parametrize(("unit", "size"), [("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
def test_units_of_time(tmp_path: Path, unit: str, size: float) -> None:
    path = table(tmp_path / "run.csv", USUAL, T[:200] * size, Q[:200], A[:200])
    assert open_recording(path, NAMES, time_unit=unit).period == 1_000_000
    if unit == "ns":
        since_1970 = table(tmp_path / "stamp.csv", USUAL, T[:200] * 1e9 + 1.7e18, Q[:200], A[:200])
        with pytest.raises(RecordingError, match=r"column time: holds 1\.7e\+18.*--time-unit ns"):
            open_recording(since_1970, NAMES)
    else:
        with pytest.warns(GearedDynamicsWarning, match="samples per second.*--time-unit ms"):
            assert open_recording(path, NAMES).rate < 2.0


def test_a_rate_that_no_arm_is_recorded_with_is_doubted(tmp_path: Path) -> None:
    path = table(tmp_path / "run.csv", USUAL, T[:200] / 1e3, Q[:200], A[:200])
    with pytest.warns(GearedDynamicsWarning, match="1e.06 samples per second"):
        open_recording(path, NAMES)


def test_renamed_joints_of_a_table(tmp_path: Path) -> None:
    names = ["time", *(f"{what}.x{k}" for what in ("position", "effort") for k in range(3))]
    path = table(tmp_path / "run.csv", names, T[:200], Q[:200], A[:200])
    rename = {joint: f"x{k}" for k, joint in enumerate(NAMES)}
    samples = open_recording(path, NAMES, rename=rename).reader.read(0)
    np.testing.assert_array_equal(samples.position, Q[:200])


def test_degrees_of_some_joints(tmp_path: Path) -> None:
    path = table(tmp_path / "run.csv", USUAL, T[:200], Q[:200], A[:200])
    found = open_recording(path, NAMES, degrees=(NAMES[0], NAMES[2])).reader.read(0).position
    np.testing.assert_allclose(found, Q[:200] * [np.pi / 180, 1.0, np.pi / 180], rtol=1e-15)


def test_efforts_are_needed_only_where_they_are_used(tmp_path: Path) -> None:
    path = table(tmp_path / "run.csv", USUAL[:4], T[:200], Q[:200])
    with pytest.raises(RecordingError, match="no effort columns"):
        open_recording(path, NAMES)
    recording = open_recording(path, NAMES, efforts=False)
    np.testing.assert_array_equal(recording.read(0, 0).samples.position, Q[:200])


NO_TABLES = {
    "empty": (b"", "is empty"),
    "UTF-16": ("time,q_1".encode("utf-16"), "is in UTF-16; convert it: iconv"),
    "binary": (bytes(range(256)) * 40, "is not text"),
    "ISO times": (
        (",".join(USUAL) + 3 * ("\n2024-01-01T00:00:00" + ",1" * 6)).encode(),
        r"column time: holds '2024-01-01T00:00:00' for a time; write times as numbers",
    ),
    "one time": (
        (",".join(USUAL) + 50 * ("\n5" + ",1" * 6)).encode(),
        "holds 50 samples, none later than the first",
    ),
    "words": (
        (",".join(USUAL) + "".join(f"\n{k},a,b,c,1,2,3" for k in range(50))).encode(),
        r"has no positions \(empty or NaN\).*name other columns with --columns",
    ),
}


@pytest.mark.parametrize("case", NO_TABLES)
def test_what_is_no_table_is_told(tmp_path: Path, case: str) -> None:
    content, words = NO_TABLES[case]
    (tmp_path / "run.csv").write_bytes(content)
    with pytest.raises(RecordingError, match=words) as caught:
        open_recording(tmp_path / "run.csv", NAMES)
    assert str(caught.value).isprintable()
    assert "--topic" not in str(caught.value)
