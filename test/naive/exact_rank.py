"""Base parameters over a finite field: no rounding, so ratios of any size are as good as one.

Joints turn by angles of rational half-tangents, links are placed by rational rotations, and all
numbers are residues modulo the prime 2^61 - 1. The regressor is written down from the motion of
each body in the root frame (Newton and Euler), and Gauss's elimination is exact. A random state
hides a dependence, or makes one, with a probability of about 1e-15.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

PRIME = 2**61 - 1
Vector = list[int]
Rows = list[Vector]


@dataclass(frozen=True)
class ExactJoint:
    """A joint: its parent's index (-1: root), placement, axis (all rational) and kind."""

    parent: int
    rotation: Sequence[Sequence[Fraction]]
    position: Sequence[Fraction]
    axis: Sequence[Fraction]
    slides: bool


@dataclass(frozen=True)
class ExactWheel:
    """A wheel: its carrier's index (-1: root), axis and ratios to the joints."""

    carrier: int
    axis: Sequence[Fraction]
    ratios: Sequence[Fraction]


def residue(value: Fraction | int) -> int:
    """The number modulo the prime."""
    value = Fraction(value)
    return value.numerator * pow(value.denominator, -1, PRIME) % PRIME


def vector(values: Sequence[Fraction | int]) -> Vector:
    """Residues of a vector."""
    return [residue(value) for value in values]


def dot(a: Vector, b: Vector) -> int:
    """a . b."""
    return sum(x * y for x, y in zip(a, b, strict=True)) % PRIME


def cross(a: Vector, b: Vector) -> Vector:
    """a x b."""
    return [
        (a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3]) % PRIME
        for k in range(3)
    ]


def plus(*vectors: Vector) -> Vector:
    """Sum."""
    return [sum(column) % PRIME for column in zip(*vectors, strict=True)]


def times(s: int, a: Vector) -> Vector:
    """s a."""
    return [s * x % PRIME for x in a]


def apply(rows: Rows, a: Vector) -> Vector:
    """R a."""
    return [dot(row, a) for row in rows]


def product(a: Rows, b: Rows) -> Rows:
    """A B."""
    columns = [list(column) for column in zip(*b, strict=True)]
    return [[dot(row, column) for column in columns] for row in a]


def turn(axis: Vector, half_tangent: int) -> Rows:
    """Rotation about a unit axis with tan(angle / 2) given: 1 + sin K + (1 - cos) K^2."""
    t2 = half_tangent * half_tangent % PRIME
    scale = pow(1 + t2, -1, PRIME)
    sine, rest = 2 * half_tangent * scale, 2 * t2 * scale
    x, y, z = axis
    K = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    K2 = product(K, K)
    return [
        [(int(i == j) + sine * K[i][j] + rest * K2[i][j]) % PRIME for j in range(3)]
        for i in range(3)
    ]


@dataclass
class Moving:
    """A body in motion, root frame; gravity is in the acceleration."""

    R: Rows
    p: Vector
    omega: Vector
    alpha: Vector
    acc: Vector


def motion(
    joints: Sequence[ExactJoint], q: Vector, v: Vector, a: Vector, g: Vector
) -> list[Moving]:
    """All bodies; the root (fixed) is at the end, so that index -1 finds it."""
    zero, one = [0, 0, 0], [[int(i == j) for j in range(3)] for i in range(3)]
    root = Moving(one, zero, zero, zero, times(-1, g))
    bodies: list[Moving] = []
    for i, joint in enumerate(joints):
        at = bodies[joint.parent] if joint.parent >= 0 else root
        R = product(at.R, [vector(row) for row in joint.rotation])
        axis = vector(joint.axis)
        z = apply(R, axis)
        r = apply(at.R, vector(joint.position))
        if joint.slides:
            r = plus(r, times(q[i], z))
            omega, alpha = at.omega, at.alpha
            slide = plus(times(a[i], z), times(2 * v[i], cross(omega, z)))
        else:
            R = product(R, turn(axis, q[i]))
            omega = plus(at.omega, times(v[i], z))
            alpha = plus(at.alpha, times(a[i], z), times(v[i], cross(at.omega, z)))
            slide = zero
        acc = plus(at.acc, cross(at.alpha, r), cross(at.omega, cross(at.omega, r)), slide)
        bodies.append(Moving(R, plus(at.p, r), omega, alpha, acc))
    return [*bodies, root]


def wrenches(body: Moving) -> list[tuple[Vector, Vector]]:
    """Force and moment about the body's origin of each of its ten parameters."""
    back = [list(column) for column in zip(*body.R, strict=True)]
    omega, alpha, acc = (apply(back, x) for x in (body.omega, body.alpha, body.acc))
    zero, e = [0, 0, 0], [[int(i == j) for j in range(3)] for i in range(3)]
    pairs = [(acc, zero)]
    for i in range(3):
        pairs.append(
            (plus(cross(alpha, e[i]), cross(omega, cross(omega, e[i]))), cross(e[i], acc))
        )
    for i in range(3):
        for j in range(i, 3):
            unit = [[int((r, c) in ((i, j), (j, i))) for c in range(3)] for r in range(3)]
            pairs.append((zero, plus(apply(unit, alpha), cross(omega, apply(unit, omega)))))
    return [(apply(body.R, f), apply(body.R, n)) for f, n in pairs]


def regressor(
    joints: Sequence[ExactJoint],
    wheels: Sequence[ExactWheel],
    state: tuple[Vector, Vector, Vector],
    gravity: Vector,
) -> Rows:
    """Rows (n) of ten columns for each body, then one for each wheel."""
    q, v, a = state
    bodies = motion(joints, q, v, a, gravity)
    n = len(joints)
    rows = [[0] * (10 * n + len(wheels)) for _ in range(n)]
    axes = [apply(body.R, vector(joint.axis)) for body, joint in zip(bodies, joints, strict=False)]
    for b in range(n):
        for k, (f, moment) in enumerate(wrenches(bodies[b])):
            for j in above(joints, b):
                arm = plus(bodies[b].p, times(-1, bodies[j].p))
                force = f if joints[j].slides else plus(moment, cross(arm, f))
                rows[j][10 * b + k] = dot(axes[j], force)
    for w, wheel in enumerate(wheels):
        body = bodies[wheel.carrier] if wheel.carrier >= 0 else bodies[-1]
        e, ratios = apply(body.R, vector(wheel.axis)), vector(wheel.ratios)
        own = (dot(ratios, a) + dot(e, body.alpha)) % PRIME
        moment = plus(times(dot(ratios, a), e), times(dot(ratios, v), cross(body.omega, e)))
        for j in range(n):
            rows[j][10 * n + w] = ratios[j] * own % PRIME
        for j in above(joints, wheel.carrier):
            if not joints[j].slides:
                rows[j][10 * n + w] = (rows[j][10 * n + w] + dot(axes[j], moment)) % PRIME
    return rows


def above(joints: Sequence[ExactJoint], body: int) -> list[int]:
    """The joints that move a body."""
    found = []
    while body >= 0:
        found.append(body)
        body = joints[body].parent
    return found


def selection(rows: Rows, order: Sequence[int]) -> list[int]:
    """Columns that are no combination of those before them in an order (Gauss and Jordan)."""
    found: list[tuple[int, Vector]] = []
    columns = [[row[k] for row in rows] for k in order]
    kept = []
    for k, column in zip(order, columns, strict=True):
        for pivot, other in found:
            share = column[pivot]
            if share:
                column = [(x - share * y) % PRIME for x, y in zip(column, other, strict=True)]
        pivot = next((r for r, value in enumerate(column) if value), -1)
        if pivot >= 0:
            inverse = pow(column[pivot], -1, PRIME)
            found.append((pivot, [x * inverse % PRIME for x in column]))
            kept.append(k)
    return kept


def exact_selection(
    joints: Sequence[ExactJoint], wheels: Sequence[ExactWheel], order: Sequence[int], seed: int
) -> list[int]:
    """Base parameters' columns, of those in an order, at random states."""
    draw = random.Random(seed)
    n = len(joints)
    gravity = [0, 0, residue(Fraction(-981, 100))]
    rows: Rows = []
    while len(rows) < 2 * len(order) + 4 * n:
        state = tuple([draw.randrange(PRIME) for _ in range(n)] for _ in range(3))
        rows += regressor(joints, wheels, state, gravity)  # type: ignore[arg-type]
    return selection(rows, order)
