"""How far up in frequency a recorded position is motion, and from where on noise."""

from __future__ import annotations

import numpy as np

from geared_dynamics.analysis.extras import extra
from geared_dynamics.arrays import Array

WINDOW = 4.0  # [s] of the spectra
TOP = 0.6  # of half the rate: noise is what is above it
LEAST = 0.5  # [Hz]
WITHIN = 0.999  # of the velocities' power lies below the motion's highest frequency
SMALL = 0.01  # of the liveliest joint's power: joints below it hardly count
MARGIN = 3.0  # of the kept band over the motion's highest frequency: Coulomb friction jumps
WIDER = 5.0  # of the filter before differentiation over the kept band: no droop within it


def bandwidth(position: Array, rate: float) -> float:
    """Cutoff [Hz] that keeps what a motion says about the torques.

    Three times the frequency below which lies 99.9 % of the power of the joints' velocities,
    each joint's scaled to one, after the noise is taken off: its density is the median of the
    position's above 60 % of half the sampling rate (an encoder's rounding is flat).

    Args:
        position: Evenly sampled (k, n) [rad or m].
        rate: Samples per second [1/s].
    """
    signal = extra("scipy.signal", "bandwidth")
    length = int(min(len(position), max(16, WINDOW * rate)))
    speed = np.gradient(position, 1.0 / rate, axis=0)  # a drift leaks less than a position
    frequency, density = signal.welch(speed, rate, nperseg=length, axis=0, detrend="linear")
    gain = (np.sin(2.0 * np.pi * frequency / rate)[:, None] * rate) ** 2
    high = (frequency > TOP * rate / 2) & (frequency < 0.96 * rate / 2)
    noise = np.median(density[high] / gain[high], axis=0)
    clean = np.maximum(density - noise * gain, 0.0)
    power = clean.sum(axis=0)
    share = clean / np.maximum(power, max(SMALL * float(power.max()), 1e-300))
    total = np.cumsum(share.sum(axis=1))
    end = int(np.searchsorted(total, WITHIN * total[-1])) if total[-1] > 0.0 else 0
    return float(min(MARGIN * max(LEAST, float(frequency[end])), 0.4 * rate))
