"""What goes wrong unforeseen: exceptions, logged without flooding the log; damaged messages."""

from __future__ import annotations

import math
import time
import traceback
from typing import Any

from geared_dynamics.errors import GearedDynamicsError

PAUSE = 1.0  # [s] between two tracebacks of the same exception


class DamagedMessageError(GearedDynamicsError):
    """A serialised message that its type cannot be read from."""


class Failures:
    """Logs exceptions of callbacks.

    Attributes:
        count: How many there were.
    """

    def __init__(self, node: Any) -> None:
        """Begin without any; ``node`` has the log."""
        self._node = node
        self._logged: dict[str, float] = {}
        self.count = 0

    def log(self, error: Exception, consequence: str) -> None:
        """Log an exception with its traceback; the same one not more often than once a second.

        Args:
            error: The exception.
            consequence: What the node does now.
        """
        self.count += 1
        key, now = f"{type(error).__name__}: {error}", time.monotonic()
        if now - self._logged.get(key, -math.inf) < PAUSE:
            return
        self._logged = {key: now}  # only the newest: texts may differ each time
        lines = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        self._node.get_logger().error(f"unexpected exception ({key}); {consequence}\n{lines}")
