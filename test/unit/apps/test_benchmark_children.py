from __future__ import annotations

import mmap
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from geared_dynamics.apps.processes import Child, Children
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.runtime.latency_figures import ProcessSample, sample, usage

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals and process groups")
IDLE = "import signal\nprint('ready', flush=True)\nwhile True: signal.sigtimedwait([], 0.05)"


def started(children: Children, code: str = IDLE) -> Child:
    child = children.start("idle", "-c", code)
    child.wait_for_line("ready")
    return child


def test_all_have_ended_when_the_context_is_left(tmp_path: Path) -> None:
    with Children({}, tmp_path) as children:
        both = [started(children), started(children)]
        for child in both:
            child.check()
    assert [child.popen.returncode for child in both] == [-signal.SIGINT] * 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_them_too(tmp_path: Path, number: signal.Signals) -> None:
    before = signal.getsignal(signal.SIGTERM)
    children = Children({}, tmp_path)
    child = started(children)

    def interrupted() -> None:
        with children:
            os.kill(os.getpid(), number)
            child.popen.wait()

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert child.popen.returncode == -signal.SIGINT
    assert signal.getsignal(signal.SIGTERM) is before


def test_what_a_process_left_behind_is_ended(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys\n"
        f"subprocess.Popen([sys.executable, '-c', {IDLE!r}], stdin=subprocess.PIPE)\n"
        "raise SystemExit(0)"
    )
    with Children({}, tmp_path) as children:
        child = children.start("parent", "-c", code)
        child.wait_for_line("ready")  # said by the grandchild into the same pipe
        group = child.popen.pid
    deadline = time.monotonic() + 10.0
    while Path(f"/proc/{group}").exists() or members(group):
        assert time.monotonic() < deadline


def members(group: int) -> list[str]:
    """Running processes of a group."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(folder.name)
    return found


def test_an_early_end_is_an_error_with_what_it_said(tmp_path: Path) -> None:
    with Children({}, tmp_path) as children:
        child = children.start("node", "-c", "raise SystemExit('no such robot')")
        with pytest.raises(GearedDynamicsError, match=r"node: .*exit code 1; .*no such robot"):
            child.wait_for_line("ready")
        with pytest.raises(GearedDynamicsError):
            child.check()


def test_a_process_that_waits_for_a_dead_one_does_not_wait(tmp_path: Path) -> None:
    with Children({}, tmp_path) as children:
        node = children.start("node", "-c", "raise SystemExit('no such robot')")
        driver = children.start("driver", "-c", IDLE)
        with pytest.raises(GearedDynamicsError, match=r"node: .*no such robot"):
            driver.wait_for_line("done", [node])


def test_who_gives_up_waiting_repeats_what_the_other_said(tmp_path: Path) -> None:
    idle = f"import sys; print('held', file=sys.stderr, flush=True)\n{IDLE}"
    with Children({}, tmp_path) as children:
        node = started(children, idle)
        driver = children.start("driver", "-c", "raise SystemExit('no answer')")
        with pytest.raises(GearedDynamicsError, match=r"driver: .*no answer; idle said: held"):
            driver.wait_for_line("done", [node])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has /proc")
def test_usage_of_this_process() -> None:
    first = sample(os.getpid())
    kept = mmap.mmap(-1, 20_000_000)  # pages of its own: the heap may have as much to spare
    for page in range(0, len(kept), mmap.PAGESIZE):
        kept[page] = 1
    while sample(os.getpid()).cpu == first.cpu:  # until the clock of the processor has ticked
        pass
    found = usage(first, sample(os.getpid()))
    assert found.growth is not None
    assert found.growth > 10_000_000
    assert found.cpu is not None
    assert 0.0 < found.cpu


def test_usage_is_unknown_where_the_system_does_not_tell() -> None:
    gone = sample(2**30)
    assert usage(gone, ProcessSample(gone.at + 1.0, 1.0, 1)) == (None, None)
