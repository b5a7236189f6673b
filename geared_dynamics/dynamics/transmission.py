"""Between the joints' and the motors' side of the gears."""

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import as_input
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.model import GearedModel


def motor_torques(model: GearedModel, tau: ArrayLike) -> Array:
    """Motor torques tau_m with A tau_m = tau, before efficiency.

    With more motors than coordinates the solution of least norm is returned.

    Args:
        model: Geared model.
        tau: Generalised joint force (..., n) [N m or N], joint side.

    Returns:
        Torque at each motor's shaft (..., m) [N m], motor side.

    Raises:
        ModelError: if the motors cannot produce every joint force.

    References:
        Paper 001, eq. (12): tau = A tau_m.
    """
    return np.asarray(finite("tau", tau, model.n) @ distribution(model).T)


def distribution(model: GearedModel) -> Array:
    """Matrix (m, n) from joint forces to motor torques: the pseudoinverse of A.

    Raises:
        ModelError: if the motors cannot produce every joint force.
    """
    structure = model.structure_matrix
    rank = np.linalg.matrix_rank(structure) if structure.size else 0
    if rank < model.n:
        idle = [
            name for name, row in zip(model.joint_names, structure, strict=True) if not row.any()
        ]
        finding = f"{len(model.motor_names)} motors move {rank} of {model.n} coordinates"
        detail = f" (none acts on {', '.join(idle)})" if idle else ""
        raise ModelError(
            f"{model.drivetrain.source}, motors", finding + detail, "declare the missing motors"
        )
    return np.asarray(np.linalg.pinv(structure))


def motor_angles(model: GearedModel, q: ArrayLike) -> Array:
    """What the motors' encoders show: phi = A' q + phi(0), relative to their carriers.

    Args:
        model: Geared model; phi(0), ``model.motor_zeros``, is A' (-offset) with each motor's
            own offsets of its joints.
        q: Joint position (..., n) [rad or m].

    Returns:
        Rotor angle of each motor (..., m) [rad], motor side.
    """
    return np.asarray(finite("q", q, model.n) @ model.structure_matrix + model.motor_zeros)


def motor_speeds(model: GearedModel, v: ArrayLike) -> Array:
    """Rotor speed of each motor relative to its carrier: A' v (..., m) [rad/s], motor side.

    Args:
        model: Geared model.
        v: Joint velocity (..., n).

    References:
        Paper 001, eq. (12).
    """
    return np.asarray(finite("v", v, model.n) @ model.structure_matrix)


def finite(name: str, value: ArrayLike, width: int) -> Array:
    """Convert an input to float64 (..., width) and refuse NaN and infinity."""
    array = as_input(name, value, width)
    if not np.all(np.isfinite(array)):
        raise ArrayError(name, "contains NaN or infinity", "give finite numbers")
    return array
