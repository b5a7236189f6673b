"""Base parameters: what the motion of the arm can tell of its parameters at all."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.regressor import parameter_names, regressor
from geared_dynamics.errors import ArrayError, UnknownNameError
from geared_dynamics.model import GearedModel

# A column counts as a combination of earlier ones when what is left of it, relative
# to its own length, is below this: far above rounding (1e-14), far below any
# genuine direction over states that excite everything.
DEPENDENT = 1e-9
# A column this short, relative to the longest, is rounding: its parameter never acts.
INACTIVE = 1e-12
NEGLIGIBLE = 1e-9  # relative coefficient that a name leaves out
# Rows of the regressor per parameter; more only if what was found does not hold elsewhere.
ROWS_PER_PARAMETER = (8, 64)
HOLDS = 1e-6  # relative to the column, at states that were not used to find it


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
    which case its parameter joins theirs.

    Args:
        model: Geared model.
        zero: Names of parameters known to be zero; they are left out.
        seed: Of the random states.

    References:
        Paper 000, section 5 and 7; Gautier and Khalil 1990 for the regrouping.
    """
    names = parameter_names(model)
    silent = silent_columns(zero, names)
    random = generator(seed)
    for rows in ROWS_PER_PARAMETER:
        stacked = excited_regressor(model, len(names), rows, random)
        selection, combinations, condition = independent(stacked, silent)
        fresh = excited_regressor(model, len(names), ROWS_PER_PARAMETER[0], random)
        if explains(fresh, silent, selection, combinations):
            break
    combinations[:, silent] = 0.0
    combinations[:, selection] = np.eye(len(selection))
    combinations[np.abs(combinations) < NEGLIGIBLE * np.abs(combinations).max()] = 0.0
    words = tuple(in_words(row, names) for row in combinations)
    return BaseParameters(words, tuple(selection), combinations, condition)


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


def excited_regressor(
    model: GearedModel, count: int, rows: int, random: np.random.Generator
) -> Array:
    """Regressor over random states, stacked: (states n, p), rows p or more of them."""
    states = -(-rows * count // model.n)
    q = random.uniform(-np.pi, np.pi, (states, model.n))
    v, a = random.normal(size=(2, states, model.n)) * 3.0
    return regressor(model, q, v, a).reshape(-1, count)


def independent(stacked: Array, silent: Sequence[int]) -> tuple[list[int], Array, float]:
    """Columns that are no combination of earlier ones, the silent ones left out.

    Returns:
        The columns, the combination of these that each column is (b, p), and the
        condition number of the columns scaled to length one.
    """
    # Y = Q R: the columns of R (p, p) have the same lengths and depend alike.
    columns = np.asarray(np.linalg.qr(stacked, mode="r"))
    lengths = np.linalg.norm(columns, axis=0)
    basis = np.empty(columns.shape)  # orthonormal rows, as many as are selected
    selection: list[int] = []
    for k in range(columns.shape[1]):
        if k in silent or lengths[k] < INACTIVE * lengths.max():
            continue
        found = basis[: len(selection)]
        direction = columns[:, k] / lengths[k]
        for _ in range(2):  # taken off twice, for rounding
            direction = direction - found.T @ (found @ direction)
        left = np.linalg.norm(direction)
        if left > DEPENDENT:
            basis[len(selection)] = direction / left
            selection.append(k)
    if not selection:
        remedy = "leave some parameters that act"
        raise ArrayError("base_parameters: zero", "leaves nothing to identify", remedy)
    kept, scale = columns[:, selection], lengths[selection]
    combinations = np.linalg.lstsq(kept / scale, columns, rcond=None)[0] / scale[:, None]
    return selection, combinations, float(np.linalg.cond(kept / scale))


def explains(
    stacked: Array, silent: Sequence[int], selection: list[int], combinations: Array
) -> bool:
    """Whether the selected columns, so combined, make up all columns at other states."""
    left = np.linalg.norm(stacked - stacked[:, selection] @ combinations, axis=0)
    lengths = np.linalg.norm(stacked, axis=0)
    left[silent] = 0.0
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
