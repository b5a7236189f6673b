"""Figures of a benchmark's run, what a process uses, and the robot that it is run with."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import geared_dynamics
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.model import GearedModel

# -- Figures of a run: round trips of two nodes, and their ratio ----------------------------------


Times = NDArray[np.int64]
NEVER = -1  # a reply that did not come

MEDIAN_RATIO, P99_RATIO = 1.35, 1.5
MISSED_MORE = 0.001  # share of the cycles that may be missed beyond the bare node's
GROWTH_PER_MINUTE = 1_000_000  # [bytes]
COMPUTE = 60.0  # [us]


class RoundTrip(NamedTuple):
    """Round trips of one node [us], from before ``publish`` to the reply's callback.

    Attributes:
        cycles: Messages sent.
        p50: Median.
        p99: Ninety-nine in a hundred are quicker.
        p999: Nine hundred ninety-nine in a thousand are quicker.
        longest: The slowest reply.
        missed: Cycles without a reply within a period, those without any included.
        lost: Cycles without any reply.
        jitter: Standard deviation of the quickest 99.9 %.
    """

    cycles: int
    p50: float
    p99: float
    p999: float
    longest: float
    missed: int
    lost: int
    jitter: float


class Usage(NamedTuple):
    """What a node took from the machine while it was measured; None where unknown.

    Attributes:
        cpu: Share of one core.
        growth: Resident memory at the end less that at the start [bytes].
    """

    cpu: float | None
    growth: int | None


class StepAllowance(NamedTuple):
    """What a node computes by order, such as an observer's step: allowed beside the rest [us].

    Attributes:
        p50: Median.
        p99: Ninety-nine in a hundred are quicker.
    """

    p50: float
    p99: float


class Subject(NamedTuple):
    """A node that was measured."""

    name: str
    trip: RoundTrip
    usage: Usage


class Requirement(NamedTuple):
    """One requirement: what was found, what is allowed."""

    name: str
    found: float
    limit: float

    @property
    def passed(self) -> bool:
        """A figure that is not a number does not pass."""
        return bool(self.found <= self.limit)


class Result(NamedTuple):
    """A whole run."""

    rate: int
    duration: float
    subject: Subject
    bare: Subject
    compute: float | None  # [us] median of one cycle inside the process, None: not measured
    executor: str  # of both nodes and of the driver
    step: StepAllowance | None = None  # of the observer, while it was measured over DDS
    inside: float = 0.0  # [us] median of its step beside the cycle inside the process

    @property
    def median_ratio(self) -> float:
        """Median over the bare node's."""
        return self.subject.trip.p50 / self.bare.trip.p50

    @property
    def p99_ratio(self) -> float:
        """99th percentile over the bare node's."""
        return self.subject.trip.p99 / self.bare.trip.p99

    def verdicts(self) -> list[Requirement]:
        """Return every requirement that this run can tell about."""
        subject, bare = self.subject.trip, self.bare.trip
        more = subject.missed / subject.cycles - bare.missed / bare.cycles
        found = [
            *self._latency(),
            Requirement("missed cycles beyond the bare node's [%]", 100 * more, 100 * MISSED_MORE),
        ]
        if self.subject.usage.growth is not None:
            allowed = GROWTH_PER_MINUTE * max(self.duration / 60.0, 1.0)
            growth = self.subject.usage.growth
            found.append(Requirement("growth of memory [MB]", growth / 1e6, allowed / 1e6))
        if self.compute is not None:
            allowed = COMPUTE + self.inside
            found.append(
                Requirement("one cycle in the process, median [us]", self.compute, allowed)
            )
        return found

    def _latency(self) -> list[Requirement]:
        """The ratios; of a node with a step, what is beyond them, the step is the limit."""
        step, subject, bare = self.step, self.subject.trip, self.bare.trip
        if step is None:
            return [
                Requirement("median, ratio to the bare node", self.median_ratio, MEDIAN_RATIO),
                Requirement("p99, ratio to the bare node", self.p99_ratio, P99_RATIO),
            ]
        median, late = subject.p50 - MEDIAN_RATIO * bare.p50, subject.p99 - P99_RATIO * bare.p99
        return [
            Requirement(
                f"median beyond {MEDIAN_RATIO} x the bare node's; its step [us]", median, step.p50
            ),
            Requirement(
                f"p99 beyond {P99_RATIO} x the bare node's; its step [us]", late, step.p99
            ),
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts, for JSON."""
        return {
            "rate": self.rate,
            "duration": self.duration,
            "executor": self.executor,
            "nodes": {
                role: {
                    "name": subject.name,
                    "round_trip_us": subject.trip._asdict(),
                    "cpu": subject.usage.cpu,
                    "memory_growth_bytes": subject.usage.growth,
                }
                for role, subject in (("measured", self.subject), ("bare", self.bare))
            },
            "compute_us": self.compute,
            "step_in_the_process_us": self.inside,
            "step_us": None if self.step is None else self.step._asdict(),
            "median_ratio": self.median_ratio,
            "p99_ratio": self.p99_ratio,
            "checks": [
                {**verdict._asdict(), "passed": verdict.passed} for verdict in self.verdicts()
            ],
        }


def round_trip(sent: Times, received: Times, period: int) -> RoundTrip:
    """Summarise one node's messages.

    Args:
        sent: When each message was sent [ns] (k,).
        received: When its reply came [ns] (k,), NEVER where none did.
        period: Time until the next message [ns].
    """
    came = received != NEVER
    trips = np.sort((received - sent)[came]) / 1e3
    lost = int(np.count_nonzero(~came))
    late = int(np.count_nonzero(trips > period / 1e3))
    if trips.size == 0:
        nothing = float("nan")
        return RoundTrip(sent.size, *4 * (nothing,), sent.size, lost, nothing)
    p50, p99, p999 = (float(np.quantile(trips, share)) for share in (0.5, 0.99, 0.999))
    usual = trips[: max(int(0.999 * trips.size), 1)]
    return RoundTrip(
        cycles=sent.size,
        p50=p50,
        p99=p99,
        p999=p999,
        longest=float(trips[-1]),
        missed=late + lost,
        lost=lost,
        jitter=float(usual.std()),
    )


# -- Processor time and memory of another process, where the system shows them --------------------


class ProcessSample(NamedTuple):
    """A process at one moment; None where the system does not tell."""

    at: float  # [s], monotonic
    cpu: float | None  # [s] used since its start
    memory: int | None  # [bytes] resident


def sample(pid: int) -> ProcessSample:
    """Read Linux's /proc; elsewhere nothing is known."""
    folder = Path("/proc") / str(pid)
    try:
        # The name in brackets may hold spaces.
        fields = (folder / "stat").read_text(encoding="ascii").rpartition(")")[2].split()
        pages = int((folder / "statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return ProcessSample(time.monotonic(), None, None)
    ticks = int(fields[11]) + int(fields[12])  # in user and in kernel mode
    return ProcessSample(
        time.monotonic(), ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE")
    )


def usage(first: ProcessSample, last: ProcessSample) -> Usage:
    """Return what a process used from one sample to the other."""
    if first.cpu is None or last.cpu is None or first.memory is None or last.memory is None:
        return Usage(None, None)
    span = max(last.at - first.at, 1e-9)
    return Usage((last.cpu - first.cpu) / span, last.memory - first.memory)


# -- The robot of the benchmark: its files, its joints, a posture to move about -------------------


ARM = "puma560"
ROOM = 0.25  # [rad] that the motion needs above a joint's start


def default_files() -> tuple[Path, Path]:
    """Return URDF and drivetrain file of the PUMA 560 that comes with the package.

    Raises:
        GearedDynamicsError: They are not installed.
    """
    prefixes = [*filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))]
    source = Path(geared_dynamics.__file__).resolve().parents[1]
    shares = [Path(p) / "share" / "geared_dynamics" for p in (*prefixes, sys.prefix)]
    for folder in (source, *shares):
        files = tuple(folder / "urdf" / f"{ARM}.{kind}" for kind in ("urdf", "drivetrain.yaml"))
        if all(file.is_file() for file in files):
            return files[0], files[1]
    raise GearedDynamicsError(
        "loop-benchmark", f"the files of the {ARM} are not installed", "name a URDF of your own"
    )


def posture(model: GearedModel) -> list[float]:
    """Return positions with room above them: zero, or the middle of a joint's range."""
    pairs = zip(model.limits.lower.tolist(), model.limits.upper.tolist(), strict=True)
    return [
        0.0 if (low <= -ROOM and high >= ROOM) or np.isinf(high - low) else (low + high - ROOM) / 2
        for low, high in pairs
    ]
