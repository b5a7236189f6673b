"""A motion along which time goes slower: its derivatives from those along its own time."""

from __future__ import annotations

from math import factorial

import numpy as np

from geared_dynamics.arrays import Array


def slowed(rows: Array, rate: float, slope: float) -> Array:
    """Return derivatives with respect to time from those along the motion.

    With the motion q(s), ds/dt = rate and d²s/dt² = slope, that constant (Faà di Bruno):

        dⁿq/dtⁿ = Σ_k n! / ((n-k)! (2k-n)!) (slope/2)^(n-k) rate^(2k-n) dᵏq/dsᵏ,  n/2 <= k <= n

    so that q̇ = rate q′ and q̈ = rate² q″ + slope q′.

    Args:
        rows: q, q′, q″ and on (order + 1, n) [rad/s^i or m/s^i].
        rate: ds/dt, 1 for the motion's own time.
        slope: Its change [1/s].
    """
    found = np.zeros_like(rows)
    found[0] = rows[0]
    for n in range(1, len(rows)):
        for k in range((n + 1) // 2, n + 1):
            both = factorial(n) / (factorial(n - k) * factorial(2 * k - n))
            found[n] += both * (0.5 * slope) ** (n - k) * rate ** (2 * k - n) * rows[k]
    return found
