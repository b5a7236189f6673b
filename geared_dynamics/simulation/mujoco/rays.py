"""Where rays meet spheres, capsules, cylinders and boxes: distances and normals.

Every function takes the rays in the shape's own frame, z along its axis: origin (3,) or (k, 3),
directions (k, 3) of length 1. It gives the distance along each ray (k,), infinite where there is
none, and the outward normal there (k, 3).
"""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array, BoolArray

Hit = tuple[Array, Array]
NEAR = 1e-6  # [m], nearer than which a shape is not seen


def sphere(origin: Array, way: Array, radius: float, height: float = 0.0) -> Hit:
    """A sphere on the axis.

    Args:
        origin: Of the rays.
        way: Directions.
        radius: [m].
        height: Of its centre [m].
    """
    start = origin - np.array([0.0, 0.0, height])
    along = np.sum(way * start, axis=-1)
    rest = along**2 - (np.sum(start * start, axis=-1) - radius**2)
    t = first(-along - np.sqrt(np.maximum(rest, 0.0)), rest >= 0.0)
    return t, (start + finite(t)[:, None] * way) / radius


def tube(origin: Array, way: Array, radius: float, half: float) -> Hit:
    """A cylinder's side.

    Args:
        origin: Of the rays.
        way: Directions.
        radius: [m].
        half: Half its length [m].
    """
    a = np.maximum(np.sum(way[:, :2] ** 2, axis=-1), 1e-300)
    b = np.sum(way[:, :2] * origin[..., :2], axis=-1)
    rest = b**2 - a * (np.sum(origin[..., :2] ** 2, axis=-1) - radius**2)
    t = (-b - np.sqrt(np.maximum(rest, 0.0))) / a
    place = origin + t[:, None] * way
    t = first(t, (rest >= 0.0) & (np.abs(place[:, 2]) <= half))
    normal = place / radius
    normal[:, 2] = 0.0
    return t, normal


def cap(origin: Array, way: Array, radius: float, height: float) -> Hit:
    """A disc across the axis.

    Args:
        origin: Of the rays.
        way: Directions.
        radius: [m].
        height: Of the disc [m].
    """
    slope = np.where(np.abs(way[:, 2]) < 1e-12, 1e-12, way[:, 2])
    t = (height - origin[..., 2]) / slope
    place = origin + t[:, None] * way
    t = first(t, np.sum(place[:, :2] ** 2, axis=-1) <= radius**2)
    return t, np.broadcast_to([0.0, 0.0, np.sign(height) or 1.0], way.shape)


def capsule(origin: Array, way: Array, size: Array) -> Hit:
    """A capsule of radius size[0] and half length size[1]."""
    radius, half = size[:2]
    return nearest(
        tube(origin, way, radius, half),
        sphere(origin, way, radius, half),
        sphere(origin, way, radius, -half),
    )


def cylinder(origin: Array, way: Array, size: Array) -> Hit:
    """A cylinder of radius size[0] and half length size[1]."""
    radius, half = size[:2]
    return nearest(
        tube(origin, way, radius, half),
        cap(origin, way, radius, half),
        cap(origin, way, radius, -half),
    )


def box(origin: Array, way: Array, size: Array) -> Hit:
    """A box of half sizes (3,)."""
    slope = np.where(np.abs(way) < 1e-12, 1e-12, way)
    low, high = (-size - origin) / slope, (size - origin) / slope
    enter, leave = np.minimum(low, high), np.maximum(low, high)
    axis = np.argmax(enter, axis=-1)
    t = np.max(enter, axis=-1)
    rows = np.arange(len(way))
    normal = np.zeros(way.shape)
    normal[rows, axis] = -np.sign(slope[rows, axis])
    return first(t, t <= np.min(leave, axis=-1)), normal


def nearest(*hits: Hit) -> Hit:
    """The nearest of several hits of the same rays."""
    t, normal = hits[0]
    for other, another in hits[1:]:
        closer = other < t
        t = np.where(closer, other, t)
        normal = np.where(closer[:, None], another, normal)
    return t, normal


def first(t: Array, met: BoolArray) -> Array:
    """Distances, infinite where nothing is met in front."""
    return np.where(met & (t > NEAR), t, np.inf)


def finite(t: Array) -> Array:
    """Distances with 0 for infinity."""
    return np.where(np.isfinite(t), t, 0.0)
