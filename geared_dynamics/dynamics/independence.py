"""Which columns of a linear model are combinations of others, whatever the gear ratios.

A wheel's column is ratio^2 times an acceleration plus ratio times what its carrier adds: at a
ratio of 1e6 and more the one is rounding beside the other, and a column of a link beside both.
Columns are therefore given as Y = parts @ factors: parts (rows, d) whose lengths are alike for
robots of all ratios, and factors (d, p) known to the last digit. What depends on what is first
decided between parts, where a tolerance means something, and then between columns, by an
elimination of factors that carries each element's own error.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.errors import ArrayError

# A part counts as a combination of earlier ones when what is left of it, relative
# to its own length, is below this: far above rounding (1e-14), far below any
# genuine direction over states that excite everything.
DEPENDENT = 1e-9
# A part this short, relative to the longest, is rounding: it never acts.
INACTIVE = 1e-12
ROUNDING = 1e-13  # of sums and products of factors, relative to their terms


class Factored(NamedTuple):
    """Columns Y = parts @ factors.

    Attributes:
        parts: Functions of the motion at many states (rows, d).
        factors: What of each part a column holds (d, p).
    """

    parts: Array
    factors: Array


class Independent(NamedTuple):
    """Columns that are no combination of earlier ones.

    Attributes:
        selection: The columns (b,).
        combinations: The combination of these that each column is (b, p).
        condition: Condition number of the selected columns, scaled to length one.
        parts: The parts that are no combination of earlier ones (c,).
        composed: The combination of these that each part is (c, d).
    """

    selection: list[int]
    combinations: Array
    condition: float
    parts: list[int]
    composed: Array


class Pivot(NamedTuple):
    """A selected column, reduced by those before it: one in its row, with errors (c,)."""

    row: int
    column: Array
    error: Array


def plain(stacked: Array) -> Factored:
    """Columns (rows, p) that are parts themselves."""
    return Factored(stacked, np.eye(stacked.shape[1]))


def independent(columns: Factored, silent: Sequence[int] = ()) -> Independent:
    """Columns that are no combination of earlier ones, the silent ones left out.

    Raises:
        ArrayError: If none is left.
    """
    # Y = Q R: the columns of R (d, d) have the same lengths and depend alike.
    triangle = np.asarray(np.linalg.qr(columns.parts, mode="r"))
    lengths = np.linalg.norm(triangle, axis=0)
    active = lengths >= INACTIVE * lengths.max(initial=0.0)
    active &= lengths > 0.0
    own = np.flatnonzero(active)
    unit = triangle[:, own] / lengths[own]
    kept, shares = composed(unit)
    factors = lengths[own, None] * columns.factors[own]
    matrix, error = shares @ factors, errors(kept, shares, factors)
    matrix[:, list(silent)] = 0.0
    selection, combinations = eliminated(matrix, error)
    if not selection:
        remedy = "remove some names, so that parameters with an effect remain"
        raise ArrayError("base_parameters: zero", "leaves nothing to identify", remedy)
    chosen = unit @ factors[:, selection]
    condition = float(np.linalg.cond(chosen / np.linalg.norm(chosen, axis=0)))
    basis = own[kept]
    whole = np.zeros((len(kept), len(lengths)))
    whole[:, own] = shares * lengths[own] / lengths[basis, None]
    return Independent(selection, combinations, condition, basis.tolist(), whole)


def composed(unit: Array) -> tuple[list[int], Array]:
    """Columns (r, d) of length one that are no combination of earlier ones.

    Returns:
        The columns, and the combination of these that each column is (c, d): nothing but
        itself for one of these, and exactly zero where it is rounding.
    """
    count = unit.shape[1]
    basis = np.empty((min(unit.shape), unit.shape[0]))  # orthonormal, as many as are selected
    selection: list[int] = []
    for k in range(count):
        found = basis[: len(selection)]
        direction = unit[:, k]
        for _ in range(2):  # taken off twice, for rounding
            direction = direction - found.T @ (found @ direction)
        left = np.linalg.norm(direction)
        if left > DEPENDENT and len(selection) < len(basis):
            basis[len(selection)] = direction / left
            selection.append(k)
    # Q R = U, and what is left of the others is across Q: the shares are R^-1 Q' U.
    orthonormal, triangle = np.linalg.qr(unit[:, selection])
    shares = np.linalg.solve(triangle, orthonormal.T @ unit)
    shares[np.abs(shares) < DEPENDENT] = 0.0
    shares[:, selection] = np.eye(len(selection))
    return selection, np.asarray(shares)


def errors(kept: list[int], shares: Array, factors: Array) -> Array:
    """Error (c, p) below which an element of shares @ factors is nothing.

    The share of a part in itself is exact; of others it is known to DEPENDENT.
    """
    measured: BoolArray = shares != 0.0
    measured[:, kept] = False
    size = np.abs(factors)
    return np.asarray(DEPENDENT * (measured @ size) + ROUNDING * (np.abs(shares) @ size))


def eliminated(matrix: Array, error: Array) -> tuple[list[int], Array]:
    """Columns of a matrix (c, p) that are no combination of earlier ones.

    Gauss's elimination by columns. Elements differ by many powers of ten, so each carries an
    error of its own, and one that is not above it is zero.

    Returns:
        The columns and the combination of these that each column is (b, p).
    """
    pivots: list[Pivot] = []
    selection: list[int] = []
    rows = np.zeros(min(matrix.shape), np.int64)  # of the pivots
    shares = np.zeros(matrix.shape)[: len(rows)]  # of each reduced column in each column
    for k in np.flatnonzero((np.abs(matrix) > error).any(axis=0)):
        left, unsure = matrix[:, k].copy(), error[:, k].copy()
        done, count = 0, len(pivots)
        while done < count and (hits := np.flatnonzero(left[rows[done:count]])).size:
            j = done + int(hits[0])
            pivot, share, done = pivots[j], left[rows[j]], j + 1
            if abs(share) > unsure[pivot.row]:
                shares[j, k] = share
                unsure += abs(share) * pivot.error + unsure[pivot.row] * np.abs(pivot.column)
                left -= share * pivot.column
            left[pivot.row] = 0.0
        left[np.abs(left) <= unsure] = 0.0
        row = int(np.argmax(np.abs(left)))
        if left[row] != 0.0:
            shares[count, k], rows[count] = left[row], row
            pivots.append(reduced(left, unsure, row))
            selection.append(int(k))
    return selection, substituted(shares[: len(selection)], selection)


def reduced(left: Array, unsure: Array, row: int) -> Pivot:
    """Divide what is left of a column by its element in a row."""
    column = left / left[row]
    error = (unsure + np.abs(column) * unsure[row]) / abs(left[row])
    error += ROUNDING * np.abs(column)
    error[row] = 0.0
    return Pivot(row, column, error)


def substituted(shares: Array, selection: list[int]) -> Array:
    """From shares in reduced columns (b, p) to the combinations of the columns themselves.

    The selected ones' own shares are a triangle; what cancels in the substitution is zero.
    """
    triangle = shares[:, selection]
    result = np.zeros(shares.shape)
    for j in reversed(range(len(selection))):
        later = triangle[j, j + 1 :]
        terms = np.abs(shares[j]) + np.abs(later) @ np.abs(result[j + 1 :])
        value = shares[j] - later @ result[j + 1 :]
        value[np.abs(value) <= DEPENDENT * terms] = 0.0
        result[j] = value / triangle[j, j]
    result[:, selection] = np.eye(len(selection))
    return result
