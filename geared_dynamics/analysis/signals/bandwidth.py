"""How far up in frequency a recorded position is motion, and from where on noise."""

from __future__ import annotations

import numpy as np

from geared_dynamics.analysis.extras import extra
from geared_dynamics.arrays import Array

WINDOW = 4.0  # [s] of the spectra
ABOVE_NOISE = 4.0  # power of the motion over that of the noise, of the acceleration
TOP = 0.6  # of half the rate: noise is what is above it
LEAST = 2.0  # [Hz]
MARGIN = 2.0  # cutoff over the frequency up to which there is motion
# Of the acceleration's power: what lies above is of no use even without noise.
ALL_BUT = 1e-4


def bandwidth(position: Array, rate: float) -> float:
    """Cutoff [Hz] that keeps the motion of all joints and leaves out the noise.

    The noise's spectral density is the median of the position's above 60 % of half the
    sampling rate (a quantised encoder's noise is flat). Motion reaches up to the highest
    frequency at which the density is four times that, and below which lies all but 1e-4
    of the acceleration's power; the cutoff is twice that, so that the filter's slope does
    not touch the motion.

    Args:
        position: Evenly sampled (k, n) [rad or m].
        rate: Samples per second [1/s].
    """
    signal = extra("scipy.signal", "bandwidth")
    length = int(min(len(position), max(16, WINDOW * rate)))
    speed = np.gradient(position, 1.0 / rate, axis=0)  # a drift leaks less than a position
    frequency, density = signal.welch(speed, rate, nperseg=length, axis=0, detrend="linear")
    turn = np.maximum(np.sin(2.0 * np.pi * frequency / rate)[:, None] * rate, 1e-12)
    position_density = density / turn**2
    noise = np.median(position_density[(frequency > TOP * rate / 2) & (frequency < 0.48 * rate)], axis=0)
    highest = LEAST / MARGIN
    for j in range(position.shape[1]):
        loud = position_density[:, j] > ABOVE_NOISE * noise[j]
        loud[:2] = True
        end = int(np.argmin(loud)) if not loud.all() else len(loud) - 1
        power = np.cumsum((density[:, j] * frequency**2)[: end + 1])
        if power[-1] > 0.0:
            enough = int(np.searchsorted(power, (1.0 - ALL_BUT) * power[-1]))
            highest = max(highest, float(frequency[min(enough, end)]))
    return float(min(MARGIN * highest, 0.4 * rate))
