"""Observers on recordings: link encoders of a KUKA KR300, and a Modelica reference.

Sources and folder: ``benchmarks/observer_recordings.py``; skipped where the data are not there.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mujoco")
pytest.importorskip("scipy")
BENCHMARKS = str(Path(__file__).resolve().parents[2] / "benchmarks")


@pytest.fixture(scope="module")
def recordings() -> Any:
    sys.path.insert(0, BENCHMARKS)
    try:
        return importlib.import_module("observer_recordings")
    finally:
        sys.path.remove(BENCHMARKS)


def test_link_encoders_of_a_robot(recordings: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Axes 2 and 3; axis 1 cannot be told (docs/observers.md)."""
    if not (recordings.DATA / "kr300_weigand").is_dir():
        pytest.skip("the recordings of the KR300 are not there")
    recordings.link_encoders()
    rows = re.findall(r"run (\w)\s+(\d)\s+[\d.]+\s+[\d.]+\s+([\d.]+)", capsys.readouterr().out)
    factors = {(run, int(axis)): float(factor) for run, axis, factor in rows}
    assert len(factors) == 6
    for run in "AB":
        assert factors[run, 2] > 1.3
        assert factors[run, 3] > 1.5


def test_one_axis_of_modelica(recordings: Any, capsys: pytest.CaptureFixture[str]) -> None:
    if not (recordings.DATA / "msl_reference").is_dir():
        pytest.skip("Modelica's reference results are not there")
    recordings.one_axis()
    found = re.findall(r"factor ([\d.]+)", capsys.readouterr().out)
    assert [float(value) > 3.0 for value in found] == [True, True]
