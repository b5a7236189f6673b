"""The executor: events where rclpy has them."""

from __future__ import annotations

from collections.abc import Callable

import rclpy
from rclpy.executors import Executor, SingleThreadedExecutor

LONGEST_WAIT = 0.1  # [s] until a signal is noticed where nothing happens


def make_executor() -> Executor:
    """Return an EventsExecutor where rclpy has one, else the executor with a wait set."""
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def spin(
    executor: Executor, stopped: Callable[[], bool], failed: Callable[[Exception], None]
) -> None:
    """Spin until ``stopped``, whatever callbacks raise.

    Not ``executor.spin()``: without a timeout some releases of the EventsExecutor keep
    a core busy and never look at their events.

    Args:
        executor: The executor.
        stopped: Whether to stop; asked after each event.
        failed: What follows on an exception of a callback.
    """
    while rclpy.ok() and not stopped():
        spin_once(executor, LONGEST_WAIT, failed)


def spin_once(executor: Executor, longest: float, failed: Callable[[Exception], None]) -> bool:
    """Wait for an event and handle it; no exception of a callback ends the process.

    Args:
        executor: The executor.
        longest: Wait at most so long [s].
        failed: What follows on an exception.

    Returns:
        Whether there was no exception.
    """
    try:
        executor.spin_once(timeout_sec=longest)
    except Exception as error:
        failed(error)
        return False
    return True
