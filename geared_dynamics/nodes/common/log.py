"""Log lines of all nodes: printable text, whatever messages, parameters and files are called.

Names come from the graph and from files. In a terminal, or in what reads ``/rosout``, an escape
sequence could move the cursor over what was written before; a letter of no width makes one joint's
name look like another's.
"""

from __future__ import annotations

from typing import Any

from rclpy.impl import rcutils_logger
from rclpy.impl.rcutils_logger import RcutilsLogger

from geared_dynamics.errors import printable

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
