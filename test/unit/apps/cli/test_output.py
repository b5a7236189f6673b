"""Where the answer cannot be written: no traceback, and no exit code that looks like one."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from elbow_run import ROBOT
from geared_dynamics.apps.cli import analyze as analyze_command
from geared_dynamics.apps.cli import command_output, describe, options
from geared_dynamics.apps.cli import main as main_module
from geared_dynamics.apps.cli.main import EXAMPLES, main

ROOT = Path(__file__).parents[4]
FILES = [str(ROOT / "urdf" / name) for name in ("elbow.urdf", "elbow.drivetrain.yaml")]
COMMAND = [sys.executable, "-m", "geared_dynamics.apps.cli.main"]
FULL = Path("/dev/full")  # every write to it fails: no space left on device
COMMANDS = {"describe": ["describe", *FILES], "version": ["--version"], "help": ["--help"]}

pytestmark = pytest.mark.skipif(os.name != "posix", reason="devices and signals of POSIX")


def environment() -> dict[str, str]:
    """Import the package from this tree; standard output buffered, as it is by default."""
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    return inherited | {"PYTHONPATH": str(ROOT)}


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("name", COMMANDS)
def test_full_disk_is_said_in_one_line(name: str) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            [*COMMAND, *COMMANDS[name]],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr.startswith("geared-dynamics: error: standard output: cannot be written")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
def test_nobody_listens_to_the_error_either() -> None:
    with FULL.open("w") as full:
        command = [*COMMAND, "describe", "no_such.urdf"]
        done = subprocess.run(command, stderr=full, env=environment(), check=False)
    assert done.returncode == 2


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_letters_that_the_output_cannot_write(encoding: str, tmp_path: Path) -> None:
    urdf, name = tmp_path / "arm.urdf", "gelenk_\u00e9\u5b57\U0001f9be"
    text = (ROOT / "urdf" / "elbow.urdf").read_text("utf-8")
    urdf.write_text(text.replace("joint_1", name), encoding="utf-8")
    done = subprocess.run(
        [*COMMAND, "describe", str(urdf)],
        capture_output=True,
        env=environment() | {"PYTHONIOENCODING": encoding},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = name.encode(encoding, "backslashreplace").decode(encoding)
    assert shown in done.stdout.decode(encoding)


def test_reader_that_has_gone_ends_it_silently() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [*COMMAND, *COMMANDS["describe"]],
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            check=False,
        )
    finally:
        os.close(writer)
    assert done.returncode == 141
    assert done.stderr == ""


def test_closed_output_is_said_in_one_line() -> None:
    line = 'exec "$@" >&-'
    done = subprocess.run(
        ["/bin/sh", "-c", line, "sh", *COMMAND, *COMMANDS["describe"]],
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr == "geared-dynamics: error: standard output is closed\n"


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["help"], ["describ"]])
def test_what_needs_no_library_loads_none(words: list[str]) -> None:
    """They answer at once; NumPy alone would take longer than all of them."""
    code = (
        "import sys; from geared_dynamics.apps.cli.main import main\n"
        f"try: code = main({words!r})\n"
        "except SystemExit as end: code = end.code\n"
        "print(code, sorted({'numpy', 'rich', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True
    )
    assert done.stdout.splitlines()[-1] == f"{2 if words == ['describ'] else 0} []"


def test_a_misspelt_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exprot", *FILES]) == 2
    said = capsys.readouterr().err
    assert "there is no command 'exprot'; did you mean 'export'?" in said


@pytest.mark.parametrize("words", [["help", "export"], ["export", "--help"]])
def test_help_on_a_command(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 0
    assert "--mjcf OUT.xml" in capsys.readouterr().out


def test_an_unexpected_error_is_one_line_and_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fail(args: object) -> int:
        raise ZeroDivisionError("nine over\nnothing")

    monkeypatch.setattr(describe, "run", fail)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert main(["describe", *FILES]) == 70
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert "unexpected ZeroDivisionError: nine over nothing; the details are in" in said.err
    (file,) = tmp_path.iterdir()
    assert str(file) in said.err
    text = file.read_text("utf-8")
    assert "Traceback" in text
    assert "test_output.py" in text
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    assert main(["describe", *FILES]) == 70
    assert "its details could not be written, please report it" in capsys.readouterr().err


def test_tables_are_as_wide_as_columns_says_and_a_pipe_has_no_width(tmp_path: Path) -> None:
    """What a script reads is one row a line, with whole names."""
    name = "joint_" + 30 * "of_the_long_names_" + "1"
    for file, suffix in zip(FILES, ("urdf", "yaml"), strict=True):
        text = Path(file).read_text("utf-8").replace("joint_1", name)
        (tmp_path / f"arm.{suffix}").write_text(text, encoding="utf-8")
    command = [*COMMAND, "describe", str(tmp_path / "arm.urdf"), str(tmp_path / "arm.yaml")]
    told = environment() | {"PYTHONIOENCODING": "utf-8"}

    def lines(**more: str) -> list[str]:
        plain = {k: v for k, v in told.items() if k != "COLUMNS"} | more
        done = subprocess.run(command, capture_output=True, text=True, env=plain, check=True)
        return [line for line in done.stdout.splitlines() if not line.startswith("next: ")]

    rows = [line for line in lines() if name in line and "revolute" in line]
    assert len(rows) == 1
    assert rows[0].split()[-1] == "3.456"  # in the same line: N^2 J
    for width in (80, 140):
        narrow = lines(COLUMNS=str(width))
        assert max(map(len, narrow)) <= width
        assert name in "".join(line.split()[0] if line.split() else "" for line in narrow)


@pytest.mark.parametrize("command", main_module.COMMANDS)
def test_examples_are_command_lines(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """``--help`` shows three of them, and the program takes each."""
    assert len(EXAMPLES[command]) == 3
    for line in EXAMPLES[command]:
        words = [command, *shlex.split(line.partition(">")[0])]
        assert main_module.build_parser(words).parse_args(words).run is not None
    with pytest.raises(SystemExit):
        main([command, "--help"])
    shown = capsys.readouterr().out
    assert all(f"geared-dynamics {command} {line}".rstrip() in shown for line in EXAMPLES[command])


def test_files_by_position_or_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", *FILES]) == 0
    by_position = capsys.readouterr().out
    assert main(["describe", "--drivetrain", FILES[1], "--robot", FILES[0]]) == 0
    assert capsys.readouterr().out == by_position
    assert main(["describe", FILES[0], "--robot", FILES[0]]) == 2
    assert "ROBOT.urdf: is given twice" in capsys.readouterr().err
    assert main(["describe"]) == 2
    assert "give the URDF file of the robot" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["analyze", "identify", "tune-observer"])
def test_robots_among_recordings(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [command, "a.mcap", "arm.urdf", "b.csv", "drive.yaml"]
    args = main_module.build_parser(words).parse_args(words)
    assert (args.robot, args.drivetrain) == ("arm.urdf", "drive.yaml")
    assert args.recordings == ["a.mcap", "b.csv"]
    assert main([command, "arm.urdf", "run.db3", "other.urdf"]) == 2
    assert "--robot: is given twice, arm.urdf and other.urdf" in capsys.readouterr().err
    assert main([command, "arm.urdf"]) == 2
    assert "recordings: none is given" in capsys.readouterr().err


def test_robots_and_recordings_of_the_package_by_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["describe", "elbow"]) == 0
    by_name = capsys.readouterr().out
    assert main(["describe", *FILES]) == 0
    assert capsys.readouterr().out == by_name
    assert main(["analyze", "brisk6", "--output", "report"]) == 0
    said = capsys.readouterr().out
    assert "1454 samples at 125 Hz" in " ".join(said.split())
    assert "armature 8.2 %, complete 3.4 %" in " ".join(said.split())
    assert main(["describe", "elbowe"]) == 2
    (tmp_path / "elbow").mkdir()
    assert main(["describe", "elbow"]) == 2, "a file of the user's goes before a name"


def test_names_are_whole_in_a_narrow_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other columns give way first; then the table is wider than it should be."""
    monkeypatch.setenv("COLUMNS", "60")
    names = [f"shoulder_lift_motor_{k}" for k in range(3)]
    table = command_output.numeric_table("joint", "kind [1]", "what it does in words")
    table.columns[2].no_wrap = False
    for name in names:
        table.add_row(name, "1.25", "it turns the arm and all that is behind it")
    command_output.print_table(options.open_console(), "A table of names", table)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 60
    assert [line.split()[0] for line in lines if "1.25" in line] == names
    wide = command_output.numeric_table("joint", *names)
    wide.add_row(names[0], *["1.25"] * 3)
    command_output.print_table(options.open_console(), "A wide table", wide)
    shown = capsys.readouterr().out
    assert all(name in shown for name in names)


@pytest.mark.parametrize("files", [True, False])
@pytest.mark.parametrize("there", [True, False])
def test_without_plotly_the_tables_are_the_report(
    files: bool,
    there: bool,
    bag: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for package in ("scipy", "matplotlib"):
        pytest.importorskip(package, reason="needs geared_dynamics[analysis]")
    monkeypatch.setattr(analyze_command, "find_spec", lambda name: name if there else None)
    written: list[Path] = []
    monkeypatch.setattr(analyze_command, "write_html", lambda found, path, _: written.append(path))
    out = tmp_path / "out"
    words = ["--output", str(out)] if files else []
    assert main(["analyze", bag, *ROBOT, *words]) == 0
    text = capsys.readouterr().out
    assert ("there is no report.html" in text) == (files and not there)
    assert written == ([out / "report.html"] if files and there else [])
    assert (f"saved {out / 'report.html'}" in text) == (files and there)
    assert not files or (out / "run.png").exists()
