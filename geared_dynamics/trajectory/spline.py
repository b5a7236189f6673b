"""A motion q(t) that knows how many of its derivatives are continuous."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, Frozen, readonly
from geared_dynamics.errors import ArrayError
from geared_dynamics.trajectory import basis
from geared_dynamics.trajectory.checks import (
    HIGHEST,
    as_order,
    finite_array,
    joint_list,
    names_for,
)

ALWAYS = 1_000_000  # derivatives of a joint that does not move
BLOCK = 128  # times looked at together: what lies between must fit the cache


@dataclass(frozen=True, eq=False)
class Spline(Frozen):
    """A piecewise polynomial of n joints, at rest before its first and after its last time.

    One that is ``entered`` in motion continues another one: before its first time all is as at
    it, and its first derivatives need not be zero.

    Attributes:
        degree: Degree of the pieces.
        knots: Rising times (c + degree + 1,) [s]; the first and the last degree + 1 coincide.
        coefficients: B-spline coefficients (c, n) [rad or m].
        joint_names: Names for errors (n,).
        entered: Whether it takes over from another motion instead of starting at rest.
    """

    degree: int
    knots: Array
    coefficients: Array
    joint_names: tuple[str, ...] = ()
    entered: bool = False

    def __post_init__(self) -> None:
        """Check and freeze what was given."""
        degree = as_order("degree", self.degree, 2 * HIGHEST + 1)
        coefficients = finite_array("coefficients", self.coefficients, 2)
        knots = finite_array("knots", self.knots, 1)
        count, n = coefficients.shape
        if count < degree + 1 or n < 1:
            finding = f"has shape {coefficients.shape}"
            remedy = f"give shape (c, n) with c at least {degree + 1}, degree + 1"
            raise ArrayError("coefficients", finding, remedy)
        if knots.size != count + degree + 1:
            finding = f"has {knots.size} times"
            remedy = f"give {count + degree + 1}: coefficients and degree and 1"
            raise ArrayError("knots", finding, remedy)
        ends = np.r_[knots[: degree + 1] - knots[0], knots[-degree - 1 :] - knots[-1]]
        multiplicity = np.unique(knots[degree + 1 : -degree - 1], return_counts=True)[1]
        inner = knots[degree + 1 : -degree - 1]
        apart = np.all((inner > knots[0]) & (inner < knots[-1]))
        rising = np.all(np.diff(knots) >= 0.0) and knots[0] < knots[-1] and apart
        if not rising or np.any(ends) or np.any(multiplicity > degree):
            finding = "are not those of a continuous motion"
            remedy = (
                "let them rise from degree + 1 equal ones to degree + 1 equal ones, with at "
                "most degree equal ones between"
            )
            raise ArrayError("knots", finding, remedy)
        object.__setattr__(self, "degree", degree)
        object.__setattr__(self, "knots", readonly(knots))
        object.__setattr__(self, "coefficients", readonly(coefficients))
        object.__setattr__(self, "joint_names", names_for(self.joint_names, n))

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.coefficients.shape[1])

    @property
    def start(self) -> float:
        """Time at which the motion begins [s]."""
        return float(self.knots[0])

    @property
    def end(self) -> float:
        """Time from which it rests [s]."""
        return float(self.knots[-1])

    @property
    def continuous(self) -> tuple[int, ...]:
        """Order up to which each joint's derivatives are continuous, rest included (n,).

        At an inner knot of multiplicity m the degree less m; at an end r, if the outermost
        r + 1 coefficients are equal. A joint that does not move has all derivatives. What
        happens at the beginning of one that is entered is for its maker to know.
        """
        inner = self.knots[self.degree + 1 : -self.degree - 1]
        most = np.unique(inner, return_counts=True)[1].max(initial=0)
        inside = self.degree - int(most) if inner.size else ALWAYS
        return tuple(joint_order(row, inside, self.entered) for row in self.coefficients.T)

    def derivatives(self, t: ArrayLike, order: int) -> Array:
        """Position and its time derivatives up to an order.

        Args:
            t: Times (...) [s].
            order: Highest derivative k.

        Returns:
            Rows q, v, a, jerk and on (..., k+1, n) [rad/s^i or m/s^i].

        Raises:
            ArrayError: if a joint's derivatives are not continuous up to that order.
        """
        k = as_order("order", order)
        self.refuse_rough(k)
        times = finite_array("t", t)
        flat = np.clip(times.reshape(-1), self.start, self.end)
        rest = times.reshape(-1) > self.end
        if not self.entered:
            rest |= times.reshape(-1) < self.start
        result = np.zeros((flat.size, k + 1, self.n))
        pieces = self.pieces[: k + 1]
        for i in range(0, flat.size, BLOCK):
            with np.errstate(over="ignore", invalid="ignore"):
                known = basis.values(pieces, self.degree, flat[i : i + BLOCK])
            result[i : i + BLOCK, : len(pieces)] = known.swapaxes(0, 1)
        result[rest, 1:] = 0.0
        if not np.isfinite(result).all():
            finding = "has points so far apart, or times so near, that it overflows"
            raise ArrayError("the spline", finding, "use SI units")
        return result.reshape(*times.shape, k + 1, self.n)

    @cached_property
    def pieces(self) -> tuple[tuple[Array, Array], ...]:
        """Knots and coefficients of the spline and of all its derivatives."""
        found = [(self.knots, self.coefficients)]
        for degree in range(self.degree, 0, -1):
            with np.errstate(over="ignore", invalid="ignore"):  # derivatives says so
                found.append(basis.derivative(found[-1][0], degree, found[-1][1]))
        return tuple(found)

    def refuse_rough(self, order: int) -> None:
        """Raise if a joint has fewer continuous derivatives."""
        rough = {
            name: known
            for name, known in zip(self.joint_names, self.continuous, strict=True)
            if known < order
        }
        if rough:
            least = min(rough.values())
            finding = (
                f"is {order}, and {joint_list(rough)} has continuous derivatives up to {least}"
            )
            remedy = f"make the reference with continuous={order}, or ask for fewer derivatives"
            raise ArrayError("order", finding, remedy)


def joint_order(column: Array, inside: int, entered: bool = False) -> int:
    """Continuous derivatives of a joint with coefficients (c,), except where it is entered."""
    moved = np.flatnonzero(column != column[0])
    if not moved.size:
        return ALWAYS
    first = ALWAYS if entered else int(moved[0]) - 1
    last = int(np.flatnonzero(column[::-1] != column[-1])[0]) - 1
    return min(inside, first, last)
