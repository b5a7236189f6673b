"""Processes that a command starts and that end with it, however it ends."""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, cast

from geared_dynamics.errors import GearedDynamicsError

GRACE = 5.0  # [s] from SIGINT to SIGKILL
LOOK = 0.2  # [s] between looks at the other processes
TRACEBACK = "Traceback (most recent call last):"
TAIL = 2000  # characters of a process's output in an error
PARENT_DEATH = 1  # Linux's PR_SET_PDEATHSIG
ENDS = tuple(signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
# Domain 0 is where the user's own robot is. Beyond 101 the ports of DDS would reach into
# the range from which Linux hands out ports.
FIRST, LAST = 1, 101
LOCKS = 21000  # TCP port of domain 0's lock; never listened on
PRCTL = getattr(ctypes.CDLL(None), "prctl", None) if sys.platform == "linux" else None


@contextlib.contextmanager
def own_domain(begin: int | None = None) -> Iterator[int]:
    """Yield a ROS domain in 1..101 that stays ours until the block ends.

    The lock is a bound port: other commands and tests on this machine see it, and it goes with
    the process, however that ends.

    Args:
        begin: Where the search begins; by default everybody begins elsewhere.
    """
    count, begin = LAST - FIRST + 1, os.getpid() if begin is None else begin
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as lock:
        for offset in range(count):
            domain = FIRST + (begin + offset) % count
            try:
                lock.bind(("127.0.0.1", LOCKS + domain))
            except OSError:
                continue
            yield domain
            return
    finding = f"all ROS domains from {FIRST} to {LAST} are taken on this machine"
    raise GearedDynamicsError("ROS", finding, "end other runs")


def end_with_parent() -> None:
    """Have this process interrupted when its parent dies, by SIGKILL too (Linux)."""
    if PRCTL is not None:
        PRCTL(PARENT_DEATH, signal.SIGINT)


class Child:
    """A Python process in a group of its own, so that Ctrl-C reaches the parent only."""

    def __init__(self, name: str, arguments: Sequence[str], env: Mapping[str, str], log: Path):
        """Start it; standard output is a pipe, the rest goes into a file."""
        self.name = name
        self._log = log
        with log.open("wb") as sink:
            self.popen = subprocess.Popen(
                [sys.executable, *arguments],
                env={**os.environ, **env},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=sink,
                text=True,
                start_new_session=True,
                preexec_fn=end_with_parent,
            )
        self._lines: queue.Queue[str | None] = queue.Queue()
        stream = cast(IO[str], self.popen.stdout)
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: IO[str]) -> None:
        """Keep the pipe empty; None marks its end."""
        for line in stream:
            self._lines.put(line.strip())
        self._lines.put(None)

    def wait_for_line(self, text: str, needed: Sequence[Child] = ()) -> None:
        """Wait until it writes a line to its standard output.

        Args:
            text: The line.
            needed: Other processes, without which waiting has no sense.

        Raises:
            GearedDynamicsError: It ended before, or one of the others did.
        """
        while (line := self.next_line(needed)) != text:
            if line is None:
                self.popen.wait()
                error = self.failure()
                others = "".join(f"; {other.name} said: {other.said()}" for other in needed)
                raise GearedDynamicsError(error.place, error.finding, error.remedy + others)

    def next_line(self, needed: Sequence[Child] = ()) -> str | None:
        """Wait for the next line of its standard output and return it; None at its end.

        Args:
            needed: Other processes, without which waiting has no sense.

        Raises:
            GearedDynamicsError: One of the others ended.
        """
        while True:
            try:
                return self._lines.get(timeout=LOOK)
            except queue.Empty:
                for other in needed:
                    other.check()

    def check(self) -> None:
        """Raise a GearedDynamicsError if it has ended."""
        if self.popen.poll() is not None:
            raise self.failure()

    def failure(self) -> GearedDynamicsError:
        """Say how it ended and what it said last."""
        finding = f"the process ended with exit code {self.popen.returncode}"
        return GearedDynamicsError(self.name, finding, f"see its last output: {self.said()}")

    def said(self) -> str:
        """Return the end of what it wrote to standard error, of a traceback its last line."""
        text = self._log.read_text(encoding="utf-8", errors="replace").strip()
        before, trace, places = text.partition(TRACEBACK)
        if trace:
            text = before + "".join(places.splitlines()[-1:])
        return text[-TAIL:] or "nothing"

    def interrupt(self) -> None:
        """Ask it to end."""
        if self.popen.poll() is None:
            self.popen.send_signal(signal.SIGINT)

    def end(self) -> None:
        """Wait for its end, then end it and whatever is left of its group."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(GRACE)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()


class Children:
    """A context: all processes started in it have ended when it is left."""

    def __init__(self, env: Mapping[str, str], logs: Path) -> None:
        """Keep what all have in common."""
        self._env = env
        self._logs = logs
        self._all: list[Child] = []

    def start(self, name: str, *arguments: str) -> Child:
        """Start this Python with arguments."""
        log = self._logs / f"{len(self._all)}.log"
        child = Child(name, arguments, self._env, log)
        self._all.append(child)
        return child

    def __enter__(self) -> Children:
        """Let a polite end from outside, or of the terminal, clean up as Ctrl-C does."""
        self._before = {number: signal.signal(number, _interrupt) for number in ENDS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all; a second Ctrl-C does not get in between."""
        impatient = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            for child in self._all:
                child.interrupt()
            for child in self._all:
                child.end()
        finally:
            signal.signal(signal.SIGINT, impatient)
            for number, handler in self._before.items():
                signal.signal(number, handler)


def _interrupt(number: int, frame: object) -> None:
    """Turn a signal into what Ctrl-C raises."""
    raise KeyboardInterrupt
