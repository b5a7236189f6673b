"""Worker processes end with the program that started them."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys

import pytest

from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.workers import worker_pool

PROGRAM = """
import os, signal
from geared_dynamics.workers import worker_pool

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup has it ignored
signal.signal(signal.SIGINT, signal.default_int_handler)  # and a shell's & this
with worker_pool(1, "here", "nothing") as pool:
    print(pool.submit(os.getpid).result(), flush=True)
    pool.submit(signal.pause).result()
"""
PATIENCE = 60.0  # [s]


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux's pidfd_open")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_however_the_program_ends(name: str) -> None:
    """The worker is in the middle of a task that never ends."""
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as program:
        assert program.stdout is not None
        worker = int(program.stdout.readline())
        ended = os.pidfd_open(worker)
        program.send_signal(signal.Signals[name])
        try:
            assert select.select([ended], [], [], PATIENCE)[0], "the worker is still there"
            assert program.wait(PATIENCE) != 0
        finally:
            program.kill()
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(ended, signal.SIGKILL)
            os.close(ended)


def test_an_error_does_not_wait_for_what_was_submitted() -> None:
    waiting = []
    with contextlib.suppress(KeyError), worker_pool(1, "here", "nothing") as pool:
        waiting += [pool.submit(signal.pause) for _ in range(5)]
        raise KeyError
    assert len(waiting) == 5
    assert all(job.done() for job in waiting)


def test_a_worker_that_dies_is_an_error() -> None:
    with (
        pytest.raises(GearedDynamicsError, match="--jobs: a worker process died; give"),
        worker_pool(1, "--jobs", "give the machine more memory") as pool,
    ):
        pool.submit(os._exit, 3).result()


def test_workers_begin_with_what_they_were_given() -> None:
    with worker_pool(1, "here", "nothing", os.umask, (0o27,)) as pool:
        assert pool.submit(os.umask, 0o22).result() == 0o27
