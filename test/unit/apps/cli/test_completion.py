"""The shell's questions: answered as bash asks them, through the environment and descriptor 8."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from geared_dynamics.apps.cli.main import main

pytest.importorskip("argcomplete")


def offered(line: str, folder: Path) -> set[str]:
    """What the shell is offered at the end of a line."""
    answer = folder / "answer"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE_IFS": "\n",
    }
    command = [sys.executable, "-m", "geared_dynamics.apps.cli.main"]
    subprocess.run(command, env={**os.environ, **asked}, cwd=folder, check=True, timeout=60)
    return {word.strip() for word in answer.read_text("utf-8").splitlines()}


def test_commands(tmp_path: Path) -> None:
    assert offered("geared-dynamics co", tmp_path) == {"compile", "completion", "coupling"}


def test_options_of_a_command(tmp_path: Path) -> None:
    assert offered("geared-dynamics check --st", tmp_path) == {"--states"}
    assert offered("geared-dynamics export --no", tmp_path) == {"--no-friction"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_code_for_a_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "geared-dynamics" in capsys.readouterr().out


def test_without_the_library(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("argcomplete", "argcomplete.shell_integration"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["completion", "bash"]) == 2
    assert "pip install argcomplete" in capsys.readouterr().err
