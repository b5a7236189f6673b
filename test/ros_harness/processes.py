"""Processes of a test: started, watched, ended, with what they said."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

from ros_harness.environment import ros_environment
from ros_harness.forks import Fork, Forks
from ros_harness.guard import Guard

GRACE = 10.0  # [s] from SIGINT to SIGKILL
HEAD, TAIL = 2000, 4000  # characters of a process's output that a failure shows
GUARD = Guard()
EACH_ITS_OWN = ("ROS_DOMAIN_ID", "ROS_LOG_DIR")  # the rest of the environment all graphs share
FORKS: list[Forks] = []  # the server of this process's forks, once there is one


def watch_the_clock(on: bool = True) -> None:
    """Let this process, and all that it starts, run at once when something is due.

    As a robot's computer does, where the system allows it: otherwise the nodes of a test stop,
    as they should, whenever other tests keep them waiting. By turns, since some never wait: a
    simulated arm in lock step and its node, or one that computes for ever, on each processor
    would leave no time to the test that is to end them.
    """
    policy, priority = (os.SCHED_RR, 1) if on else (os.SCHED_OTHER, 0)
    with contextlib.suppress(AttributeError, PermissionError):
        os.sched_setscheduler(0, policy, os.sched_param(priority))


class Process:
    """A process in a group of its own, its output in a file."""

    def __init__(
        self, name: str, command: list[str], log: Path, started: subprocess.Popen[bytes] | Fork
    ) -> None:
        self.name = name
        self.command = command
        self.log = log
        self.ending = False  # the test ends it, or expects it to end
        self.terminal = False  # whether Ctrl-C reaches its children too, as in a terminal
        self._popen = started
        GUARD.add(self.pid)

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal, or None while it runs."""
        return self._popen.poll()

    @property
    def running(self) -> bool:
        return self.returncode is None

    @property
    def output(self) -> str:
        """Everything it wrote so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def signal(self, number: signal.Signals) -> None:
        """Send a signal of which it may die."""
        self.ending = True
        if self.running and self.terminal and number is signal.SIGINT:
            os.killpg(self.pid, number)
        elif self.running:
            self._popen.send_signal(number)

    def kill(self) -> None:
        """End it at once, as a crash would, and wait until it is gone."""
        self.signal(signal.SIGKILL)
        self._popen.wait(GRACE)

    def wait(self, timeout: float = GRACE) -> int:
        """Wait for its end, which the test expects, and return the exit code."""
        self.ending = True
        try:
            return self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {timeout} s: {self.report()}") from None

    def stop(self, timeout: float = GRACE) -> int:
        """Interrupt it as Ctrl-C does and return its exit code."""
        self.signal(signal.SIGINT)
        return self.wait(timeout)

    def clear(self, grace: float = GRACE) -> None:
        """Leave nothing of its group behind: SIGINT, then SIGKILL."""
        with contextlib.suppress(AssertionError):
            self.stop(grace)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)  # itself, or what it started and left behind
        self._popen.wait(GRACE)
        GUARD.remove(self.pid)

    def report(self) -> str:
        """Say how it is and how its output ends."""
        code = self.returncode
        state = "running" if code is None else f"ended with exit code {code}"
        text = self.output.strip() or "(no output)"
        if len(text) > HEAD + TAIL:
            text = f"{text[:HEAD]}\n[...]\n{text[-TAIL:]}"
        return f"{self.name} (pid {self.pid}, {state}):\n{text}"


class Processes:
    """All processes of one test."""

    def __init__(self, env: dict[str, str], folder: Path) -> None:
        self.env = env
        self.folder = folder
        self.all: list[Process] = []

    def start(
        self,
        *arguments: str | Path,
        name: str = "",
        env: dict[str, str] | None = None,
        fork: bool = True,
    ) -> Process:
        """Start this Python with arguments: ``"-m", module, ...`` or a script's path.

        Args:
            arguments: What follows ``python`` on the command line.
            name: How to call it in messages; by default the module's or script's name.
            env: Environment variables besides those of the graph.
            fork: Whether it may be forked from a Python that has what nodes import, where it
                would see no other environment while it imports them.
        """
        words = [str(argument) for argument in arguments]
        name, command = name or _name(words), [sys.executable, *words]
        server = forks_of(self.env | (env or {})) if fork and words[0] in {"-m", "-c"} else None
        if server is None:
            return self.run(command, name, env)
        log = self._log(name)
        return self._add(Process(name, command, log, server.start(words, self.env, log)))

    def run(self, command: list[str], name: str, env: dict[str, str] | None = None) -> Process:
        """Start any command."""
        log = self._log(name)
        with log.open("wb") as sink:
            started = subprocess.Popen(
                command,
                env=os.environ | self.env | (env or {}),
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return self._add(Process(name, command, log, started))

    def _log(self, name: str) -> Path:
        return self.folder / f"{len(self.all)}_{name}.log"

    def _add(self, process: Process) -> Process:
        self.all.append(process)
        return process

    def check(self) -> None:
        """Fail if a process has ended that nobody ended."""
        for process in self.all:
            if not process.ending and not process.running:
                raise AssertionError(f"a process died. {process.report()}")

    def report(self) -> str:
        """Say of all how they are and what they wrote."""
        return "\n\n".join(process.report() for process in self.all) or "(no processes)"

    def clear(self, grace: float = GRACE) -> None:
        """End all, the last one first; then fail if one had died unasked."""
        asked = [process for process in self.all if process.ending or process.running]
        for process in reversed(self.all):
            process.clear(grace)
        died = [process.report() for process in self.all if process not in asked]
        assert not died, "died unasked: " + "\n\n".join(died)


def forks_of(env: dict[str, str]) -> Forks | None:
    """Return the server of forks, started at its first use, if this is a graph's environment."""
    plain = unvaried(ros_environment(0, Path()))
    if unvaried(env) != plain:
        return None
    if not FORKS:
        FORKS.append(Forks(plain))
    return FORKS[0]


def unvaried(env: dict[str, str]) -> dict[str, str]:
    """Return what no fork may change of an environment: imports may have read it."""
    return {name: value for name, value in env.items() if name not in EACH_ITS_OWN}


def _name(words: list[str]) -> str:
    """Name a process after its module or script."""
    if words[:1] == ["-m"] and len(words) > 1:
        return words[1].rpartition(".")[2]
    return Path(words[0]).stem if words and not words[0].startswith("-") else "python"
