"""Runge-Kutta step of fourth order with an exact decay: Cox and Matthews (2002), ETDRK4."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

import numpy as np

from geared_dynamics.arrays import Array

SERIES = 1.0  # |x| below which the functions phi are summed as series
TERMS = 20


def exponential_step(rest: Callable[[Array], Array], x: Array, decay: Array, dt: float) -> Array:
    """State after dt of x' = decay x + rest(x); the classical step where the decay is 0.

    Args:
        rest: Rates without the decay.
        x: State (k,).
        decay: Rate of each entry on its own (k,) [1/s], zero or negative.
        dt: Step [s].

    References:
        S. M. Cox, P. C. Matthews, J. Comput. Phys. 176 (2002), eq. (26)-(29).
    """
    half, whole = phi(0.5 * dt * decay), phi(dt * decay)
    fade, step = np.exp(0.5 * dt * decay), 0.5 * dt * half[1]
    first = rest(x)
    a = fade * x + step * first
    second = rest(a)
    b = fade * x + step * second
    third = rest(b)
    c = fade * a + step * (2.0 * third - first)
    last = rest(c)
    _, one, two, three = whole
    return np.asarray(
        np.exp(dt * decay) * x
        + dt * (one - 3.0 * two + 4.0 * three) * first
        + dt * (2.0 * two - 4.0 * three) * (second + third)
        + dt * (4.0 * three - two) * last
    )


def phi(x: Array) -> Array:
    """phi_0 = exp, phi_k+1 = (phi_k - 1 / k!) / x for k = 0, 1, 2 (4, k)."""
    small = np.abs(x) < SERIES
    far = np.where(small, -1.0, x)
    rows = [np.exp(far)]
    near = [np.exp(x)]
    for k in range(3):
        rows.append((rows[-1] - 1.0 / factorial(k)) / far)
        terms = [x**j / factorial(j + k + 1) for j in range(TERMS)]
        near.append(np.sum(terms, axis=0))
    return np.where(small, near, rows)
