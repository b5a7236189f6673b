"""Equations that are linear apart from absolute values, solved exactly.

    F(x) = L x + c + W |P x + o| = 0

On each side of the planes P x + o = 0 the equations are linear. From a start the
straight way to F = 0 is followed through the pieces (Katzenelson 1965): within one, it
is Newton's direction; at a plane, that plane's sign changes and the way goes on. Where
the determinant has one sign in all pieces, the solution is unique and always reached.
Where a neighbouring piece has the other sign, the way would turn back: there the
equations have no solution further on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array

# Remaining error, relative to the terms of its row, that counts as rounding.
ROUNDING = 1e-13
NOTHING = 1e-16  # the same relative to the largest row, for rows whose terms are all nothing
CROSSINGS = 40  # planes crossed for each one there is, before giving up


class Pieces(NamedTuple):
    """The equations; x has k entries, there are p absolute values.

    Attributes:
        linear: L (k, k).
        constant: c (k,).
        weights: W (k, p).
        planes: P (p, k).
        offsets: o (p,).
    """

    linear: Array
    constant: Array
    weights: Array
    planes: Array
    offsets: Array


class Solution(NamedTuple):
    """A solution x (k,) and the sign of each P x + o (p,)."""

    x: Array
    signs: Array


class Turned(NamedTuple):
    """There is no way on: at which plane (-1: not known)."""

    plane: int


def follow(pieces: Pieces, start: Array) -> Solution | Turned:
    """Solve F(x) = 0 from a start."""
    x, absolute = start, magnitudes(pieces)
    signs = np.where(distances(pieces, x) < 0.0, -1.0, 1.0)
    crossed = -1
    for _ in range(CROSSINGS * (len(signs) + 1)):
        values = distances(pieces, x)
        rest = pieces.linear @ x + pieces.constant + pieces.weights @ (signs * values)
        terms = size(absolute, x)
        done = np.abs(rest) <= ROUNDING * terms + NOTHING * terms.max()
        if np.all(done & (terms < np.inf)):
            return Solution(x, signs)
        try:
            step = np.linalg.solve(slope(pieces, signs), -rest)
        except np.linalg.LinAlgError:
            return Turned(crossed)
        if crossed >= 0 and signs[crossed] * (pieces.planes[crossed] @ step) < 0.0:
            return Turned(crossed)
        part, crossed = first_crossing(signs, values, pieces.planes @ step)
        x = x + min(part, 1.0) * step
        if part >= 1.0:
            return Solution(x, signs)
        signs[crossed] = -signs[crossed]
    return Turned(crossed)


def size(pieces: Pieces, x: Array) -> Array:
    """Size of the terms in each row of F (k,), pieces given by their absolute values."""
    L, c, W, P, o = pieces
    length = np.abs(x)
    return np.asarray(L @ length + c + W @ (P @ length + o))


def magnitudes(pieces: Pieces) -> Pieces:
    """Absolute values of all numbers."""
    return Pieces(*(np.abs(part) for part in pieces))


def distances(pieces: Pieces, x: Array) -> Array:
    """P x + o (p,)."""
    return np.asarray(pieces.planes @ x + pieces.offsets)


def slope(pieces: Pieces, signs: Array) -> Array:
    """Derivative of F in a piece (k, k)."""
    return np.asarray(pieces.linear + (pieces.weights * signs) @ pieces.planes)


def first_crossing(signs: Array, values: Array, rates: Array) -> tuple[float, int]:
    """How far along the step the first sign changes, and which; infinite where none does."""
    approaching = signs * rates < 0.0
    if not approaching.any():
        return np.inf, -1
    left = np.maximum(signs * values, 0.0)
    parts = np.full(len(signs), np.inf)
    parts[approaching] = left[approaching] / np.abs(rates[approaching])
    plane = int(parts.argmin())
    return float(parts[plane]), plane
