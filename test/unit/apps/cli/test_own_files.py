"""What a command may replace: what it wrote itself, and with ``--force`` anything that it can."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from geared_dynamics.apps.cli import main as main_module
from geared_dynamics.apps.cli.main import main

ELBOW, WRITTEN_ELSEWHERE = "elbow", "mine\n"
SHORT = ["--duration", "4", "--starts", "1", "--changes", "1"]
# Words that let a command write everything it can, and the files and bags that it writes then.
CASES = {
    "init": (
        ["init", ELBOW, "--ratio", "50", "--rotor-inertia", "1e-4", "--out", "new.yaml"],
        ["new.yaml"],
    ),
    "describe": (["describe", ELBOW, "--graph", "gears.svg"], ["gears.svg"]),
    "view page": (["view", ELBOW, "--out", "arm.html"], ["arm.html"]),
    "view picture": (["view", ELBOW, "--out", "a.png", "--size", "64x64"], ["a.png"]),
    "view animation": (["view", ELBOW, "--out", "a.gif", "--size", "64x64"], ["a.gif"]),
    "export for MuJoCo": (["export", ELBOW, "--mjcf", "arm.xml"], ["arm.xml"]),
    "export as C": (
        ["export", ELBOW, "--c", "-o", "code", "--functions", "gravity_forces"],
        ["code/elbow.c", "code/elbow.h", "code/elbow_test.c", "code/CMakeLists.txt"],
    ),
    "excite": (
        ["excite", ELBOW, "--output", "motion.yaml", "--bag", "motion", *SHORT],
        ["motion.yaml", "motion"],
    ),
    "analyze": (
        ["analyze", "brisk6", "--output", "out", "--samples", "--bag", "--output-bag", "torques",
         "--save-topic", "topic.txt"],
        ["topic.txt", "torques", *(f"out/{name}" for name in (
            "report.html", "brisk6.png", "brisk6.csv", "brisk6_motors.csv", "brisk6_samples.csv",
            "brisk6_torques",
        ))],
    ),
    "identify": (
        ["identify", "brisk6", "--output", "found"],
        [f"found/{name}" for name in (
            "base_parameters.csv", "brisk6.urdf", "brisk6.drivetrain.yaml", "report.html",
        )],
    ),
    "demo": (["demo", ELBOW, "--out", "demo"], ["demo/report.html", "demo/recording"]),
}  # fmt: skip
SLOW = ("analyze", "identify", "demo", "view picture", "view animation")
OPTIONS = ("--out", "--output", "--output-bag", "--bag", "--graph", "--mjcf", "--save-topic")
READ = {"view": ["--bag"], "coupling": ["--bag"]}  # options of these names that are for reading
NEEDED = {
    "view page": ["viser"],
    "view picture": ["viser", "mujoco", "PIL"],
    "view animation": ["viser", "mujoco", "PIL"],
    "excite": ["rosbags"],
    "analyze": ["plotly", "matplotlib"],
    "identify": ["plotly", "clarabel"],
    "demo": ["rclpy", "plotly"],
}


def answer(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit code and both outputs; pictures in a process of their own, as OpenGL is chosen once."""
    if words[-1] == "64x64" or words[-2:] == ["64x64", "--force"]:
        command = [sys.executable, "-m", main_module.__name__, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if "no picture can be drawn" in done.stderr:
            pytest.skip(f"MuJoCo cannot draw here: {done.stderr.strip()[-300:]}")
        return done.returncode, done.stdout, done.stderr
    capsys.readouterr()
    code = main(words)
    return code, *capsys.readouterr()


def written(words: list[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Run a command; what it says it has replaced."""
    code, out, err = answer(words, capsys)
    assert code == 0, err
    lines = [line for line in out.splitlines() if line.startswith("replaced: ")]
    assert len(lines) <= 1
    return lines[0].removeprefix("replaced: ").split(", ") if lines else []


def contents(place: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def put_another(path: Path) -> None:
    """Put a file, or a bag, in the place of ours."""
    if path.is_dir():
        shutil.rmtree(path)
        path.mkdir()
        (path / "run.db3").write_text(WRITTEN_ELSEWHERE)
        (path / "metadata.yaml").write_text("rosbag2_bagfile_information: {version: 5}\n")
    else:
        path.write_text(WRITTEN_ELSEWHERE)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.validate] if n in SLOW else []) for n in CASES]
)
def test_own_files_are_replaced_and_those_of_others_kept(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for package in NEEDED.get(name, []):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    words, files = CASES[name]
    for file in filter(lambda file: Path(file).suffix, files):  # as mktemp makes; bags have none
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).touch()
    assert written(words, capsys) == []
    made = [path for path in Path().rglob("*") if path.is_file()]
    assert {
        path for path in made if not any(Path(file) in (path, path.parent) for file in files)
    } == set()
    assert sorted(written(words, capsys)) == sorted(files)
    kept = contents(tmp_path)
    for file in files:
        put_another(Path(file))
        before = contents(tmp_path)
        code, _, said = answer(words, capsys)
        assert code == 2
        errors = [line for line in said.splitlines() if ": error: " in line]
        assert len(errors) == 1
        assert f"{file}: exists" in errors[0]
        assert "--force" in errors[0]
        assert contents(tmp_path) == before
        for path in Path(file).glob("*") if Path(file).is_dir() else ():
            path.unlink()
        for path, data in kept.items():
            Path(path).write_bytes(data)
    for file in files:
        put_another(Path(file))
    assert sorted(written([*words, "--force"], capsys)) == sorted(files)
    theirs = [path for path, data in contents(tmp_path).items() if data == b"mine\n"]
    assert theirs == []


def test_every_command_that_writes_is_in_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    """It has an option that names a file, and ``--force``; the others have neither."""
    tried = {words[0]: [] for words, _ in CASES.values()}
    for words, _ in CASES.values():
        tried[words[0]] += words
    for command in main_module.COMMANDS:
        with pytest.raises(SystemExit):
            main([command, "--help"])
        named = {word.strip(",[]") for word in capsys.readouterr().out.split()}
        writes = [x for x in OPTIONS if x in named and x not in READ.get(command, [])]
        assert ("--force" in named) == bool(writes), command
        assert (command in tried) == bool(writes), command
        assert set(writes) <= {"--output" if x == "-o" else x for x in tried.get(command, [])}


@pytest.mark.parametrize("extra", [[], ["--force"]])
def test_a_folder_of_other_things_is_no_place_for_a_bag(
    extra: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("motion").mkdir()
    for name in ("metadata.yaml", "run.mcap", "thesis.txt"):
        (Path("motion") / name).write_text(WRITTEN_ELSEWHERE)
    before = contents(tmp_path)
    words = ["excite", ELBOW, "--output", "motion.yaml", "--bag", "motion", *SHORT, *extra]
    assert main(words) == 2
    assert "motion: exists, and holds other things than a bag" in capsys.readouterr().err
    assert contents(tmp_path) == before


def test_what_was_filled_in_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A user's work in the file that ``init`` wrote: neither it nor ``identify`` replaces it."""
    monkeypatch.chdir(tmp_path)
    words, _ = CASES["init"]
    assert main(words) == 0
    text = Path("new.yaml").read_text("utf-8")
    Path("new.yaml").write_text(text.replace("ratio: 50", "ratio: 51", 1), encoding="utf-8")
    assert main(words) == 2
    assert (
        "new.yaml: exists, and is not as geared-dynamics init wrote it" in capsys.readouterr().err
    )
    place = Path("found")
    place.mkdir()
    shutil.copy("new.yaml", place / "brisk6.drivetrain.yaml")
    assert main(["identify", "brisk6", "--output", "found"]) == 2
    assert "was not written by geared-dynamics" in capsys.readouterr().err
