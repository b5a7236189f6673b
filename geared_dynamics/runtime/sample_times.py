"""Uniform time from jittery stamps; delayed readings at one instant."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import numpy as np

from geared_dynamics.arrays import Array

# -- Times of samples taken evenly, from stamps that a clock beside them made ---------------------
#
# A driver samples evenly, to less than a microsecond, and stamps what it has read when its thread
# gets to it, some ten microseconds later or more. Over a step of a millisecond that difference
# looks like a force. So a sample's time t is the last one's and k periods. These are found by a
# filter for phase T and period p [s] of the stamps s, which the times follow slowly:
#
#     T' = T + k p,  e = s - T',  T = T' + a e,  p = p + b e,  t = t + k p + c (T - t - k p)
#
# with the Kalman gains a and b for white noise on the stamps and a period that wanders slowly:
# wide at first, in the end 0.002 and 0.000002; c is 0.002 after the first samples. k counts the
# periods between two samples.


WITHIN = 0.4  # of a period: a stamp that is farther from where it belongs locks again
MISSING = 10  # periods: a longer pause locks again
NOISE_2 = 0.1**2  # of a stamp, of a period, variance
GUESS_2 = 0.02**2  # of the given period, variance
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
        """Begin with the given period [s]."""
        self._told = period
        self.restart()

    def restart(self) -> None:
        """Lock to the next stamp, wherever it is; the period is the given one."""
        self.period = self._told
        self._spread = (NOISE_2, 0.0, GUESS_2)  # of phase and period, in given periods squared
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


# -- Readings of encoders with different delays, brought to one instant; torques over its step ----


MARGIN = 4  # samples beside those that span the delay


class PastReadings:
    """The last joint states, for encoders that are read late.

    At a joint state of time t the encoder i shows its angle of t - d_i. All are given for the
    instant t - D with the longest delay D, those in between by a cubic through four samples.

    Attributes:
        delay: D [s].
    """

    def __init__(self, delays: Array, period: float) -> None:
        """Begin empty.

        Args:
            delays: d (m,) [s].
            period: Of the joint states [s].
        """
        self.delay = float(delays.max(initial=0.0))
        self._later = self.delay - delays  # how long ago the readings wanted came
        self._apart = bool(self._later.any())
        count = int(self.delay / period) + MARGIN
        self._times: deque[float] = deque(maxlen=count)
        self._shown: deque[Array] = deque(maxlen=count)
        self._torques: deque[tuple[float, float, Array]] = deque(maxlen=count)

    def clear(self) -> None:
        """Forget all."""
        self._times.clear()
        self._shown.clear()
        self._torques.clear()

    def add(self, time: float, shown: Array, torque: Array) -> None:
        """Note a joint state.

        Args:
            time: Its time [s], later than the last one's.
            shown: Angles as they came (m,).
            torque: Of the motors since the joint state before (m,).
        """
        begin = self._times[-1] if self._times else time
        self._torques.append((begin, time, torque))
        self._times.append(time)
        self._shown.append(shown)

    @property
    def spans(self) -> bool:
        """Whether there are samples of all instants that are asked for."""
        return bool(self._times) and self._times[-1] - self._times[0] >= self.delay

    def aligned(self) -> Array:
        """Angles (m,) at the newest time less D; NaN where a sample about it is missing."""
        newest = self._shown[-1]
        if not self._apart:
            return newest
        found = newest.copy()
        for motor in np.flatnonzero(self._later):
            found[motor] = self._at(self._times[-1] - self._later[motor], int(motor))
        return found

    def _at(self, time: float, motor: int) -> float:
        """A motor's reading between samples."""
        times = np.array(self._times)
        after = int(np.searchsorted(times, time))
        first = min(max(after - 2, 0), max(len(times) - 4, 0))
        chosen = range(first, min(first + 4, len(times)))
        t = times[chosen]
        shown = np.array([self._shown[k][motor] for k in chosen])
        return float(shown @ lagrange(t, time))

    def torque(self, begin: float, end: float) -> Array:
        """Mean torque (m,) between two times that were noted, NaN where it is not known."""
        a, b, torque = self._torques[-1]
        if a == begin and b == end:
            return torque
        total, span = np.zeros(len(self._shown[-1])), 0.0
        for a, b, torque in self._torques:
            part = min(b, end) - max(a, begin)
            if part > 0.0:
                total, span = total + part * torque, span + part
        return total / span if span > 0.0 else self._torques[-1][2]

    def since(self, begin: float, longest: float) -> list[tuple[float, Array]]:
        """Torques from a time to the newest, as pieces of about equal length, and their means."""
        end = self._times[-1]
        count = max(1, int(np.ceil((end - begin) / longest - 1e-9)))
        edges = np.linspace(begin, end, count + 1)
        spans = pairwise(edges.tolist())
        return [(b - a, self.torque(a, b)) for a, b in spans if b > a]


def lagrange(t: Array, time: float) -> Array:
    """Weights (k,) of samples at t (k,) in their polynomial's value at a time."""
    weights = np.ones(len(t))
    for i in range(len(t)):
        for j in range(len(t)):
            if i != j:
                weights[i] *= (time - t[j]) / (t[i] - t[j])
    return weights


# -- Readings of sensors on the links, brought to the time of an observer that runs behind --------


SLACK = 1e-3  # of a period: instants that are nearer are one


class LinkSensorBuffer:
    """The last readings of each sensor; each is used once, when the observer gets to it.

    A reading of an instant t_k is used in the step that leads past t_k, to a time t that may be
    a little later: what the sensor showed at t is the cubic through two readings before and two
    after; where none came after, the newest goes on by its rate.

    Attributes:
        fresh: Whether there may be readings that have not been used.
    """

    def __init__(self, count: int, delay: float, period: float, hold: float) -> None:
        """Begin empty.

        Args:
            count: Of the sensors, k.
            delay: By which the observer runs behind [s].
            period: Of the joint states [s].
            hold: Readings that are farther apart do not belong together [s].
        """
        most = int(delay / period) + MARGIN
        self._seen: list[deque[tuple[float, float]]] = [deque(maxlen=most) for _ in range(count)]
        self._used = [-np.inf] * count
        self._slack, self._hold = SLACK * period, hold
        self.fresh = False

    def clear(self) -> None:
        """Forget all."""
        for seen in self._seen:
            seen.clear()
        self._used = [-np.inf] * len(self._used)
        self.fresh = False

    def add(self, times: Array, values: Array) -> None:
        """Note readings.

        Args:
            times: Instants of which they are (k,) [s].
            values: What the sensors showed (k,); NaN for those that showed nothing.
        """
        for seen, time, value in zip(self._seen, times.tolist(), values.tolist(), strict=True):
            if not np.isfinite(value) or (seen and 0.0 <= seen[-1][0] - time < self._hold):
                continue
            if seen and not 0.0 < time - seen[-1][0] < self._hold:
                seen.clear()
            seen.append((time, value))
            self.fresh = True

    def at(self, time: float, rates: Array | None = None) -> Array | None:
        """What the sensors showed at a time (k,), NaN for nothing new; None for nothing at all.

        Args:
            time: Of the observer [s], not before that of the last call.
            rates: Of the readings (k,), zero if not given.
        """
        if not self.fresh:
            return None
        found = np.full(len(self._seen), np.nan)
        waiting = False
        for k, seen in enumerate(self._seen):
            known = sum(when <= time + self._slack for when, _ in seen)
            waiting |= known < len(seen)
            if known and seen[known - 1][0] > self._used[k]:
                self._used[k] = seen[known - 1][0]
                rate = 0.0 if rates is None else float(rates[k])
                found[k] = self._shown(seen, known, time, rate)
        self.fresh = waiting
        return found

    def _shown(
        self, seen: deque[tuple[float, float]], known: int, time: float, rate: float
    ) -> float:
        """A sensor's reading at a time that ``known`` of those seen are not after."""
        when, value = seen[known - 1]
        if abs(time - when) <= self._slack:
            return value
        if known == len(seen):
            return value + rate * (time - when)
        t, shown = np.array(
            [seen[k] for k in range(max(known - 2, 0), min(known + 2, len(seen)))]
        ).T
        return float(shown @ lagrange(t, time))
