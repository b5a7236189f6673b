"""Lagrange's equations along a path, differentiated in time exactly, by jets.

A jet is a polynomial in t, cut off, whose coefficients are complex: the powers of t carry
the time derivatives, the imaginary part a complex step in q. With L = T - U,

    tau = d/dt (M v) - dL/dq,

both terms as polynomials in t, no recursion and no velocity terms written down.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from naive.bodies import Array, Body
from naive.lagrangian import STEP, LagrangianTwin, Numbers


class Jet:
    """A polynomial in t by its coefficients, lowest first; all jets have the same number."""

    def __init__(self, coefficients: Any) -> None:
        """Keep the coefficients."""
        self.c = np.asarray(coefficients, complex)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return Jet(self.c + self.like(other))

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return Jet(np.convolve(self.c, self.like(other))[: len(self.c)])

    def __neg__(self) -> Jet:
        return Jet(-self.c)

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    __radd__, __rmul__ = __add__, __mul__

    def like(self, other: Any) -> Array:
        """Coefficients of a jet or a constant."""
        if isinstance(other, Jet):
            return other.c
        constant = np.zeros_like(self.c)
        constant[0] = other
        return constant

    def sin(self) -> Jet:
        """Sine; the name is what NumPy looks for."""
        return self.series([np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)])

    def cos(self) -> Jet:
        """Cosine."""
        return self.series([np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin])

    def series(self, slopes: list[Any]) -> Jet:
        """Taylor's series of a function about c[0]; ``slopes`` are its derivatives, periodic."""
        rest, power, total = Jet([0, *self.c[1:]]), self * 0 + 1, self * 0
        for m in range(len(self.c)):
            total += power * (slopes[m % 4](self.c[0]) / factorial(m))
            power *= rest
        return total


class PathTwin(LagrangianTwin):
    """The arm of two records, along a path.

    A body's own turn is left out of its pose: a wheel's tensor does not see it, and with
    ratios in the hundreds its derivatives would amplify the tensor's last digit.
    """

    def body_pose(self, q: Numbers, body: Body) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Rotation, origin and Jacobians, the body locked but its spin in the Jacobian."""
        rotation, origin, linear, angular = self.link_pose(q, body.link)
        arm = rotation @ body.com
        linear = linear + np.cross(angular, arm, axis=0)
        angular = angular + np.outer(rotation @ body.axis, body.spin)
        return rotation, origin + arm, linear, angular

    def inverse_dynamics_derivatives(self, derivatives: Array) -> Array:
        """The force and its time derivatives (k-1, n) for q and its derivatives (k+1, n)."""
        rows = len(derivatives) - 1
        weights = np.array([float(factorial(m)) for m in range(rows)])[:, None]
        q, v = jets(derivatives[:-1] / weights), jets(derivatives[1:] / weights)
        momentum = self.mass_matrix(q) @ v
        slope = np.array([self.lagrangian(moved(q, i), v).c.imag / STEP for i in range(self.n)])
        rate = np.array([p.c.real[1:] for p in momentum]) * np.arange(1, rows)
        return (rate - slope[:, :-1]).T * weights[:-1]

    def lagrangian(self, q: Numbers, v: Numbers) -> Any:
        """T - U."""
        return v @ (self.mass_matrix(q) @ v) * 0.5 - self.potential_energy(q)


def jets(coefficients: Array) -> Numbers:
    """Jets (n,) of coefficients (k, n)."""
    found = np.empty(coefficients.shape[1], object)
    found[:] = [Jet(column) for column in coefficients.T]
    return found


def moved(q: Numbers, i: int) -> Numbers:
    """The point q + ih e_i."""
    point = q.copy()
    point[i] = q[i] + 1j * STEP
    return point
