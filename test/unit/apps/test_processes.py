"""What a command has started ends with it, however that ends."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from geared_dynamics.apps.processes import PRCTL, Children
from geared_dynamics.errors import GearedDynamicsError

# A child that holds a pipe open as long as it lives: its end is the pipe's.
CHILD = "import signal; pipe = open('PIPE', 'w'); print('begun', flush=True); signal.pause()"
PARENT = """
import signal, sys
from pathlib import Path
from geared_dynamics.apps.processes import Children
with Children({}, Path(sys.argv[1])) as children:
    children.start("child", "-c", sys.argv[2]).wait_for_line("begun")
    print("ready", flush=True)
    signal.pause()
"""
END = 20.0  # [s] within which the child must have ended; it takes milliseconds


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        signal.SIGTERM,
        signal.SIGHUP,
        pytest.param(
            signal.SIGKILL,
            marks=pytest.mark.skipif(PRCTL is None, reason="only Linux tells of a parent's death"),
        ),
    ],
)
def test_children_end(number: signal.Signals, tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    reading = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    command = [sys.executable, "-c", PARENT, str(tmp_path), CHILD.replace("PIPE", str(alive))]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        assert not select.select([reading], [], [], 0.0)[0], "the child lives"
        parent.send_signal(number)
        parent.wait(END)
    assert select.select([reading], [], [], END)[0], "the child is still there"
    assert os.read(reading, 1) == b""
    os.close(reading)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("print('why', file=sys.stderr); sys.exit(3)", "exit code 3; see its last output: why"),
        ("print('why', file=sys.stderr); [][1]", "why\nIndexError: list index out of range"),
    ],
)
def test_a_child_that_fails_is_quoted_without_its_traceback(
    code: str, said: str, tmp_path: Path
) -> None:
    with Children({}, tmp_path) as children:
        child = children.start("child", "-c", f"import sys; {code}")
        with pytest.raises(GearedDynamicsError) as caught:
            child.wait_for_line("never")
    assert said in str(caught.value)
    assert "Traceback" not in str(caught.value)
