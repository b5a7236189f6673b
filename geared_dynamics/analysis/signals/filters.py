"""A low-pass filter without delay, and derivatives, of evenly sampled signals (k, n).

A Butterworth filter forwards and backwards: gain 1/2 at the cutoff, phase zero. What starts or
ends too early dies out as its slowest pole does, so a signal can be filtered in pieces with
``context`` samples around each: the result differs by less than SETTLED.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from geared_dynamics.analysis.extras import extra
from geared_dynamics.arrays import Array
from geared_dynamics.errors import ArrayError

ORDER = 4
SETTLED = 1e-12  # what is left of a jump at the edge of the context
HIGHEST = 0.8  # of half the sampling rate
# Central differences of order 8 and 2nd derivatives from twice applying them: error below
# 1e-4 up to a fifth of the sampling rate.
WEIGHTS = np.array([4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0])


@lru_cache(maxsize=64)
def sections(cutoff: float, rate: float) -> Array:
    """Second-order sections of the filter (ORDER/2, 6)."""
    signal = extra("scipy.signal", "zero_phase")
    return np.asarray(signal.butter(ORDER, cutoff, fs=rate, output="sos"))


def usable_cutoff(cutoff: float, rate: float) -> float:
    """Return the cutoff, or the highest one that the sampling rate allows."""
    if not 0.0 < cutoff < math.inf:
        raise ArrayError("bandwidth", f"is {cutoff:g}", "give a positive frequency [Hz]")
    return min(cutoff, HIGHEST * rate / 2.0)


def context(cutoff: float, rate: float) -> int:
    """Samples around a piece after which nothing of its edges is left."""
    sos = sections(usable_cutoff(cutoff, rate), rate)
    radius = max(float(np.abs(np.roots(row[3:])).max()) for row in sos)
    return math.ceil(math.log(SETTLED) / math.log(radius)) + 4 * len(WEIGHTS)


def shortest(cutoff: float, rate: float) -> int:
    """Samples that a stretch must have to be filtered: five periods of the cutoff."""
    return max(4 * len(WEIGHTS), math.ceil(5.0 * rate / cutoff))


def zero_phase(values: Array, cutoff: float, rate: float) -> Array:
    """Filter (k, n) below ``cutoff`` [Hz], forwards and backwards, k at least ``shortest``."""
    signal = extra("scipy.signal", "zero_phase")
    cutoff = usable_cutoff(cutoff, rate)
    pad = min(len(values) - 1, math.ceil(3.0 * rate / cutoff))
    rows = np.ascontiguousarray(values.T)
    filtered = signal.sosfiltfilt(sections(cutoff, rate), rows, axis=-1, padlen=pad)
    return np.ascontiguousarray(filtered.T)


def derivative(values: Array, rate: float) -> Array:
    """Central differences (k, n), of lower order at the two ends."""
    result = np.gradient(values, 1.0 / rate, axis=0)
    reach = len(WEIGHTS)
    k = len(values)
    if k > 2 * reach:
        inner = np.zeros((k - 2 * reach, *values.shape[1:]))
        for i, weight in enumerate(WEIGHTS, 1):
            inner += weight * (
                values[reach + i : k - reach + i] - values[reach - i : k - reach - i]
            )
        result[reach : k - reach] = inner * rate
    return np.asarray(result)
