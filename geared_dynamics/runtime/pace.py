"""How fast time goes along the reference.

The torque needs the velocity and acceleration at which the arm really moves, so the rate has
a slope: it changes within half a second, not at once.
"""

from __future__ import annotations

import math

from geared_dynamics.arrays import Array
from geared_dynamics.trajectory import SampleBuffer
from geared_dynamics.trajectory.sampling import slowed

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
        self._look()
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
