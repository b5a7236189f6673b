"""What a terminal shows while a command works, and what a pipe does not."""

from __future__ import annotations

import logging
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from geared_dynamics.apps.cli import options, warm_up
from geared_dynamics.apps.cli.main import main
from geared_dynamics.kernels.compilation import LOG, compile_kernel

ROOT = Path(__file__).parents[4]
FILES = [str(ROOT / "urdf" / name) for name in ("elbow.urdf", "elbow.drivetrain.yaml")]


def on_a_terminal(*words: str) -> tuple[str, str]:
    """What a command prints, and what the terminal on its standard error shows."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "geared_dynamics.apps.cli.main", *words]
    told = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=slave, text=True, env=told, encoding="utf-8"
    )
    os.close(slave)
    out, _ = process.communicate()
    shown = b""
    try:
        while part := os.read(master, 4096):
            shown += part
    except OSError:  # the other end is closed, and all of it was read
        pass
    os.close(master)
    assert process.returncode == 0, shown
    return out, shown.decode("utf-8")


def test_stages_are_named_on_a_terminal_and_leave_the_output_alone() -> None:
    out, shown = on_a_terminal("check", *FILES, "--states", "2")
    for words in ("reading the robot", "comparing with Pinocchio", "comparing the models"):
        assert words in shown
    assert "\x1b" not in out
    assert "PASS" in out
    assert "PASS" not in shown


def test_a_pipe_gets_no_stage(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["coupling", *FILES, "--states", "2"]) == 0
    assert capfd.readouterr().err == ""
    assert LOG.handlers == []


def test_a_stage_names_kernels_and_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options.Console, "is_terminal", True)
    shown: list[str] = []
    monkeypatch.setattr(options.Status, "update", lambda self, text: shown.append(text))

    def fail() -> None:
        with options.stage("dividing"):
            LOG.info("%s", "mass_matrix")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert shown == ["dividing: kernel mass_matrix, compiled once"]
    assert LOG.handlers == []
    assert LOG.level == logging.NOTSET


def test_all_kernels_are_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    """They are in the cache of the tests, so it takes no time; the names come back."""
    assert main(["warm-up"]) == 0
    names = set(warm_up.kernels.KERNELS)
    assert capsys.readouterr().out == f"{len(names)} kernels are compiled\n"
    some = sorted(names)[:2]
    assert set(warm_up.compiled(some)) == set(some)
    assert compile_kernel.__module__ == LOG.name
