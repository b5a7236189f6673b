"""Numbers that options take: the least and the most, and what lies just beyond them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest

from elbow_run import DRIVE, URDF
from geared_dynamics.apps.cli import (
    analyze,
    describe,
    identify,
    loop_benchmark,
    recording_options,
    view,
)
from geared_dynamics.apps.cli.main import main

Reader = Callable[[str], object]

# Reader, what it takes and makes of it, what it refuses, words of the refusal.
READERS: dict[str, tuple[Reader, dict[str, object], list[str], str]] = {
    "speed": (
        analyze.speed,
        {"1e-9": 1e-9, "0.5": 0.5, "1e300": 1e300},
        ["0", "-0.1", "inf", "nan", "fast", ""],
        "not a speed above 0",
    ),
    "share": (
        identify.share,
        {"0": 0.0, "0.5": 0.5, "0.999": 0.999},
        ["1", "-0.001", "nan", "inf", "half"],
        "from 0 to below 1",
    ),
    "rate": (
        loop_benchmark.rate,
        {"1": 1, "1000": 1000, str(loop_benchmark.FASTEST): loop_benchmark.FASTEST},
        ["0", str(loop_benchmark.FASTEST + 1), "-1", "1.5", "100000", "\u0661", ""],
        "whole number of 1 to",
    ),
    "seconds": (
        loop_benchmark.seconds,
        {"1e-3": 1e-3, f"{loop_benchmark.LONGEST:g}": loop_benchmark.LONGEST},
        ["0", "-1", f"{loop_benchmark.LONGEST + 1:g}", "nan", "long"],
        "a time above 0 up to",
    ),
    "domain": (
        loop_benchmark.domain,
        {"0": 0, "42": 42, "101": 101},
        ["102", "-1", "1.0", "1000", "\u0661", ""],
        "ROS domain of 0 to 101",
    ),
    "pair": (
        recording_options.pair,
        {"a=b": ("a", "b"), "a=b=c": ("a", "b=c")},
        ["a", "a=", "=b", "="],
        "of the form NAME=VALUE",
    ),
    "frequency": (
        recording_options.frequency,
        {"1e-3": 1e-3, "20": 20.0, "9e8": 9e8},
        ["0", "-5", "1e9", "inf", "nan", "high"],
        "a frequency above 0",
    ),
    "jobs": (
        recording_options.jobs,
        {"1": 1, "1024": 1024},
        ["0", "1025", "-1", "2.0", "all", ""],
        "whole number of 1 to 1024",
    ),
    "size": (
        view.size,
        {
            "480x360": (480, 360),
            f"{view.SMALLEST}X{view.LARGEST}": (view.SMALLEST, view.LARGEST),
        },
        [f"{view.SMALLEST - 1}x100", f"100x{view.LARGEST + 1}", "100", "1x2x3", "axb", "10.0x20"],
        "not a size such as",
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_numbers_within_their_range(name: str) -> None:
    read, taken, _, _ = READERS[name]
    for text, value in taken.items():
        assert read(text) == value


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, row in READERS.items() for text in row[2]]
)
def test_numbers_beyond_their_range(name: str, text: str) -> None:
    read, _, _, words = READERS[name]
    with pytest.raises(argparse.ArgumentTypeError, match=words):
        read(text)


def test_a_name_given_twice() -> None:
    assert recording_options.once("--lock", [("a", 1.0), ("b", 2.0)]) == {"a": 1.0, "b": 2.0}
    with pytest.raises(Exception, match=r"a is given twice, 1\.0 and 2\.0"):
        recording_options.once("--lock", [("a", 1.0), ("a", 2.0)])


def test_a_graph_goes_into_an_svg_file_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mistyped command must not overwrite the robot's own files."""
    precious = tmp_path / "arm.urdf"
    precious.write_text("mine")
    assert main(["describe", URDF, DRIVE, "--graph", str(precious)]) == 2
    assert "end it in .svg" in capsys.readouterr().err
    assert precious.read_text() == "mine"
    missing = tmp_path / "nowhere" / "arm.svg"
    assert main(["describe", URDF, DRIVE, "--graph", str(missing)]) == 2
    assert "folder that exists" in capsys.readouterr().err


def test_numbers_of_a_table_have_four_digits() -> None:
    assert [describe.number(x) for x in (1.0, 0.123456, 1e-9)] == ["1", "0.1235", "1e-09"]


def test_a_recording_too_short_for_a_motion(
    bag: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every span comes out empty, as where there are gaps everywhere."""
    from geared_dynamics.recordings.spans import MotionReader

    real = MotionReader.motions
    monkeypatch.setattr(MotionReader, "motions", lambda *given: real(*given)._replace(motions=[]))
    assert main(["coupling", URDF, DRIVE, "--bag", bag]) == 2
    assert "contains no gap-free interval of motion" in capsys.readouterr().err
