"""How far up in frequency a recorded position is motion, and from where on noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from geared_dynamics.analysis.extras import extra
from geared_dynamics.arrays import Array, BoolArray

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
