"""Ten inertial parameters of a rigid body: m, m c (3), Ixx Ixy Ixz Iyy Iyz Izz.

The tensor is about the frame's origin, so that parameters of bodies fixed to each
other add. Arrays have shape (10,), SI units.
"""

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.description.robot_records import InertiaRecord

UPPER = (np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 1, 2, 2]))

# Principal moments may violate the triangle inequality by rounding of printed digits.
TRIANGLE_SLACK = 1e-9  # relative to the largest principal moment
# What taking m |c|^2 out of the tensor about the origin leaves behind, relative to that tensor.
SHIFT_SLACK = 16.0 * float(np.finfo(float).eps)


def tensor_of(parameters: Array) -> Array:
    """Inertia tensor about the frame's origin (3, 3) [kg m^2]."""
    tensor = np.zeros((3, 3))
    tensor[UPPER] = parameters[4:]
    return tensor + np.triu(tensor, 1).T


def point_tensor(x: ArrayLike) -> Array:
    """Tensor (3, 3) of a unit point mass at x: |x|^2 1 - x x'."""
    position = np.asarray(x, float)
    return np.asarray(position @ position * np.eye(3) - np.outer(position, position))


def parameters_of(mass: float, com: ArrayLike, tensor: ArrayLike) -> Array:
    """Parameters (10,) from mass, centre of mass (3,) and tensor about it (3, 3)."""
    about_origin = np.asarray(tensor, float) + mass * point_tensor(com)
    return np.concatenate([[mass], mass * np.asarray(com, float), about_origin[UPPER]])


def disc(
    mass: float, axial: float, transverse: float, axis: ArrayLike, position: ArrayLike
) -> Array:
    """Parameters (10,) of a locked wheel, whatever its angle, in the frame of its axis (3,).

    Tensor about its centre at ``position`` (3,): transverse 1 + (axial - transverse) e e'.
    """
    along = np.asarray(axis, float)
    tensor = transverse * np.eye(3) + (axial - transverse) * np.outer(along, along)
    return parameters_of(mass, position, tensor)


def parameters_of_record(record: InertiaRecord | None) -> Array:
    """Parameters (10,) of a link's record; zeros where it has no inertial."""
    if record is None:
        return np.zeros(10)
    return parameters_of(record.mass, record.com, record.tensor)


def moved(parameters: Array, rotation: Array, position: Array) -> Array:
    """Parameters (10,) in a frame in which theirs lies at ``rotation``, ``position``.

    With x = R m c: m c' = x + m p and
    I' = R I R' + (2 p.x + m p.p) 1 - p x' - x p' - m p p'.
    """
    mass = float(parameters[0])
    x = rotation @ parameters[1:4]
    y = x + 0.5 * mass * position
    shift = 2.0 * (position @ y) * np.eye(3) - np.outer(position, y) - np.outer(y, position)
    tensor = rotation @ tensor_of(parameters) @ rotation.T + shift
    return np.concatenate([[mass], x + mass * position, tensor[UPPER]])


def central_tensor(parameters: Array) -> Array:
    """Tensor (3, 3) about the centre of mass; about the origin for a massless body."""
    tensor = tensor_of(parameters)
    mass = parameters[0]
    if mass > 0.0:
        tensor = tensor - mass * point_tensor(parameters[1:4] / mass)
    return tensor


def doubt(parameters: Array) -> str:
    """What no rigid body of non-negative density could have, in words; empty if fine."""
    if parameters[0] == 0.0 and np.any(parameters[1:] != 0.0):
        return "has inertia without mass"
    moments = np.linalg.eigvalsh(central_tensor(parameters))
    slack = TRIANGLE_SLACK * max(abs(moments[2]), abs(moments[0]))
    slack += SHIFT_SLACK * float(np.abs(parameters[4:]).max())
    if moments[0] < -slack:
        return f"has a negative principal moment of inertia, {moments[0]:.6g} kg m^2"
    if moments[0] + moments[1] < moments[2] - slack:
        listed = ", ".join(f"{moment:.6g}" for moment in moments)
        return f"violates the triangle inequality with principal moments {listed} kg m^2"
    return ""
