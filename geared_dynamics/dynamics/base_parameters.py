"""Base parameters: what the motion of the arm can tell of its parameters at all."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.regressor import parameter_names, regressor
from geared_dynamics.errors import UnknownNameError
from geared_dynamics.model import GearedModel

# A column counts as a combination of earlier ones when what is left of it, relative
# to its own length, is below this: far above rounding (1e-14), far below any
# genuine direction over states that excite everything.
DEPENDENT = 1e-9
# A column this short, relative to the longest, is rounding: its parameter never acts.
INACTIVE = 1e-12
NEGLIGIBLE = 1e-9  # relative coefficient that a name leaves out
STATES_PER_PARAMETER = 3


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
    for name in zero:
        if name not in names:
            raise UnknownNameError("base_parameters: zero", "parameter", name, names)
    stacked = excited_regressor(model, len(names), seed)
    basis: list[Array] = []
    selection: list[int] = []
    lengths = np.linalg.norm(stacked, axis=0)
    for k, name in enumerate(names):
        if lengths[k] < INACTIVE * lengths.max() or name in zero:
            continue
        direction = remainder(stacked[:, k] / lengths[k], basis)
        left = np.linalg.norm(direction)
        if left > DEPENDENT:
            basis.append(direction / left)
            selection.append(k)
    kept = stacked[:, selection]
    scale = np.linalg.norm(kept, axis=0)
    combinations = np.linalg.lstsq(kept / scale, stacked, rcond=None)[0] / scale[:, None]
    silent = [k for k, name in enumerate(names) if name in zero]
    combinations[:, silent] = 0.0
    combinations[:, selection] = np.eye(len(selection))
    combinations[np.abs(combinations) < NEGLIGIBLE * np.abs(combinations).max()] = 0.0
    return BaseParameters(
        tuple(in_words(row, names) for row in combinations),
        tuple(selection),
        combinations,
        float(np.linalg.cond(kept / scale)),
    )


def excited_regressor(model: GearedModel, count: int, seed: int) -> Array:
    """Regressor over random states, stacked (states n, p)."""
    random = np.random.default_rng(seed)
    states = STATES_PER_PARAMETER * count
    q = random.uniform(-np.pi, np.pi, (states, model.n))
    v, a = random.normal(size=(2, states, model.n)) * 3.0
    return regressor(model, q, v, a).reshape(-1, count)


def remainder(vector: Array, basis: list[Array]) -> Array:
    """What is left of a vector off an orthonormal basis; taken off twice, for rounding."""
    if basis:
        rows = np.array(basis)
        for _ in range(2):
            vector = vector - rows.T @ (rows @ vector)
    return vector


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
