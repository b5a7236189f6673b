"""A motion from rest to rest as polynomials between times, as jerky as its limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, Frozen, readonly
from geared_dynamics.errors import ArrayError
from geared_dynamics.trajectory.checks import as_order, finite_array
from geared_dynamics.trajectory.reference import Reference
from geared_dynamics.trajectory.segments import TERMS, tables


@dataclass(frozen=True, eq=False)
class Piecewise(Frozen):
    """q(s) = Σ c_k (s - t_i)^k, s = t - start, in the piece that begins at t_i; else at rest.

    Unlike a ``Spline`` it also gives the first derivative that jumps, with its value after the
    jump: the acceleration of a trapezoidal profile, the jerk of a jerk-bounded one.

    Attributes:
        degree: Of the pieces; degree - 1 derivatives are continuous, the next one jumps.
        start: Time up to which it rests [s].
        knots: Times t_i after the start, rising from 0 (k + 1,) [s].
        coefficients: c (k, degree + 1, n).
        first: Position before (n,) [rad or m].
        last: Position after (n,).
    """

    degree: int
    start: float
    knots: Array
    coefficients: Array
    first: Array
    last: Array

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.first.size)

    @property
    def duration(self) -> float:
        """Time from rest to rest [s]; zero if no joint moves."""
        return float(self.knots[-1])

    @property
    def end(self) -> float:
        """Time from which it rests [s]."""
        return self.start + self.duration

    def derivatives(self, t: ArrayLike, order: int) -> Array:
        """Position and its time derivatives up to an order.

        Args:
            t: Times (...) [s].
            order: Highest derivative k, at most the degree.

        Returns:
            Rows q, v, a, jerk and on (..., k+1, n) [rad/s^i or m/s^i].

        Raises:
            ArrayError: if an asked derivative has impulses.
        """
        highest = as_order("order", order)
        if highest > self.degree:
            finding = f"is {highest}, and derivative {self.degree} of this motion jumps"
            remedy = f"ask for {self.degree} or fewer, or take rest_to_rest(continuous={highest})"
            raise ArrayError("order", finding, remedy)
        times = finite_array("t", t)
        flat = times.reshape(-1) - self.start
        values = np.zeros((flat.size, highest + 1, self.n))
        values[:, 0] = np.where(flat[:, None] < 0.0, self.first, self.last)
        moving = np.flatnonzero((flat >= 0.0) & (flat < self.duration))
        at = np.searchsorted(self.knots, flat[moving], side="right") - 1
        terms = self.coefficients[at]  # of the derivative, lowest power first
        x = (flat[moving] - self.knots[at])[:, None]
        for row in range(highest + 1):
            values[moving, row] = horner(terms, x)
            terms = terms[:, 1:] * np.arange(1, terms.shape[1])[:, None]
        return values.reshape(*times.shape, highest + 1, self.n)

    def reference(self) -> Reference:
        """The same motion for ``sample_into`` and ``derivatives``, without effort."""
        count, terms, n = self.coefficients.shape
        position = np.zeros((count, TERMS, n))
        position[:, :terms] = self.coefficients
        none = np.zeros((count, n))
        last = np.zeros((4, n))
        last[0] = self.last
        table = readonly(tables(position, none, none))
        return Reference(self.start, self.knots, table, readonly(last))


def horner(coefficients: Array, x: Array) -> Array:
    """Σ c_p x^p (k, n), with c (k, p, n) and x (k, 1)."""
    value = np.zeros(coefficients.shape[::2])
    for p in reversed(range(coefficients.shape[1])):
        value = value * x + coefficients[:, p]
    return value
