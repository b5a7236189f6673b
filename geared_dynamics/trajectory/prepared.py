"""Derivatives of a motion in a control loop: one product of a vector and a matrix per cycle."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from math import perm

import numpy as np

from geared_dynamics.arrays import Array, Frozen, readonly
from geared_dynamics.errors import ArrayError
from geared_dynamics.trajectory import basis
from geared_dynamics.trajectory.checks import as_order, as_time
from geared_dynamics.trajectory.piecewise import Piecewise
from geared_dynamics.trajectory.reference import Reference
from geared_dynamics.trajectory.sampling import derivatives
from geared_dynamics.trajectory.segments import TERMS
from geared_dynamics.trajectory.spline import Spline


@dataclass(frozen=True, eq=False)
class Prepared(Frozen):
    """A motion's derivatives up to an order, as polynomials between times; made by ``prepare``.

    Attributes:
        begin: Time to which the knots are relative [s].
        knots: Rising times, the first at most 0 (k + 1,) [s].
        tables: What the powers of the time since a piece's begin are multiplied by
            (k, terms, (order + 1) n).
        first: Rows q, v, a and on before ``begin`` (order + 1, n).
        last: From the last knot on.
    """

    begin: float
    knots: Array
    tables: Array
    first: Array
    last: Array

    @cached_property
    def times(self) -> tuple[float, ...]:
        """The knots as plain numbers, which are quicker to search."""
        return tuple(self.knots.tolist())

    @cached_property
    def rows(self) -> tuple[Array, ...]:
        """The tables one by one."""
        return tuple(self.tables)


def prepare(motion: Spline | Piecewise | Reference, order: int) -> Prepared:
    """Prepare a motion for ``derivatives_into``.

    Args:
        motion: From any function of this room.
        order: Highest derivative k; refused as ``derivatives`` of the motion refuses it.
    """
    k = as_order("order", order)
    if isinstance(motion, Reference):
        return _of_reference(motion, k)
    if isinstance(motion, Piecewise):
        begin, knots, taylor = motion.start, motion.knots, motion.coefficients
    else:
        begin, knots, taylor = _of_spline(motion)
    before = motion.derivatives(np.nextafter(motion.start, -np.inf), k)
    after = motion.derivatives(np.nextafter(motion.end, np.inf), k)
    tables = np.stack([_rate(taylor, row) for row in range(k + 1)], axis=2)
    return _made(begin, knots, tables, before, after)


def derivatives_into(prepared: Prepared, t: float, out: Array) -> None:
    """Write q and its derivatives at a time into an array, without anything that stays.

    Args:
        prepared: From ``prepare``.
        t: Time [s].
        out: Rows q, v, a and on (order + 1, n), C-contiguous float64.

    Raises:
        ArrayError: if the time is not a number, or the array has another shape.
    """
    times = prepared.times
    s = (t if type(t) is float else as_time("t", t)) - prepared.begin
    if out.shape != prepared.last.shape or not out.flags.c_contiguous or out.dtype != np.float64:
        finding = f"has shape {out.shape} and type {out.dtype}"
        remedy = f"give shape {prepared.last.shape}, C-contiguous float64"
        raise ArrayError("out", finding, remedy)
    if s >= times[-1]:
        out[:] = prepared.last
    elif s < 0.0:
        out[:] = prepared.first
    elif s == s:
        k = bisect_right(times, s) - 1
        table, x = prepared.rows[k], s - times[k]
        power, powers = 1.0, [1.0]
        for _ in range(len(table) - 1):
            power *= x
            powers.append(power)
        np.dot(powers, table, out=out.reshape(-1))
    else:
        raise ArrayError("t", f"is {t!r}", "give finite seconds")


def _made(begin: float, knots: Array, tables: Array, before: Array, after: Array) -> Prepared:
    """Flatten tables (k, terms, order + 1, n) and freeze all."""
    count, terms, rows, n = tables.shape
    flat = readonly(tables.reshape(count, terms, rows * n))
    return Prepared(begin, readonly(knots), flat, readonly(before), readonly(after))


def _of_spline(motion: Spline) -> tuple[float, Array, Array]:
    """Begin, knots after it, and Taylor coefficients (k, degree + 1, n) at each piece's begin."""
    knots = np.unique(motion.knots)
    known = basis.values(motion.pieces, motion.degree, knots[:-1]).swapaxes(0, 1)
    factorials = np.cumprod(np.maximum(np.arange(motion.degree + 1.0), 1.0))
    return motion.start, knots - motion.start, known / factorials[:, None]


def _of_reference(motion: Reference, order: int) -> Prepared:
    """Rows q, v, a as they are, which need not be each other's derivatives, then those of a."""
    parts = motion.tables.reshape(-1, TERMS, 4, motion.n)
    rows = [parts[:, :, row] for row in range(min(order, 2) + 1)]
    rows += [_rate(parts[:, :, 2], row - 2) for row in range(3, order + 1)]
    before, after = derivatives(motion, [motion.begin, motion.end], order)
    return _made(motion.begin, motion.knots, np.stack(rows, axis=2), before, after)


def _rate(coefficients: Array, order: int) -> Array:
    """Coefficients (k, p, n) of a derivative, filled up with zeros."""
    result = np.zeros_like(coefficients)
    terms = coefficients.shape[1]
    for p in range(terms - order):
        result[:, p] = perm(p + order, order) * coefficients[:, p + order]
    return result
