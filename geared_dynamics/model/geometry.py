"""Rotations that more than one room needs."""

import numpy as np

from geared_dynamics.arrays import Array


def rotation_with_z(axis: Array) -> Array:
    """Return a rotation (3, 3) whose third column is the unit vector ``axis``.

    The identity for z; the other two columns are otherwise arbitrary.
    """
    helper = np.array([0.0, 1.0, 0.0]) if abs(axis[1]) < 0.9 else np.array([0.0, 0.0, 1.0])
    first = np.cross(helper, axis)
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(axis, first), axis])
