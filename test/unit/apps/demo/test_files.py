"""Robots by name and by path."""

from __future__ import annotations

from pathlib import Path

import pytest

from geared_dynamics.errors import DescriptionError
from geared_dynamics.files import folder, robot_files


def test_a_robot_of_the_package() -> None:
    found = robot_files("brisk6")
    assert found.urdf.name == "brisk6.urdf"
    assert found.drivetrain is not None
    assert found.drivetrain.name == "brisk6.drivetrain.yaml"


def test_a_path_with_and_without_a_drivetrain_beside(tmp_path: Path) -> None:
    urdf, drive = tmp_path / "arm.urdf", tmp_path / "arm.drivetrain.yaml"
    urdf.write_text("<robot/>", encoding="utf-8")
    assert robot_files(str(urdf)) == (urdf, None)
    drive.write_text("version: 1", encoding="utf-8")
    assert robot_files(str(urdf)) == (urdf, drive)
    assert robot_files(str(urdf), "other.yaml") == (urdf, Path("other.yaml"))


def test_a_misspelt_robot_is_told_the_nearest() -> None:
    with pytest.raises(DescriptionError, match=r"did you mean 'brisk6'\?"):
        robot_files("brisk")


def test_a_folder_that_is_not_installed() -> None:
    with pytest.raises(DescriptionError, match="not installed"):
        folder("no_such_folder")
