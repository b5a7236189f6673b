"""How far up in frequency a recorded position is motion, and from where on noise."""

from __future__ import annotations

import numpy as np

from geared_dynamics.analysis.extras import extra
from geared_dynamics.arrays import Array, BoolArray

WINDOW = 4.0  # [s] of the spectra
TOP, MIDDLE = 0.6, 0.2  # of half the rate: noise is what is above them
LEAST = 0.5  # [Hz]
ABOVE_NOISE = 6.0  # density of what counts as motion, over that of the noise
WITHIN = 0.999  # of the velocities' power lies below the motion's highest frequency
SMALL = 0.01  # of the liveliest joint's power: joints below it hardly count
MARGIN = 3.0  # of the kept band over the motion's highest frequency: Coulomb friction jumps
WIDER = 5.0  # of the filter before differentiation over the kept band: no droop within it


def bandwidth(position: Array, rate: float) -> float:
    """Cutoff [Hz] that keeps what a motion says about the torques.

    Three times the frequency below which lies 99.9 % of the power of the joints' velocities,
    each joint's scaled to one. Where the density is less than six times the noise's it does not
    count. An encoder's rounding is flat in position: the median of its density above 60 % of
    half the sampling rate; uneven stamps are flat in velocity: that of the part below.

    Args:
        position: Evenly sampled (k, n) [rad or m].
        rate: Samples per second [1/s].
    """
    signal = extra("scipy.signal", "bandwidth")
    length = int(min(len(position), max(16, WINDOW * rate)))
    speed = np.gradient(position, 1.0 / rate, axis=0)  # a drift leaks less than a position
    frequency, density = signal.welch(speed, rate, nperseg=length, axis=0, detrend="linear")
    gain = (np.sin(2.0 * np.pi * frequency / rate)[:, None] * rate) ** 2
    share_of_top = frequency / (rate / 2)
    high, middle = between(share_of_top, TOP, 0.96), between(share_of_top, MIDDLE, TOP)
    rounding = np.median(density[high] / gain[high], axis=0) * gain
    noise = np.maximum(rounding, np.median(density[middle], axis=0))
    clean = np.where(density > ABOVE_NOISE * noise, density, 0.0)
    power = clean.sum(axis=0)
    share = clean / np.maximum(power, max(SMALL * float(power.max()), 1e-300))
    total = np.cumsum(share.sum(axis=1))
    end = int(np.searchsorted(total, WITHIN * total[-1])) if total[-1] > 0.0 else 0
    return float(min(MARGIN * max(LEAST, float(frequency[end])), 0.4 * rate))


def between(values: Array, low: float, high: float) -> BoolArray:
    """Which values lie between two others."""
    return np.asarray((values > low) & (values <= high))
