"""Interleaved timing: every round times each side in turn, so that noise hits all alike."""

import statistics
import time
from collections.abc import Callable, Mapping
from itertools import repeat


def interleaved(
    sides: Mapping[str, Callable[[], object]],
    *,
    rounds: int = 200,
    calls: int = 500,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Median time per call of each side [s], warm.

    Args:
        sides: What to time, by name.
        rounds: How often each side has its turn.
        calls: Calls in one turn.
        clock: Reads the time [s]; ``time.process_time`` leaves out what other processes take.
    """
    for call in sides.values():
        turn(call, calls)
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, call in sides.items():
            times[name].append(turn(call, calls, clock))
    return {name: statistics.median(values) / calls for name, values in times.items()}


def turn(
    call: Callable[[], object], calls: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Time of a number of calls [s]."""
    start = clock()
    for _ in repeat(None, calls):
        call()
    return clock() - start


def verdict(name: str, ratio: float, limit: float) -> str:
    """One line: measured ratio beside the asked one."""
    finding = "ok" if ratio <= limit else "MISSED"
    return f"{name:<58} {ratio:5.2f} x  (asked <= {limit:.2f})  {finding}"
