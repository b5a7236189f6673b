"""Signals of a recording: filtered without delay, differentiated, their bandwidth and delay."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.errors import ArrayError, extra

# -- A low-pass filter without delay, and derivatives, of evenly sampled signals (k, n) -----------
#
# A Butterworth filter forwards and backwards: gain 1/2 at the cutoff, phase zero. What starts or
# ends too early dies out as its slowest pole does, so a signal can be filtered in pieces with
# ``context`` samples around each: the result differs by less than SETTLED.


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
    reach = len(WEIGHTS)
    k = len(values)
    if k <= 2 * reach:
        return np.asarray(np.gradient(values, 1.0 / rate, axis=0))
    result = np.empty(values.shape)
    result[:reach] = np.gradient(values[: reach + 1], 1.0 / rate, axis=0)[:-1]
    result[k - reach :] = np.gradient(values[k - reach - 1 :], 1.0 / rate, axis=0)[1:]
    inner = result[reach : k - reach]
    inner[...] = 0.0
    for i, weight in enumerate(WEIGHTS, 1):
        step = values[reach + i : k - reach + i] - values[reach - i : k - reach - i]
        step *= weight
        inner += step
    inner *= rate
    return result


# -- How far up in frequency a recorded position is motion, and from where on noise ---------------


WINDOW = 4.0  # [s] of the spectra, at most
FEWEST = 16  # samples of a window, at least
TOP, MIDDLE = 0.6, 0.2  # of half the rate: noise is what is above them
LEAST = 0.5  # [Hz]
ABOVE_NOISE = 6.0  # density of what counts as motion, over that of the noise
AROUND = 0.1  # of a frequency, to both sides: the density there decides what is noise
WITHIN = 0.999  # of the velocities' power lies below the motion's highest frequency
SMALL = 0.01  # of the liveliest joint's power: joints below it hardly count
MARGIN = 3.0  # of the kept band over the motion's highest frequency: Coulomb friction jumps
HIGHEST_KEPT = 0.4  # of the sampling rate: no band is kept above it
WIDER = 5.0  # of the filter before differentiation over the kept band: no droop within it


def bandwidth(position: Array | Sequence[Array], rate: float) -> float:
    """Cutoff [Hz] that keeps what a motion says about the torques.

    Three times the frequency below which lies 99.9 % of the power of the joints' velocities,
    each joint's scaled to one. Where the density is less than six times the noise's it does not
    count. An encoder's rounding is flat in position: the median of its density above 60 % of
    half the sampling rate; uneven stamps are flat in velocity: that of the part below.

    The density of one window of noise exceeds six times its median in 1.6 % of all frequencies,
    and there lies much of the velocity's noise. So spectra of all stretches are averaged, and
    what is compared with the noise is the mean over a tenth of the frequency to both sides.

    Args:
        position: Evenly sampled (k, n) [rad or m]; or several such stretches.
        rate: Samples per second [1/s].
    """
    parts = [position] if isinstance(position, np.ndarray) else list(position)
    frequency, density = mean_density(parts, rate)
    gain = (np.sin(2.0 * np.pi * frequency / rate)[:, None] * rate) ** 2
    share_of_top = frequency / (rate / 2)
    high, middle = between(share_of_top, TOP, 0.96), between(share_of_top, MIDDLE, TOP)
    rounding = np.median(density[high] / gain[high], axis=0) * gain
    noise = np.maximum(rounding, np.median(density[middle], axis=0))
    clean = np.where(
        smoothed(density) > ABOVE_NOISE * noise, np.maximum(density - noise, 0.0), 0.0
    )
    power = clean.sum(axis=0)
    share = clean / np.maximum(power, max(SMALL * float(power.max()), 1e-300))
    total = np.cumsum(share.sum(axis=1))
    end = int(np.searchsorted(total, WITHIN * total[-1])) if total[-1] > 0.0 else 0
    return float(min(MARGIN * max(LEAST, float(frequency[end])), HIGHEST_KEPT * rate))


def mean_density(parts: Sequence[Array], rate: float) -> tuple[Array, Array]:
    """Frequencies (f,) and the velocities' densities (f, n), over all windows of all stretches.

    Windows are as long as the stretches that have half of the samples or more.
    """
    signal = extra("scipy.signal", "bandwidth")
    lengths = np.sort([len(part) for part in parts])
    typical = lengths[np.searchsorted(np.cumsum(lengths), 0.5 * lengths.sum())]
    length = int(min(typical, max(FEWEST, WINDOW * rate)))
    total, windows = np.zeros((length // 2 + 1, parts[0].shape[1])), 0
    for part in parts:
        if len(part) < length:
            continue
        speed = np.gradient(part, 1.0 / rate, axis=0)  # a drift leaks less than a position
        frequency, density = signal.welch(speed, rate, nperseg=length, axis=0, detrend="linear")
        count = 1 + (len(part) - length) // (length - length // 2)
        total, windows = total + count * density, windows + count
    return np.asarray(frequency), total / windows


def smoothed(density: Array) -> Array:
    """Means of densities (f, n) over AROUND of the frequency to both sides."""
    bins = np.arange(len(density))
    low = np.ceil((1.0 - AROUND) * bins).astype(np.int64)
    high = np.minimum((1.0 + AROUND) * bins, len(bins) - 1).astype(np.int64) + 1
    sums = np.concatenate([np.zeros((1, density.shape[1])), np.cumsum(density, axis=0)])
    return np.asarray((sums[high] - sums[low]) / (high - low)[:, None])


def cap_notes(wanted: float, cutoff: float, rate: float, *, given: bool) -> list[str]:
    """What is said where a bandwidth is more than the rate allows; else nothing.

    Args:
        wanted: What was given or found [Hz].
        cutoff: What is used [Hz].
        rate: Samples per second.
        given: Whether it was given.
    """
    if wanted <= cutoff:
        return []
    if given:
        what = f"a bandwidth of {wanted:g} Hz is more than {rate:.4g} Hz allow"
        return [f"{what}: {cutoff:.4g} Hz is used"]
    what = f"unsure: a bandwidth of {wanted:.3g} Hz was found, more than {rate:.4g} Hz allow"
    return [
        f"{what}: {cutoff:.3g} Hz is used. Noise may count as motion: compare the residuals "
        "with those of a smaller --bandwidth"
    ]


def between(values: Array, low: float, high: float) -> BoolArray:
    """Which values lie between two others."""
    return np.asarray((values > low) & (values <= high))


# -- Delay between two records of the same motion -------------------------------------------------


SEARCH = 0.05  # [s] delays that are looked at, to both sides


def delay(expected: Array, measured: Array, explained: Array, rate: float) -> float:
    """Time [s] by which a measured signal comes after the expected one.

    The shift d for which measured(t + d) is best met by a factor times expected(t) plus a
    combination of other signals (friction, an offset); between samples by the slope. NaN
    where it is not met better within the SEARCH than at its ends.

    Args:
        expected: Signal (k,).
        measured: Signal (k,).
        explained: Other signals (k, c) of the same time as ``expected``.
        rate: Samples per second.
    """
    reach = min(round(SEARCH * rate) + 1, len(expected) // 4)
    if reach < 2:
        return float("nan")
    inner = slice(reach, len(expected) - reach)
    columns = np.column_stack([expected[inner], explained[inner]])
    basis, _ = np.linalg.qr(columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300))
    left = []
    for shift in range(-reach, reach + 1):
        part = measured[inner.start + shift : inner.stop + shift]
        left.append(float(part @ part - np.sum((basis.T @ part) ** 2)))
    best = int(np.argmin(left))
    if best in (0, len(left) - 1):
        return float("nan")
    # Between samples: m(t + shift + f) = c e(t) is m(t + shift) = c e - c f de/dt.
    slope = np.gradient(expected, 1.0 / rate)[inner]
    part = measured[inner.start + best - reach : inner.stop + best - reach]
    table = np.column_stack([slope, columns])
    scale = np.maximum(np.linalg.norm(table, axis=0), 1e-300)
    coefficients = np.linalg.lstsq(table / scale, part, rcond=None)[0] / scale
    between = -coefficients[0] / coefficients[1] if coefficients[1] else 0.0
    return float((best - reach) / rate + np.clip(between, -1.0 / rate, 1.0 / rate))
