"""``geared-dynamics describe --graph``: the file, and what goes wrong."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from geared_dynamics.apps.cli.main import main

URDF = Path(__file__).parents[4] / "urdf"
ELBOW = ["describe", str(URDF / "elbow.urdf"), str(URDF / "elbow.drivetrain.yaml"), "--graph"]


def test_writes_the_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out.svg"
    assert main([*ELBOW, str(path)]) == 0
    assert ET.parse(path).getroot().tag.endswith("svg")
    assert f"gear graph drawn: {path}" in capsys.readouterr().out


def test_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "out.SVG"
    path.write_text("stale, written by geared-dynamics " * 100000, encoding="utf-8")
    assert main([*ELBOW, str(path)]) == 0
    assert "stale" not in path.read_text(encoding="utf-8")


def test_without_wheels(tmp_path: Path) -> None:
    path = tmp_path / "out.svg"
    assert main([*ELBOW[:2], "--graph", str(path)]) == 0
    ET.parse(path)


@pytest.mark.parametrize(
    ("name", "finding"),
    [
        ("no_folder/out.svg", "cannot be written: No such file or directory"),
        ("folder.svg", "cannot be written: Is a directory"),
        ("out.png", "is not an SVG file's name; end it in .svg"),
        ("elbow.urdf", "is not an SVG file's name"),
        ("out", "is not an SVG file's name"),
    ],
)
def test_wrong_paths(
    name: str, finding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder.svg").mkdir()
    path = tmp_path / name
    assert main([*ELBOW, str(path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"geared-dynamics: error: --graph {path}: {finding}")
    assert len(said.err.splitlines()) == 1
    assert not path.is_file()
