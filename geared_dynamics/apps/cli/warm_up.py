"""``geared-dynamics warm-up``: compile everything now."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed

from rich.console import Console
from rich.progress import track

from geared_dynamics import kernels
from geared_dynamics.apps.cli.documents import add_json_option, print_document
from geared_dynamics.apps.cli.options import open_console
from geared_dynamics.workers import worker_pool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command does, and what it takes."""
    parser.description = (
        "Compile all kernels of this package for this machine, one process per processor, and "
        "keep them: the first call of a function, and a node's first start, then need not wait. "
        "What is compiled already is left as it is."
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Compile; return 0."""
    names = list(kernels.KERNELS)
    console = Console(stderr=True)
    silent = sys.stderr is None or not console.is_terminal
    done = track(compiled(names), "compiling", len(names), console=console, disable=silent)
    finished = list(done)
    if args.json:
        print_document("warm-up", {"kernels": sorted(finished)})
    else:
        open_console().print(f"{len(finished)} kernels are compiled")
    return 0


def compiled(names: Sequence[str]) -> Iterator[str]:
    """Compile kernels beside each other, the last of the list first; their names as they are done.

    The list goes from small to large: what takes longest must not come last.
    """
    remedy = "give the machine more memory, or let fewer run: taskset -c 0 geared-dynamics warm-up"
    with worker_pool(os.cpu_count() or 1, "warm-up", remedy) as pool:
        jobs = [pool.submit(compile_kernel_named, name) for name in reversed(names)]
        for job in as_completed(jobs):
            yield job.result()


def compile_kernel_named(name: str) -> str:
    """Compile a kernel by asking for it."""
    getattr(kernels, name)
    return name
