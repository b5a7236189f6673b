"""First-principles Lagrangian of a serial Denavit-Hartenberg arm with rotors, in SymPy.

Each link and each rotor is a rigid body of its own with a position and an orientation;
a rotor's orientation turns by ratio * q about its axis. From there on everything is
differentiation: velocities, kinetic energy, M, Christoffel symbols, gravity (Sciavicco 1994,
eq. 5 to 19, without its Jacobians (8), (12)). Numbers are exact rationals, the result is
evaluated with mpmath at fifty digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from numpy.typing import NDArray

DIGITS = 50


@dataclass(frozen=True)
class DHRow:
    """a [m], sine and cosine of alpha, d [m] of a revolute joint."""

    a: Any
    sin_alpha: Any
    cos_alpha: Any
    d: Any


@dataclass(frozen=True)
class RigidBody:
    """A body fixed on link ``link`` (0: base) or turning in it about ``axis``.

    ``com`` from the origin of frame link - 1 and ``tensor`` about the centre of mass, both
    in the axes of frame ``link``; the body's own angle is ``ratio * q[joint]``.
    """

    link: int
    mass: Any
    com: sp.Matrix
    tensor: sp.Matrix
    axis: sp.Matrix | None = None
    joint: int = 0
    ratio: Any = 0


@dataclass(frozen=True)
class Equations:
    """M (n, n), C (n, n), g (n,) as functions of floats, correctly rounded.

    ``force`` is M a + C v + g of mpmath's numbers, not rounded.
    """

    mass_matrix: Callable[..., NDArray[np.float64]]
    coriolis_matrix: Callable[..., NDArray[np.float64]]
    gravity_forces: Callable[..., NDArray[np.float64]]
    force: Callable[..., Any] | None = None


def exact(value: float) -> sp.Rational:
    """The decimal number that a file states."""
    return sp.Rational(repr(float(value)))


def exact_matrix(values: Any) -> sp.Matrix:
    """The same for vectors and matrices."""
    return sp.Matrix(np.vectorize(exact, otypes=[object])(np.asarray(values)))


def turned(axis: sp.Matrix, angle: Any) -> sp.Matrix:
    """Rotation about a unit axis."""
    x, y, z = axis
    cross = sp.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return sp.eye(3) + sp.sin(angle) * cross + (1 - sp.cos(angle)) * cross * cross


def frames(rows: Sequence[DHRow], q: Sequence[sp.Symbol]) -> list[tuple[sp.Matrix, sp.Matrix]]:
    """Rotation and origin of DH frames 0 to n."""
    found = [(sp.eye(3), sp.zeros(3, 1))]
    for row, angle in zip(rows, q, strict=True):
        rotation, origin = found[-1]
        c, s, ca, sa = sp.cos(angle), sp.sin(angle), row.cos_alpha, row.sin_alpha
        relative = sp.Matrix([[c, -s * ca, s * sa], [s, c * ca, -c * sa], [0, sa, ca]])
        arm = sp.Matrix([row.a * c, row.a * s, row.d])
        found.append((rotation * relative, origin + rotation * arm))
    return found


def derive(
    rows: Sequence[DHRow], bodies: Sequence[RigidBody], gravity: sp.Matrix, shafts: int = 0
) -> Equations:
    """Lagrange's equations of the bodies; ``gravity`` is g0 in frame 0.

    ``shafts`` more coordinates than rows turn bodies only.
    """
    q = sp.symbols(f"q1:{len(rows) + shafts + 1}", real=True)
    v = sp.symbols(f"v1:{len(rows) + shafts + 1}", real=True)
    placed = frames(rows, q[: len(rows)])
    M, U = sp.zeros(len(q)), sp.Integer(0)
    for body in bodies:
        rotation = placed[body.link][0]
        position = placed[max(body.link - 1, 0)][1] + rotation * body.com
        if body.axis is not None:
            rotation = rotation * turned(body.axis, body.ratio * q[body.joint])
        linear = position.jacobian(sp.Matrix(q))
        angular = body_rates(rotation, q)
        M += body.mass * linear.T * linear + angular.T * body.tensor * angular
        U -= body.mass * (gravity.T * position)[0]
    C = sp.Matrix(len(q), len(q), lambda i, j: christoffel(M, q, v, i, j))
    g = sp.Matrix([U]).jacobian(sp.Matrix(q))
    found = evaluator([q], M), evaluator([q, v], C), evaluator([q], g, flat=True)
    a = sp.symbols(f"a1:{len(q) + 1}", real=True)
    whole = M * sp.Matrix(a) + C * sp.Matrix(v) + g.T
    return Equations(*found, sp.lambdify([q, v, a], whole, modules="mpmath", cse=True))


def body_rates(rotation: sp.Matrix, q: Sequence[sp.Symbol]) -> sp.Matrix:
    """Angular velocity in body axes per coordinate (3, n), from R' dR/dq."""
    columns = []
    for symbol in q:
        spin = rotation.T * rotation.diff(symbol)
        columns.append(sp.Matrix([spin[2, 1], spin[0, 2], spin[1, 0]]))
    return sp.Matrix.hstack(*columns)


def christoffel(M: sp.Matrix, q: Any, v: Any, i: int, j: int) -> sp.Expr:
    """C_ij, eq. 17."""
    terms = (
        (M[i, j].diff(q[k]) + M[i, k].diff(q[j]) - M[j, k].diff(q[i])) * v[k] / 2
        for k in range(len(q))
    )
    return sum(terms, sp.Integer(0))


def evaluator(
    arguments: list[Any], matrix: sp.Matrix, *, flat: bool = False
) -> Callable[..., NDArray[np.float64]]:
    """A function of float vectors that evaluates with fifty digits and rounds once."""
    function = sp.lambdify(arguments, matrix, modules="mpmath", cse=True)

    def evaluate(*vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        with mpmath.workdps(DIGITS):
            result = function(*([mpmath.mpf(float(x)) for x in vector] for vector in vectors))
            values = np.array(result.tolist(), float)
        return values.ravel() if flat else values

    return evaluate


def exact_slopes(
    function: Callable[..., NDArray[np.float64]], arguments: Sequence[NDArray[np.float64]]
) -> list[NDArray[np.float64]]:
    """Derivatives of a function of mpmath's matrices by each argument, a column each.

    Central differences with fifty digits and a step of 1e-16: right to thirty digits.
    """
    with mpmath.workdps(DIGITS):
        step = mpmath.mpf(10) ** -16
        blocks = []
        for k, argument in enumerate(arguments):
            columns = []
            for d in range(len(argument)):
                sides = []
                for sign in (1, -1):
                    moved = [[mpmath.mpf(float(x)) for x in vector] for vector in arguments]
                    moved[k][d] += sign * step
                    sides.append(function(*moved))
                columns.append((sides[0] - sides[1]) / (2 * step))
            blocks.append(np.column_stack([np.array(c.tolist(), float).ravel() for c in columns]))
    return blocks
