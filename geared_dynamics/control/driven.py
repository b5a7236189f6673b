"""Coordinates of an elastic arm that its motors turn, where motor-side feedback acts.

Of x = (q, theta) these are theta of elastic drives and q of rigid ones, x_d, r = n of them.
With all springs at rest x_d = E_d q; y = E_d^-1 x_d is the joint position that the motors
show: q + deflection of the springs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from geared_dynamics.arrays import Array, IntArray, readonly, readonly_int
from geared_dynamics.dynamics.elastic.extended import extended
from geared_dynamics.dynamics.elastic.springs import structure_matrix
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel


@dataclass(frozen=True, eq=False)
class Driven:
    """Driven coordinates; made by ``driven``.

    Attributes:
        rows: Which of x = (q, theta) they are (n,), in the order of the joints where each moves
            one joint of its own most: a gain of joint j is then that of its own drive.
        rigid: E_d (n, n).
        inverse: Its inverse.
        shares: Motor torques per force on the driven coordinates (m, n), of least norm.
    """

    rows: IntArray
    rigid: Array
    inverse: Array
    shares: Array


def driven(model: GearedModel) -> Driven:
    """Find the coordinates that the motors turn.

    Args:
        model: Geared model with elastic joints.

    Raises:
        ModelError: where there are not as many as joints, each turned by itself.
    """
    extended(model)  # refuses an arm without springs
    A = structure_matrix(model)
    rigid = np.vstack([np.eye(model.n), model.elasticity.rigid])
    rows = by_joint(np.flatnonzero(np.any(A != 0.0, axis=1)), rigid)
    E = rigid[rows]
    if len(rows) != model.n or np.linalg.matrix_rank(A[rows]) != model.n:
        finding = f"turn {len(rows)} coordinates of an arm with {model.n} joints"
        remedy = "feedback needs a motor for each joint, and no passive ones"
        raise ModelError(f"{model.drivetrain.source}, motors", finding, remedy)
    shares = np.linalg.pinv(A[rows])
    return Driven(readonly_int(rows), readonly(E), readonly(np.linalg.inv(E)), readonly(shares))


def by_joint(rows: IntArray, rigid: Array) -> IntArray:
    """Rows in the order of the joints that they move most; as they are where two move one."""
    most = np.abs(rigid[rows]).argmax(axis=1)
    if len(np.unique(most)) < len(rows):
        return rows
    return rows[np.argsort(most)]
