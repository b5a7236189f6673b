"""Lagrange's equations along a path, differentiated in time exactly, by jets.

A jet is a polynomial in t, cut off, whose coefficients are complex arrays: the powers of t carry
the time derivatives, the imaginary part a complex step in q. With L = T - U,

    tau = d/dt (M v) - dL/dq,

both terms as polynomials in t, no recursion and no velocity terms written down.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from naive.bodies import Array, Body
from naive.lagrangian import STEP, LagrangianTwin, Numbers

CROSS = np.zeros((3, 3, 3))
CROSS[0, 1, 2] = CROSS[1, 2, 0] = CROSS[2, 0, 1] = 1.0
CROSS[0, 2, 1] = CROSS[1, 0, 2] = CROSS[2, 1, 0] = -1.0


class Jet(NDArrayOperatorsMixin):
    """An array that is a polynomial in t, by its coefficients (k, *shape), lowest first.

    All jets of a calculation have the same k. Only the operations of a ``LagrangianTwin`` exist.
    """

    dtype = np.dtype(complex)

    def __init__(self, coefficients: Any) -> None:
        """Keep the coefficients."""
        self.c = np.asarray(coefficients, complex)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.c.shape[1:]

    @property
    def T(self) -> Jet:
        """The array's transpose."""
        return Jet(np.moveaxis(self.c, 0, -1).T)

    def __getitem__(self, key: Any) -> Jet:
        return Jet(self.c[:, key])

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any) -> Any:
        """Sums, products and trigonometry."""
        if method != "__call__" or ufunc not in OPERATIONS:
            return NotImplemented
        return OPERATIONS[ufunc](*(self.like(x) for x in inputs))

    def __array_function__(self, function: Any, _types: Any, inputs: Any, options: Any) -> Any:
        """Cross and outer products, and arrays side by side."""
        if function is np.hstack:
            return Jet(np.concatenate([self.like(x).c for x in inputs[0]], axis=-1))
        first, second = (self.like(x) for x in inputs)
        if function is np.outer:
            return bilinear("i", "j", "ij", first, second)
        assert function is np.cross
        assert options == {"axis": 0}
        columns = "n" * (len(first.shape) - 1)
        return bilinear(f"y{columns}", "z", f"x{columns}", first, second, CROSS)

    def like(self, other: Any) -> Jet:
        """Return a jet or a constant as a jet."""
        if isinstance(other, Jet):
            return other
        constant = np.zeros((len(self.c), *np.shape(other)), complex)
        constant[0] = other
        return Jet(constant)


def bilinear(a: str, b: str, out: str, x: Jet, y: Jet, weights: Array | None = None) -> Jet:
    """Product of two jets by its indices, each coefficient the sum over those of both.

    With ``weights`` their indices are xyz, the first one that of the result.
    """
    k = len(x.c)
    # Row m, column j: the coefficient m - j of x, if there is one.
    shifted = np.zeros((k, *x.c.shape), complex)
    for j in range(k):
        shifted[j:, j] = x.c[: k - j]
    if weights is None:
        return Jet(np.einsum(f"pq{a},q{b}->p{out}", shifted, y.c))
    return Jet(np.einsum(f"xyz,pq{a},q{b}->p{out}", weights, shifted, y.c))


def add(x: Jet, y: Jet) -> Jet:
    """Sum; an array with fewer dimensions counts for all of the other."""
    return Jet(np.moveaxis(np.moveaxis(x.c, 0, -1) + np.moveaxis(y.c, 0, -1), -1, 0))


def negative(x: Jet) -> Jet:
    """Minus x."""
    return Jet(-x.c)


def multiply(x: Jet, y: Jet) -> Jet:
    """Product by elements; one of the two is a number."""
    if y.shape:
        x, y = y, x
    assert not y.shape
    indices = "abc"[: len(x.shape)]
    return bilinear(indices, "", indices, x, y)


def matmul(x: Jet, y: Jet) -> Jet:
    """Product of matrices and vectors."""
    rows, columns = "r" * (len(x.shape) - 1), "s" * (len(y.shape) - 1)
    return bilinear(f"{rows}i", f"i{columns}", f"{rows}{columns}", x, y)


def sin(x: Jet) -> Jet:
    """Sine of a number."""
    return taylor(x, [np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)])


def cos(x: Jet) -> Jet:
    """Cosine of a number."""
    return taylor(x, [np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin])


def taylor(x: Jet, slopes: list[Any]) -> Jet:
    """Taylor's series of a function about c[0]; ``slopes`` are its derivatives, periodic."""
    rest, power, total = Jet([0, *x.c[1:]]), x * 0 + 1, x * 0
    for m in range(len(x.c)):
        total = total + power * (slopes[m % 4](x.c[0]) / factorial(m))
        power = power * rest
    return total


OPERATIONS: dict[Any, Any] = {
    np.add: add,
    np.subtract: lambda x, y: add(x, negative(y)),
    np.negative: negative,
    np.multiply: multiply,
    np.matmul: matmul,
    np.sin: sin,
    np.cos: cos,
}


class PathTwin(LagrangianTwin):
    """The arm of two records, along a path.

    A body's own turn is left out of its pose: a wheel's tensor does not see it, and with
    ratios in the hundreds its derivatives would amplify the tensor's last digit.
    """

    poses: dict[tuple[str, bytes], Any]  # of links, within one calculation

    def link_pose(self, q: Numbers, link: str) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """As before, each link once."""
        key = (link, q.c.tobytes())
        if key not in self.poses:
            self.poses[key] = super().link_pose(q, link)
        return self.poses[key]

    def body_pose(self, q: Numbers, body: Body) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Rotation, origin and Jacobians, the body locked but its spin in the Jacobian."""
        rotation, origin, linear, angular = self.link_pose(q, body.link)
        arm = rotation @ body.com
        linear = linear + np.cross(angular, arm, axis=0)
        angular = angular + np.outer(rotation @ body.axis, body.spin)
        return rotation, origin + arm, linear, angular

    def inverse_dynamics_time_derivatives(self, derivatives: Array) -> Array:
        """The force and its time derivatives (k-1, n) for q and its derivatives (k+1, n)."""
        return np.stack([self.force_derivatives(derivatives, j) for j in range(self.n)], axis=1)

    def force_derivatives(self, derivatives: Array, j: int) -> Array:
        """Component j of the force and of its time derivatives (k-1,)."""
        rows = len(derivatives) - 1
        weights = np.array([float(factorial(m)) for m in range(rows)])
        q, v = Jet(derivatives[:-1] / weights[:, None]), Jet(derivatives[1:] / weights[:, None])
        # T is a square of v: its slope is the momentum, and one step does for both.
        momentum = self.lagrangian(q, moved(v, j)).c.imag / STEP
        slope = self.lagrangian(moved(q, j), v).c.imag / STEP
        return (momentum[1:] * np.arange(1, rows) - slope[:-1]) * weights[:-1]

    def lagrangian(self, q: Numbers, v: Numbers) -> Any:
        """T - U."""
        self.poses = {}
        kinetic = v @ (self.extra @ v)
        potential = 0.0
        for body in self.bodies:
            rotation, origin, linear, angular = self.body_pose(q, body)
            own = rotation.T @ (angular @ v)
            speed = linear @ v
            kinetic = kinetic + body.mass * (speed @ speed) + own @ (body.tensor @ own)
            potential = potential - body.mass * self.gravity @ origin
        return 0.5 * kinetic - potential


def moved(x: Jet, i: int) -> Jet:
    """The point x + ih e_i."""
    step = np.zeros_like(x.c)
    step[0, i] = 1j * STEP
    return Jet(x.c + step)
