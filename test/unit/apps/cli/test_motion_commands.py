"""The commands about motions: exciting ones, and what coupling does along them."""

from __future__ import annotations

import importlib
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from geared_dynamics.apps.cli.main import main
from recorded_motions import ROBOTS, motion

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")

URDF, DRIVE = str(ROBOTS / "elbow.urdf"), str(ROBOTS / "elbow.drivetrain.yaml")


def test_excite_publishes_by_a_program_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(command)
        return subprocess.CompletedProcess(command, 2)

    monkeypatch.setattr(subprocess, "run", run)
    file = str(tmp_path / "motion.yaml")
    few = ["--starts", "3", "--changes", "5", "--output", file]
    assert main(["excite", URDF, DRIVE, *few, "--publish", "/arm/joint_trajectory"]) == 2
    module = importlib.import_module(calls[0][2])
    arguments = module.parser().parse_args(calls[0][3:])
    assert (str(arguments.file), arguments.topic) == (file, "/arm/joint_trajectory")
    assert module.read_waypoints(arguments.file).duration == 20.0
    assert arguments.approach is None
    words = ["--publish", "/arm/joint_trajectory", "--approach", "4.5"]
    assert main(["excite", URDF, DRIVE, *few, *words]) == 2
    assert module.parser().parse_args(calls[1][3:]).approach == 4.5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--approach", "3"], "--approach: nothing is published; add --publish TOPIC"),
        (["--harmonics", "1"], "1 harmonic: a motion that starts and ends at rest has two"),
        (["--duration", "0.05"], "--rate: is 50 points per second"),
        (
            ["--duration", "0.05", "--rate", "1000"],
            "it determines nothing; give a longer --duration",
        ),
        (["--bag", str(ROBOTS)], "holds other things than a bag"),
    ],
)
def test_excite_refuses_what_is_no_use(
    tmp_path: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rosbags", reason="needs geared_dynamics[analysis]")
    file = tmp_path / "motion.yaml"
    few = ["--starts", "3", "--changes", "5", "--output", str(file)]
    assert main(["excite", URDF, DRIVE, *few, *words]) == 2
    found = capsys.readouterr().err
    assert said in found
    assert found.count("\n") == 1
    assert not file.exists()


def test_excite_judges_its_motion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--starts", "3", "--changes", "5", "--output", str(tmp_path / "motion.yaml")]
    short = [*few, "--duration", "2"]
    assert main(["excite", URDF, DRIVE, *short]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("Do not record this motion: condition number ")
    assert "is poor (above 1000), and some parameters will stay uncertain" in first
    assert "; determined least: " in first
    assert "give a longer --duration" in first
    assert main(["excite", URDF, DRIVE, *short, "--check", "--publish", "/nowhere"]) == 1
    capsys.readouterr()
    assert main(["excite", URDF, DRIVE, *few, "--check"]) == 0
    assert capsys.readouterr().out.startswith("Record this motion: condition number")


def test_excite_and_coupling(bag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "motion.yaml"
    few = ["--starts", "3", "--changes", "5", "--output", str(file)]
    assert main(["excite", URDF, DRIVE, *few]) == 0
    assert file.read_text("utf-8").startswith("# written by geared-dynamics\n# Exciting motion of")
    assert main(["coupling", URDF, DRIVE]) == 0
    capsys.readouterr()
    assert main(["coupling", URDF, DRIVE, bag]) == 0
    along = capsys.readouterr().out
    assert "along run.db3" in along
    assert "does not matter here" in along
    assert main(["coupling", URDF, DRIVE, "--bag", bag]) == 0
    assert capsys.readouterr().out == along
    assert main(["coupling", URDF, bag]) == 0  # no drivetrain file: no wheels
    assert "No rotor inertia is known" in capsys.readouterr().out
    for words in ([DRIVE, bag, "--bag", bag], [bag, bag]):
        assert main(["coupling", URDF, *words]) == 2
        assert "give one" in capsys.readouterr().err
    tx40 = [str(ROBOTS / "tx40.urdf"), str(ROBOTS / "tx40.drivetrain.yaml")]
    assert main(["coupling", *tx40]) == 0
    assert "It matters at" in capsys.readouterr().out


@pytest.mark.parametrize("ending", [".DB3", ".TXT", ".tsv", ".csv"])
def test_coupling_knows_recordings_by_every_ending(
    ending: str, bag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the drivetrain file may stand: none of these is read as one."""
    path = tmp_path / f"copy{ending}"
    if ending == ".DB3":
        shutil.copy(bag, path)
    else:
        t, q, *_ = motion(10.0, 100.0)
        heads = ["time", *(f"q_{i}" for i in (1, 2, 3))]
        np.savetxt(
            path, np.column_stack([t, q]), delimiter=",", header=",".join(heads), comments=""
        )
    assert main(["coupling", URDF, str(path)]) == 0
    assert "No rotor inertia is known" in capsys.readouterr().out
