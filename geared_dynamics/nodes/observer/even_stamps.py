"""Times of samples taken evenly, from stamps that a clock beside them made.

A driver samples evenly, to less than a microsecond, and stamps what it has read when its thread
gets to it, some ten microseconds later or more. Over a step of a millisecond that difference
looks like a force. So a sample's time t is the last one's and k periods. These are found by a
filter for phase T and period p [s] of the stamps s, which the times follow slowly:

    T' = T + k p,  e = s - T',  T = T' + a e,  p = p + b e,  t = t + k p + c (T - t - k p)

with the Kalman gains a and b for white noise on the stamps and a period that wanders slowly:
wide at first, in the end 0.002 and 0.000002; c is 0.002 after the first samples. k counts the
periods between two samples.
"""

from __future__ import annotations

WITHIN = 0.4  # of a period: a stamp that is farther from where it belongs locks anew
MISSING = 10  # periods: a longer pause locks anew
NOISE_2 = 0.1**2  # of a stamp, of a period, variance
GUESS_2 = 0.02**2  # of the period told, likewise
WANDER_2 = 2e-7**2  # of a period in each of them
FOLLOW = 0.002  # c: a change of phase must not look like a motion
WIDE = 0.2  # gain of the phase, of the first samples, with which times follow at once
LEAST = 0.1  # of a period: two samples are at least as far apart


class EvenStamps:
    """Times of samples [s] from their stamps, one after the other.

    Attributes:
        time: Of the newest sample, t [s]; NaN before there is one.
        period: That has been found, p [s].
    """

    def __init__(self, period: float) -> None:
        """Begin with the period told [s]."""
        self._told = period
        self.restart()

    def restart(self) -> None:
        """Lock to the next stamp, wherever it is; the period is what was told."""
        self.period = self._told
        self._spread = (NOISE_2, 0.0, GUESS_2)  # of phase and period, in periods told squared
        self.time = self._phase = float("nan")

    def sampled(self, stamp: float) -> float:
        """The time of the next sample [s], later than the last one's.

        Args:
            stamp: Its stamp [s].
        """
        p = self.period
        ahead = (stamp - self._phase) / p
        if not LEAST < ahead < MISSING + WITHIN:  # nor NaN
            return self._locked(stamp)
        count = round(ahead) or 1
        off = (ahead - count) * p
        phase, both, period = self._spread
        phase += count * (2.0 * both + count * period)
        both += count * period
        period += count * WANDER_2
        a, b = phase / (phase + NOISE_2), both / (phase + NOISE_2)
        p += b * off
        if not -WITHIN <= ahead - count <= WITHIN or abs(p - self._told) > WITHIN * self._told:
            return self._locked(stamp)
        self._spread = phase - a * phase, both - a * both, period - b * both
        self._phase += count * self.period + a * off
        self.period = p
        late = self._phase - self.time - count * p
        follow = FOLLOW if a < WIDE else 1.0
        self.time += count * p + follow * (late if late > -WITHIN * p else -WITHIN * p)
        return self.time

    def _locked(self, stamp: float) -> float:
        """Lock to a stamp; a time that would not be later goes on a little."""
        self._spread = (NOISE_2, 0.0, self._spread[2])
        self._phase = stamp
        least = self.time + LEAST * self.period
        self.time = stamp if not stamp < least else least
        return self.time
