"""Three-vectors and rotation matrices as the records hold them: types, constants, formulas."""

from __future__ import annotations

import math

import numpy as np

from geared_dynamics.arrays import Array

Vector3 = tuple[float, float, float]
Matrix3 = tuple[Vector3, Vector3, Vector3]  # its rows

ZERO3: Vector3 = (0.0, 0.0, 0.0)
IDENTITY3: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

# -- Three-dimensional geometry on tuples: the few formulas that records need ---------------------
#
# Rotation matrices R turn coordinates of a child frame into those of its parent,
# p_parent = R p_child. Angles in radians.


_ONE_WITHIN_ROUNDING = 4.0 * 2.0**-52


def dot(a: Vector3, b: Vector3) -> float:
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector3, b: Vector3) -> Vector3:
    """Return a x b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def add(a: Vector3, b: Vector3, scale: float = 1.0) -> Vector3:
    """Return a + scale * b."""
    return (a[0] + scale * b[0], a[1] + scale * b[1], a[2] + scale * b[2])


def norm(a: Vector3) -> float:
    """Return the length of ``a``, safe against overflow."""
    return math.hypot(*a)


def unit(a: Vector3) -> Vector3:
    """Return a / |a|; a vector that is already of unit length comes back unchanged.

    The second property makes writing and reading a file exact. ``a`` must not
    be zero; the callers check that, since they know the place to report.
    """
    length = norm(a)
    if abs(length - 1.0) <= _ONE_WITHIN_ROUNDING:
        return a
    return (a[0] / length, a[1] / length, a[2] / length)


def apply(rotation: Matrix3, a: Vector3) -> Vector3:
    """Return R a."""
    return (dot(rotation[0], a), dot(rotation[1], a), dot(rotation[2], a))


def transpose(a: Matrix3) -> Matrix3:
    """Return the transpose; of a rotation, its inverse."""
    return (
        (a[0][0], a[1][0], a[2][0]),
        (a[0][1], a[1][1], a[2][1]),
        (a[0][2], a[1][2], a[2][2]),
    )


def multiply(a: Matrix3, b: Matrix3) -> Matrix3:
    """Return A B."""
    columns = transpose(b)
    return (apply(columns, a[0]), apply(columns, a[1]), apply(columns, a[2]))


def turn_tensor(rotation: Matrix3, tensor: Matrix3) -> Matrix3:
    """Return R I R', symmetric to the last digit: a tensor in the parent's axes."""
    full = multiply(multiply(rotation, tensor), transpose(rotation))
    xy = 0.5 * (full[0][1] + full[1][0])
    xz = 0.5 * (full[0][2] + full[2][0])
    yz = 0.5 * (full[1][2] + full[2][1])
    return ((full[0][0], xy, xz), (xy, full[1][1], yz), (xz, yz, full[2][2]))


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> Matrix3:
    """Return Rz(yaw) Ry(pitch) Rx(roll), URDF's rotation about fixed axes."""
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def rpy_from_rotation(rotation: Matrix3) -> Vector3:
    """Return roll, pitch, yaw of a rotation, accurate in gimbal lock too.

    Any yaw serves that makes row two of Rz(-yaw) R begin with zero; near gimbal
    lock it is arbitrary, and roll is taken from what that yaw leaves over, so
    that the three together recompose R to rounding. Of the two solutions and
    yaw = 0 the one with the least error is returned.
    """
    first, second, _ = rotation
    yaw = math.atan2(second[0], first[0])
    candidates = [_rpy_given_yaw(rotation, angle) for angle in (yaw, 0.0, yaw + math.pi)]
    return min(candidates, key=lambda rpy: largest_difference(rotation_from_rpy(*rpy), rotation))


def _rpy_given_yaw(rotation: Matrix3, yaw: float) -> Vector3:
    first, second, third = rotation
    cosine, sine = math.cos(yaw), math.sin(yaw)
    pitch = math.atan2(-third[0], cosine * first[0] + sine * second[0])
    roll = math.atan2(sine * first[2] - cosine * second[2], cosine * second[1] - sine * first[1])
    return (roll, pitch, yaw)


def largest_difference(a: Matrix3, b: Matrix3) -> float:
    """Return the largest absolute difference of two matrices' elements."""
    return max(abs(a[i][j] - b[i][j]) for i in range(3) for j in range(3))


def largest_gap(a: Vector3, b: Vector3) -> float:
    """Return the largest absolute difference of two vectors' elements."""
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def rotation_about(axis: Vector3, angle: float) -> Matrix3:
    """Return the rotation by ``angle`` about the unit vector ``axis``.

    Rodrigues: R a = a cos + (1 - cos)(e . a) e + sin e x a (Vukobratovic 2002, eq. 20.108
    with the dot product that print lost).
    """
    cosine, sine = math.cos(angle), math.sin(angle)
    x, y, z = axis
    # 1 - cos loses all digits for small angles; 2 sin^2(angle/2) does not.
    rest = 2.0 * math.sin(0.5 * angle) ** 2
    return (
        (cosine + rest * x * x, rest * x * y - sine * z, rest * x * z + sine * y),
        (rest * x * y + sine * z, cosine + rest * y * y, rest * y * z - sine * x),
        (rest * x * z - sine * y, rest * y * z + sine * x, cosine + rest * z * z),
    )


# -- Rotations that more than one room needs ------------------------------------------------------


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
