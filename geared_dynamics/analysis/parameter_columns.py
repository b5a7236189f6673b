"""What can be identified: columns Y of tau = Y x, their names, and the values in the files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, readonly
from geared_dynamics.dynamics.drives import friction_forces
from geared_dynamics.dynamics.independence import Factored
from geared_dynamics.dynamics.regressor import (
    base_of,
    pairs_of,
    parameter_names,
    parameters,
    regressor,
    rigid_columns,
    squares,
    symmetric,
)
from geared_dynamics.dynamics.rigid import inverse_dynamics
from geared_dynamics.errors import UnknownNameError
from geared_dynamics.model import GearedModel
from geared_dynamics.model.drive_arrays import FrictionLaws

# -- The joint torque as a linear function of all that can be identified: tau = Y x ---------------
#
# Columns, in this order, so that what depends on earlier columns joins them:
#
# - the model's own parameters, ten per link and one per wheel (``regressor``): a wheel's inertia
#   acts through Gamma, on all joints that it follows;
# - viscous, Coulomb friction and an offset of each joint;
# - an inertia of its own of each joint that no wheel follows alone: what turns with that joint
#   beside a wheel of several joints is else nowhere to go;
# - viscous and Coulomb friction of each motor, mapped by A: tau = A_k (b A_k'v + c sign(A_k'v)).
#
# A motor of one joint has the same friction columns as its joint, so the two become one
# combination; a motor of several joints keeps its own. No case is special.


UNITS = {  # of what turns, and of a joint that slides
    "m": ("kg", "kg"),
    "mcx": ("kg m", "kg m"),
    "mcy": ("kg m", "kg m"),
    "mcz": ("kg m", "kg m"),
    "viscous": ("N m s/rad", "N s/m"),
    "coulomb": ("N m", "N"),
    "offset": ("N m", "N"),
    "inertia": ("kg m²", "kg"),
}


class IdentifiableColumns(NamedTuple):
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


def unit_of(model: GearedModel, name: str) -> str:
    """Unit of a column's parameter: joint side, but a wheel's J about its own axis."""
    owner, _, key = name.rpartition(".")
    sliding = {
        joint for joint, slides in zip(model.joint_names, model.prismatic, strict=True) if slides
    }
    if key in UNITS:
        return UNITS[key][owner in sliding]
    return "kg m²"  # of J and of a link's tensor


def columns(model: GearedModel, q: Array, v: Array, a: Array, width: float = 0.0) -> Array:
    """Y (k, n, p) of a motion: tau = Y x.

    Args:
        model: Geared model.
        q: Joint position (k, n) [rad or m].
        v: Joint velocity (k, n).
        a: Joint acceleration (k, n).
        width: Time around each sample over which the signs of Coulomb friction are averaged [s].
    """
    k, n = q.shape
    unit = np.eye(n)
    own = np.stack([v, mean_sign(v, a, width), np.ones((k, n))], axis=-1)  # (k, n, 3)
    friction = (unit[:, :, None] * own[:, None, :, :]).reshape(k, n, 3 * n)
    lone = lone_joints(model)
    inertia = a[:, None, lone] * unit[:, lone]
    A = model.structure_matrix
    rate = v @ A
    pairs = np.stack([rate, mean_sign(rate, a @ A, width)], axis=-1)  # (k, m, 2)
    motors = (A[None, :, :, None] * pairs[:, None, :, :]).reshape(k, n, 2 * A.shape[1])
    rigid = regressor(model, q, v, a)
    return np.concatenate([rigid, friction, inertia, motors], axis=-1)


def mean_sign(v: Array, a: Array, width: float) -> Array:
    """Mean of sign(v + a t) over |t| < width / 2: clip(2 v / (|a| width), -1, 1).

    A jump between two samples is then as far into the one as it is in time. Of samples that are
    far apart the sign alone would move each reversal by up to half of their distance.

    Args:
        v: Velocity.
        a: Acceleration, of the same shape.
        width: Time [s]; 0: the sign.
    """
    change = 0.5 * width * np.abs(a)
    return np.asarray(np.where(np.abs(v) < change, v / np.maximum(change, 1e-300), np.sign(v)))


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
    matches: set[int] = set()
    for pattern in patterns:
        own = [k for k, name in enumerate(names) if fnmatchcase(name, pattern)]
        if not own:
            raise UnknownNameError("known", "parameter", pattern, names)
        matches |= set(own)
    return sorted(matches)


def factored_columns(model: GearedModel, q: Array, v: Array, a: Array) -> Factored:
    """The same columns over states (k, n) as parts of like size and exact factors.

    A motor's viscous friction, A_k A_k' v, is made of the same parts as that of joints, and its
    Coulomb friction, A_k sign(A_k'v), of its joint's where it follows one alone.
    """
    n, m, lone = model.n, len(model.motor_names), lone_joints(model)
    own = side_by_side(
        viscous_columns(model, v),
        coulomb_columns(model, v),
        Factored(diagonal(np.ones(v.shape), range(n)), np.eye(n)),
        Factored(diagonal(a, lone), np.eye(len(lone))),
    )
    viscous, coulomb = np.split(np.arange(2 * (n + m)), 2)
    offset, inertia = np.split(2 * (n + m) + np.arange(n + len(lone)), [n])
    of_joints = np.stack([viscous[:n], coulomb[:n], offset], axis=1).ravel()
    of_motors = np.stack([viscous[n:], coulomb[n:]], axis=1).ravel()
    order = np.concatenate([of_joints, inertia, of_motors])
    return side_by_side(rigid_columns(model, q, v, a), own._replace(factors=own.factors[:, order]))


def side_by_side(*blocks: Factored) -> Factored:
    """Put columns that share no part side by side."""
    count = [block.factors.shape for block in blocks]
    factors = np.zeros(np.sum(count, axis=0))
    row, column = 0, 0
    for block, (parts, columns) in zip(blocks, count, strict=True):
        factors[row : row + parts, column : column + columns] = block.factors
        row, column = row + parts, column + columns
    return Factored(np.concatenate([block.parts for block in blocks], axis=1), factors)


def diagonal(values: Array, joints: Iterable[int]) -> Array:
    """Parts (k n, .) with the values (k, n) of one joint each, on its own row."""
    parts = [symmetric(values, (j, j)) for j in joints]
    return np.stack(parts, axis=1) if parts else np.zeros((values.size, 0))


def viscous_columns(model: GearedModel, v: Array) -> Factored:
    """Viscous friction of the joints, then of the motors, over velocities (k, n)."""
    ratios = np.concatenate([np.eye(model.n), model.structure_matrix.T])
    pairs = pairs_of(ratios)
    parts = np.stack([symmetric(v, pair) for pair in pairs], axis=1)
    return Factored(parts, squares(ratios, pairs))


def coulomb_columns(model: GearedModel, v: Array) -> Factored:
    """Coulomb friction of the joints, then of the motors, over velocities (k, n)."""
    n, A = model.n, model.structure_matrix
    largest = np.abs(A).max(axis=0, initial=0.0)
    followed = np.count_nonzero(A, axis=0)  # none by a motor whose joint is frozen
    parts = diagonal(np.sign(v), range(n))
    factors = np.concatenate([np.eye(n), (followed == 1) * np.abs(A)], axis=1)
    for k in np.flatnonzero(followed > 1):
        ratio = A[:, k] / largest[k]
        part = np.sign(v @ ratio)[:, None] * ratio
        row = largest[k] * (np.arange(n + len(largest)) == n + k)
        parts = np.column_stack([parts, part.ravel()])
        factors = np.vstack([factors, row])
    return Factored(parts, factors)


def base_columns(
    model: GearedModel, *, known: Sequence[str] = (), seed: int = 0
) -> IdentifiableColumns:
    """Find which combinations of the columns' parameters any motion can tell.

    Args:
        model: Geared model.
        known: Names or patterns of parameters that are not to be found.
        seed: Of the random states.
    """
    names = column_names(model)
    silent = matching(names, known)
    base = base_of(partial(factored_columns, model), model.n, names, silent, seed)
    return IdentifiableColumns(base.words, base.selection, base.combinations)


# -- Friction that files describe and no column stands for: it is taken as they say ---------------
#
# Columns of friction are linear: viscous, Coulomb with one level, and an offset. The Stribeck
# effect, what a load adds and ripple are not, nor have motors an offset or a second level.


def known_friction(model: GearedModel, q: Array, v: Array, a: Array) -> Array:
    """Friction beside the columns' (k, n) [N m or N], joint side, as ``analyze`` counts it.

    tau = Y x + known_friction. The load is the files' rigid torque, as in the comparison;
    what a load, an angle or slowness changes in a motor is left out there as well.
    """
    result = np.zeros(q.shape)
    laws = model.joint_friction
    if not is_linear(laws):
        linear = replace(model, joint_friction=linear_part(laws))
        tau = inverse_dynamics(model, q, v, a)
        result += friction_forces(model, v, q, tau) - friction_forces(linear, v, q, tau)
    motors = model.motors.friction
    constant = np.zeros(len(model.motor_names))
    np.add.at(constant, motors.index, motors.offset + motors.coulomb @ [0.5, -0.5])
    return np.asarray(result + model.structure_matrix @ constant)


def is_linear(laws: FrictionLaws) -> bool:
    """Whether columns stand for all of these laws."""
    return not (laws.load.any() or len(laws.ripple) or (laws.static != laws.coulomb).any())


def linear_part(laws: FrictionLaws) -> FrictionLaws:
    """What columns stand for."""
    none = readonly(np.zeros(laws.count))
    return replace(laws, static=laws.coulomb, load=none, ripple=readonly(np.zeros((0, 4))))
