"""Bounds of one case: time and memory, and a process of its own for what can crash."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import traceback
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

SECONDS = 5
MEMORY = 2**30


class Fuzzer(NamedTuple):
    """How cases are made and judged.

    Attributes:
        case: Seed to case.
        run: Case to one word; raises what must not happen.
    """

    case: Callable[[int], bytes]
    run: Callable[[bytes], str]


class Failure(NamedTuple):
    """A case that must not have come out so, and how it did."""

    case: bytes
    what: str


def too_slow(*_: object) -> None:
    """The handler of the alarm."""
    raise TimeoutError(f"took longer than {SECONDS} s")


def bounded(fuzzer: Fuzzer, case: bytes) -> str:
    """Run a case within time and memory, in this process."""
    signal.signal(signal.SIGALRM, too_slow)
    signal.alarm(SECONDS)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        word = fuzzer.run(case)
    finally:
        signal.alarm(0)
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    if grown > MEMORY:
        raise MemoryError(f"took {grown / 2**20:.0f} MB")
    return word


def where(error: BaseException) -> str:
    """The error and the package's line that raised it."""
    lines = traceback.extract_tb(error.__traceback__)
    own = [line for line in lines if "geared_dynamics/" in line.filename] or lines
    place = own[-1].filename.rpartition("geared_dynamics/")[2]
    return f"{type(error).__name__} at {place}:{own[-1].lineno}: {str(error).strip()[:150]}"


def work(fuzzer: Fuzzer, seeds: range, kept: Path, pipe: Connection) -> None:
    """Run seeds one after the other; the case at hand is on disk before it runs."""
    with Path(os.devnull).open("w") as nowhere:  # C libraries write a line per refused message
        os.dup2(nowhere.fileno(), 2)
    for seed in seeds:
        case = fuzzer.case(seed)
        kept.write_bytes(case)
        try:
            pipe.send((seed, bounded(fuzzer, case), None))
        except Exception as error:  # whatever it is, it is a finding
            pipe.send((seed, "", where(error)))
    pipe.close()


def search(
    fuzzer: Fuzzer, first: int, count: int, folder: Path, over: Callable[[], bool]
) -> tuple[Counter[str], list[Failure]]:
    """Run seeds in a process of their own, begun again after each crash.

    Args:
        fuzzer: Makes and judges cases.
        first: First seed.
        count: How many.
        folder: Where the case at hand is kept.
        over: Whether time is up.

    Returns:
        How often each word came out, and the failures.
    """
    words, failures, seed = Counter[str](), [], first
    current, context = folder / "current", multiprocessing.get_context("fork")
    fuzzer.case(first)  # what all cases need is loaded before the time of one counts
    while seed < first + count and not over():
        near, far = context.Pipe(duplex=False)
        seeds = range(seed, first + count)
        child = context.Process(target=work, args=(fuzzer, seeds, current, far), daemon=True)
        child.start()
        far.close()
        last = seed - 1
        try:
            while not over() and near.poll(4 * SECONDS):
                last, word, wrong = near.recv()
                words[word or "failed"] += 1
                if wrong:
                    failures.append(Failure(fuzzer.case(last), wrong))
        except EOFError:
            pass
        ended = finished(child)
        seed = last + 1
        if not over() and seed < first + count:
            failures.append(Failure(current.read_bytes(), ended))
            words["crashed"] += 1
            seed += 1
    return words, failures


def finished(child: Any) -> str:
    """End a process that hangs, and say how it ended."""
    child.join(0.5)
    if child.exitcode is None:
        child.kill()
        child.join()
        return f"hung for {4 * SECONDS} s"
    return f"ended by signal {-child.exitcode}" if child.exitcode else "ended early"
