"""Tables without a row of headings: the error's remedy is followed, and works."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from geared_dynamics.errors import RecordingError
from geared_dynamics.recordings.recording import open_recording
from recorded_motions import motion

NAMES = ("shoulder", "elbow", "wrist")
T, Q, V, A = motion(2.0, 500.0)
WHOLE = {"times": (T, Q, A), "velocities": (T, Q, V, A), "no times": (Q, A), "three": (Q, V, A)}


def follow(error: RecordingError, folder: Path) -> None:
    """Run the command that an error's remedy gives."""
    command = re.search(r"sed .*?(?=, and give|$)", error.remedy)
    assert command is not None, error.remedy
    subprocess.run(["bash", "-c", command[0]], cwd=folder, check=True)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("case", WHOLE)
def test_the_remedy_gives_a_table_that_can_be_read(
    case: str, delimiter: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.csv"
    np.savetxt(path, np.column_stack(WHOLE[case]), delimiter=delimiter)
    parts = WHOLE[case]
    columns = sum(part.shape[1] if part.ndim > 1 else 1 for part in parts)
    with pytest.raises(RecordingError, match=f"its first line is {columns} numbers") as caught:
        open_recording(path, NAMES)
    follow(caught.value, tmp_path)
    rate = 500.0 if "--rate" in caught.value.remedy else None
    assert (rate is None) == (parts[0] is T)
    samples = open_recording(path, NAMES, rate=rate).reader.read(0)
    np.testing.assert_allclose(samples.position, Q)
    np.testing.assert_allclose(samples.effort, A)


def test_columns_separated_by_spaces(tmp_path: Path) -> None:
    """As NumPy writes them by default: two remedies, one after the other."""
    np.savetxt(tmp_path / "run.txt", np.column_stack((T, Q, A)))
    with pytest.raises(RecordingError, match="separates its columns by spaces") as caught:
        open_recording(tmp_path / "run.txt", NAMES)
    follow(caught.value, tmp_path)
    with pytest.raises(RecordingError, match="has no row of headings") as second:
        open_recording(tmp_path / "commas.csv", NAMES)
    follow(second.value, tmp_path)
    samples = open_recording(tmp_path / "commas.csv", NAMES).reader.read(0)
    np.testing.assert_allclose(samples.position, Q)


def test_other_numbers_of_columns_get_no_command(tmp_path: Path) -> None:
    np.savetxt(tmp_path / "run.csv", np.column_stack((T, Q, A, A[:, :1])), delimiter=",")
    with pytest.raises(RecordingError, match="write a line of 8 headings above it: time, pos"):
        open_recording(tmp_path / "run.csv", NAMES)
