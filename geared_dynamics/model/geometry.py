"""Rotations that more than one room needs."""

import numpy as np

from geared_dynamics.arrays import Array


def rotation_with_z(axis: Array) -> Array:
    """Return rotations (..., 3, 3) whose third columns are the unit vectors ``axis`` (..., 3).

    The identity for z; the other two columns are otherwise arbitrary. The first is along
    y x axis, or z x axis where the axis is near y.
    """
    x, y, z = axis[..., 0], axis[..., 1], axis[..., 2]
    zero = np.zeros_like(x)
    near = np.abs(y) >= 0.9
    fx, fy, fz = np.where(near, (zero - y, x, zero), (z, zero, zero - x))
    length = np.sqrt(fx * fx + fy * fy + fz * fz)
    fx, fy, fz = fx / length, fy / length, fz / length
    rows = [[fx, y * fz - z * fy, x], [fy, z * fx - x * fz, y], [fz, x * fy - y * fx, z]]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))
