"""Where the answer cannot be written: no traceback, and no exit code that looks like one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
