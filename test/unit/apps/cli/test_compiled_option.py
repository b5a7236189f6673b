"""``--compiled`` of the commands that read recordings: the same answer, with or without code."""

from __future__ import annotations

from typing import Any

import pytest

from elbow_run import ROBOT
from geared_dynamics.apps.cli import recording_options
from geared_dynamics.apps.cli.main import main
from geared_dynamics.recordings.bag import stored_bytes
from geared_dynamics.trace import compiled

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")


def failing(*_arguments: Any, **_named: Any) -> Any:
    """Stand for a compiler that has a defect."""
    raise RuntimeError("no code for this processor")


@pytest.mark.parametrize("command", ["analyze", "identify"])
def test_commands_compile_and_go_on_without(
    command: str, bag: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("clarabel", reason="needs geared_dynamics[analysis]")
    assert main([command, bag, *ROBOT]) == 0
    plain = capsys.readouterr().out
    assert main([command, bag, *ROBOT, "--compiled"]) == 0
    line, _, rest = capsys.readouterr().out.partition("\n")
    assert line.startswith("compiled ")
    assert rest == plain
    monkeypatch.setattr(compiled, "compiled", failing)
    assert main([command, bag, *ROBOT, "--compiled"]) == 0
    line, _, rest = capsys.readouterr().out.partition("\n")
    assert line == "not compiled, the kernels answer: no code for this processor"
    assert rest == plain


def test_long_recordings_are_worth_compiling(
    bag: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    size = stored_bytes(bag)
    assert size > 10_000
    monkeypatch.setattr(recording_options, "LONG", 2 * size)
    assert main(["analyze", bag, bag, *ROBOT]) == 0
    assert capsys.readouterr().out.startswith("compiled ")
    monkeypatch.setattr(recording_options, "LONG", 2 * size + 1)
    assert main(["analyze", bag, bag, *ROBOT]) == 0
    assert "compiled" not in capsys.readouterr().out


@pytest.mark.parametrize("place", ["gone.db3", "a\0b"])
def test_what_cannot_be_read_has_no_size(place: str) -> None:
    assert stored_bytes(place) == 0
