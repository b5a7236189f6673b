"""The torque's columns over random states, taken apart into parts of like size and factors."""

import math
from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.columns import columns_of
from geared_dynamics.dynamics.independence import Factored
from geared_dynamics.dynamics.regressor import regressor
from geared_dynamics.model import GearedModel

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
