"""A process that ends what a test run has started where the run itself was killed.

Such a run cleans nothing up, and its nodes would stay on a domain whose lock has gone with it.
The guard reads a pipe whose only writer is the run: the pipe's end is the end of the run, however
that came about. It knows whole process groups, so it also ends what a launch file has started.

As a script, ``guard.py``: reads lines, ``N`` for a new group and ``-N`` for one that has ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO


class Guard:
    """The guard of this process's groups; one is started at the first."""

    def __init__(self) -> None:
        self._owner = 0
        self._pipe: IO[bytes] | None = None

    def add(self, group: int) -> None:
        """End this group where this process dies before the group."""
        self._write(group)

    def remove(self, group: int) -> None:
        """Leave a group alone that has ended: its number may become another's."""
        self._write(-group)

    def _write(self, number: int) -> None:
        if self._owner != os.getpid():  # a forked child's groups are not its parent's
            self._owner, self._pipe = os.getpid(), self._start()
        assert self._pipe is not None
        self._pipe.write(b"%d\n" % number)

    def _start(self) -> IO[bytes]:
        command = [sys.executable, "-I", "-S", str(Path(__file__).resolve())]
        guard = subprocess.Popen(
            command, stdin=subprocess.PIPE, bufsize=0, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert guard.stdin is not None
        guard.returncode = 0  # it outlives us, which is no reason to warn of it
        return guard.stdin


def main() -> None:
    """Read what groups there are until the pipe ends, then end those that are left."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        number = int(line)
        if number > 0:
            groups.add(number)
        else:
            groups.discard(-number)
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
