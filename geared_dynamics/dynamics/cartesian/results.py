"""What the functions of the redundant model return."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array


class Forces(NamedTuple):
    """Forces on the left of M nu' + gyroscopic + gravity + springs = Q, each (..., N).

    Attributes:
        gyroscopic: N(nu) [N m]: omega x I omega of each link; of each wheel its frame's
            angular velocity x its angular momentum, in nu_2 and in nu_3.
        gravity: -m g0 at the centres of mass [N], paper 002, eq. (29), (30).
        springs: Least-norm s with J's = -(force of the springs on x), eq. (31); 0 when rigid.
    """

    gyroscopic: Array
    gravity: Array
    springs: Array

    @property
    def total(self) -> Array:
        """Their sum (..., N)."""
        return self.gyroscopic + self.gravity + self.springs


class CartesianModel(NamedTuple):
    """The redundant model at a state; k = n + n_e coordinates x, or n when rigid.

    Attributes:
        inertia: M, constant (N, N).
        jacobian: J (..., N, k), nu = J x'.
        jacobian_rate: J_dot (..., N, k).
        velocity: nu (..., N) [m/s, rad/s]; ``coordinate_names`` has the order.
        drift: J_dot x' (..., N): nu' where x'' = 0.
        forces: What stands beside M nu'.
        motors: Q = motors tau_m (N, m), constant: a motor's torque acts on its wheel's spin.
    """

    inertia: Array
    jacobian: Array
    jacobian_rate: Array
    velocity: Array
    drift: Array
    forces: Forces
    motors: Array

    @property
    def mass_matrix(self) -> Array:
        """H = J'MJ (..., k, k), paper 002, eq. (33)."""
        J = self.jacobian
        H = np.swapaxes(J, -1, -2) @ (self.inertia @ J)
        return np.asarray(0.5 * (H + np.swapaxes(H, -1, -2)))

    @property
    def bias_forces(self) -> Array:
        """J'(M J_dot x' + N + v) (..., k): Coriolis and gravity forces on x."""
        inertial = self.drift @ self.inertia  # M is symmetric
        return self.projected(inertial + self.forces.gyroscopic + self.forces.gravity)

    def projected(self, force: Array) -> Array:
        """Force on x of a force Q on nu: J' Q (..., k)."""
        return np.asarray((np.swapaxes(self.jacobian, -1, -2) @ force[..., None])[..., 0])

    def compatible(self, force: Array) -> Array:
        """Least-norm Q (..., N) with J' Q = ``force`` (..., k); others differ by reactions."""
        return compatible_forces(self.jacobian, force)


class Motion(NamedTuple):
    """Accelerations of the arm.

    Attributes:
        a: Of the joints (..., n), joint side.
        atheta: Of the shafts behind the springs (..., n_e), joint side; none when rigid.
        nu: Of the redundant velocities, nu' = J x'' + J_dot x' (..., N).
        reaction: What the constraints add on nu (..., N): J' reaction = 0. Springs, ``tau`` and
            ``f_ext`` count as their least-norm forces on nu.
    """

    a: Array
    atheta: Array
    nu: Array
    reaction: Array


def column(vector: Array, ndim: int) -> Array:
    """A vector (..., k) as a column of at least ``ndim`` dimensions.

    With one dimension less than the matrix, NumPy 1 would take it for a batch of vectors.
    """
    return vector.reshape((1,) * (ndim - 1 - vector.ndim) + vector.shape + (1,))


def compatible_forces(jacobian: Array, force: Array) -> Array:
    """J^+' force (..., N): Q of least norm with J' Q = force.

    From J = Y R with orthonormal Y: Q = Y R'^-1 force.

    Args:
        jacobian: J (..., N, k), of full column rank.
        force: Force on x (..., k).

    References:
        Paper 002, eq. (31).
    """
    if not np.all(np.isfinite(jacobian)):
        return np.full(jacobian.shape[:-1], np.nan)
    Y, R = np.linalg.qr(jacobian)
    inner = np.linalg.solve(np.swapaxes(R, -1, -2), column(force, R.ndim))
    return np.asarray((Y @ inner)[..., 0])
