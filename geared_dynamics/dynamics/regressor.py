"""The dynamics as a linear function of the parameters: tau = Y(q, v, a) pi."""

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import call, coordinates, deliver
from geared_dynamics.dynamics.columns import BODY_PARAMETERS, columns_of
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.kernels import layout as at
from geared_dynamics.model import GearedModel, require_model


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
        Paper 000, eq. (30)-(34).
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
