"""B-splines: piecewise polynomials that are smooth by construction.

Of degree p over knots t_0 <= t_1 <= ..., where a knot of multiplicity m leaves p - m
derivatives continuous. References: C. de Boor, "A Practical Guide to Splines", ch. IX-X.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from geared_dynamics.arrays import Array, IntArray


def spans(knots: Array, degree: int, t: Array) -> IntArray:
    """Index i of the piece t_i <= t < t_(i+1) of each time (k,); the last piece is closed."""
    last = len(knots) - degree - 2
    found = np.searchsorted(knots, t, side="right") - 1
    return np.clip(found, degree, last)


def values(pieces: Sequence[tuple[Array, Array]], degree: int, t: Array) -> Array:
    """Value and derivatives (r, k, n) at times (k,): de Boor's recursion, for all at once.

    Only convex combinations of coefficients: it is stable at any degree. The derivative of
    order i, of degree less by i, joins at the i-th step: its weights are the spline's own.

    Args:
        pieces: Knots and coefficients (c - i, n) of the spline and its derivatives, r of them,
            as of ``derivative``.
        degree: Of the spline, at least r - 1.
        t: Times (k,) [s].
    """
    knots, first = pieces[0]
    at = spans(knots, degree, t)
    d = np.zeros((len(pieces), degree + 1, t.size, first.shape[1]))
    for i, (_, coefficients) in enumerate(pieces):
        d[i, i:] = coefficients[at - degree + np.arange(degree + 1 - i)[:, None]]
    for r in range(1, degree + 1):
        j = np.arange(r, degree + 1)[:, None]
        low, high = knots[at - degree + j], knots[at + 1 + j - r]
        part = ((t - low) / (high - low))[..., None]
        d[:r, r:] = (1.0 - part) * d[:r, r - 1 : -1] + part * d[:r, r:]
    return np.asarray(d[:, degree])


def derivative(knots: Array, degree: int, coefficients: Array) -> tuple[Array, Array]:
    """Knots and coefficients of the derivative, a spline of one degree less.

    c'_i = p (c_(i+1) - c_i) / (t_(i+p+1) - t_(i+1)), zero where the knots coincide.
    """
    width = knots[degree + 1 : -1] - knots[1 : -degree - 1]
    step = np.diff(coefficients, axis=0)
    slope = np.divide(
        degree * step, width[:, None], out=np.zeros_like(step), where=width[:, None] > 0.0
    )
    return knots[1:-1], slope


def functions(knots: Array, degree: int, t: Array) -> Array:
    """All basis functions at times (k,): a matrix (k, c)."""
    count = len(knots) - degree - 1
    return np.asarray(values([(knots, np.eye(count))], degree, t)[0])
