"""Tables that are no recordings, or were made to do harm."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from geared_dynamics.errors import RecordingError
from geared_dynamics.recordings.recording import Recording, open_recording

JOINTS = ("a", "b")
HEADINGS = ["time", "a.position", "b.position", "a.effort", "b.effort"]
ROWS = np.column_stack([np.arange(40) / 100, np.sin(np.arange(40))[:, None] * [1, 2, 3, 4]])


def lines(*, joined: str = ",") -> list[str]:
    """A good table."""
    rows = [joined.join(f"{x!r}" for x in row) for row in ROWS.tolist()]
    return [joined.join(HEADINGS), *rows]


def opened(folder: Path, text: str | bytes) -> Recording:
    """Open a table."""
    path = folder / "table.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return open_recording(path, JOINTS)


def samples(recording: Recording) -> tuple[np.ndarray, np.ndarray]:
    """Stamps and positions of all rows."""
    parts = [recording.reader.read(k) for k in range(recording.reader.pieces)]
    return np.concatenate([p.stamp for p in parts]), np.concatenate([p.position for p in parts])


@pytest.mark.parametrize("time", ["inf", "1e19", "1e300", "-inf", "9.3e18"])
def test_first_times_that_no_unit_makes_times(time: str, tmp_path: Path) -> None:
    table = lines()
    table[1] = ",".join([time, *table[1].split(",")[1:]])
    with pytest.raises(
        RecordingError, match="which is not a time in seconds; name another column"
    ):
        opened(tmp_path, "\n".join(table))


# what stands in place of the tenth row, and how many rows are left
ODD = {
    "a long cell": ("0.1," + "x" * 200_000 + ",1,1,1", 40),
    "a long quoted cell": ('0.1,"' + "x" * 200_000 + '",1,1,1', 40),
    "an unclosed quote": ('0.1,"1,1,1,1', 40),
    "a carriage return": ("0.1,1\r,1,1,1", 40),
    "many cells": ("0.1,1,1,1,1" + ",1" * 400_000, 40),
    "few cells": ("0.1", 40),
    "infinite time": ("inf,1,1,1,1", 39),
    "no number": ("x,1,1,1,1", 39),
    "not UTF-8": (b"0.1,\xff\xfe,1,1,1", 40),
    "digits": (f"0.1,{'9' * 5000},1,1,1", 40),
}


@pytest.mark.parametrize("case", ODD)
def test_an_odd_row_costs_itself(case: str, tmp_path: Path) -> None:
    odd, count = ODD[case]
    table: list[bytes] = [line.encode() for line in lines()]
    table[11] = odd if isinstance(odd, bytes) else odd.encode()
    stamp, position = samples(opened(tmp_path, b"\n".join(table)))
    good = np.isin(stamp, np.rint(ROWS[:, 0] * 1e9).astype(int))
    assert abs(len(stamp) - count) <= 1  # a carriage return makes two lines of one
    expected = ROWS[np.searchsorted(np.rint(ROWS[:, 0] * 1e9).astype(int), stamp[good]), 1:3]
    same = (position[good] == expected).all(axis=1)
    assert same.sum() >= 39


def test_only_the_columns_in_use_take_memory(tmp_path: Path) -> None:
    """Hundreds of thousands of columns, of which the last ones are the joints'."""
    more = 100_000
    table = [f"{'x,' * more}{line}" if k == 0 else f"{'1,' * more}{line}"
             for k, line in enumerate(lines())]  # fmt: skip
    table[3] = table[3].replace("1,", "?,", 1)  # not only numbers: read cell by cell
    text = "\n".join(table)
    recording = opened(tmp_path, text)
    tracemalloc.start()
    _, position = samples(recording)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(position, ROWS[:, 1:3])
    assert most < 6 * len(text) + 2**24


def test_a_first_line_without_end(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="first line of more than 4 MiB"):
        opened(tmp_path, "time," * 2**20)


def test_headings_with_odd_characters(tmp_path: Path) -> None:
    table = lines()
    table[0] = f'{table[0]},a\rb,"{"y" * 200_000}'
    np.testing.assert_array_equal(samples(opened(tmp_path, "\n".join(table)))[1], ROWS[:, 1:3])
