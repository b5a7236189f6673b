"""What nodes log: exceptions of callbacks, and lines that show what they hold."""

from __future__ import annotations

import math
import time
import traceback
from typing import Any

from rclpy.impl import rcutils_logger
from rclpy.impl.rcutils_logger import RcutilsLogger

from geared_dynamics.errors import printable

# -- What goes wrong unforeseen -------------------------------------------------------------------


PAUSE = 1.0  # [s] between two tracebacks of the same exception


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


# -- Log lines of all nodes -----------------------------------------------------------------------
#
# Names come from the graph and from files. In a terminal, or in what reads ``/rosout``, an escape
# sequence could move the cursor over what was written before; a letter of no width makes one
# joint's name look like another's.


# rclpy names the line that logs by the first frame outside of these files.
rcutils_logger._internal_callers.append(__file__)


class PrintableLogger(RcutilsLogger):  # type: ignore[misc]  # rclpy has no types
    """A logger that writes invisible characters as escapes; line feeds and tabs stay."""

    def log(self, message: object, severity: Any, **options: Any) -> bool:
        """Log a message, as of rclpy's logger."""
        return bool(super().log(printable(str(message)), severity, **options))


class PrintableLog:
    """Put before rclpy's class of a node: its log takes printable text only."""

    _printable: PrintableLogger | None = None

    def get_logger(self) -> PrintableLogger:
        """The node's logger."""
        if self._printable is None:
            self._printable = PrintableLogger(super().get_logger().name)  # type: ignore[misc]
        return self._printable
