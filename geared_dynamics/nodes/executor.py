"""The executor: events where rclpy has them."""

from __future__ import annotations

import contextlib

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor

LONGEST_WAIT = 0.5  # [s]


def make_executor() -> Executor:
    """Return an EventsExecutor where rclpy has one, else the executor with a wait set."""
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def spin(executor: Executor) -> None:
    """Spin until interrupted.

    Not ``executor.spin()``: without a timeout some releases of the EventsExecutor keep
    a core busy and never look at their events.
    """
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        while rclpy.ok():
            executor.spin_once(timeout_sec=LONGEST_WAIT)
