"""Triangles of what arms are drawn with: capsules, cylinders, boxes, gears; without colours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.description.geometry import rotation_with_z

ROUND = 24  # corners of a circle
ADDENDUM, DEDENDUM = 0.9, 1.15  # of a tooth, in modules
# Of a tooth's pitch: where its flanks begin and end, from its middle.
FOOT, TIP = 0.34, 0.14
RIM = 2.5  # of a ring outside its teeth, in modules


class Solid(NamedTuple):
    """Triangles of a surface, counter-clockwise seen from outside.

    Attributes:
        points: (k, 3) [m].
        faces: Indices of their corners (f, 3).
    """

    points: Array
    faces: IntArray

    def placed(self, rotation: Array, position: Array) -> Solid:
        """The same at another place: rotation (3, 3), position (3,) [m]."""
        return Solid(self.points @ rotation.T + position, self.faces)


def together(*solids: Solid) -> Solid:
    """Several as one."""
    starts = np.cumsum([0, *(len(solid.points) for solid in solids)])
    faces = [solid.faces + start for solid, start in zip(solids, starts[:-1], strict=True)]
    return Solid(np.concatenate([s.points for s in solids]), np.concatenate(faces))


def loft(rings: Array) -> Solid:
    """Closed surface through rings of corners (r, c, 3), upwards; both ends flat."""
    count, corners = rings.shape[:2]
    k, j = np.meshgrid(np.arange(count - 1), np.arange(corners), indexing="ij")
    here, beside = k * corners + j, k * corners + (j + 1) % corners
    side = np.concatenate(
        [
            np.stack([here, beside, beside + corners], axis=-1).reshape(-1, 3),
            np.stack([here, beside + corners, here + corners], axis=-1).reshape(-1, 3),
        ]
    )
    # Ends have corners of their own, so that edges are sharp.
    ends = np.concatenate([rings[0], rings[:1].mean(axis=1), rings[-1], rings[-1:].mean(axis=1)])
    first = count * corners
    own = np.arange(corners)
    after = (own + 1) % corners
    down = np.stack([first + after, first + own, np.full(corners, first + corners)], axis=-1)
    start = first + corners + 1
    up = np.stack([start + own, start + after, np.full(corners, start + corners)], axis=-1)
    points = np.concatenate([rings.reshape(-1, 3), ends])
    return Solid(points, np.concatenate([side, down, up]))


def circle(radius: float, height: float, corners: int = ROUND) -> Array:
    """Corners (c, 3) of a circle across z."""
    angle = 2.0 * np.pi * np.arange(corners) / corners
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    return np.stack([x, y, np.full(corners, height)], axis=-1)


def cylinder(radius: float, half: float) -> Solid:
    """A cylinder along z about the origin."""
    return loft(np.stack([circle(radius, -half), circle(radius, half)]))


def box(edges: Array) -> Solid:
    """A box of edges (3,) about the origin."""
    x, y, z = 0.5 * np.asarray(edges)
    floor = np.array([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]])
    up = np.array([0.0, 0.0, z])
    return loft(np.stack([floor - up, floor + up]))


def sphere(radius: float) -> Solid:
    """A sphere about the origin."""
    return capsule(np.zeros(3), np.zeros(3), radius)


def capsule(start: Array, end: Array, radius: float, corners: int = 16) -> Solid:
    """A rod with round ends between two points."""
    way = end - start
    length = float(np.linalg.norm(way))
    turns = np.linspace(0.05, 0.5 * np.pi, 5)
    low = [circle(radius * np.sin(t), -radius * np.cos(t), corners) for t in turns]
    high = [circle(radius * np.sin(t), length + radius * np.cos(t), corners) for t in turns[::-1]]
    axis = way / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    return loft(np.stack([*low, *high])).placed(rotation_with_z(axis), start)


def outline(teeth: int, pitch: float, *, inner: bool = False, phase: float = 0.0) -> Array:
    """Corners (4 teeth, 2) of a gear's teeth, the first tooth's middle at an angle.

    Args:
        teeth: Number of them.
        pitch: Radius of the pitch circle [m].
        inner: Of a ring: teeth point inwards.
        phase: Angle of the first tooth [rad].
    """
    module = 2.0 * pitch / teeth
    tip, foot = pitch + ADDENDUM * module, pitch - DEDENDUM * module
    if inner:
        tip, foot = pitch - ADDENDUM * module, pitch + DEDENDUM * module
    step = 2.0 * np.pi / teeth
    places = step * np.array([-FOOT, -TIP, TIP, FOOT])
    angle = (phase + step * np.arange(teeth)[:, None] + places).ravel()
    radius = np.tile([foot, tip, tip, foot], teeth)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)


def gear(teeth: int, pitch: float, half: float, phase: float = 0.0) -> Solid:
    """A spur gear across z about the origin; see ``outline``."""
    flat = outline(teeth, pitch, phase=phase)
    rings = [np.column_stack([flat, np.full(len(flat), z)]) for z in (-half, half)]
    return loft(np.stack(rings))


def ring_gear(teeth: int, pitch: float, half: float, phase: float = 0.0) -> Solid:
    """A ring with inner teeth across z about the origin; see ``outline``."""
    inner = outline(teeth, pitch, inner=True, phase=phase)
    outside = pitch + (DEDENDUM + RIM) * 2.0 * pitch / teeth
    outer = inner * (outside / np.linalg.norm(inner, axis=1))[:, None]
    section = [(outer, -half), (outer, half), (inner, half), (inner, -half)]
    rings = np.stack([np.column_stack([flat, np.full(len(flat), z)]) for flat, z in section])
    count, corners = rings.shape[:2]
    k, j = (x.ravel() for x in np.meshgrid(np.arange(count), np.arange(corners), indexing="ij"))
    here, beside = k * corners + j, k * corners + (j + 1) % corners
    over, across = (here + corners) % (count * corners), (beside + corners) % (count * corners)
    faces = np.concatenate(
        [np.stack([here, beside, across], -1), np.stack([here, across, over], -1)]
    )
    return Solid(rings.reshape(-1, 3), faces)
