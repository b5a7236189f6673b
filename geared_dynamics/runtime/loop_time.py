"""Time in a node's loop: what cycles take, the safety step's clock, the pace of the reference."""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.trajectory import SampleBuffer
from geared_dynamics.trajectory.sampling import slowed

# -- Periods, ages and compute times: counters in the cycle, figures once a second ----------------


KEPT = 4096  # cycles between two reports; a faster loop keeps the newest


class Figures(NamedTuple):
    """Of the time since the last report; NaN without a cycle.

    Attributes:
        cycles: How many there were.
        rate: Cycles per second [1/s].
        period: Mean, standard deviation, largest [s].
        compute: Median, 99th percentile, largest [s].
        latency: Median, largest time from the joint state's stamp to the command [s].
    """

    cycles: int
    rate: float
    period: tuple[float, float, float]
    compute: tuple[float, float, float]
    latency: tuple[float, float]


class Timing:
    """Keeps each cycle's times in memory reserved once."""

    def __init__(self) -> None:
        """Begin with no cycle."""
        self._rows = np.zeros((KEPT, 3))  # period, compute, latency [s]
        self._flat: MutableSequence[float] = self._rows.reshape(-1).data  # type: ignore[assignment]
        self.cycles = 0
        self._last = 0.0
        self._since = 0.0
        self._reported = 0

    @property
    def total(self) -> int:
        """Cycles since the beginning, reported or not."""
        return self._reported + self.cycles

    def add(self, begin: float, end: float, latency: float) -> None:
        """Note a cycle.

        Args:
            begin: When the joint state arrived [s], steady.
            end: When the command was handed over [s], steady.
            latency: From the stamp of the joint state to the command [s].
        """
        at = 3 * (self.cycles % KEPT)
        flat = self._flat
        flat[at] = begin - self._last
        flat[at + 1] = end - begin
        flat[at + 2] = latency
        self._last = begin
        self.cycles += 1

    def report(self, now: float) -> Figures:
        """Figures since the last report; begins again."""
        count, span = self.cycles, now - self._since
        rows = self._rows[: min(count, KEPT)]
        fresh = rows[1:, 0] if count <= KEPT else rows[:, 0]  # the first came after a gap
        self._since, self.cycles = now, 0
        self._reported += count
        if not count:
            nothing = float("nan")
            return Figures(0, 0.0, (nothing,) * 3, (nothing,) * 3, (nothing,) * 2)
        compute, latency = rows[:, 1], rows[:, 2]
        return Figures(
            cycles=count,
            rate=count / span if span > 0.0 else float("nan"),
            period=_spread(fresh),
            compute=(_part(compute, 0.5), _part(compute, 0.99), float(compute.max())),
            latency=(_part(latency, 0.5), float(latency.max())),
        )


def _spread(values: Array) -> tuple[float, float, float]:
    """Mean, standard deviation, largest."""
    if not values.size:
        return (float("nan"),) * 3
    return float(values.mean()), float(values.std()), float(values.max())


def _part(values: Array, share: float) -> float:
    """A quantile."""
    return float(np.quantile(values, share))


class FeedforwardCounters:
    """What diagnostics tell; integers that a cycle adds to."""

    __slots__ = ("failed", "forces", "limited", "missing", "nan", "refused")

    def __init__(self) -> None:
        """Begin at zero."""
        self.nan = self.missing = self.failed = self.limited = self.refused = self.forces = 0


# -- ROS time for the safety step: a pause of the loop is no jump, a clock that stops is one ------


LONGEST = 0.1  # [s] between two looks that counts: the process itself may have been stopped
SLOW = 2.0  # pauses as long as usual, of a slow simulation, are none yet
FORGOTTEN = 0.9  # part of the longest pause that is left after each step of ROS time
MOST = 3.0  # time-outs: no pause makes usual what is longer


class EvenClock:
    """Goes on with ROS time by less than ``jump``, and back where that jumps or stands still.

    Attributes:
        time: The safety step's clock [s].
        standing: For how long joint states came while ROS time stood still [s].
        stopped: Whether that is longer than it may be.
    """

    def __init__(self) -> None:
        """Begin at zero."""
        self.time = 0.0
        self.standing = 0.0
        self.stopped = False
        self._looked: float | None = None  # steady time of the last look
        self._step = (0.0, 0.0)  # steady and ROS time when that went on last
        self._usual = 0.0  # [s] between two steps of ROS time, the longest lately

    def advance(
        self, now: float, clock: float, jump: float, timeout: float, fresh: bool, moving: bool
    ) -> float:
        """The next time.

        Args:
            now: Steady time [s].
            clock: ROS time [s]; NaN where it is not known, which counts as a jump.
            jump: How much further than steady time ROS time may go on [s].
            timeout: How long ROS time may stand still [s]. A slow simulation's clock goes in
                steps; up to twice the longest of late is no stop.
            fresh: Whether a joint state has come with this look.
            moving: Whether somebody reads ROS time: only then a stop is a jump.
        """
        looked, self._looked = self._looked, now
        if looked is None:
            if clock == clock:
                self._step = now, clock
            else:
                self._looked = None
            return self.time
        before, last = self._step
        advance = clock - last
        if advance == 0.0:
            return self._still(min(now - looked, LONGEST) if fresh else 0.0, timeout, moving)
        # Counted from the last step: after a pause the clock's message may be read late.
        if not 0.0 <= advance <= now - before + jump:
            advance = -1.0
        elif advance > 0.5 * jump:
            advance = 0.5 * jump
        self.time += advance
        if clock == clock:
            self._step = now, clock
            self._usual *= FORGOTTEN
            if self.standing:
                self._usual = max(min(self.standing, MOST * timeout), self._usual)
            self.standing, self.stopped = 0.0, False
        return self.time

    def _still(self, elapsed: float, timeout: float, moving: bool) -> float:
        """ROS time has not gone on."""
        self.standing += elapsed
        self.stopped = self.standing >= max(timeout, SLOW * self._usual)
        if self.stopped and moving:
            self.time -= 1.0
        return self.time


# -- How fast time goes along the reference -------------------------------------------------------
#
# The torque needs the velocity and acceleration at which the arm really moves, so the rate has
# a slope: it changes within half a second, not at once.


RAMP = 2.0  # largest change of the rate [1/s]
SLOWEST = 0.1  # rate below which an arm that moves was not moved by the reference


class Pace:
    """Time along the reference: s(t) with ds/dt = rate, which follows what was asked for.

    Attributes:
        asked: Rate that is wanted, from 0 to 1.
        rate: Rate now.
        slope: Its change from now on [1/s].
        even: Whether s is the time itself: nothing is to be done.
    """

    __slots__ = ("_clock", "_lag", "_later", "asked", "even", "rate", "slope")

    def __init__(self) -> None:
        """Begin with time itself."""
        self.asked = self.rate = self._later = 1.0
        self.slope = self._lag = 0.0
        self._clock = math.nan
        self.even = True

    def ask(self, rate: float) -> None:
        """Approach a rate from the next cycle on.

        Args:
            rate: From 0 to 1.
        """
        if self.even:
            self._clock = math.nan  # go was not called meanwhile: its next call begins
        self.asked = rate
        self._look()

    def begin(self, clock: float, resting: bool) -> None:
        """Count a new reference from now on.

        Args:
            clock: Time [s].
            resting: Whether there was no reference before: then the rate needs no ramp.
        """
        self._clock, self._lag = clock, 0.0
        if resting:
            self.rate = self._later = self.asked
            self.slope = 0.0
        self._look()

    def time(self, clock: float) -> float:
        """The time along the reference at the last cycle's rate [s]."""
        return clock - self._lag

    def go(self, clock: float, later: float) -> tuple[float, float]:
        """Go on to a time; return the times along the reference, now and later [s].

        Args:
            clock: Time [s].
            later: For which the feedforward is computed [s].
        """
        dt = clock - self._clock
        self._clock = clock
        if dt > 0.0:
            before, step = self.rate, RAMP * dt
            self.rate += min(max(self.asked - before, -step), step)
            self._lag += dt * (1.0 - 0.5 * (before + self.rate))
        missing, ahead = self.asked - self.rate, later - clock
        self.slope = math.copysign(RAMP, missing) if missing else 0.0
        change = min(max(missing, -RAMP * ahead), RAMP * ahead)
        self._later = self.rate + change
        now = clock - self._lag
        return now, now + ahead * (self.rate + 0.5 * change)

    def slow(self, now: SampleBuffer, ahead: SampleBuffer) -> None:
        """Turn what was sampled along the reference into what the arm shall do, in place.

        Args:
            now: At the time of the cycle.
            ahead: At that of the feedforward.
        """
        for buffer, rate in ((now, self.rate), (ahead, self._later)):
            buffer.a *= rate * rate
            buffer.a += self.slope * buffer.v
            buffer.v *= rate

    def slow_rows(self, rows: Array) -> Array:
        """The same for all derivatives (k + 1, n), at the time of the feedforward."""
        return rows if self.even else slowed(rows, self._later, self.slope)

    def along(self, v: Array) -> Array:
        """Velocity along the reference (n,) of an arm that moves with v."""
        return v / self.rate if self.rate > SLOWEST else v

    def _look(self) -> None:
        self.even = self.asked == self.rate == 1.0 and self._lag == 0.0
