"""What a command has started ends with it, however that ends."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from geared_dynamics.apps import latency_run, processes
from geared_dynamics.apps.cli import demo
from geared_dynamics.apps.latency_run import Options, echo, measure
from geared_dynamics.apps.processes import FIRST, LAST, PRCTL, Children, own_domain
from geared_dynamics.errors import GearedDynamicsError

# Looks for signals again and again: pause() would miss one that comes just before it.
WAIT = "while True: signal.sigtimedwait([], 0.05)"
# A child that holds a pipe open as long as it lives: its end is the pipe's.
CHILD = f"import signal\npipe = open('PIPE', 'w')\nprint('begun', flush=True)\n{WAIT}"
PARENT = f"""
import signal, sys
from pathlib import Path
from geared_dynamics.apps.processes import Children
with Children({{}}, Path(sys.argv[1])) as children:
    children.start("child", "-c", sys.argv[2]).wait_for_line("begun")
    print("ready", flush=True)
    {WAIT}
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
        try:
            parent.wait(END)
        finally:
            parent.kill()
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


# -- a graph of one's own ------------------------------------------------------------------------


def test_domains_differ_while_they_are_held() -> None:
    with own_domain() as one, own_domain() as other:
        assert one != other
        assert {one, other} <= set(range(FIRST, LAST + 1))
        assert LAST <= 101


def test_no_domain_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "LAST", 3)
    monkeypatch.setattr(processes, "LOCKS", 20500)  # what other tests hold is not asked
    with contextlib.ExitStack() as held:
        domains = {held.enter_context(own_domain()) for _ in range(3)}
        assert domains == {1, 2, 3}
        with pytest.raises(GearedDynamicsError, match="all ROS domains from 1 to 3 are taken"):
            held.enter_context(own_domain())
    with own_domain() as again:
        assert again in domains


def test_a_demo_stays_out_of_a_domain_that_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would meet a second node of the same name there."""

    def conduct(children: Children, *_: object) -> list[str]:
        return [children._env["ROS_DOMAIN_ID"]]

    monkeypatch.setattr(demo, "_record", conduct)
    monkeypatch.setattr(demo, "task_of", lambda *_: None)
    with own_domain() as held:
        (used,) = demo.record(  # type: ignore[arg-type]
            None, tmp_path, lock_step=True, progress=lambda *_: None
        )
        assert FIRST <= int(used) <= LAST
        assert int(used) != held


@pytest.mark.parametrize("given", [None, 7])
def test_so_does_a_benchmark_unless_one_is_given(
    given: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rclpy")
    used = []

    def run(children: Children, *_: object) -> None:
        used.append(int(children._env["ROS_DOMAIN_ID"]))

    monkeypatch.setattr(latency_run, "_measure", run)
    with own_domain() as held, pytest.raises(AttributeError):  # there is no result
        measure(echo(), Options(["joint_1"], [0.0], 1000, 1.0, 1.0, given))
    assert used[0] == 7 if given else FIRST <= used[0] <= LAST and used[0] != held
