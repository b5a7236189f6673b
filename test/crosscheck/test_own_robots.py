"""Every robot of this repository, with its own drivetrain, against Pinocchio."""

from __future__ import annotations

from pathlib import Path

import pytest

from geared_dynamics.apps.cli.main import main

pytest.importorskip("pinocchio")

FOLDER = Path(__file__).parents[2] / "urdf"
ROBOTS = sorted(path.stem for path in FOLDER.glob("*.urdf"))


@pytest.mark.parametrize("name", ROBOTS)
def test_robot_agrees(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(FOLDER / f"{name}.urdf"), str(FOLDER / f"{name}.drivetrain.yaml")]
    assert main(["check", *files, "--states", "5"]) == 0
    assert "PASS: agrees with Pinocchio to " in capsys.readouterr().out


def test_no_drivetrain_is_left_out() -> None:
    drives = {path.name.removesuffix(".drivetrain.yaml") for path in FOLDER.glob("*.yaml")}
    assert drives == set(ROBOTS)
    assert {"elbow", "manutec_r3", "puma560", "tx40"} <= drives
