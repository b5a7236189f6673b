"""``--compiled`` of the commands that read recordings: the same answer, with or without code."""

from __future__ import annotations

from typing import Any

import pytest

from elbow_run import ROBOT
from geared_dynamics.apps.cli.main import main
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
