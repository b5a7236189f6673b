"""Interleaved timing: every round times each side in turn, so that noise hits all alike."""

import statistics
import time
from collections.abc import Callable, Mapping
from itertools import repeat


def interleaved(
    sides: Mapping[str, Callable[[], object]], *, rounds: int = 200, calls: int = 500
) -> dict[str, float]:
    """Median time per call of each side [s], warm.

    Args:
        sides: What to time, by name.
        rounds: How often each side has its turn.
        calls: Calls in one turn.
    """
    for call in sides.values():
        turn(call, calls)
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, call in sides.items():
            times[name].append(turn(call, calls))
    return {name: statistics.median(values) / calls for name, values in times.items()}


def turn(call: Callable[[], object], calls: int) -> float:
    """Time of a number of calls [s]."""
    start = time.perf_counter()
    for _ in repeat(None, calls):
        call()
    return time.perf_counter() - start


def verdict(name: str, ratio: float, limit: float) -> str:
    """One line: measured ratio beside the asked one."""
    finding = "ok" if ratio <= limit else "MISSED"
    return f"{name:<58} {ratio:5.2f} x  (asked <= {limit:.2f})  {finding}"
