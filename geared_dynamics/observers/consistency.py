"""Whether innovations are as large as they should be, judged so that no single event lasts in it.

The normalised innovation squared of u readings is chi squared with u degrees of freedom where
model and tuning are right: above its median in half of all instants. ``ratio`` is twice the share
of instants above it, forgotten with a window. However large one push makes a few innovations, they
count as a few instants; a model that is wrong all the time is above the median nearly always.
"""

from __future__ import annotations

from math import exp, pi, sqrt

import numpy as np

from geared_dynamics.observers.assignment import DEPTH

# Above this many standard deviations of its own the share is not chance.
CHANCE = 5.0


def median(used: int) -> float:
    """Median of chi squared with ``used`` degrees of freedom (Wilson and Hilferty 1931)."""
    return used * (1.0 - 2.0 / (9.0 * used)) ** 3


def judged(ratio: float, nis: float, used: int, part: float) -> float:
    """Twice the share of instants above the median, 1 to 2, after one more instant.

    It does not fall below 1: an arm at rest must not save up for what comes when it moves.

    Args:
        ratio: Before.
        nis: Normalised innovation squared of the instant.
        used: How many readings it sums over; 0 changes nothing.
        part: The instant's time as a part of the window.
    """
    if not used:
        return ratio
    return max(1.0, ratio + min(1.0, part) * (2.0 * (nis > median(used)) - ratio))


def most_by_chance(instants: float) -> float:
    """Largest ratio that chance explains, over so many instants in the window.

    The share of independent instants has the variance 1/4 / (2 instants) where it is forgotten
    exponentially; the ratio is twice as large.
    """
    return 1.0 + CHANCE / sqrt(2.0 * max(instants, 1.0))


def coloured(wanted: float) -> float:
    r"""Standard deviation of an innovation by that of its reading, at most.

    Of the nonlinear observer white noise \sigma on the encoders makes innovations of at most

        \sigma^2 mean over \omega of |(1 - e^{-i \omega}) / (1 - r e^{-i \omega})|^8, r = e^{-w dt}

    the variance of a chain of integrators with its four roots at r.

    Args:
        wanted: Decay of the error in a step, w dt.
    """
    turn = np.cos(np.linspace(0.0, pi, 2001))
    r = exp(-wanted)
    share = (2.0 - 2.0 * turn) / (1.0 + r * r - 2.0 * r * turn)
    return float(np.sqrt(np.mean(share**DEPTH)))
