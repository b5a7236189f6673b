"""The elbow arm of Sciavicco 1994, section 7, as printed: pi_1 to pi_9, B, H and g.

B and H are correct as printed. The printed g belongs to gravity along +z_0; here
``gravity`` is the signed component of g0 along z_0, so that -9.81 is z_0 pointing up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from naive.bodies import Array

# Which of the eleven parameters per link, m mx my mz xx xy xz yy yz zz and the rotor's
# inertia, section 7 takes to be zero: I-hat is diagonal, and for links 2 and 3 the first
# moment points along x.
ZERO_EVERYWHERE = (5, 6, 8)
ZERO_BEYOND_LINK_1 = (2, 3)


def zero_columns() -> list[int]:
    """Columns of the 33 parameters (31) that section 7 takes to be zero."""
    diagonal = [11 * i + k for i in range(3) for k in ZERO_EVERYWHERE]
    moments = [11 * i + k for i in (1, 2) for k in ZERO_BEYOND_LINK_1]
    return sorted(diagonal + moments)


def combinations(a2: float, ratios: Sequence[float]) -> Array:
    """Rows (9, 33): pi_k = row k @ the stacked parameters (31) of links 1 to 3."""
    kr1, kr2, _ = ratios
    mass, moment_x, xx, yy, zz, rotor = 0, 1, 4, 7, 9, 10
    terms: list[dict[tuple[int, int], float]] = [
        {(1, yy): 1, (2, yy): 1, (3, yy): 1, (3, mass): a2**2, (1, rotor): kr1**2},
        {(2, moment_x): 1, (3, mass): a2},
        {(2, xx): 1, (2, yy): -1, (3, mass): -(a2**2)},
        {(2, zz): 1, (2, rotor): kr2**2, (3, mass): a2**2},
        {(3, xx): 1, (3, yy): -1},
        {(3, moment_x): 1},
        {(3, zz): 1},
        {(2, rotor): 1},
        {(3, rotor): 1},
    ]
    rows = np.zeros((9, 33))
    for row, entries in zip(rows, terms, strict=True):
        for (link, parameter), factor in entries.items():
            row[11 * (link - 1) + parameter] = factor
    return rows


def inertia_matrix(q: Array, pi: Array, a2: float, ratios: Sequence[float]) -> Array:
    """B(q), nine elements."""
    _, p1, _, p3, p4, p5, p6, p7, p8, p9 = (0.0, *pi)
    kr2, kr3 = ratios[1:]
    s2, c2, c3 = np.sin(q[1]), np.cos(q[1]), np.cos(q[2])
    s23, c23 = np.sin(q[1] + q[2]), np.cos(q[1] + q[2])
    b11 = p1 + s2**2 * p3 + s23**2 * p5 + 2 * a2 * c2 * c23 * p6
    b12 = kr2 * p8
    b13 = kr3 * s2 * p9
    b22 = p4 + 2 * a2 * c3 * p6 + p7
    b23 = a2 * c3 * p6 + p7
    b33 = p7 + kr3**2 * p9
    return np.array([[b11, b12, b13], [b12, b22, b23], [b13, b23, b33]])


def coriolis_matrix(q: Array, v: Array, pi: Array, a2: float, ratios: Sequence[float]) -> Array:
    """H(q, qdot), nine elements."""
    p3, p5, p6, p9 = pi[2], pi[4], pi[5], pi[8]
    v1, v2, v3 = v
    s2, c2, s3 = np.sin(q[1]), np.cos(q[1]), np.sin(q[2])
    s23, c23 = np.sin(q[1] + q[2]), np.cos(q[1] + q[2])
    half = 0.5 * ratios[2] * c2 * p9
    h11 = s2 * c2 * v2 * p3 + s23 * c23 * (v2 + v3) * p5
    h11 -= a2 * (s2 * c23 * v2 + c2 * s23 * (v2 + v3)) * p6
    h12 = s2 * c2 * v1 * p3 + s23 * c23 * v1 * p5 - a2 * (c2 * s23 + s2 * c23) * v1 * p6
    h12 += half * v3
    h13 = s23 * c23 * v1 * p5 - a2 * c2 * s23 * v1 * p6 + half * v2
    h22 = -a2 * s3 * v3 * p6
    h31 = -s23 * c23 * v1 * p5 + a2 * c2 * s23 * v1 * p6 + half * v2
    h32 = a2 * s3 * v2 * p6 + half * v1
    return np.array([[h11, h12, h13], [-h12, h22, h22 - h32], [h31, h32, 0.0]])


def gravity_forces(q: Array, pi: Array, gravity: float) -> Array:
    """g(q), three elements."""
    g3 = -gravity * np.cos(q[1] + q[2]) * pi[5]
    return np.array([0.0, g3 - gravity * np.cos(q[1]) * pi[1], g3])
