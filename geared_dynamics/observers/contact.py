"""Force and moment of a contact at a stated frame, from external forces on the joints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import finite_input
from geared_dynamics.dynamics.kinematics import jacobian
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel

LEAST = 1e-6  # of the largest singular value: what is below is not seen


class ContactWrench(NamedTuple):
    """A contact at the origin of a frame.

    Attributes:
        force: In root axes (3,) [N].
        moment: In root axes, about the frame's origin (3,) [N m]; zero if not asked for.
        covariance: Of both (6, 6), within what is seen.
        seen: Orthonormal directions of (force, moment / length) that the joints feel (6, rank):
            what is across them is not in the estimate. Rank 6 sees everything.
        residual: External force on the joints that no contact there explains (n,).
    """

    force: Array
    moment: Array
    covariance: Array
    seen: Array
    residual: Array


def contact_wrench(
    model: GearedModel,
    q: ArrayLike,
    external: ArrayLike,
    frame: str,
    *,
    covariance: ArrayLike | None = None,
    moment: bool = True,
    length: float = 0.1,
) -> ContactWrench:
    r"""Wrench f with J' f = external force, by weighted least squares, of least norm.

    Args:
        model: Geared model.
        q: Joint position (n,) [rad or m].
        external: External force on the joints (n,) [N m or N].
        frame: Link at whose origin the contact is.
        covariance: Of the external force (n, n): its inverse weighs; equal weights if not
            given.
        moment: Whether the contact may pass a moment. An arm of three joints sees a force
            only without one.
        length: By which moments are divided so that they compare with forces [m].
    """
    n = model.n
    force = finite_input("external", external, n)
    P = np.eye(n) if covariance is None else np.asarray(finite_input("covariance", covariance, n))
    if P.shape != (n, n):
        raise ArrayError("covariance", f"has shape {P.shape}", f"give shape ({n}, {n})")
    if not length > 0.0:
        raise ArrayError("length", f"is {length}", "give a length above zero [m]")
    try:
        whiten = np.linalg.inv(np.linalg.cholesky(P))
    except np.linalg.LinAlgError:
        remedy = "give a symmetric, positive definite matrix"
        raise ArrayError("covariance", "is not positive definite", remedy) from None
    scale = np.array([1.0, 1.0, 1.0, length, length, length])
    J = jacobian(model, finite_input("q", q, n), frame) * scale[:, None]
    if not moment:
        J[3:] = 0.0
    u, s, vt = np.linalg.svd(whiten @ J.T, full_matrices=False)
    rank = int(np.sum(s > LEAST * max(s[0], np.finfo(float).tiny))) if s.size else 0
    seen = vt[:rank].T
    found = seen @ ((u[:, :rank].T @ (whiten @ force)) / s[:rank])
    spread = (seen / s[:rank] ** 2) @ seen.T
    wrench = found * scale
    return ContactWrench(
        force=wrench[:3],
        moment=wrench[3:],
        covariance=spread * np.outer(scale, scale),
        seen=seen,
        residual=force - J.T @ found,
    )
