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
    half, whole = np.swapaxes(phi(dt * np.stack([0.5 * decay, decay])), 0, 1)
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
    """phi_0 = exp, phi_k+1 = (phi_k - 1 / k!) / x for k = 0, 1, 2 (4, ...).

    Near zero phi_3 is summed, sum x^j / (j + 3)!, and the others follow from it.
    """
    small = np.abs(x) < SERIES
    whole = np.exp(x)
    far = np.where(small, -1.0, x)
    rows = [whole]
    for k in range(3):
        rows.append((rows[-1] - 1.0 / factorial(k)) / far)
    close = np.where(small, x, 0.0)
    last = np.zeros_like(x)
    for j in reversed(range(TERMS)):
        last = last * close + 1.0 / factorial(j + 3)
    second = close * last + 0.5
    near = [whole, close * second + 1.0, second, last]
    return np.where(small, near, rows)
