"""The springs in the form the kernels read (see kernels.balancer_layout)."""

from typing import NoReturn

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.packing import keep_on, packed
from geared_dynamics.errors import ModelError
from geared_dynamics.kernels import balancer_layout as has
from geared_dynamics.model import GearedModel
from geared_dynamics.model.geometry import rotation_with_z


def packed_balancers(model: GearedModel) -> Array:
    """Return the packed springs, made at first use and kept on the model."""
    if model.packed_balancers is None:
        keep_on(model, "packed_balancers", pack_balancers(model))
    return model.packed_balancers  # type: ignore[return-value]


def pack_balancers(model: GearedModel) -> Array:
    """Lay the springs out for the kernels."""
    given = model.balancers
    lines = np.zeros((len(given.kind), has.LINE_SIZE))
    for line, bodies, points in zip(lines, given.bodies, given.points, strict=True):
        for place, body, point in zip((has.BODY, has.OTHER), bodies, points, strict=True):
            turn = rotation_with_z(model.tree.axis[body]) if body >= 0 else np.eye(3)
            line[place], line[place + 1 : place + 4] = body, turn.T @ point
    lines[:, has.KIND] = given.kind
    lines[:, has.LENGTH :] = given.law
    springs = np.column_stack([given.dof, given.torsion])
    header = np.array([len(lines), len(springs)], float)
    return np.concatenate([header, lines.ravel(), springs.ravel()])


def refuse_balancer(status: int, model: GearedModel, q: Array) -> NoReturn:
    """Name the element that has no force at one of the postures q (..., n), and why."""
    line, reason = divmod(status - has.FAULT, has.REASONS)
    place = f"{model.drivetrain.source}, balancers.{model.balancers.names[line]}"
    where = f"at q{first_failing(status, model, q)}"
    if reason == has.MEETING:
        finding, remedy = f"its anchors meet {where}", "keep the arm away, or move an anchor"
    else:
        finding = f"its gas has no volume left {where}"
        remedy = "keep the arm away, or correct area, volume and length"
    raise ModelError(place, finding, remedy)


def first_failing(status: int, model: GearedModel, q: Array) -> str:
    """Index of the first posture with this status, as it is written; none for one posture."""
    for index in np.ndindex(q.shape[:-1]):
        constants = packed(model), packed_balancers(model)
        if kernels.balancer_forces(*constants, q[index], np.empty(model.n)) == status:
            return f"[{', '.join(map(str, index))}]" if index else ""
    return ""
