"""ROS time for the safety step: a pause of the loop is no jump, a clock that stops is one."""

from __future__ import annotations

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
