"""When the plant steps: by the wall clock, or whenever a command has come."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from rclpy.executors import Executor

from geared_dynamics.ros.process import spin_once

if TYPE_CHECKING:
    from geared_dynamics.ros.plant import PlantNode

REPEAT = 0.02  # [s] between states while the arm's time stands still
# The same after a state without an answer: long, for a copy under way could be answered late.
LOST = 0.5
HASTE = 0.002  # [s] the same after a command for an earlier time
BEHIND = 0.1  # [s] that the plant may be late before it gives up catching up
Stopped = Callable[[], bool]


def drive(node: PlantNode, executor: Executor, stopped: Stopped) -> None:
    """Run the plant until it is stopped."""
    while node.plant is None and not stopped():
        spin_once(executor, REPEAT, node.failed)
    if node.lock_step:
        lock_step(node, executor, stopped)
    else:
        real_time(node, executor, stopped)


def lock_step(node: PlantNode, executor: Executor, stopped: Stopped) -> None:
    """Send a state, wait for the command with its stamp, step.

    The result does not depend on how fast anybody is. A state without an answer is sent again:
    time stands still until a command comes. After a state that was lost on purpose no node can
    answer, and the arm goes on with the command it has, at the speed of the wall clock.
    """
    while not stopped():
        node.publish()
        if not node.fresh and not node.paused:
            receive(node, executor, node.period, stopped)
            node.advance()
            continue
        begin = time.monotonic()
        while node.paused or not node.answered:
            patience = REPEAT if node.paused or not node.commanded else LOST
            wait = begin + (HASTE if node.outdated else patience) - time.monotonic()
            if wait <= 0.0 or stopped():
                break
            spin_once(executor, wait, node.failed)
        else:
            node.advance()


def real_time(node: PlantNode, executor: Executor, stopped: Stopped) -> None:
    """Step and send on an absolute schedule; commands come in between.

    Before the first command the brakes are closed: the arm stands, time does not. Where the arm
    goes on (after that, after a reset, after having been too late) its state is stamped with the
    wall clock's time, and the schedule starts from there.
    """
    due = time.monotonic()
    while not stopped():
        node.publish()
        if node.paused or not node.commanded:
            receive(node, executor, REPEAT, stopped)
            node.rewind()
            due = time.monotonic()
            continue
        due += node.period
        late = time.monotonic() - due
        if late > BEHIND:
            node.get_logger().warning(
                f"{late:.2f} s behind the wall clock; give a lower rate, or pace:=lock_step",
                throttle_duration_sec=5.0,
            )
        zero = node.zero
        receive(node, executor, due - time.monotonic(), stopped)
        node.advance()
        if late > BEHIND or node.zero != zero:
            node.rewind()
            due = time.monotonic()


def receive(node: PlantNode, executor: Executor, duration: float, stopped: Stopped) -> None:
    """Handle what comes for a time [s], at least what is there already."""
    end = time.monotonic() + duration
    while True:
        left = end - time.monotonic()
        spin_once(executor, max(left, 0.0), node.failed)
        if left <= 0.0 or stopped():
            return
