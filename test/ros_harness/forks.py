"""Processes forked from a Python that has imported and compiled already what every node needs.

More than half of a node's start is NumPy, numba, rclpy and the compiled kernels. A fork has them,
and is in everything else what ``python -m MODULE`` and ``python -c CODE`` are: a session of its
own, its arguments, environment and output, and the interpreter's own end with its exit code.
The nodes' modules are imported in the fork, so that a program can change them before.

As a script, ``forks.py FD``: reads requests from a socket, one JSON object in each packet, answers
``{"started": PID}`` and reports each end as ``{"ended": PID, "code": EXIT CODE}``.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

PACKET = 1 << 18  # bytes; arguments and environment of a process
# Message classes and what nodes build on. No ``control_msgs``: a test does without.
PRELOADED = (
    "rclpy.action", "rclpy.executors", "rclpy.lifecycle", "diagnostic_msgs.msg",
    "geometry_msgs.msg", "lifecycle_msgs.msg", "lifecycle_msgs.srv", "rcl_interfaces.srv",
    "rosgraph_msgs.msg", "sensor_msgs.msg", "std_msgs.msg", "std_srvs.srv", "trajectory_msgs.msg",
)  # fmt: skip


class Fork:
    """A forked process; the methods are those of ``subprocess.Popen``."""

    def __init__(self, server: Forks, pid: int) -> None:
        self._server, self.pid = server, pid

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal, or None while it runs."""
        return self._server.code_of(self.pid)

    def wait(self, timeout: float) -> int:
        """Wait for the end and return the exit code."""
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            left = deadline - time.monotonic()
            if left <= 0.0:
                raise subprocess.TimeoutExpired(f"fork {self.pid}", timeout)
            self._server.listen(left)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


class Forks:
    """The other end of the socket: asks for forks and knows their exit codes."""

    def __init__(self, env: dict[str, str]) -> None:
        """Start the server.

        Args:
            env: Environment variables besides this process's own.
        """
        self.env = env
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._codes: dict[int, int] = {}
        self._said = tempfile.TemporaryFile()
        with other:
            self._server = subprocess.Popen(
                [sys.executable, str(Path(__file__).resolve()), str(other.fileno())],
                env=os.environ | env, pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL, stdout=self._said, stderr=subprocess.STDOUT,
            )  # fmt: skip
        self._server.returncode = 0  # it ends with us, which is no reason to warn of it

    def start(self, words: Sequence[str], env: dict[str, str], log: Path) -> Fork:
        """Fork a process.

        Args:
            words: What follows ``python``: ``-m MODULE`` or ``-c CODE``, and arguments.
            env: Environment variables besides this process's own.
            log: Where its output goes.
        """
        request = {"words": list(words), "env": dict(os.environ | env), "log": str(log),
                   "folder": str(Path.cwd())}  # fmt: skip
        with contextlib.suppress(BrokenPipeError):  # the next line says why
            self._socket.send(json.dumps(request).encode())
        while (answer := self._receive()).get("started") is None:
            self._note(answer)
        return Fork(self, answer["started"])

    def code_of(self, pid: int) -> int | None:
        """Return a fork's exit code, None while it runs."""
        while pid not in self._codes and self.listen(0.0):
            pass
        return self._codes.get(pid)

    def listen(self, timeout: float) -> bool:
        """Read a report if one comes in time [s]; tell whether one came."""
        if not select.select([self._socket], [], [], timeout)[0]:
            return False
        self._note(self._receive())
        return True

    def _note(self, report: dict[str, int]) -> None:
        self._codes[report["ended"]] = report["code"]

    def _receive(self) -> dict[str, int]:
        data = self._socket.recv(PACKET)
        if not data:
            self._said.seek(0)
            raise RuntimeError(f"the server of forks has ended: {self._said.read().decode()}")
        answer: dict[str, int] = json.loads(data)
        return answer


# -- the server, and what it becomes in a fork ---------------------------------------------------


def preload() -> None:
    """Import and compile, or read from the cache, what every node needs."""
    from geared_dynamics import kernels

    for name in kernels.KERNELS:
        getattr(kernels, name)
    for module in PRELOADED:
        import_module(module)
    gc.collect()
    gc.freeze()  # a fork's collector leaves it alone, or would copy all of it


def serve(channel: socket.socket) -> list[str]:
    """Fork at each request; returns in the forks only, with the words after ``python``."""
    awake, wake = os.pipe()
    for end in (awake, wake):
        os.set_blocking(end, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    while True:
        ready = select.select([channel, awake], [], [])[0]
        if awake in ready:
            os.read(awake, 4096)
            report_ends(channel)
        if channel in ready:
            data = channel.recv(PACKET)
            if not data:
                sys.exit(0)
            request = json.loads(data)
            read, write = os.pipe()
            pid = os.fork()
            if not pid:
                channel.close()
                become(request)
                for end in (awake, wake, read, write):  # the last one: it may be signalled now
                    os.close(end)
                return list(request["words"])
            os.close(write)
            os.read(read, 1)
            os.close(read)
            channel.send(json.dumps({"started": pid}).encode())


def report_ends(channel: socket.socket) -> None:
    """Send the exit codes of all forks that have ended."""
    with contextlib.suppress(ChildProcessError):
        while (end := os.waitpid(-1, os.WNOHANG))[0]:
            code = os.waitstatus_to_exitcode(end[1])
            channel.send(json.dumps({"ended": end[0], "code": code}).encode())


def become(request: dict[str, Any]) -> None:
    """Be in a fork what a new process would be."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    for number in (1, 2):
        os.dup2(log, number)
    os.close(log)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["folder"])
    leave_to_the_server()


def leave_to_the_server() -> None:
    """At the end, destroy no C++ objects of libraries that the server has loaded.

    Those of LLVM alone would be copied page by page, a tenth of a second for each fork. Handlers
    run in reverse order: first those of libraries that the fork has loaded, DDS among them, then
    these two, and none of the server's. (glibc; elsewhere a fork is slower.)
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "on_exit") and hasattr(libc, "fcloseall"):
        libc.on_exit(libc._exit, None)
        libc.__cxa_atexit(libc.fcloseall, None, None)


def execute(words: list[str]) -> None:
    """Be ``python WORDS``; what is raised reaches the interpreter, which ends as always."""
    option, program, *arguments = words
    if option == "-m":
        sys.argv[:], sys.path[0] = [program, *arguments], str(Path.cwd())
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        return
    sys.argv[:], sys.path[0] = ["-c", *arguments], ""
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    exec(compile(program, "<string>", "exec"), vars(main))


if __name__ == "__main__":
    preload()
    execute(serve(socket.socket(fileno=int(sys.argv[1]))))
