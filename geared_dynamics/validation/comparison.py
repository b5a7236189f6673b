"""Comparing one quantity with its reference, and judging the difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.model.model import GearedModel
from geared_dynamics.validation.spanning_tree import SpanningTree

SINGLES = 3  # states which are also evaluated one by one, not only in the batch
VANISHING = 1e-9  # a quantity below this share of its companion counts as zero

# Ours takes (model, ...) and the reference (tree, ...); both end in arrays of a state.
Function = Callable[..., Any]


class Quantity(NamedTuple):
    """Comparison of one quantity.

    Attributes:
        name: What is compared.
        error: Worst error of an element over the states, relative to ``scale``.
        scale: Largest magnitude of an element over the states (reference) [SI]. A
            quantity that vanishes (gravity of a planar arm, say) is measured by its
            companion: forces by the joint forces, energies by the kinetic energy.
        state: Index of the state with the worst error.
        passed: Whether ``error`` is within the tolerance.
    """

    name: str
    error: float
    scale: float
    state: int
    passed: bool


class Comparison(NamedTuple):
    """Values of one quantity.

    Attributes:
        name: What is compared.
        ours: Our values, the batch (N, ...) followed by the single states'.
        expected: The reference's values for the same rows.
        companion: What to measure a vanishing quantity by.
        states: N.
    """

    name: str
    ours: Array
    expected: Array
    companion: Array
    states: int


class Pair(NamedTuple):
    """A model and its reference."""

    model: GearedModel
    ref: SpanningTree

    def compare(
        self,
        name: str,
        ours: Function,
        theirs: Function,
        inputs: tuple[Array, ...],
        companion: Array | None = None,
    ) -> Comparison:
        """Evaluate ours as a batch and, for the first states, singly; theirs state by state."""
        expected = each(theirs, self.ref, *inputs)
        batch = np.asarray(ours(self.model, *inputs))
        singles = each(ours, self.model, *(x[:SINGLES] for x in inputs))
        return Comparison(
            name,
            np.concatenate([batch, singles]),
            np.concatenate([expected, expected[:SINGLES]]),
            expected if companion is None else companion,
            len(expected),
        )


def each(function: Function, subject: GearedModel | SpanningTree, *inputs: Array) -> Array:
    """Evaluate a function state by state, (N, ...)."""
    rows = zip(*inputs, strict=True)
    return np.stack([np.array(function(subject, *row), dtype=np.float64) for row in rows])


def judge(comparison: Comparison, tolerance: float) -> Quantity:
    """Find the worst element; a value that is not finite fails."""
    name, ours, expected, companion, states = comparison
    own, other = (float(np.abs(x).max(initial=0.0)) for x in (expected, companion))
    scale = own if own > VANISHING * other else other
    errors = np.abs(ours - expected).reshape(len(ours), -1).max(axis=1, initial=0.0)
    errors = np.where(np.isfinite(errors), errors, np.inf)
    row = int(np.argmax(errors))
    error = float(errors[row]) / scale if scale > 0 else float(errors[row])
    return Quantity(name, error, scale, row % states, error <= tolerance)
