"""Force and moment of a contact at a stated frame, from external forces on the joints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, BoolArray
from geared_dynamics.dynamics.border import finite_input
from geared_dynamics.dynamics.kinematics import jacobian
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.border import above_zero, one_state

LEAST = 1e-6  # of the largest singular value: what is below is not seen
ACROSS = 1e-6  # part of a component that may lie across what is seen


class ContactWrench(NamedTuple):
    """A contact at the origin of a frame.

    ``force`` and ``moment`` are of least norm: where ``seen`` is not the whole space, their
    components may be of that and not of the contact. ``told`` has NaN there.

    Attributes:
        force: In root axes (3,) [N].
        moment: In root axes, about the frame's origin (3,) [N m]; zero if not asked for.
        covariance: Of both (6, 6), within what is seen.
        seen: Orthonormal directions of (force, moment / length) that the joints feel (6, rank):
            what is across them is not in the estimate. Rank 6 sees everything; without a
            moment, rank 3.
        residual: External force on the joints that no contact there explains (n,).
        turning: Whether a moment was asked for; if not, it is zero by the caller's word.
    """

    force: Array
    moment: Array
    covariance: Array
    seen: Array
    residual: Array
    turning: bool = True

    @property
    def rank(self) -> int:
        """How many directions the joints feel."""
        return int(self.seen.shape[1])

    def determined(self, axes: ArrayLike | None = None) -> BoolArray:
        """Which components (6,) the joints tell: those whose unit vector lies in what is seen.

        Args:
            axes: Rotation (3, 3) from the axes of the components to root's; root's if not given.
        """
        turned = _both(axes).T @ self.seen
        across = 1.0 - np.sum(turned**2, axis=1)
        known = across <= ACROSS**2
        if not self.turning:
            known[3:] = True
        return np.asarray(known)

    def told(self, axes: ArrayLike | None = None) -> Array:
        """Force and moment (6,), NaN where the joints do not tell the component.

        Args:
            axes: Rotation (3, 3) from the axes wanted to root's, as of ``gd.pose``; root's if
                not given.
        """
        wrench = _both(axes).T @ np.concatenate([self.force, self.moment])
        wrench[~self.determined(axes)] = np.nan
        return np.asarray(wrench)


def _both(axes: ArrayLike | None) -> Array:
    """Rotation (6, 6) of force and moment, from (3, 3)."""
    R = np.eye(3) if axes is None else finite_input("axes", axes, 3)
    if R.shape != (3, 3) or not np.allclose(R.T @ R, np.eye(3), rtol=0.0, atol=1e-6):
        raise ArrayError("axes", "are no rotation", "give an orthogonal matrix (3, 3)")
    return np.asarray(np.kron(np.eye(2), R), np.float64)


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
    force = one_state("external", external, n)
    length = above_zero("length", length, "a length [m]")
    whiten = np.eye(n) if covariance is None else whitening(covariance, n)
    scale = np.array([1.0, 1.0, 1.0, length, length, length])
    J = jacobian(model, one_state("q", q, n), frame) * scale[:, None]
    if not moment:
        J[3:] = 0.0
    _, values, vt = np.linalg.svd(J.T, full_matrices=False)
    rank = int(np.sum(values > LEAST * max(values[0], np.finfo(float).tiny)))
    seen = vt[:rank].T
    # Where the wrench lies within what is seen, there is one least-squares solution.
    u, s, wt = np.linalg.svd(whiten @ J.T @ seen, full_matrices=False)
    shape = seen @ wt.T / s
    found = shape @ (u.T @ (whiten @ force))
    wrench = found * scale
    return ContactWrench(
        force=wrench[:3],
        moment=wrench[3:],
        covariance=shape @ shape.T * np.outer(scale, scale),
        seen=seen,
        residual=force - J.T @ found,
        turning=moment,
    )


def whitening(covariance: ArrayLike, n: int) -> Array:
    """L^-1 (n, n) of a covariance L L'."""
    P = finite_input("covariance", covariance, n)
    remedy = "give a symmetric, positive definite matrix"
    if P.shape != (n, n):
        raise ArrayError("covariance", f"has shape {P.shape}", f"give shape ({n}, {n})")
    if np.abs(P - P.T).max() > 1e-9 * np.abs(P).max():
        raise ArrayError("covariance", "is not symmetric", remedy)
    try:
        return np.asarray(np.linalg.inv(np.linalg.cholesky(P)))
    except np.linalg.LinAlgError:
        raise ArrayError("covariance", "is not positive definite", remedy) from None
