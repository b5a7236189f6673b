"""Derivatives of constraints that are given as functions: central differences of order 8."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, reals
from geared_dynamics.errors import ArrayError

Function = Callable[[Array, float], ArrayLike]
STEP = 1e-2  # [rad, m or s]
FIRST = (4 / 5, -1 / 5, 4 / 105, -1 / 280)  # weights of f(kh) - f(-kh), k = 1 to 4
SECOND = (8 / 5, -1 / 5, 8 / 315, -1 / 560)  # weights of f(kh) - 2 f(0) + f(-kh)


def of_joints(function: Function, count: int, q: Array, v: Array, t: float, place: str) -> Array:
    """Numbers of s(q, t): per coordinate s, rate, drift and its row of the Jacobian (n).

    With the path q + x v, t + x the rate is ds/dx, and the drift d2s/dx2.
    """
    value = checked(function, count, place)
    s = value(q, t)
    step = STEP / max(1.0, float(np.abs(v).max(initial=0.0)))
    rate, drift = both(lambda x: value(q + x * v, t + x), s, step)
    columns = [
        first(lambda x, unit=unit: value(q + x * unit, t), STEP)  # type: ignore[misc]
        for unit in np.eye(len(q))
    ]
    return np.column_stack([s, rate, drift, *columns]).ravel()


def of_pose(function: Function, count: int, X: Array, twist: Array, t: float, place: str) -> Array:
    """Numbers of s(X, t): gradient (6), s, ds/dt at rest, second derivative along the motion.

    The frame goes straight on, p + x v, and turns on, exp(x omega) R.
    """
    value = checked(function, count, place)
    s = value(X, t)
    step = STEP / max(1.0, float(np.abs(twist).max(initial=0.0)))
    _, second = both(lambda x: value(moved(X, x * twist), t + x), s, step)
    at_rest = first(lambda x: value(X, t + x), STEP)
    gradient = [
        first(lambda x, unit=unit: value(moved(X, x * unit), t), STEP)  # type: ignore[misc]
        for unit in np.eye(6)
    ]
    return np.column_stack([*gradient, s, at_rest, second]).ravel()


def moved(X: Array, twist: Array) -> Array:
    """Pose after a displacement (3) and a turn (3), root axes."""
    angle = float(np.linalg.norm(twist[3:]))
    result = X.copy()
    if angle > 0.0:
        x, y, z = twist[3:] / angle
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        turn = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
        result[:3, :3] = turn @ X[:3, :3]
    result[:3, 3] += twist[:3]
    return result


def checked(function: Function, count: int, place: str) -> Callable[[Array, float], Array]:
    """The function with a check of what it returns."""

    def value(x: Array, t: float) -> Array:
        """Return s (count,)."""
        remedy = f"return {count} finite numbers"
        try:
            found = np.atleast_1d(reals(function(x, t)))
        except (TypeError, ValueError, OverflowError) as error:
            raise ArrayError(place, f"fails: {error}", remedy) from error
        if found.shape != (count,):
            raise ArrayError(place, f"returns shape {found.shape}", remedy)
        if not np.isfinite(found).all():
            raise ArrayError(place, "returns NaN or infinity", remedy)
        return found

    return value


def first(function: Callable[[float], Array], step: float) -> Array:
    """First derivative at 0."""
    terms = [
        weight * (function(k * step) - function(-k * step)) for k, weight in enumerate(FIRST, 1)
    ]
    return np.asarray(sum(terms)) / step


def both(function: Callable[[float], Array], here: Array, step: float) -> tuple[Array, Array]:
    """First and second derivative at 0."""
    slope, bend = np.zeros_like(here), np.zeros_like(here)
    for k, (odd, even) in enumerate(zip(FIRST, SECOND, strict=True), 1):
        ahead, behind = function(k * step), function(-k * step)
        slope += odd * (ahead - behind)
        bend += even * ((ahead - here) + (behind - here))
    return slope / step, bend / step**2
