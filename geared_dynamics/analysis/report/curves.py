"""What is drawn of an analysis: envelopes over time, residual over position and velocity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.comparison.analyze import Analysis
from geared_dynamics.analysis.comparison.totals import BINS
from geared_dynamics.arrays import Array

DRAWN = ("measured", "without rotors", "armature", "complete", "residual")
FEWEST = 5  # samples in a bin that is drawn


class Profile(NamedTuple):
    """Mean and RMS of the residual over bins (b,) that hold samples, at their centres."""

    x: Array
    mean: Array
    rms: Array


def envelope(analysis: Analysis, signal: int, joint: int) -> tuple[Array, Array]:
    """Time [s] and values of one signal (2 b,): least and largest of each bucket in turn.

    NaN between stretches breaks the line there.
    """
    low, high = analysis.drawn[:, signal, :, joint]
    if not low.size:
        return np.empty(0), np.empty(0)
    time = (analysis.stamp - analysis.stamp.min()) * 1e-9
    step = np.diff(time, append=time[-1])
    usual = np.median(step[:-1]) if len(step) > 1 else 0.0
    x = np.repeat(time, 2)
    x[1::2] += 0.5 * np.clip(step, 0.0, usual)
    y = np.empty(2 * len(time))
    rising = np.concatenate([[True], 0.5 * np.diff(low + high) >= 0])
    y[0::2], y[1::2] = np.where(rising, low, high), np.where(rising, high, low)
    breaks = 2 * (np.flatnonzero((step[:-1] > 20 * max(usual, 1e-9)) | (step[:-1] < 0)) + 1)
    return np.insert(x, breaks, np.nan), np.insert(y, breaks, np.nan)


def profile(sums: Array, range_: Array, joint: int) -> Profile:
    """Residual of one joint over bins, from count, sum and sum of squares (3, n, BINS)."""
    count, total, square = sums[:, joint]
    low, high = range_[:, joint]
    centres = low + (np.arange(BINS) + 0.5) * (high - low) / BINS
    some = count >= FEWEST
    return Profile(centres[some], total[some] / count[some], np.sqrt(square[some] / count[some]))
