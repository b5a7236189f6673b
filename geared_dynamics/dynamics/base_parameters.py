"""Base parameters: what the motion of the arm can tell of its parameters at all."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.excited import random_states, rigid_columns
from geared_dynamics.dynamics.independence import INACTIVE, Factored, Independent, independent
from geared_dynamics.dynamics.regressor import parameter_names
from geared_dynamics.errors import ArrayError, UnknownNameError
from geared_dynamics.model import GearedModel

NEGLIGIBLE = 1e-9  # by as little may a coefficient differ from one that a name leaves out
# Rows of the regressor per parameter; more only if what was found does not hold elsewhere.
ROWS_PER_PARAMETER = (6, 64)
# Rows per parameter at which the result is checked: what does not hold fails at any state.
FRESH = 0.5
HOLDS = 1e-6  # relative to the part, at states that were not used to find it


ColumnsOf = Callable[[Array, Array, Array], Factored]


class Base(NamedTuple):
    """Identifiable combinations of columns of the torque.

    Attributes:
        words: Each combination as a sum (b,).
        selection: The columns that carry them (b,).
        combinations: Combination of all columns that each stands for (b, p).
        condition: Of the selected columns, scaled to length one, over the states used.
    """

    words: tuple[str, ...]
    selection: tuple[int, ...]
    combinations: Array
    condition: float


class BaseParameters(NamedTuple):
    """Identifiable combinations of the parameters.

    ``Y[:, selection] @ (combinations @ pi) == Y @ pi`` at every state.

    Attributes:
        names: Each combination in words, (b,).
        selection: Columns of the regressor that carry them, (b,).
        combinations: Combination of all parameters that each stands for, (b, p).
        condition: Condition number of the selected columns, scaled to length one,
            over the random states used.
    """

    names: tuple[str, ...]
    selection: tuple[int, ...]
    combinations: Array
    condition: float

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return len(self.selection)


def base_parameters(
    model: GearedModel, *, zero: Sequence[str] = (), seed: int = 0
) -> BaseParameters:
    """Find the parameters' identifiable combinations numerically.

    The regressor is stacked over random states; going through its columns in order,
    each is either independent of those kept so far, or a combination of them, in
    which case its parameter joins theirs. The decision does not depend on the size
    of the gear ratios (``independence``).

    Args:
        model: Geared model.
        zero: Names of parameters known to be zero; they are left out.
        seed: Of the random states.

    References:
        Paper 000, section 5 and 7; Gautier and Khalil 1990 for the regrouping.
    """
    names = parameter_names(model)
    found = base_of(
        partial(rigid_columns, model), model.n, names, silent_columns(zero, names), seed
    )
    return BaseParameters(found.words, found.selection, found.combinations, found.condition)


def base_of(
    columns: ColumnsOf, n: int, names: tuple[str, ...], silent: Sequence[int], seed: int
) -> Base:
    """Find the identifiable combinations of any columns of the torque.

    Args:
        columns: Function of q, v, a (k, n) that gives the columns.
        n: Number of coordinates.
        names: Of the columns (p,).
        silent: Columns that are left out.
        seed: Of the random states.
    """
    random = generator(seed)
    for rows in ROWS_PER_PARAMETER:
        found = independent(columns(*random_states(n, len(names), rows, random)), silent)
        fresh = columns(*random_states(n, len(names), FRESH, random))
        if explains(fresh.parts, found):
            break
    words = tuple(in_words(row, names) for row in found.combinations)
    return Base(words, tuple(found.selection), found.combinations, found.condition)


def silent_columns(zero: Sequence[str], names: tuple[str, ...]) -> list[int]:
    """Columns of the parameters known to be zero."""
    place = "base_parameters: zero"
    if isinstance(zero, str) or not isinstance(zero, Iterable):
        remedy = "give a list of parameters' names, see parameter_names"
        raise ArrayError(place, f"is {zero!r}", remedy)
    chosen = list(zero)
    for name in chosen:
        if not isinstance(name, str) or name not in names:
            raise UnknownNameError(place, "parameter", name, names)
    return [k for k, name in enumerate(names) if name in chosen]


def generator(seed: int) -> np.random.Generator:
    """Check the seed; None, which NumPy takes as well, would not give the same twice."""
    if not isinstance(seed, int | np.integer) or seed < 0:
        remedy = "give a whole number, zero or more"
        raise ArrayError("base_parameters: seed", f"is {seed!r}", remedy)
    return np.random.default_rng(int(seed))


def explains(parts: Array, found: Independent) -> bool:
    """Whether the selected parts, so combined, make up all parts at other states (rows, d)."""
    left = np.linalg.norm(parts - parts[:, found.parts] @ found.composed, axis=0)
    lengths = np.linalg.norm(parts, axis=0)
    return bool(np.all(left <= HOLDS * lengths + INACTIVE * lengths.max()))


def in_words(row: Array, names: tuple[str, ...]) -> str:
    """Write a combination as a sum."""
    terms = []
    for coefficient, name in zip(row, names, strict=True):
        if coefficient == 0.0:
            continue
        sign = "-" if coefficient < 0.0 else "+"
        size = "" if abs(abs(coefficient) - 1.0) < NEGLIGIBLE else f"{abs(coefficient):.6g} "
        terms.append(f"{sign} {size}{name}")
    return " ".join(terms).removeprefix("+ ")
