r"""An arm under sampled feedback: its poles with a held command that comes late.

    s' = A s + B u,   u(t) = u_k for k T + d <= t < (k + 1) T + d,   u_k = -F s(k T)

With d = m T + r, 0 <= r < T, exactly

    s_{k+1} = e^{A T} s_k + G1 u_{k-m-1} + G0 u_{k-m}
    G0 = \int_0^{T-r} e^{A t} dt B,   G1 = e^{A (T-r)} \int_0^r e^{A t} dt B.

K. J. Astrom, B. Wittenmark, Computer-Controlled Systems, 1997, section 2.3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from geared_dynamics.arrays import Array

TERMS = 18  # of the exponential's series, for norms below a half
ROUNDING = 1e-9  # part of a period that is no delay
SMALLEST = 1e-300


def exponential(A: Array) -> Array:
    """e^A (k, k), by scaling and squaring."""
    norm = float(np.abs(A).sum(axis=1).max(initial=0.0))
    halvings = max(0, int(np.ceil(np.log2(norm))) + 1) if norm > 0.0 else 0
    scaled = A / 2.0**halvings
    total = term = np.eye(len(A))
    for k in range(1, TERMS):
        term = term @ scaled / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return np.asarray(total)


def held(A: Array, B: Array, span: float) -> tuple[Array, Array]:
    """e^{A t} (k, k) and the integral of e^{A t} B (k, l) over a span [s]."""
    size = len(A)
    whole = np.zeros((size + B.shape[1],) * 2)
    whole[:size] = span * np.hstack([A, B])
    found = exponential(whole)
    return found[:size, :size], found[:size, size:]


def sampled_loop(A: Array, B: Array, F: Array, sample_time: float, delay: float) -> Array:
    """Matrix of the closed loop from one sample to the next, past commands included.

    Args:
        A: Rates by states (k, k).
        B: Rates by commands (k, l).
        F: Commands are -F s (l, k).
        sample_time: T [s].
        delay: From a sample to when its command acts, d [s].
    """
    late, rest = divmod(delay / sample_time + ROUNDING, 1.0)
    late, rest = int(late), max(rest - ROUNDING, 0.0) * sample_time
    after, fresh = held(A, B, sample_time - rest)
    before, old = held(A, B, rest)
    k, inputs = B.shape
    size = k + (late + 1) * inputs
    loop = np.zeros((size, size))
    place = [slice(k + i * inputs, k + (i + 1) * inputs) for i in range(late + 1)]
    loop[:k, :k] = after @ before
    loop[:k, place[late]] += after @ old  # of u_{k-late-1}
    if late:
        loop[:k, place[late - 1]] += fresh
    else:
        loop[:k, :k] -= fresh @ F
    loop[place[0], :k] = -F
    for i in range(late):
        loop[place[i + 1], place[i]] = np.eye(inputs)
    return loop


def as_rates(z: NDArray[np.complex128], sample_time: float) -> NDArray[np.complex128]:
    """Rates ln(z) / T [1/s] of factors z from sample to sample."""
    return np.asarray(np.log(np.where(np.abs(z) < SMALLEST, SMALLEST, z)) / sample_time)
