"""How far two results are apart, and derivatives that need no second implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import settings

from naive.bodies import Array

# Central difference of eighth order: weights of f(+kh) - f(-kh), k = 1 to 4.
STENCIL = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
# Small against one turn of the fastest sum of joint angles, large against the rounding.
STEP = 3e-3
# Number of examples of the profile in which the counts in the tests are meant.
USUAL_EXAMPLES = 50


def error(found: Any, expected: Any, scale: Any = 0.0) -> float:
    """Largest difference, relative to the largest expected value or ``scale``.

    ``scale`` is for results that are a sum of large terms: their size.
    """
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        return float("inf")
    largest = max(float(np.abs(expected).max(initial=0)), float(np.abs(scale).max(initial=0)))
    difference = float(np.abs(found - expected).max(initial=0))
    return difference / largest if largest > 0 else difference


def derivative(function: Callable[[float], Any], step: float = STEP) -> Array:
    """d function / dt at t = 0."""
    terms = [
        weight * (np.asarray(function(k * step)) - np.asarray(function(-k * step)))
        for k, weight in enumerate(STENCIL, start=1)
    ]
    return np.asarray(sum(terms)) / step


def examples(count: int) -> settings:
    """A number of random examples, of every USUAL_EXAMPLES that a profile has."""
    return settings(max_examples=max(1, count * settings.default.max_examples // USUAL_EXAMPLES))


def holds(name: str, measured: float, asked: float) -> bool:
    """Whether a figure is below what is asked; printed, and collected by `make figures`."""
    print(f"figure: {name:<58} measured {measured:.1e}, asked {asked:.1e}")
    return measured < asked
