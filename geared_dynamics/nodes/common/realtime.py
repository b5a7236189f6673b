"""What the operating system can do for a steady loop; all of it may be refused."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Callable, Sequence

MCL_CURRENT, MCL_FUTURE = 1, 2
SWITCH = 1e-4  # [s] after which another thread must give the interpreter back
HELP = "see docs/nodes.md, 'Real time'"


def settle() -> None:
    """Take all that exists out of the garbage collector's sight; threads yield quickly."""
    sys.setswitchinterval(SWITCH)
    gc.collect()
    gc.freeze()


def unsettle() -> None:
    """Give it back, so that what was built before can be freed."""
    gc.unfreeze()


def requested(priority: int, cpus: Sequence[int], lock: bool) -> list[str]:
    """Ask for what is wanted and return a line about each refusal.

    Args:
        priority: Of SCHED_FIFO, 0 for the default scheduler.
        cpus: Cores to run on, none for all.
        lock: Whether to keep memory from being paged out.
    """
    asked: list[tuple[bool, Callable[[], None], str]] = [
        (priority > 0, lambda: schedule(priority), f"thread_priority {priority}"),
        (bool(cpus), lambda: pin(cpus), f"cpu_affinity {list(cpus)}"),
        (lock, lock_memory, "lock_memory"),
    ]
    refusals = []
    for wanted, ask, name in asked:
        if not wanted:
            continue
        try:
            ask()
        except (OSError, AttributeError, ValueError) as error:
            refusals.append(f"{name} was refused ({error}); the node runs without; {HELP}")
    return refusals


def schedule(priority: int) -> None:
    """Run this thread under SCHED_FIFO."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))


def step_back() -> None:
    """Let the loop's thread go before this one, which was started by it under SCHED_FIFO."""
    if os.sched_getscheduler(0) == os.SCHED_FIFO:
        schedule(max(os.sched_getparam(0).sched_priority - 1, 1))


def pin(cpus: Sequence[int]) -> None:
    """Run on these cores only."""
    os.sched_setaffinity(0, set(cpus))


def lock_memory() -> None:
    """Keep all pages in memory."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.mlockall(MCL_CURRENT | MCL_FUTURE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
