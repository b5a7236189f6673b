"""``/diagnostics`` and ``~/timing``: once a second, from counters; pure but for the messages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from geared_dynamics.control.safety import Event, Mode
from geared_dynamics.runtime.loop_time import Figures

OK, WARN, ERROR, STALE = (
    DiagnosticStatus.OK,
    DiagnosticStatus.WARN,
    DiagnosticStatus.ERROR,
    DiagnosticStatus.STALE,
)
# As controller_manager's: means [us] and spreads [us] of the execution time, spread of the rate
# of the cycles [Hz].
COMPUTE_WARN, COMPUTE_ERROR = 1000e-6, 2000e-6  # [s]
RATE_WARN, RATE_ERROR = 5.0, 10.0  # [1/s] off the rate that is said


class Status(NamedTuple):
    """One entry, before it becomes a message.

    Attributes:
        name: Behind the node's name.
        level: OK, WARN, ERROR or STALE.
        message: In a line.
        values: Figures as text.
    """

    name: str
    level: bytes
    message: str
    values: Mapping[str, str]


def loop_status(figures: Figures, wanted_rate: float) -> Status:
    """Rate, jitter and compute time.

    Args:
        figures: Of the last second.
        wanted_rate: Rate that the user gave [1/s]; 0: none.
    """
    median, p99, longest = figures.compute
    values = {
        "rate [1/s]": f"{figures.rate:.1f}",
        "period mean [us]": micro(figures.period[0]),
        "period standard deviation [us]": micro(figures.period[1]),
        "period max [us]": micro(figures.period[2]),
        "compute median [us]": micro(median),
        "compute p99 [us]": micro(p99),
        "compute max [us]": micro(longest),
        "latency from stamp median [us]": micro(figures.latency[0]),
        "latency from stamp max [us]": micro(figures.latency[1]),
    }
    if not figures.cycles:
        return Status("loop", STALE, "no joint states", values)
    off = abs(figures.rate - wanted_rate) if wanted_rate else 0.0
    if median > COMPUTE_ERROR or off > RATE_ERROR:
        return Status("loop", ERROR, "too slow", values)
    if median > COMPUTE_WARN or off > RATE_WARN:
        return Status("loop", WARN, "slow", values)
    return Status("loop", OK, f"{figures.rate:.0f} cycles per second", values)


def safety_status(
    mode: Mode, events: Event, error: Exception | None, counts: Mapping[str, int]
) -> Status:
    """What the safety step did.

    Args:
        mode: Its mode.
        events: What was found last.
        error: What a computation raised last.
        counts: How often things happened since the start.
    """
    values = {"mode": mode.name.lower(), "events": named(events)}
    values |= {name: str(count) for name, count in counts.items()}
    if error is not None:
        values["last error"] = str(error)
    if mode is Mode.RUNNING:
        near = Event.POSITION_NEAR | Event.VELOCITY_NEAR | Event.COMMAND_LIMIT
        doubt = events & (near | Event.COMMAND_RATE)
        return Status("safety", WARN if doubt else OK, named(doubt) if doubt else "runs", values)
    idle = not events & ~(Event.NO_REFERENCE | Event.STALE_REFERENCE | Event.NAMES_REORDERED)
    message = f"{mode.name.lower()}: {named(events)}"
    return Status("safety", OK if idle and mode is Mode.HOLDING else ERROR, message, values)


def ages_status(state: float, reference: float, timeout: float) -> Status:
    """Ages of what came in [s], NaN for nothing."""
    values = {"joint state [s]": f"{state:.4f}", "reference [s]": f"{reference:.4f}"}
    if math.isnan(state):
        return Status("ages", STALE, "no joint state yet", values)
    if state > timeout:
        return Status("ages", ERROR, f"joint states are stale for {state:.3g} s", values)
    return Status("ages", OK, "fresh", values)


def trajectory_status(last: str, accepted: int, refused: int, stopped: bool) -> Status:
    """What became of trajectories.

    Args:
        last: What was said of the last one; empty: it was taken without a remark.
        accepted: How many were taken.
        refused: How many were not.
        stopped: Whether the emergency stop is pressed.
    """
    values = {"accepted": str(accepted), "refused": str(refused), "last": last or "taken"}
    if stopped:
        return Status("trajectories", WARN, "refused: the emergency stop is active", values)
    if not (accepted or last):
        values["last"] = "none"
        return Status("trajectories", OK, "none yet", values)
    return Status("trajectories", WARN if last else OK, last or "the last one was taken", values)


def model_status(facts: Mapping[str, str], problem: str) -> Status:
    """The model in use, or why there is none."""
    level = ERROR if problem else OK
    return Status("model", level, problem or facts.get("robot", ""), facts)


def named(events: Event) -> str:
    """Events in words."""
    found = [one.name.lower().replace("_", " ") for one in Event if one & events and one.name]
    return ", ".join(found) or "none"


def micro(seconds: float) -> str:
    """Seconds in microseconds."""
    return f"{1e6 * seconds:.1f}"


def message(stamp: Any, node: str, hardware: str, entries: list[Status]) -> Any:
    """The ``DiagnosticArray``."""
    array = DiagnosticArray()
    array.header.stamp = stamp
    for entry in entries:
        values = [KeyValue(key=key, value=value) for key, value in entry.values.items()]
        array.status.append(
            DiagnosticStatus(
                level=entry.level,
                name=f"{node}: {entry.name}",
                message=entry.message,
                hardware_id=hardware,
                values=values,
            )
        )
    return array
