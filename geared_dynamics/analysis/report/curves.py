"""What is drawn of an analysis: envelopes over time, residual over position and velocity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.comparison.analyze import Analysis
from geared_dynamics.analysis.comparison.span import BUCKETS
from geared_dynamics.analysis.comparison.totals import BINS
from geared_dynamics.analysis.reading.cleaning import GAP
from geared_dynamics.arrays import Array, IntArray

DRAWN = ("measured", "without rotors", "armature", "complete", "residual")
FINEST = 3 * BUCKETS // 2  # drawn of a signal; a recording in many short spans may have more
FEWEST = 5  # samples in a bin that is drawn


class Profile(NamedTuple):
    """Mean and RMS of the residual over bins (b,) that hold samples, at their centres."""

    x: Array
    mean: Array
    rms: Array


def envelope(analysis: Analysis, signal: int, joint: int) -> tuple[Array, Array]:
    """Time [s] and values of one signal: least and largest of each bucket in turn.

    NaN between buckets that a gap parts breaks the line there. Never more than FINEST buckets
    are drawn.
    """
    low, high = analysis.drawn[:, signal, :, joint]
    stamp = analysis.stamp
    if not low.size:
        return np.empty(0), np.empty(0)
    if len(stamp) > FINEST:
        stamp, low, high = coarser(stamp, low, high)
    x = ((stamp - stamp.min()) * 1e-9).ravel()
    x[1::2] = 0.5 * (x[0::2] + x[1::2])
    y = np.empty(2 * len(stamp))
    rising = np.concatenate([[True], 0.5 * np.diff(low + high) >= 0])
    y[0::2], y[1::2] = np.where(rising, low, high), np.where(rising, high, low)
    hole = stamp[1:, 0] - stamp[:-1, 1]
    parted = (hole > GAP * analysis.recording.period) | (hole < 0)
    breaks = 2 * (np.flatnonzero(parted) + 1)
    return np.insert(x, breaks, np.nan), np.insert(y, breaks, np.nan)


def coarser(stamp: IntArray, low: Array, high: Array) -> tuple[IntArray, Array, Array]:
    """Join neighbouring buckets, so many that FINEST or fewer are left."""
    edges = np.arange(0, len(stamp), -(-len(stamp) // FINEST))
    last = np.append(edges[1:], len(stamp)) - 1
    joined = np.stack([stamp[edges, 0], stamp[last, 1]], axis=1)
    return joined, np.minimum.reduceat(low, edges), np.maximum.reduceat(high, edges)


def profile(sums: Array, range_: Array, joint: int) -> Profile:
    """Residual of one joint over bins, from count, sum and sum of squares (3, n, BINS)."""
    count, total, square = sums[:, joint]
    low, high = range_[:, joint]
    centres = low + (np.arange(BINS) + 0.5) * (high - low) / BINS
    some = count >= FEWEST
    return Profile(centres[some], total[some] / count[some], np.sqrt(square[some] / count[some]))
