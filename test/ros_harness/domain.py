"""A ROS domain that no other test on this machine uses."""

from __future__ import annotations

import contextlib
import os
import re
import socket
from collections.abc import Iterator

# Domain 0 is where the user's own robot is. Beyond 101 the ports of DDS would reach into
# the range from which Linux hands out ports.
FIRST, LAST = 1, 101
LOCKS = 21000  # TCP port of domain 0's lock; never listened on


def worker_number() -> int:
    """Return the number of pytest-xdist's worker, 0 without xdist."""
    found = re.fullmatch(r"gw(\d+)", os.environ.get("PYTEST_XDIST_WORKER", ""))
    return int(found.group(1)) if found else 0


@contextlib.contextmanager
def own_domain() -> Iterator[int]:
    """Yield a domain id in 1..101 that stays ours until the block ends.

    The lock is a bound port: workers and other test runs on this machine see it, and it
    goes with the process, however that ends. Workers begin their search at different ids.
    """
    count = LAST - FIRST + 1
    begin = worker_number() * 17 + os.getpid()
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as lock:
        for offset in range(count):
            domain = FIRST + (begin + offset) % count
            try:
                lock.bind(("127.0.0.1", LOCKS + domain))
            except OSError:
                continue
            yield domain
            return
        raise RuntimeError(f"all ROS domains from {FIRST} to {LAST} are taken on this machine")
