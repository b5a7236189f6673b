"""Regressor, parameters, and base parameters from random states."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import call, coordinates, deliver
from geared_dynamics.dynamics.independence import INACTIVE, Factored, Independent, independent
from geared_dynamics.dynamics.packing import BODY_PARAMETERS, columns_of, packed
from geared_dynamics.errors import ArrayError, UnknownNameError, shown
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.door import KernelAnswer, door
from geared_dynamics.model import GearedModel, require_model

# -- The dynamics as a linear function of the parameters: tau = Y(q, v, a) pi ---------------------


def by_columns(model: GearedModel) -> KernelAnswer:
    """Let the regressor's kernel answer for a model."""
    form, n = packed(model), model.n
    shape = n, int(form[at.PARAMETERS])
    return KernelAnswer(kernels.joint_regressor, (form,), 0, shape, n)


@door("regressor", 3, by_columns)
def regressor(
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    friction: bool = False,
    offset: bool = False,
    out: Array | None = None,
) -> Array:
    """Regressor Y with Y pi = inverse_dynamics(q, v, a).

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        a: Joint acceleration (..., n).
        friction: Append 2 n columns, v_j and sign(v_j) on row j: viscous and Coulomb
            friction of each joint in turn.
        offset: Append n columns, one on row j: a constant force of each joint.
        out: Result array (..., n, p), returned.

    Returns:
        Matrix (..., n, p), columns as in ``parameter_names``.

    References:
        Sciavicco 1994, eq. (30)-(34).
    """
    n, count = coordinates(model), int(packed(model)[at.PARAMETERS])
    inputs = {"q": (q, n), "v": (v, n), "a": (a, n)}
    if not (friction or offset):
        return call("joint_regressor", model, inputs, (n, count), out)
    rigid = call("joint_regressor", model, inputs, (n, count))
    parts = [rigid]
    if friction:
        rate = np.broadcast_to(np.asarray(v, np.float64), (*rigid.shape[:-2], n))
        pairs = np.stack([rate, np.sign(rate)], axis=-1)
        block = np.eye(n)[:, :, None] * pairs[..., None, :, :]
        parts.append(block.reshape(*rigid.shape[:-1], 2 * n))
    if offset:
        parts.append(np.broadcast_to(np.eye(n), (*rigid.shape[:-1], n)))
    return deliver(np.concatenate(parts, axis=-1), out, {"q": q, "v": v, "a": a})


def parameters(model: GearedModel, *, friction: bool = False, offset: bool = False) -> Array:
    """Parameter vector pi (p,) in the regressor's order, SI units.

    Of each body m, m c, Ixx, Ixy, Ixz, Iyy, Iyz, Izz about its frame's origin. Pinocchio's
    ``Inertia.toDynamicParameters`` has Iyy before Ixz: m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz.

    Args:
        model: Geared model.
        friction: Append viscous and Coulomb friction of each joint in turn.
        offset: Append the constant force of each joint; where Coulomb friction differs
            by direction, half the difference is in it.
    """
    columns = columns_of(require_model(model))
    values = np.zeros(columns.count)
    for b, first in enumerate(columns.bodies):
        values[first : first + len(BODY_PARAMETERS)] = model.tree.parameters[b]
    values[list(columns.wheels)] = model.J
    parts = [values]
    if friction:
        parts.append(model.friction[:2].T.ravel())
    if offset:
        parts.append(model.friction[2])
    return np.concatenate(parts)


def parameter_names(
    model: GearedModel, *, friction: bool = False, offset: bool = False
) -> tuple[str, ...]:
    """Names of the parameters (p,): ``link.m``, ``link.mcx``, ..., ``wheel.J``.

    Args:
        model: Geared model.
        friction: Append ``joint.viscous`` and ``joint.coulomb`` of each joint in turn.
        offset: Append ``joint.offset`` of each joint.
    """
    columns = columns_of(require_model(model))
    names = [""] * columns.count
    for body, first in zip(model.body_names, columns.bodies, strict=True):
        for k, parameter in enumerate(BODY_PARAMETERS):
            names[first + k] = f"{body}.{parameter}"
    for wheel, column in zip(model.wheel_names, columns.wheels, strict=True):
        names[column] = f"{wheel}.J"
    if friction:
        for joint in model.joint_names:
            names += [f"{joint}.viscous", f"{joint}.coulomb"]
    if offset:
        names += [f"{joint}.offset" for joint in model.joint_names]
    return tuple(names)


# -- The torque's columns over random states, taken apart into parts of like size and factors -----


Parts = list[Array]


def random_states(
    n: int, count: int, rows: float, random: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations (states, n): rows times count equations or more."""
    states = max(2, math.ceil(rows * count / n))
    q = random.uniform(-np.pi, np.pi, (states, n))
    v, a = random.normal(size=(2, states, n)) * 3.0
    return q, v, a


def pairs_of(ratios: Array) -> list[tuple[int, int]]:
    """Pairs of coordinates i <= j that some row of ratios (w, n) ties together."""
    tied = (ratios != 0.0).astype(int)
    both = tied.T @ tied
    pairs = combinations_with_replacement(range(ratios.shape[1]), 2)
    return [(i, j) for i, j in pairs if both[i, j]]


def symmetric(values: Array, pair: tuple[int, int]) -> Array:
    """Column (k n,) of S with S x = x_j on row i and x_i on row j, of values (k, n)."""
    i, j = pair
    column = np.zeros(values.shape)
    column[:, i], column[:, j] = values[:, j], values[:, i]
    return column.ravel()


def squares(ratios: Array, pairs: list[tuple[int, int]]) -> Array:
    """Factors (pairs, w) of the symmetric parts in g g' x, g a row of ratios (w, n)."""
    if not pairs:
        return np.zeros((0, len(ratios)))
    return np.stack([ratios[:, i] * ratios[:, j] for i, j in pairs])


def rigid_columns(model: GearedModel, q: Array, v: Array, a: Array) -> Factored:
    """The regressor over states (k, n) as parts and factors.

    A wheel's column is g g' a + sum over i of g_i f_i, with g its row of Gamma and f_i what its
    carrier's motion adds at a ratio of one to coordinate i alone; of the armature model the
    diagonal of g g' counts, and nothing of the wheels without spin terms.
    """
    columns = columns_of(model)
    wheels, ratios = list(columns.wheels), model.Gamma
    whole = regressor(model, q, v, a).reshape(-1, columns.count)
    links = np.setdiff1d(np.arange(columns.count), wheels)
    pairs = {"complete": pairs_of(ratios), "diagonal": diagonal_of(ratios)}.get(model.coupling, [])
    parts: Parts = [symmetric(a, pair) for pair in pairs]
    factors = np.zeros((len(pairs), columns.count))
    factors[:, wheels] = squares(ratios, pairs)
    if model.coupling == "complete":
        carried, own = carried_parts(model, q, v, a)
        parts += carried
        factors = np.concatenate([factors, own])
    identity = np.zeros((len(links), columns.count))
    identity[np.arange(len(links)), links] = 1.0
    table = np.column_stack([*parts, whole[:, links]]) if parts else whole[:, links]
    return Factored(table, np.concatenate([factors, identity]))


def diagonal_of(ratios: Array) -> list[tuple[int, int]]:
    """Pairs (i, i) of the coordinates that some row of ratios turns with."""
    return [(i, i) for i in range(ratios.shape[1]) if ratios[:, i].any()]


def carried_parts(model: GearedModel, q: Array, v: Array, a: Array) -> tuple[Parts, Array]:
    """What the carriers' motion adds to wheels of ratio one: parts, factors (d, p)."""
    columns = columns_of(model)
    follows = [np.flatnonzero(row) for row in model.Gamma]
    parts: Parts = []
    factors = []
    for turn in range(max((len(own) for own in follows), default=0)):
        having = [w for w, own in enumerate(follows) if turn < len(own)]
        spin = np.zeros(model.Gamma.shape)
        for w in having:
            spin[w, follows[w][turn]] = 1.0
        single = replace(model, wheels=replace(model.wheels, spin=spin))
        column_of = columns_of(single).wheels  # its order follows the ratios
        whole = regressor(single, q, v, a).reshape(-1, columns.count)
        for w in having:
            i = follows[w][turn]
            parts.append(whole[:, column_of[w]] - symmetric(a, (i, i)))
            factors.append(np.zeros(columns.count))
            factors[-1][columns.wheels[w]] = model.Gamma[w, i]
    return parts, np.array(factors).reshape(-1, columns.count)


# -- Base parameters: what the motion of the arm can tell of its parameters at all ----------------


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
        Sciavicco 1994, section 5 and 7; Gautier and Khalil 1990 for the regrouping.
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
        raise ArrayError(place, f"is {shown(zero)}", remedy)
    chosen = list(zero)
    for name in chosen:
        if not isinstance(name, str) or name not in names:
            raise UnknownNameError(place, "parameter", name, names)
    return [k for k, name in enumerate(names) if name in chosen]


def generator(seed: int) -> np.random.Generator:
    """Check the seed; None, which NumPy takes as well, would not give the same twice."""
    if not isinstance(seed, int | np.integer) or seed < 0:
        remedy = "give a whole number, zero or more"
        raise ArrayError("base_parameters: seed", f"is {shown(seed)}", remedy)
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
