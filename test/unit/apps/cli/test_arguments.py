"""What the commands take from the command line, and what they refuse."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from geared_dynamics.apps.cli.main import main

ROOT = Path(__file__).parents[4]
ROBOT, DRIVES = (str(ROOT / "urdf" / name) for name in ("elbow.urdf", "elbow.drivetrain.yaml"))
REFUSED = {
    "lock twice": (["--lock", "joint_1=1", "joint_1=2"], "'joint_1' is given twice, 1 and 2"),
    "lock again": (["--lock", "joint_1=1", "--lock", "joint_1=1"], "'joint_1' is given twice"),
    "underscore": (["--lock", "joint_1=1_0"], "joint_1=1_0"),
    "other digits": (["--lock", "joint_1=\u0661"], "joint_1=\u0661"),
    "NaN": (["--lock", "joint_1=nan"], "joint_1=nan"),
    "infinity": (["--lock", "joint_1=inf"], "joint_1=inf"),
    "no name": (["--lock", "=1"], "=1"),
    "gravity": (["--gravity", "0", "0", "1_0"], "'1_0' is not a finite number"),
    "infinite gravity": (["--gravity", "0", "0", "inf"], "'inf' is not a finite number"),
    "states": (["--states", "\u0661"], "whole number"),
    "no such lock": (["--lock", "finger=1"], "--lock: there is no joint 'finger'"),
    "no such joint": (["--joints", "finger"], "--joints: there is no joint 'finger'"),
    "tolerance": (["--tolerance", "1_0"], "finite number"),
}


@pytest.mark.parametrize(("arguments", "words"), REFUSED.values(), ids=REFUSED)
def test_argument_is_refused(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["check", ROBOT, *arguments])
    except SystemExit as stop:  # argparse leaves by itself
        code = stop.code  # type: ignore[assignment]
    assert code == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "COMMAND is missing; type `geared-dynamics help` for the list"),
        (["describe", DRIVES, ROBOT], "this is a drivetrain file; the URDF comes first"),
        (
            ["view", ROBOT, "x.html"],
            "no such drivetrain file; did you mean --out x.html?",
        ),
    ],
)
def test_words_in_the_wrong_place(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_repeated_options_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", ROBOT, "--lock", "joint_1=1", "--lock", "joint_2=-1e-1"]) == 0
    assert "joint_3" in capsys.readouterr().out
    assert main(["describe", ROBOT, "--joints", "joint_1", "--joints", "joint_2"]) == 0


def test_a_drivetrain_file_beside_the_urdf_that_is_not_given_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urdf, drives = tmp_path / "arm.urdf", tmp_path / "arm.drivetrain.yaml"
    shutil.copy(ROBOT, urdf)
    assert main(["describe", str(urdf)]) == 0
    assert capsys.readouterr().err == ""
    shutil.copy(DRIVES, drives)
    assert main(["describe", str(urdf)]) == 0
    assert f"note: {drives} is not used" in capsys.readouterr().err
    for words in ([str(urdf), str(drives)], [str(urdf), "--drivetrain", str(drives)], ["elbow"]):
        assert main(["describe", *words]) == 0
        assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("path", "said"),
    [("/", "this is a directory"), (".", "this is a directory"), ("x.urdff", "check the path\n")],
)
def test_a_path_that_is_no_robot_is_refused(
    path: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["describe", path]) == 2
    assert said in capsys.readouterr().err


def test_help_lists_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    for code in range(4):
        assert f"{code}: " in text


@pytest.mark.skipif(os.name != "posix", reason="pipes have names on POSIX")
@pytest.mark.parametrize("command", ["check", "describe"])
def test_robot_may_come_through_a_pipe(command: str) -> None:
    """A pipe gives its text only once."""
    if command == "check":
        pytest.importorskip("pinocchio")
    arguments = ["--states", "3"] if command == "check" else []
    done = subprocess.run(
        [sys.executable, "-m", "geared_dynamics.apps.cli.main", command, "/dev/stdin", *arguments],
        input=Path(ROBOT).read_text("utf-8"),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "elbow" in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="the shell that has it")
def test_robot_and_drives_may_come_from_process_substitution() -> None:
    """As in ``geared-dynamics check <(xacro arm.urdf.xacro) <(cat arm.drivetrain.yaml)``."""
    pytest.importorskip("pinocchio")
    words = f'"{sys.executable}" -m geared_dynamics.apps.cli.main check --states 3'
    files = f'<(cat "{ROBOT}") <(cat "{DRIVES}")'
    done = subprocess.run(
        ["bash", "-c", f"{words} {files}"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "elbow" in done.stdout
    missing = f"{words} <(true)"
    done = subprocess.run(
        ["bash", "-c", missing], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 2
    assert "/dev/fd/" in done.stderr
    assert "Traceback" not in done.stderr


def test_error_in_the_file_names_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.urdf"
    path.write_text("<robot name='x'><link")
    assert main(["check", str(path)]) == 2
    assert f"{path}, line 1" in capsys.readouterr().err
