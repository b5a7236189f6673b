"""A ROS domain that no other test or command on this machine uses."""

from __future__ import annotations

import os
import re
from contextlib import AbstractContextManager

from geared_dynamics.apps import processes


def worker_number() -> int:
    """Return the number of pytest-xdist's worker, 0 without xdist."""
    found = re.fullmatch(r"gw(\d+)", os.environ.get("PYTEST_XDIST_WORKER", ""))
    return int(found.group(1)) if found else 0


def own_domain() -> AbstractContextManager[int]:
    """A domain that stays ours until the block ends; workers begin their search elsewhere."""
    return processes.own_domain(worker_number() * 17 + os.getpid())
