"""``geared-dynamics demo`` where no process runs: order of the work, table, files, progress."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.progress import Progress

from command_documents import validate
from geared_dynamics.apps.cli import demo
from geared_dynamics.apps.cli.main import main
from geared_dynamics.apps.demo_plan import WAYS
from geared_dynamics.apps.demo_report import Series, Track, reference
from geared_dynamics.files import MARK, RobotFiles, folder

OFFSETS = dict(zip([way.name for way in WAYS], (0.3, 0.02, -0.001), strict=True))


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A recording whose errors are known, in place of processes; what was asked of it."""
    asked: list[Any] = []
    plans: list[Any] = []

    def record(
        plan: Any, bag: Path, *, lock_step: bool, progress: Callable[..., None]
    ) -> list[str]:
        plans.append(plan)
        asked.append((bag, lock_step, plan.engine))
        for way in WAYS:
            progress(way.name, 1.0)
        bag.mkdir(exist_ok=True)  # as the writer, which replaces an earlier one
        (bag / "metadata.yaml").touch()
        return ["the node was late"]

    def read(bag: Path, joints: Any, motors: Any, ways: Any) -> dict[str, Track]:
        times, n = np.linspace(0.0, 5.0, 51), len(joints)
        still = np.zeros((51, n))
        shaft = Series(times, still, still, still)
        motion = plans[-1].motion
        return {
            name: Track(Series(times, reference(motion, times) - offset, still, still), shaft)
            for name, offset in OFFSETS.items()
        }

    monkeypatch.setattr(demo, "refuse_missing", lambda: None)
    monkeypatch.setattr(demo, "record", record)
    monkeypatch.setattr(demo, "read", read)
    return asked


def run(out: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[str, str]:
    """Output and errors of the command on a small robot."""
    assert main(["demo", "elbow", "--out", str(out), "--engine", "equations", *options]) == 0
    found = capsys.readouterr()
    return " ".join(found.out.split()), found.err


def test_table_verdict_notes_and_files(
    stubs: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(demo, "missing", lambda: ["plotly"])
    out = tmp_path / "deep" / "report"
    text, err = run(out, capsys)
    assert "elbow: tracking error" in text
    for way, shown in zip(WAYS, ("300.00 300.0", "20.00 20.0", "1.00 1.0"), strict=True):
        assert f"{way.label} {shown}" in text
    assert "note: the node was late" in text
    again = f"geared-dynamics analyze {out / 'recording'} --robot elbow"
    saved = f"saved {out / 'recording'} next: {again}"
    assert text.endswith(f"{saved} --topic /{WAYS[-1].name}/joint_states")
    assert "what it asks of the motors" not in text  # of which no limit is known
    assert not (out / "report.html").exists()
    assert stubs == [(out / "recording", True, "equations")]
    labels = [line.removesuffix(" ...") for line in err.splitlines()]
    middle = [way.label for way in WAYS]
    assert labels == ["compiling kernels, planning", *middle, "writing the report", "done"]


def test_the_document(
    stubs: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What ``--json`` prints: errors in rad, and nothing beside it."""
    monkeypatch.setattr(demo, "missing", lambda: ["plotly"])
    out = ["--out", str(tmp_path), "--engine", "equations"]
    assert main(["demo", "elbow", *out, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    validate(document)
    assert [way["rms"] for way in document["ways"]] == pytest.approx([0.3, 0.02, 0.001])
    assert document["files"] == [str(tmp_path / "recording")]
    assert document["notes"][-1] == "the node was late"


def test_in_real_time_and_over_an_earlier_recording(
    stubs: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    written: list[Any] = []
    monkeypatch.setattr(demo, "missing", list)
    monkeypatch.setattr(demo, "write_report", lambda *args, **more: written.append((args, more)))
    (tmp_path / "recording").mkdir()
    (tmp_path / "recording" / "metadata.yaml").write_text(f"writer: {MARK}\n")
    text, _ = run(tmp_path, capsys, "--real-time")
    assert stubs[0][1] is False
    (arguments, more) = written[0]
    assert arguments[0] == tmp_path / "report.html"
    assert more["lock_step"] is False
    source = more["provenance"]
    assert source.command.startswith("geared-dynamics demo elbow --out ")
    assert [Path(name).name for name, _, _ in source.files] == [
        "elbow.urdf", "elbow.drivetrain.yaml",
    ]  # fmt: skip
    bag = tmp_path / "recording"
    assert f"saved {tmp_path / 'report.html'} and {bag} replaced: {bag} next: " in text


def test_files_of_others_are_not_touched(
    stubs: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "recording").mkdir()
    (tmp_path / "recording" / "thesis.txt").write_text("mine")
    assert main(["demo", "elbow", "--out", str(tmp_path)]) == 2
    assert "name another place for the bag" in capsys.readouterr().err
    assert stubs == []
    assert main(["demo", "no_such_robot", "--out", str(tmp_path / "new")]) == 2
    assert not (tmp_path / "new").exists()


def test_steps_on_a_terminal() -> None:
    """Bars where the length is known, one that moves to and fro where it is not."""
    with Progress(disable=False) as shown:
        steps = demo.Steps(shown)
        steps("waiting", 0.0)
        steps(WAYS[0].name, 0.25)
        steps(WAYS[0].name, 0.5)
        first, second = shown.tasks
        assert (first.description, first.completed, first.total) == (
            "starting the nodes",
            1.0,
            1.0,
        )
        assert (second.description, second.completed, second.total) == (WAYS[0].label, 0.5, 1.0)
        steps("planning", 0.0)
        assert shown.tasks[1].completed == 1.0
        assert shown.tasks[2].total is None
        assert shown.tasks[2].description == "planning"


def test_the_next_command_names_the_files_that_were_used() -> None:
    def words(urdf: Path, drivetrain: Path | None) -> str:
        text = demo.analysis_words(RobotFiles(urdf, drivetrain), Path("a b"), "complete")
        begin, end = "geared-dynamics analyze 'a b' --robot ", " --topic /complete/joint_states"
        assert text.startswith(begin)
        assert text.endswith(end)
        return text.removeprefix(begin).removesuffix(end)

    elbow = folder("urdf") / "elbow.urdf"
    assert words(elbow, elbow.with_name("elbow.drivetrain.yaml")) == "elbow"
    assert words(elbow, Path("my.yaml")) == "elbow --drivetrain my.yaml"
    assert words(Path("my.urdf"), None) == "my.urdf"
    assert words(Path("my.urdf"), Path("b.yaml")) == "my.urdf --drivetrain b.yaml"
