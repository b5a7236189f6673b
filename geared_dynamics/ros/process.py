"""Start, spin and end of a node; the steps of a simulated arm; what a steady loop asks for."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from geared_dynamics.errors import GearedDynamicsError, printable
from geared_dynamics.ros import take_signals

# -- The executor: events where rclpy has them ----------------------------------------------------


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


def spin_for(
    executor: Executor, duration: float, failed: Callable[[Exception], None], stopped: Any
) -> None:
    """Handle what comes for a time [s], at least what is there, unless ``stopped()``."""
    end = time.monotonic() + duration
    while True:
        left = end - time.monotonic()
        spin_once(executor, max(left, 0.0), failed)
        if left <= 0.0 or stopped():
            return


# -- Starting and ending the process of a lifecycle node ------------------------------------------


PACE = 5e-3  # [s] between two looks at a node that is brought to rest


class Interrupted(BaseException):
    """A signal came while nothing moves and much is computed; no callback catches it."""


class Signals:
    """SIGINT, SIGTERM, SIGHUP: noted while the node spins, an exception while it prepares.

    Preparing takes long where kernels have to be compiled, and sends no command.

    Attributes:
        came: Whether one came.
        hurried: Whether a second one came, which ends the node at once. SIGHUP is none: where a
            session is lost the shell and the system both send it.
        starting: Whether the node does not spin yet.
        node: The node, once there is one, a ``SteadyLifecycleNode`` with ``preparing``,
            ``failed`` and ``end``.
    """

    def __init__(self) -> None:
        """Take the signals."""
        self.came = self.hurried = False
        self.starting = True
        self.node: Any = None
        take_signals(self._on_signal)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self.hurried = self.hurried or (self.came and number != signal.SIGHUP)
        self.came = True
        if self.starting or (self.node is not None and self.node.preparing):
            raise Interrupted


def catch_signals() -> list[int]:
    """SIGINT, SIGTERM and SIGHUP from here on, as they come: a list that grows."""
    signals: list[int] = []
    take_signals(lambda number, _frame: signals.append(number))
    return signals


def run_task(act: Callable[[], None], arguments: Sequence[str] = ()) -> int:
    """Act within ROS, once; an error is a line on standard error. The exit code."""
    rclpy.init(args=list(arguments))
    try:
        act()
    except GearedDynamicsError as error:
        print(printable(str(error)), file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        return 130
    rclpy.try_shutdown()
    return 0


# Words of rclpy's errors that are not about arguments, and the remedy for each.
REMEDIES = {
    "logging": "set ROS_LOG_DIR to a folder that can be written",
    "ROS_DOMAIN_ID": "set it to a number from 0 to 101",
}


def refused(name: str, why: str) -> int:
    """Say why the node cannot start; the exit code."""
    first = why.split(", at ")[0]  # what follows are places in ROS's own source
    found = (remedy for word, remedy in REMEDIES.items() if word in first)
    remedy = next(found, "correct the arguments after --ros-args")
    print(printable(f"{name}: {first}; {remedy}"), file=sys.stderr)
    return 2


def init_rclpy(argv: list[str], name: str) -> int:
    """Start rclpy without its signal handlers; return 0, or the exit code if it refuses."""
    try:
        rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:  # how rclpy tells of each kind of wrong argument
        return refused(name, str(error))
    return 0


def run(argv: list[str], name: str, make: Callable[[], Any]) -> int:
    """Run a node until SIGINT, SIGTERM or SIGHUP.

    rclpy's own signal handlers would close the graph before the arm has its last command, and
    an exception out of a handler would end up in some callback. Whatever ends the process, what
    moves is brought to rest before, and the node's ``end`` comes.

    Args:
        argv: Of the process.
        name: What the program is called.
        make: Makes the node.
    """
    signals, executor = Signals(), None
    try:
        if code := init_rclpy(argv, name):
            return code
        try:
            node = signals.node = make()
        except NameValidationException as error:
            rclpy.try_shutdown()
            return refused(name, " ".join(str(error).split()))
        executor = make_executor()
        executor.add_node(node)
        node.start()
        signals.starting = False
        spin(executor, lambda: signals.came, node.failed)
    except Interrupted:
        pass
    finally:
        signals.starting = False
        ended(signals, executor)
    return 0


def ended(signals: Signals, executor: Executor | None) -> None:
    """Bring to rest what moves, leave it its last command, then leave the graph.

    Args:
        signals: With the node, if it was made.
        executor: The node's; None if it was not made.
    """
    node = signals.node
    try:
        if node is not None:
            node.preparing = False
            if executor is not None:
                bring_to_rest(node, executor, signals)
            node.end()
            node.destroy_node()
    finally:
        rclpy.try_shutdown()


def bring_to_rest(node: Any, executor: Executor, signals: Signals) -> None:
    """Spin on until nothing moves, whatever callbacks or the executor raise.

    Args:
        node: The node.
        executor: Its executor.
        signals: A second one ends it.
    """
    node.halt()
    while rclpy.ok() and node.halting:
        if signals.hurried:
            node.hurry()
        if not spin_once(executor, PACE, node.failed):
            time.sleep(0.2 * PACE)  # an executor that fails fails at once
        try:
            node.keep_halting()
        except Exception as error:
            node.failed(error)


# -- When a simulated arm steps: by the wall clock, or whenever it was answered -------------------


REPEAT = 0.02  # [s] between states while the arm's time stands still
LOST = 0.5  # [s] the same after a state without an answer: a copy could be answered late
HASTE = 0.002  # [s] the same after a command for an earlier time
BEHIND = 0.1  # [s] that the plant may be late before it gives up catching up


def lock_step(node: Any, executor: Executor, stopped: Callable[[], bool]) -> None:
    """Send a state, wait for the answers with its stamp, step.

    The result does not depend on how fast anybody is. A state without an answer is sent again:
    time stands still until a command comes. After a state that was lost on purpose no node can
    answer, and the arm goes on with the command it has, at the speed of the wall clock.
    """
    while not stopped():
        node.publish()
        if not node.fresh and not node.paused:
            spin_for(executor, node.period, node.failed, stopped)
            node.advance()
            continue
        begin = time.monotonic()
        while node.paused or not node.answered:
            patience = REPEAT if node.paused or not node.begun else LOST
            wait = begin + (HASTE if node.outdated else patience) - time.monotonic()
            if wait <= 0.0 or stopped():
                node.tell_what_is_missing()
                break
            spin_once(executor, wait, node.failed)
        else:
            node.advance()


def real_time(node: Any, executor: Executor, stopped: Callable[[], bool]) -> None:
    """Step and send on an absolute schedule; commands come in between.

    Before the first command the brakes are closed: the arm stands, time does not. Where the arm
    goes on (after that, after a reset, after having been too late) its state is stamped with the
    wall clock's time, and the schedule starts from there.
    """
    due = time.monotonic()
    while not stopped():
        node.publish()
        if node.paused or not node.commanded:
            spin_for(executor, REPEAT, node.failed, stopped)
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
        spin_for(executor, due - time.monotonic(), node.failed, stopped)
        if not node.paused:  # the service has answered that time is stopped
            node.advance()
        if late > BEHIND or node.paused or node.zero != zero:
            node.rewind()
            due = time.monotonic()


# -- What the operating system can do for a steady loop; all of it may be refused -----------------


MCL_CURRENT, MCL_FUTURE = 1, 2
SWITCH = 1e-4  # [s] after which another thread must give the interpreter back
HELP = "see docs/nodes.md, 'Real time'"


def settle() -> None:
    """Take all that exists out of the garbage collector's sight; threads yield quickly."""
    sys.setswitchinterval(SWITCH)
    gc.collect()
    gc.freeze()


def unsettle() -> None:
    """Give it back, so that what was built before can be freed."""
    gc.unfreeze()


def requested(priority: int, cpus: Sequence[int], lock: bool) -> list[str]:
    """Ask for what is wanted and return a line about each refusal.

    Args:
        priority: Of SCHED_FIFO, 0 for the default scheduler.
        cpus: Cores to run on, none for all.
        lock: Whether to keep memory from being paged out.
    """
    asked: list[tuple[bool, Callable[[], None], str]] = [
        (priority > 0, lambda: schedule(priority), f"thread_priority {priority}"),
        (bool(cpus), lambda: pin(cpus), f"cpu_affinity {list(cpus)}"),
        (lock, lock_memory, "lock_memory"),
    ]
    refusals = []
    for wanted, ask, name in asked:
        if not wanted:
            continue
        try:
            ask()
        except (OSError, AttributeError, ValueError) as error:
            refusals.append(f"{name} was refused ({error}); the node runs without; {HELP}")
    return refusals


def schedule(priority: int) -> None:
    """Run this thread under SCHED_FIFO."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))


def step_back() -> None:
    """Let the loop's thread go before this one, which was started by it under SCHED_FIFO."""
    if os.sched_getscheduler(0) == os.SCHED_FIFO:
        schedule(max(os.sched_getparam(0).sched_priority - 1, 1))


def pin(cpus: Sequence[int]) -> None:
    """Run on these cores only."""
    os.sched_setaffinity(0, set(cpus))


def lock_memory() -> None:
    """Keep all pages in memory."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.mlockall(MCL_CURRENT | MCL_FUTURE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
