"""Bounds of the redundant Jacobian that hold at every posture, from lengths alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.cartesian.bodies import Bodies
from geared_dynamics.model import GearedModel, Tree


def bounds(arm: GearedModel, bodies: Bodies) -> tuple[float, float]:
    """Upper bounds of |J| and of |dJ/dt| per |x'|, Frobenius norm, at every posture.

    Each three rows of J have columns of bounded length, whose derivatives by each coordinate
    are bounded as well:

        |J|^2 <= sum of |column|^2,   |J_dot|^2 <= |x'|^2 sum of |d column / d x_i|^2.

    Infinite where a revolute joint turns a sliding one, whose travel has no end.

    Args:
        arm: The arm whose coordinates are x.
        bodies: Its bodies.
    """
    first, second = 0.0, 0.0
    for lengths, slopes in blocks(arm, bodies):
        first += float(lengths @ lengths)
        second += float(np.sum(slopes**2))
    return float(np.sqrt(first)), float(np.sqrt(second))


def blocks(arm: GearedModel, bodies: Bodies) -> Iterator[tuple[Array, Array]]:
    """Bounds of each three rows of J: of the columns (k,), of their slopes (k, k)."""
    tree, wheels, k = arm.tree, arm.wheels, arm.n
    for b, com in enumerate(bodies.com):
        yield point_bounds(tree, k, b, com)
        yield angular_bounds(tree, k, b)
    for r in bodies.wheels:
        carrier, spin = int(wheels.carrier[r]), np.abs(wheels.spin[r])
        yield point_bounds(tree, k, carrier, wheels.position[r])
        lengths, slopes = angular_bounds(tree, k, carrier)
        yield lengths, slopes + np.outer(lengths, spin)  # the frame turns with the wheel
        yield spin, np.zeros((k, k))


def chain(tree: Tree, body: int) -> list[int]:
    """The body and those that carry it, outermost first; those with a multiplier of 0 too."""
    found = []
    while body >= 0:
        found.append(body)
        body = int(tree.parent[body])
    return found


def point_bounds(tree: Tree, k: int, body: int, place: Array) -> tuple[Array, Array]:
    """Of a point's velocity: |z x r| <= |r|, |z_i x (z_j x r)| <= |r|, of the outer joint's r."""
    lengths, slopes = np.zeros(k), np.zeros((k, k))
    reach, moving = float(np.linalg.norm(place)), []
    for b in chain(tree, body):
        ratio, d = abs(float(tree.multiplier[b])), int(tree.dof[b])
        if ratio > 0.0:
            moved = ratio * (1.0 if tree.prismatic[b] else reach)
            lengths[d] += moved
            moving.append((d, moved))
            if not tree.prismatic[b]:  # it turns what is further out, itself included
                for outer, length in moving[:-1]:
                    slopes[outer, d] += ratio * length
                    slopes[d, outer] += ratio * length
                slopes[d, d] += ratio * moved
        travel = np.inf if tree.prismatic[b] and ratio > 0.0 else 0.0
        reach += float(np.linalg.norm(tree.position[b])) + travel
        reach += abs(float(tree.offset[b])) if tree.prismatic[b] else 0.0
    return lengths, slopes


def angular_bounds(tree: Tree, k: int, body: int) -> tuple[Array, Array]:
    """Of an angular velocity in the body's frame: an axis changes with joints further out."""
    lengths, slopes = np.zeros(k), np.zeros((k, k))
    for b in chain(tree, body):
        if not tree.prismatic[b]:
            ratio, d = abs(float(tree.multiplier[b])), int(tree.dof[b])
            slopes[d] += ratio * lengths
            lengths[d] += ratio
    return lengths, slopes
