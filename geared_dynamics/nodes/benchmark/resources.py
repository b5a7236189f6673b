"""Processor time and memory of another process, where the system shows them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

from geared_dynamics.nodes.benchmark.figures import Usage


class Sample(NamedTuple):
    """A process at one moment; None where the system does not tell."""

    at: float  # [s], monotonic
    cpu: float | None  # [s] used since its start
    memory: int | None  # [bytes] resident


def sample(pid: int) -> Sample:
    """Read Linux's /proc; elsewhere nothing is known."""
    folder = Path("/proc") / str(pid)
    try:
        # The name in brackets may hold spaces.
        fields = (folder / "stat").read_text(encoding="ascii").rpartition(")")[2].split()
        pages = int((folder / "statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return Sample(time.monotonic(), None, None)
    ticks = int(fields[11]) + int(fields[12])  # in user and in kernel mode
    return Sample(
        time.monotonic(), ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE")
    )


def usage(first: Sample, last: Sample) -> Usage:
    """Return what a process used from one sample to the other."""
    if first.cpu is None or last.cpu is None or first.memory is None or last.memory is None:
        return Usage(None, None)
    span = max(last.at - first.at, 1e-9)
    return Usage((last.cpu - first.cpu) / span, last.memory - first.memory)
