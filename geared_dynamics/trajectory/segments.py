"""Polynomials between two waypoints, from what both say.

With s the time since the segment's start and T its length, q(s) = Σ c_k s^k. JTC's rules:
linear from positions, cubic from positions and velocities, quintic from accelerations too.
"""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array, IntArray

TERMS = 6  # powers s^0 ... s^5
FALLING = np.array([[1, 1, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5], [0, 0, 2, 6, 12, 20]], np.float64)


def polynomials(degree: IntArray, span: Array, first: Array, last: Array) -> Array:
    """Coefficients c (k, 6, n) of k segments.

    Args:
        degree: 1, 3 or 5 of each segment (k,).
        span: T, lengths (k,) [s].
        first: Position, velocity, acceleration at the segments' starts (3, k, n).
        last: The same at their ends (3, k, n).
    """
    result = np.zeros((len(span), TERMS, first.shape[2]))
    for kind, function in ((1, linear), (3, cubic), (5, quintic)):
        chosen = np.flatnonzero(degree == kind)
        if chosen.size:
            time = span[chosen, None]
            rows = function(time, first[:, chosen], last[:, chosen])
            for k, row in enumerate(rows):
                result[chosen, k] = row
    return result


def linear(span: Array, first: Array, last: Array) -> list[Array]:
    """c_0, c_1 with the positions of both ends; the speed is the mean speed."""
    return [first[0], (last[0] - first[0]) / span]


def cubic(span: Array, first: Array, last: Array) -> list[Array]:
    """c_0 ... c_3 with positions and velocities of both ends (Hermite)."""
    q, v = first[0], first[1]
    mean = (last[0] - q) / span
    return [q, v, (3.0 * mean - 2.0 * v - last[1]) / span, (v + last[1] - 2.0 * mean) / span**2]


def quintic(span: Array, first: Array, last: Array) -> list[Array]:
    """c_0 ... c_5 with positions, velocities and accelerations of both ends.

    What c_0 + c_1 T + c_2 T² leaves of q, v, a at the end, in units of T:
    e_0 = Σ u_k, e_1 = Σ k u_k, e_2 = Σ k (k - 1) u_k over k = 3, 4, 5, with u_k = c_k T^k.
    """
    q, v, a = first
    e0 = last[0] - q - v * span - 0.5 * a * span**2
    e1 = (last[1] - v - a * span) * span
    e2 = (last[2] - a) * span**2
    u3 = 10.0 * e0 - 4.0 * e1 + 0.5 * e2
    u4 = -15.0 * e0 + 7.0 * e1 - e2
    u5 = 6.0 * e0 - 3.0 * e1 + 0.5 * e2
    return [q, v, 0.5 * a, u3 / span**3, u4 / span**4, u5 / span**5]


def tables(position: Array, effort: Array, slope: Array) -> Array:
    """What the powers of s are multiplied by: (k, 6, 4 n), columns q, v, a and effort.

    Args:
        position: Coefficients c (k, 6, n).
        effort: At the segments' starts (k, n).
        slope: Its rate (k, n).
    """
    count, _, n = position.shape
    result = np.zeros((count, TERMS, 4, n))
    for order in range(3):
        weights = FALLING[order, order:, None]
        result[:, : TERMS - order, order] = weights * position[:, order:]
    result[:, 0, 3], result[:, 1, 3] = effort, slope
    return result.reshape(count, TERMS, 4 * n)


def constants(values: Array) -> Array:
    """Tables of segments in which nothing changes, from q, v, a and effort (4, k, n)."""
    _, count, n = values.shape
    result = np.zeros((count, TERMS, 4, n))
    result[:, 0] = values.swapaxes(0, 1)
    return result.reshape(count, TERMS, 4 * n)
