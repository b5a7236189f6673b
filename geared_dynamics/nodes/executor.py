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


def spin(executor: Executor, stopped: Callable[[], bool]) -> None:
    """Spin until told to stop.

    Not ``executor.spin()``: without a timeout some releases of the EventsExecutor keep
    a core busy and never look at their events.

    Args:
        executor: The executor.
        stopped: Whether to stop; asked after each event.
    """
    while rclpy.ok() and not stopped():
        executor.spin_once(timeout_sec=LONGEST_WAIT)
