"""The command ``geared-dynamics check``: exit codes and what it says."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import yaml

import geared_dynamics as gd
from geared_dynamics.analysis.crosscheck import cross_check
from geared_dynamics.apps.cli import check
from geared_dynamics.apps.cli.main import main
from geared_dynamics.errors import GearedDynamicsWarning
from random_robots import RobotCase, random_robot

pytest.importorskip("pinocchio")

CASE = random_robot(5, joints=4, wheels=5, branched=True, fixed=1)


def write(folder: Path, case: RobotCase) -> list[str]:
    """Write a robot's two files; return their paths."""
    urdf, drive = folder / "robot.urdf", folder / "robot.drivetrain.yaml"
    urdf.write_text(case.urdf)
    drive.write_text(yaml.safe_dump(case.drivetrain))
    return [str(urdf), str(drive)]


def test_good_robot_passes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["check", *write(tmp_path, CASE), "--states", "5"]) == 0
    out = capsys.readouterr().out
    assert "PASS: agrees with Pinocchio to " in out
    for word in ("mass matrix", "forward dynamics", "regressor", "potential energy"):
        assert word in out
    for joint in CASE.joint_names:
        assert joint in out
    assert "On this robot the diagonal (armature) model is off by up to" in out
    assert max(map(len, out.splitlines())) <= 80


def test_disagreement_has_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def loaded_without_coupling(args: object, urdf: bytes) -> object:
        return CASE.load().with_coupling("diagonal")

    monkeypatch.setattr(check, "load_robot", loaded_without_coupling)
    assert main(["check", *write(tmp_path, CASE), "--states", "3"]) == 1
    assert "FAIL: differs from Pinocchio by " in capsys.readouterr().out


def test_tolerance_decides(tmp_path: Path) -> None:
    files = write(tmp_path, CASE)
    assert main(["check", *files, "--states", "3", "--tolerance", "1e-30"]) == 1


def test_robot_without_wheels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urdf, _ = write(tmp_path, CASE)
    assert main(["check", urdf, "--states", "2", "--gravity", "0", "0", "-1.62"]) == 0
    out = capsys.readouterr().out
    assert "No rotor inertia is known" in out
    assert not re.search("exact|armature|no rotors", out)  # nothing to compare, nothing said


def test_frozen_joints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urdf, _ = write(tmp_path, CASE)
    first, second, *_ = CASE.joint_names
    command = ["check", urdf, "--states", "2", "--lock", f"{first}=0.2", f"{second}=-0.1"]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert f"{CASE.n - 2} joints" in out


@pytest.mark.parametrize(
    ("arguments", "finding"),
    [
        (["no_such.urdf"], "no_such.urdf"),
        (["{urdf}", "no_such.yaml"], "no_such.yaml"),
        (["{urdf}", "--joints", "elbow"], "elbow"),
        (["{urdf}", "--lock", "elbow=1"], "elbow"),
        (["{drive}"], "robot.drivetrain.yaml"),
    ],
)
def test_wrong_input_has_exit_code_2_and_one_line(
    arguments: list[str], finding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urdf, drive = write(tmp_path, CASE)
    assert main(["check", *(a.format(urdf=urdf, drive=drive) for a in arguments)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    # A robot given without the drivetrain file beside it gets a note of that first.
    (line,) = (x for x in captured.err.splitlines() if not x.startswith("geared-dynamics: note: "))
    assert line.startswith("geared-dynamics: error: ")
    assert finding in line


WRONG = {
    "--states": ["0", "-1", "x", "1.5", "nan", "²", "99999999999999"],
    "--seed": ["-1", "x", "0.5", "9" * 5000],
    "--tolerance": ["nan", "-1", "inf", "x"],
    "--lock": ["j", "=1"],
    "--gravity": ["x"],
}


@pytest.mark.parametrize(
    "arguments", [[f"{key}={value}"] for key, values in WRONG.items() for value in values]
)
def test_wrong_arguments_have_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["check", "robot.urdf", *arguments])
    assert arguments[0].partition("=")[0] in capsys.readouterr().err


@pytest.mark.parametrize(
    "given", [{"seed": -1}, {"seed": 0.5}, {"states": 0}, {"tolerance": float("nan")}]
)
def test_python_entry_refuses_the_same(given: dict[str, Any]) -> None:
    with pytest.raises(gd.GearedDynamicsError, match=next(iter(given))):
        cross_check(CASE.load(), **{"states": 1, **given})


def test_interrupt_has_exit_code_130(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(args: object, urdf: bytes) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(check, "load_robot", interrupted)
    assert main(["check", *write(tmp_path, CASE)]) == 130


def test_without_pinocchio_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    assert main(["check", *write(tmp_path, CASE)]) == 2
    assert "pip install 'pin'" in capsys.readouterr().err


def test_doubts_about_the_robot_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def doubtful(args: object, urdf: bytes) -> object:
        warnings.warn("link_2: doubtful", GearedDynamicsWarning, stacklevel=2)
        return CASE.load()

    monkeypatch.setattr(check, "load_robot", doubtful)
    assert main(["check", *write(tmp_path, CASE), "--states", "1"]) == 0
    assert capsys.readouterr().err == "geared-dynamics: warning: link_2: doubtful\n"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"geared-dynamics {gd.__version__}\n"


def test_a_link_without_inertia_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pinocchio gets the same links, so that they agree."""
    monkeypatch.setenv("COLUMNS", "200")
    start, end = "<inertial>", "</inertial>"
    text = (Path(__file__).parents[2] / "urdf" / "elbow.urdf").read_text("utf-8")
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(text)
    assert main(["check", str(urdf), "--states", "3"]) == 0
    assert "note:" not in capsys.readouterr().out
    at = text.index(start, text.index('<link name="link_2"'))
    urdf.write_text(text[:at] + text[text.index(end, at) + len(end) :])
    assert main(["check", str(urdf), "--states", "3"]) == 0
    said = capsys.readouterr().out
    assert "note: no mass, neither their own nor of links fixed to them: link_2; the" in said


def test_what_is_checked_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wheels without inertia are none that a comparison could say something of."""
    monkeypatch.setenv("COLUMNS", "200")
    urdf, drive = Path(__file__).parents[2] / "urdf" / "elbow.urdf", tmp_path / "drive.yaml"
    for inertia, said in (("0", " (without inertia)\n"), ("1e-4", "\n")):
        words = ["--rotor-inertia", inertia, "--out", str(drive), "--force"]
        assert main(["init", str(urdf), *words]) == 0
        capsys.readouterr()
        assert main(["check", str(urdf), str(drive), "--states", "3"]) == 0
        out = capsys.readouterr().out
        assert f"elbow: 3 joints, 3 wheels{said}" in out
        assert "speeds up to the velocity limits (here " in out
