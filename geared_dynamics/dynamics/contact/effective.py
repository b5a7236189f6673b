"""Mass that an arm puts against a push at a frame."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import common_lead, coordinates, finite_input
from geared_dynamics.dynamics.frames import jacobian
from geared_dynamics.dynamics.rigid import mass_matrix
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel

IMMOBILE = 1e-14  # of the largest mobility at the frame


def effective_mass(model: GearedModel, q: ArrayLike, frame: str, direction: ArrayLike) -> Array:
    r"""Mass felt by a push on a frame's origin: 1 / (d' J M^{-1} J' d).

    Of the model as it is: ``with_coupling("diagonal")`` for the armature's. With elastic joints
    it is that of the instant, in which springs give nothing and the motors are free.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        frame: Name of a link or wheel.
        direction: Of the push (..., 3), any length, root axes.

    Returns:
        Mass (...) [kg].

    Raises:
        ArrayError: where the frame cannot move in the direction: the mass is infinite.
    """
    n = coordinates(model)
    position = finite_input("q", q, n)
    push = finite_input("direction", direction, 3)
    length = np.abs(push).max(axis=-1, keepdims=True)
    if not np.all(length > 0.0):
        raise ArrayError("direction", "is zero", "give a vector that is not zero")
    lead = common_lead({"q": position, "direction": push})
    push = push / length
    push = push / np.linalg.norm(push, axis=-1, keepdims=True)
    mobility = mobilities(model, position, frame)
    share = np.einsum("...i,...ij,...j->...", push, mobility, push)
    share = np.broadcast_to(share, lead)
    if not np.all(share > IMMOBILE * np.trace(mobility, axis1=-2, axis2=-1)):
        finding = f"is a direction in which {frame!r} cannot move at one of the positions"
        raise ArrayError("direction", finding, "give another direction or position")
    return np.asarray(1.0 / share)


def mobilities(model: GearedModel, q: Array, frame: str) -> Array:
    """J M^-1 J' of a frame's origin at checked postures (..., n), (..., 3, 3) [1/kg]."""
    moving = jacobian(model, q, frame)[..., :3, :]
    if model.elasticity.count:
        arm = model.with_springs()
        none = np.zeros((*q.shape[:-1], arm.n - model.n))
        inertia = mass_matrix(arm, np.concatenate([q, none], axis=-1))
        none = np.zeros((*moving.shape[:-1], arm.n - model.n))
        moving = np.concatenate([moving, none], axis=-1)
    else:
        inertia = mass_matrix(model, q)
    return np.asarray(moving @ np.linalg.solve(inertia, np.swapaxes(moving, -1, -2)))
