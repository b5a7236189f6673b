"""Arms in contact by definition: every link and wheel a body, hinges and contacts as constraints.

Maximal coordinates: the twists x of all bodies (linear at the centre of mass, angular; root axes)
beside v, with x = B(q) v held by forces l on the bodies:

    D x' + bias = l + weight,    x' = B a + B' v,    B' l = tau + J' F,    J a + drift = w

Functional coordinates are analytic functions of q and t, differentiated by complex steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from naive.bodies import Array
from naive.lagrangian import STEP, LagrangianTwin, Numbers, turn
from naive.measure import STEP as DIFFERENCE
from naive.measure import derivative

Coordinate = Callable[[Numbers, Any], Numbers]


class Rows(NamedTuple):
    """Coordinates s at a state."""

    s: Array
    jacobian: Array
    rate: Array
    drift: Array


class Thing(NamedTuple):
    """An object as it is at t = 0, and how it moves."""

    point: Array
    axes: Array
    velocity: Array
    acceleration: Array
    turning: Array


def seen(twin: LagrangianTwin, link: str, thing: Thing, tool: Array) -> Coordinate:
    """Place and yaw, pitch, roll of a link's axes ``tool`` in an object's axes, as analytic s."""
    speed = float(np.linalg.norm(thing.turning))

    def six(q: Numbers, t: Any) -> Numbers:
        """Return s (6,)."""
        axes = thing.axes + 0j
        if speed:
            axes = turn(thing.turning / speed, speed * t) @ axes
        rotation, origin, *_ = twin.link_pose(q, link)
        point = thing.point + t * thing.velocity + 0.5 * t * t * thing.acceleration
        place = axes.T @ (origin - point)
        R = axes.T @ rotation @ tool
        angles = [branch(R[1, 0], R[0, 0]), np.arcsin(-R[2, 0]), branch(R[2, 1], R[2, 2])]
        return np.array([*place, *angles])

    return six


def branch(y: Any, x: Any) -> Any:
    """atan2 of complex numbers near the real axis."""
    usual = np.arctan(y / x) if abs(x) > abs(y) else np.pi / 2 - np.arctan(x / y)
    target = np.arctan2(np.real(y), np.real(x))
    return usual + np.pi * np.round((target - np.real(usual)) / np.pi)


def rows_of(function: Coordinate, q: Array, v: Array, t: float) -> Rows:
    """Derivatives of a function: complex step, and for the drift differences of such."""

    def rate(x: float) -> Array:
        return np.asarray(function(q + (x + 1j * STEP) * v, t + x + 1j * STEP).imag / STEP)

    columns = [function(q + 1j * STEP * unit, t).imag / STEP for unit in np.eye(len(q))]
    here = np.real(function(q + 0j, t))
    step = 0.5 * DIFFERENCE / max(1.0, float(np.abs(v).max()))  # yaw bends fast near gimbal lock
    return Rows(here, np.column_stack(columns), rate(0.0), derivative(rate, step))


class MaximalArm:
    """The bodies of a twin at a state."""

    def __init__(self, twin: LagrangianTwin, q: Array, v: Array) -> None:
        """Place the bodies and let them move."""
        self.twin, self.q, self.v = twin, q, v
        self.B = self.hinges(q).real
        self.turned = self.hinges(q + 1j * STEP * v).imag / STEP @ v
        blocks, bias = [], []
        for body, twist in zip(twin.bodies, (self.B @ v).reshape(-1, 6), strict=True):
            rotation = twin.body_pose(q, body)[0]
            tensor = rotation @ body.tensor @ rotation.T
            block = np.zeros((6, 6))
            block[:3, :3], block[3:, 3:] = body.mass * np.eye(3), tensor
            blocks.append(block)
            omega = twist[3:]
            bias += [*(-body.mass * twin.gravity), *np.cross(omega, tensor @ omega)]
        count = 6 * len(blocks)
        self.D = np.zeros((count, count))
        for k, block in enumerate(blocks):
            self.D[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = block
        self.bias = np.array(bias)

    def hinges(self, q: Numbers) -> Numbers:
        """B (6 bodies, n)."""
        return np.vstack([np.vstack(self.twin.body_pose(q, b)[2:]) for b in self.twin.bodies])

    def solve(
        self,
        force: Array,
        jacobian: Array,
        target: Array,
        *,
        jump: bool,
        pull: Array | None = None,
    ) -> tuple[Array, Array, Array]:
        """x' (or jump of x), a (or jump of v) and F for J a = target.

        Args:
            force: On the joints (n,).
            jacobian: J (m, n).
            target: J a (m,).
            jump: Whether it is an impact: no bias, no velocity terms.
            pull: Direction of each force on the joints (m, n), if not J.
        """
        bodies, n, m = len(self.bias), len(self.v), len(jacobian)
        bias, drift = (0.0 * self.bias, 0.0 * self.turned) if jump else (self.bias, self.turned)
        size = 2 * bodies + n + m
        x, a = slice(0, bodies), slice(bodies, bodies + n)
        l, F = slice(bodies + n, 2 * bodies + n), slice(2 * bodies + n, size)  # noqa: E741
        K, r = np.zeros((size, size)), np.zeros(size)
        K[x, x], K[x, l], r[x] = self.D, -np.eye(bodies), -bias
        K[l, x], K[l, a], r[l] = np.eye(bodies), -self.B, drift
        K[a, l], K[a, F], r[a] = self.B.T, -(jacobian if pull is None else pull).T, force
        K[F, a], r[F] = jacobian, target
        scale = np.abs(K).max(axis=1)
        found = np.linalg.solve(K / scale[:, None], r / scale)
        return found[x], found[a], found[F]


def constrained(
    arm: MaximalArm, tau: Array, rows: Rows, unilateral: Sequence[bool]
) -> tuple[Array, Array]:
    """a and F: of all sets of unilateral contacts that may push, the one that satisfies all."""
    free = [i for i, one in enumerate(unilateral) if one]
    held = [i for i, one in enumerate(unilateral) if not one]
    for count in range(len(free) + 1):
        for chosen in combinations(free, count):
            active = sorted([*held, *chosen])
            J = rows.jacobian[active]
            _, a, part = arm.solve(tau, J, -rows.drift[active], jump=False)
            F = np.zeros(len(rows.s))
            F[active] = part
            w = rows.jacobian @ a + rows.drift
            size = 1e-9 * max(1.0, np.abs(w).max(), np.abs(F).max())
            if all(F[i] > -size and w[i] > -size for i in free):
                return a, F
    raise AssertionError("no set of contacts satisfies the conditions")


def impulses(arm: MaximalArm, rows: Rows, e: float) -> tuple[Array, Array, Array]:
    """Jump of x and of v, and impulses of bilateral coordinates."""
    target = -(1.0 + e) * rows.rate
    return arm.solve(np.zeros(len(arm.v)), rows.jacobian, target, jump=True)


def through_joint(
    arm: MaximalArm, jump: Array, link: str, wrenches: Sequence[tuple[str, Array]]
) -> Array:
    """Impulse (6,) from parent to child at a link's origin, in its axes: of all beyond it."""
    twin = arm.twin
    rotation, origin, *_ = twin.link_pose(arm.q, link)
    beyond = {link}
    grown = True
    while grown:
        more = {child for child, joint in twin.parent_joint.items() if joint.parent in beyond}
        grown = not more <= beyond
        beyond |= more
    total = np.zeros(6)
    for k, body in enumerate(twin.bodies):
        if body.link in beyond:
            momentum = arm.D[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] @ jump[6 * k : 6 * k + 6]
            total += about(momentum, twin.body_pose(arm.q, body)[1] - origin)
    for name, wrench in wrenches:
        if name in beyond:
            total -= about(wrench, twin.link_pose(arm.q, name)[1] - origin)
    return np.concatenate([rotation.T @ total[:3], rotation.T @ total[3:]])


def about(wrench: Array, arm: Array) -> Array:
    """A wrench at the end of an arm, about its beginning."""
    return np.concatenate([wrench[:3], wrench[3:] + np.cross(arm, wrench[:3])])


def rotor_impulse(arm: MaximalArm, jump: Array, wheel: str) -> float:
    """J times the jump of a wheel's angular velocity along its axis."""
    (k,) = [k for k, body in enumerate(arm.twin.bodies) if body.name == wheel]
    body = arm.twin.bodies[k]
    axis = arm.twin.link_pose(arm.q, body.link)[0] @ body.axis
    return float(body.axis @ body.tensor @ body.axis * (axis @ jump[6 * k + 3 : 6 * k + 6]))
