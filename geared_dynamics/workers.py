"""Worker processes that end with the program that started them, however it ends."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from geared_dynamics.errors import GearedDynamicsError


@contextmanager
def worker_pool(
    count: int,
    place: str,
    remedy: str,
    initializer: Callable[..., object] | None = None,
    initargs: tuple[Any, ...] = (),
) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of processes, each a new interpreter; they end at once where an error does.

    A pool of the standard library waits for all that was submitted, and leaves its processes
    running where a signal ends the program. These read from a pipe whose other end is open only
    as long as the program runs and wants them.

    Args:
        count: Number of processes.
        place: For the error where one of them dies: the option or command that asked for them.
        remedy: For the same.
        initializer: Called in each process first.
        initargs: Its arguments.

    Raises:
        GearedDynamicsError: A process died.
    """
    wanted, wants = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("spawn")  # not forked: there may be threads
    pool = ProcessPoolExecutor(count, context, begin, (wanted, initializer, initargs))
    try:
        yield pool
    except BrokenProcessPool:
        raise GearedDynamicsError(place, "a worker process died", remedy) from None
    except BaseException:
        wants.close()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        wants.close()
        wanted.close()


def begin(
    wanted: Connection, initializer: Callable[..., object] | None, initargs: tuple[Any, ...]
) -> None:
    """Begin a worker process."""
    threading.Thread(target=end_when_unwanted, args=(wanted,), daemon=True).start()
    if initializer is not None:
        initializer(*initargs)


def end_when_unwanted(wanted: Connection) -> None:
    """End this process when the other end of the pipe is closed."""
    try:
        wanted.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
