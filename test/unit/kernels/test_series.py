"""Coefficients of truncated series against polynomials, and the series of the recursion."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numba import njit
from numpy.polynomial import polynomial

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.kernels import compilation, inverse_series, series
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.memory import pointer
from naive.measure import derivative, error
from random_robots import random_robot

COUNT, STEP = 5, 14
# Where the series begin: given ones, and those that a test writes.
A, B, SCALAR, OTHER = 0, 3, 6, 7
SQUARE, COS, SIN, TURNED = 8, 8, 9, 10
ROUNDING = 1e-14


def compiled(module: str) -> Callable[[Any], Any]:
    """Compile what uses a module of the kernels, once for as long as that module stays."""

    def decorate(function: Any) -> Any:
        function.__qualname__ += f"_{compilation.source_digest(module)}"
        return njit(cache=True)(function)

    return decorate


@compiled("series")
def sums(x: Any, out: Any) -> None:
    """Rows of out: a x b, s a, (s t, 0, 0), a x (a x b)."""
    p = pointer(x)
    for m in range(COUNT):
        series.store_double_cross_at(p, SQUARE, A, m, STEP)
        out[0, m] = series.cross_at(p, A, B, m, STEP)
        out[1, m] = series.scale_at(p, SCALAR, A, m, STEP)
        out[2, m, 0] = series.product_at(p, SCALAR, OTHER, m, STEP)
        out[3, m] = series.symmetric_times_at(p, SQUARE, B, m, STEP)


@compiled("series")
def turns(x: Any, angle: float, out: Any) -> None:
    """Rows of out: a turned by the angle whose rate is s, and turned back again."""
    p = pointer(x)
    series.store_cos_sin(p, COS, SIN, angle, SCALAR, COUNT, STEP)
    for m in range(COUNT):
        out[0, m] = series.turn_z_at(p, COS, SIN, A, m, STEP)
        x[m, TURNED], x[m, TURNED + 1], x[m, TURNED + 2] = out[0, m]
        out[1, m] = series.turn_back_z_at(p, COS, SIN, TURNED, m, STEP)


@compiled("inverse_series")
def fill(model: Any, path: Any, work: Any, out: Any, order: int) -> None:
    """Leave the bodies' series in work."""
    inverse_series.series_one_state(
        pointer(model), order, pointer(path), pointer(work), pointer(out)
    )


@pytest.fixture
def numbers() -> Array:
    """Return random coefficients (COUNT, STEP)."""
    return np.random.default_rng(0).normal(size=(COUNT, STEP))


def cauchy(x: Array, y: Array, f: Any) -> Array:
    """Coefficients of the bilinear f of two vector polynomials."""
    return np.array([sum(f(x[j], y[m - j]) for j in range(m + 1)) for m in range(COUNT)])


def test_products(numbers: Array) -> None:
    a, b, s = numbers[:, A : A + 3], numbers[:, B : B + 3], numbers[:, SCALAR]
    t = numbers[:, OTHER].copy()
    out = np.empty((4, COUNT, 3))
    sums(numbers, out)
    axb = cauchy(a, b, np.cross)
    assert error(out[0], axb) < ROUNDING
    scaled = np.array([polynomial.polymul(s, x)[:COUNT] for x in a.T]).T
    assert error(out[1], scaled) < ROUNDING
    assert error(out[2, :, 0], polynomial.polymul(s, t)[:COUNT]) < ROUNDING
    assert error(out[3], cauchy(a, axb, np.cross)) < ROUNDING


def test_turn(numbers: Array) -> None:
    """Cosine and sine of a polynomial angle, by their values close to t = 0."""
    angle = 0.7
    a = numbers[:, A : A + 3].copy()
    phase = polynomial.polyint(numbers[:, SCALAR], k=angle)
    out = np.empty((2, COUNT, 3))
    turns(numbers, angle, out)
    assert error(out[1], a) < ROUNDING
    c, s = numbers[:, COS], numbers[:, SIN]
    # Cut off after COUNT terms, the remainder is of order t^COUNT.
    for t, bound in ((1e-2, 1e-8), (1e-3, 1e-13)):
        x = polynomial.polyval(t, phase)
        assert abs(polynomial.polyval(t, c) - np.cos(x)) < bound
        assert abs(polynomial.polyval(t, s) - np.sin(x)) < bound
    first = cut(c, a[:, 0]) - cut(s, a[:, 1])
    second = cut(s, a[:, 0]) + cut(c, a[:, 1])
    assert error(out[0], np.column_stack([first, second, a[:, 2]])) < ROUNDING


def cut(x: Array, y: Array) -> Array:
    """Coefficients of a product."""
    return np.asarray(polynomial.polymul(x, y)[:COUNT])


def test_series_of_alpha_are_left_in_the_workspace() -> None:
    """Angular acceleration of every body and its rate, in the body's turning axes."""
    order = 2
    model = random_robot(3, joints=5, mimics=1, branched=True).load()
    path = np.random.default_rng(0).normal(size=(order + 3, model.n))
    bodies = len(model.body_names)
    work = np.empty(inverse_series.work_size.py_func(bodies, order))
    fill(packed(model), path, work, np.empty((order + 1, model.n)), order)

    def alpha(body: int, t: float) -> Array:
        """In the kernel's axes."""
        q, v, a = (polynomial.polyval(t, polynomial.polyder(path, m)) for m in range(3))
        name = model.body_names[body]
        angular = gd.jacobian(model, q, name)[3:] @ a + gd.jacobian_drift(model, q, v, name)[3:]
        start = at.HEADER_SIZE + body * at.BODY_SIZE + at.TURN
        turn = packed(model)[start : start + 9].reshape(3, 3)
        return np.asarray(turn.T @ gd.pose(model, q, name)[:3, :3].T @ angular)

    for body in range(bodies):
        start = inverse_series.series_at.py_func(body, order) + inverse_series.ALPHA
        first, second = (work[start + m * inverse_series.SIZE :][:3] for m in (0, 1))
        assert error(first, alpha(body, 0.0), 1.0) < ROUNDING * 10
        slope = derivative(partial(alpha, body))
        assert error(second, slope, 1.0) < 1e-10
    assert not work[inverse_series.series_at.py_func(-1, order) + inverse_series.ALPHA :][:3].any()
