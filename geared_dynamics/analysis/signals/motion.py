"""From stretches of samples to motions: filtered positions, their derivatives, efforts.

Stretches whose stamps are uneven by more than JITTER are resampled to an even grid, filtered
there, and read off again at their own stamps. The grid's points are whole multiples of the
period, so a stretch that is read in pieces meets the same grid.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from geared_dynamics.analysis.extras import extra
from geared_dynamics.analysis.reading.cleaning import Stretch
from geared_dynamics.analysis.signals.filters import derivative, shortest, zero_phase
from geared_dynamics.arrays import Array, BoolArray, IntArray

JITTER = 0.02  # rms deviation of the time between samples, in periods
DRIFT = 0.25  # deviation of a stamp from even ones, in periods
Velocity = Literal["position", "recorded"]


class Motion(NamedTuple):
    """A motion at the samples' own stamps.

    Attributes:
        stamp: (k,) [ns].
        q: Filtered position (k, n).
        v: Velocity (k, n).
        a: Acceleration (k, n).
        effort: Filtered effort (k, n), of motors also in the columns of frozen joints.
        raw: Effort as recorded, the same columns.
        core: Samples that are counted (k,).
    """

    stamp: IntArray
    q: Array
    v: Array
    a: Array
    effort: Array
    raw: Array
    core: BoolArray

    def counted(self) -> Motion:
        """Return the core only."""
        return self.rows(self.core)

    def rows(self, which: BoolArray | IntArray) -> Motion:
        """Return some of the samples."""
        parts = (self.q, self.v, self.a, self.effort, self.raw)
        q, v, a, effort, raw = (part[which] for part in parts)
        return Motion(self.stamp[which], q, v, a, effort, raw, self.core[which])


def motion(
    stretch: Stretch, period: int, cutoff: float, *, velocity: Velocity = "position"
) -> Motion | None:
    """Filter and differentiate a stretch; None if it is too short.

    Args:
        stretch: Samples in order, without gaps.
        period: Usual time between samples [ns].
        cutoff: Of the filter [Hz].
        velocity: ``recorded`` differentiates the recorded velocity once, ``position`` the
            position twice. Efforts may be NaN as a whole, where they are not used.
    """
    samples = stretch.samples
    if len(samples.stamp) < shortest(cutoff, 1e9 / period):
        return None
    n = samples.position.shape[1]
    both = n + samples.effort.shape[1]
    own, blank = velocity == "recorded", bool(np.isnan(samples.effort).all())
    effort = np.zeros(samples.effort.shape) if blank else samples.effort
    parts = [samples.position, effort, *([samples.velocity] if own else [])]
    signals = np.hstack(parts)
    even = is_even(samples.stamp, period)
    if even:
        step = np.diff(samples.stamp[[0, -1]])[0] / (len(samples.stamp) - 1)
        rate = 1e9 / (period if abs(step / period - 1.0) < 1e-6 else step)
        table = signals
    else:
        rate = 1e9 / period
        first, last = -(-samples.stamp[0] // period), samples.stamp[-1] // period
        grid = np.arange(first, last + 1) * period
        if len(grid) < shortest(cutoff, rate):
            return None
        table = interpolated(samples.stamp, signals, grid)
    smooth = zero_phase(table, cutoff, rate)
    v = smooth[:, both:] if own else derivative(smooth[:, :n], rate)
    found = np.hstack([smooth[:, :both], v, derivative(v, rate)])
    if not even:
        inside = np.clip(samples.stamp, grid[0], grid[-1])
        found = interpolated(grid, found, inside)
    q, effort, v, a = (x.copy() for x in np.split(found, [n, both, both + n], axis=1))
    effort = samples.effort if blank else effort
    return Motion(samples.stamp, q, v, a, effort, samples.effort, stretch.core)


def is_even(stamp: IntArray, period: int) -> bool:
    """Whether the samples are evenly spaced, and none is missing."""
    steps = np.diff(stamp)
    mean = (stamp[-1] - stamp[0]) / len(steps)
    if np.sqrt(np.mean((steps / mean - 1.0) ** 2)) > JITTER:
        return False
    off = stamp - stamp[0] - mean * np.arange(len(stamp))
    return bool(np.abs(off).max() <= DRIFT * period)


def interpolated(at: IntArray, values: Array, wanted: IntArray) -> Array:
    """Cubic spline through values (k, c) at stamps [ns], read at other stamps.

    A sample a dozen places away does not count any more, so pieces meet.
    """
    splines = extra("scipy.interpolate", "resampling")
    zero = at[0]
    return np.asarray(
        splines.CubicSpline((at - zero) * 1e-9, values, axis=0)((wanted - zero) * 1e-9)
    )
