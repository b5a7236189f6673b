"""The joint torque as a linear function of all that can be identified: tau = Y x.

Columns, in this order, so that what depends on earlier columns joins them:

- the model's own parameters, ten per link and one per wheel (``regressor``): a wheel's inertia
  acts through Gamma, on all joints that it follows;
- viscous, Coulomb friction and an offset of each joint;
- an inertia of its own of each joint that no wheel follows alone: what turns with that joint
  beside a wheel of several joints is else nowhere to go;
- viscous and Coulomb friction of each motor, mapped by A: tau = A_k (b A_k'v + c sign(A_k'v)).

A motor of one joint has the same friction columns as its joint, so the two become one
combination; a motor of several joints keeps its own. No case is special.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.base_parameters import (
    ROWS_PER_PARAMETER,
    in_words,
    independent,
)
from geared_dynamics.dynamics.regressor import parameter_names, parameters, regressor
from geared_dynamics.errors import UnknownNameError
from geared_dynamics.model import GearedModel

NEGLIGIBLE = 1e-9  # of the largest coefficient of a combination


class Base(NamedTuple):
    """What the motion can tell.

    Attributes:
        names: Each combination in words (b,).
        selection: The column that carries it (b,).
        combinations: The combination of all columns that each stands for (b, p).
    """

    names: tuple[str, ...]
    selection: tuple[int, ...]
    combinations: Array


def lone_joints(model: GearedModel) -> list[int]:
    """Joints that wheels follow, but none alone."""
    alone = np.count_nonzero(model.Gamma, axis=1) == 1
    return [
        j
        for j, column in enumerate(model.Gamma.T)
        if column.any() and not (alone & (column != 0.0)).any()
    ]


def column_names(model: GearedModel) -> tuple[str, ...]:
    """Names of all columns (p,)."""
    names = [*parameter_names(model)]
    for joint in model.joint_names:
        names += [f"{joint}.viscous", f"{joint}.coulomb", f"{joint}.offset"]
    names += [f"{model.joint_names[j]}.inertia" for j in lone_joints(model)]
    for motor in model.motor_names:
        names += [f"{motor}.viscous", f"{motor}.coulomb"]
    return tuple(names)


def columns(model: GearedModel, q: Array, v: Array, a: Array) -> Array:
    """Y (k, n, p) of a motion: tau = Y x.

    Args:
        model: Geared model.
        q: Joint position (k, n) [rad or m].
        v: Joint velocity (k, n).
        a: Joint acceleration (k, n).
    """
    k, n = q.shape
    unit = np.eye(n)
    own = np.stack([v, np.sign(v), np.ones((k, n))], axis=-1)  # (k, n, 3)
    friction = (unit[:, :, None] * own[:, None, :, :]).reshape(k, n, 3 * n)
    lone = lone_joints(model)
    inertia = a[:, None, lone] * unit[:, lone]
    A = model.structure_matrix
    rate = v @ A
    pairs = np.stack([rate, np.sign(rate)], axis=-1)  # (k, m, 2)
    motors = (A[None, :, :, None] * pairs[:, None, :, :]).reshape(k, n, 2 * A.shape[1])
    rigid = regressor(model, q, v, a)
    return np.concatenate([rigid, friction, inertia, motors], axis=-1)


def prior(model: GearedModel) -> Array:
    """What the files say of all columns' parameters (p,)."""
    viscous, coulomb, offset = model.friction
    joints = np.stack([viscous, coulomb, offset], axis=1).ravel()
    motors = np.zeros((len(model.motor_names), 2))
    laws = model.motors.friction
    for k, motor in enumerate(laws.index):
        motors[motor] = laws.viscous[k], laws.coulomb[k].mean()
    lone = np.zeros(len(lone_joints(model)))
    return np.concatenate([parameters(model), joints, lone, motors.ravel()])


def matching(names: Sequence[str], patterns: Sequence[str]) -> list[int]:
    """Columns whose names match one of the patterns (``link_*`` and the like).

    Raises:
        UnknownNameError: If a pattern matches none.
    """
    found: set[int] = set()
    for pattern in patterns:
        own = [k for k, name in enumerate(names) if fnmatchcase(name, pattern)]
        if not own:
            raise UnknownNameError("known", "parameter", pattern, names)
        found |= set(own)
    return sorted(found)


def base_columns(model: GearedModel, *, known: Sequence[str] = (), seed: int = 0) -> Base:
    """Find which combinations of the columns' parameters any motion can tell.

    Args:
        model: Geared model.
        known: Names or patterns of parameters that are not to be found.
        seed: Of the random states.
    """
    names = column_names(model)
    silent = matching(names, known)
    random = np.random.default_rng(seed)
    states = -(-ROWS_PER_PARAMETER[0] * len(names) // model.n)
    q = random.uniform(-np.pi, np.pi, (states, model.n))
    v, a = random.normal(size=(2, states, model.n)) * 3.0
    stacked = columns(model, q, v, a).reshape(-1, len(names))
    selection, combinations, _ = independent(stacked, silent)
    combinations[:, silent] = 0.0
    combinations[:, selection] = np.eye(len(selection))
    combinations[np.abs(combinations) < NEGLIGIBLE * np.abs(combinations).max()] = 0.0
    words = tuple(in_words(row, names) for row in combinations)
    return Base(words, tuple(selection), combinations)
