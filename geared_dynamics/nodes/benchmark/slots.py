"""When which node gets its message: two nodes in one run, each at the full rate.

Each period has two halves, one per node. Both nodes so live through the same machine at
the same time, each asked at the full rate, and neither is idle while the other is
measured: blocks of a second each would let a node's joint states go stale. Who comes first
changes every second, so that what one node still does after its answer falls on both.
"""

from __future__ import annotations

from typing import NamedTuple

SECOND = 1_000_000_000  # [ns]


class Slot(NamedTuple):
    """One message."""

    subject: int  # 0 or 1, the node that gets it
    cycle: int  # its number for that node
    due: int  # [ns] after the start


class Plan(NamedTuple):
    """All messages of a run.

    Attributes:
        rate: Messages per second for each node.
        cycles: Messages for each node.
    """

    rate: int
    cycles: int

    @property
    def period(self) -> int:
        """Time between two messages for the same node [ns]."""
        return SECOND // self.rate

    @property
    def slots(self) -> int:
        """Messages for both nodes."""
        return 2 * self.cycles

    def slot(self, number: int) -> Slot:
        """Return one message's node and time."""
        cycle, half = divmod(number, 2)
        swapped = (cycle // self.rate) % 2
        return Slot(half ^ swapped, cycle, number * SECOND // (2 * self.rate))


def plan(rate: int, duration: float) -> Plan:
    """Plan a run of a duration [s]; both nodes come first equally often in whole 2 s."""
    return Plan(rate, max(round(rate * duration), 1))
