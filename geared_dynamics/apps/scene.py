"""Pictures of an arm by casting rays: no display, no OpenGL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.simulation.mujoco_parts import mujoco

# -- Where rays meet spheres, capsules, cylinders and boxes: distances and normals ----------------
#
# Every function takes the rays in the shape's own frame, z along its axis: origin (3,) or (k, 3),
# directions (k, 3) of length 1. It gives the distance along each ray (k,), infinite where there is
# none, and the outward normal there (k, 3).


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


# -- Pictures of an arm, drawn by casting rays: no display, no OpenGL, on every machine alike -----
#
# MuJoCo's own offscreen renderer needs EGL or OSMesa of the system, which pip does not bring.


Pixels = NDArray[np.uint8]
SUN = np.array([0.45, -0.55, 0.95]) / np.linalg.norm([0.45, -0.55, 0.95])
SKY, HORIZON = np.array([0.80, 0.87, 0.94]), np.array([0.97, 0.98, 0.99])
FLOOR, TILE = np.array([0.90, 0.90, 0.91]), np.array([0.84, 0.85, 0.87])
SHADE = 0.72  # of the floor in the shadow
OVER = 2  # rays per pixel and direction


@dataclass(frozen=True)
class Camera:
    """A camera that looks at a point.

    Attributes:
        target: What it looks at (3,) [m].
        distance: [m].
        azimuth: Of the camera about z, from x [rad].
        elevation: Above the horizon [rad].
        view: Height of the picture, as an angle [rad].
    """

    target: Array
    distance: float
    azimuth: float = -0.9
    elevation: float = 0.32
    view: float = 0.7

    @property
    def place(self) -> Array:
        """Where it is (3,)."""
        flat = np.cos(self.elevation)
        back = [flat * np.cos(self.azimuth), flat * np.sin(self.azimuth), np.sin(self.elevation)]
        return np.asarray(self.target + self.distance * np.array(back))

    @property
    def axes(self) -> Array:
        """Right, up and back, columns (3, 3)."""
        back = (self.place - self.target) / self.distance
        right = np.cross([0.0, 0.0, 1.0], back)
        right /= np.linalg.norm(right)
        return np.column_stack([right, np.cross(back, right), back])


@dataclass(frozen=True)
class Shapes:
    """What is to be drawn, g shapes.

    Attributes:
        kind: MuJoCo's types of geoms (g,).
        size: Radius and half length, or half sizes (g, 3) [m].
        colour: (g, 3).
        place: Centres (g, 3) [m].
        turn: Orientations (g, 3, 3).
    """

    kind: Array
    size: Array
    colour: Array
    place: Array
    turn: Array

    @property
    def reach(self) -> Array:
        """Radius of a ball about each (g,)."""
        return np.asarray(np.linalg.norm(self.size, axis=1))


def shapes_of(mj: Any, data: Any) -> Shapes:
    """Copy the geoms of a MuJoCo model where they are now."""
    size = np.array(mj.geom_size)
    kinds = mujoco().mjtGeom
    round_ = np.isin(mj.geom_type, [int(kinds.mjGEOM_CAPSULE), int(kinds.mjGEOM_CYLINDER)])
    size[round_, 2] = 0.0
    capped = mj.geom_type == int(kinds.mjGEOM_CAPSULE)
    size[capped, 2] = size[capped, 0]  # a capsule reaches beyond its half length
    turn = np.array(data.geom_xmat).reshape(-1, 3, 3)
    colours = np.array(mj.geom_rgba[:, :3], float)
    return Shapes(np.array(mj.geom_type), size, colours, np.array(data.geom_xpos), turn)


class Stage:
    """A floor and a sky before a camera, on which shapes are drawn again and again."""

    def __init__(self, camera: Camera, *, width: int, height: int, floor: float) -> None:
        """Cast the rays that do not change.

        Args:
            camera: From where.
            width: Of the picture [pixels].
            height: Of the picture [pixels].
            floor: Height of the floor [m].
        """
        self._camera, self._floor = camera, floor
        self._shape = rows, columns = OVER * height, OVER * width
        self._scale = 0.5 * rows / np.tan(0.5 * camera.view)  # pixels per unit at distance 1
        x = (np.arange(columns) + 0.5 - 0.5 * columns) / self._scale
        y = -(np.arange(rows) + 0.5 - 0.5 * rows) / self._scale
        way = np.stack([*np.meshgrid(x, y), -np.ones(self._shape)], axis=-1)
        self._way = (way / np.linalg.norm(way, axis=-1, keepdims=True)) @ camera.axes.T
        self._empty = self._sky()
        self._below = self._way[..., 2] < -1e-3
        if camera.place[2] <= floor:
            self._below[:] = False
        fall = np.where(self._below, self._way[..., 2], -1.0)
        self._spots = camera.place + ((floor - camera.place[2]) / fall)[..., None] * self._way
        self._empty[self._below] = self._tiles()

    def draw(self, shapes: Shapes) -> Pixels:
        """Draw shapes with their shadows: red, green, blue (height, width, 3)."""
        picture = self._empty.copy()
        dark = self._shadow(shapes)
        picture[dark] *= SHADE
        depth = np.full(self._shape, np.inf)
        origin = self._camera.place
        for g in range(len(shapes.kind)):
            window = self._window(shapes.place[g], shapes.reach[g])
            if window is None:
                continue
            rays = self._way[window].reshape(-1, 3)
            t, normal = hit(shapes, g, origin, rays)
            t = t.reshape(depth[window].shape)
            near = t < depth[window]
            flat = near.ravel()
            picture[window][near] = shaded(shapes.colour[g], normal[flat], rays[flat])
            depth[window] = np.minimum(depth[window], t)
        rows, columns = self._shape
        fine = picture.reshape(rows // OVER, OVER, columns // OVER, OVER, 3)
        small = fine.mean(axis=(1, 3))
        return np.asarray(np.clip(255.0 * small + 0.5, 0.0, 255.0), np.uint8)

    def _sky(self) -> Array:
        """The sky (rows, columns, 3)."""
        blend = np.clip(3.0 * self._way[..., 2:3], 0.0, 1.0)
        return np.asarray(HORIZON * (1.0 - blend) + SKY * blend)

    def _tiles(self) -> Array:
        """Colours of the floor (k, 3), fading into the horizon."""
        camera, spots = self._camera, self._spots[self._below]
        tile = 0.12 * camera.distance
        odd = (np.floor(spots[:, 0] / tile) + np.floor(spots[:, 1] / tile)) % 2.0 > 0.5
        colour = np.where(odd[:, None], TILE, FLOOR)
        away = np.linalg.norm(spots - camera.target, axis=1) / (2.2 * camera.distance)
        fade = np.clip(away, 0.0, 1.0)[:, None] ** 1.5
        return np.asarray(colour * (1.0 - fade) + HORIZON * fade)

    def _shadow(self, shapes: Shapes) -> NDArray[np.bool_]:
        """Which rays meet the floor in the shadow (rows, columns)."""
        dark = np.zeros(self._shape, bool)
        for g, centre in enumerate(shapes.place):
            fall = centre - SUN * ((centre[2] - self._floor) / SUN[2])
            wide = 1.1 * shapes.reach[g] / SUN[2]
            window = self._window(fall, wide)
            if window is None:
                continue
            spots = self._spots[window]
            apart = np.abs(spots[..., :2] - fall[:2])
            close = (apart[..., 0] < wide) & (apart[..., 1] < wide)
            close &= self._below[window] & ~dark[window]
            starts = spots[close]
            if len(starts):
                rays = np.broadcast_to(SUN, starts.shape)
                t, _ = hit(shapes, g, starts + 1e-4 * SUN, rays)
                dark[window][close] = np.isfinite(t)
        return dark

    def _window(self, centre: Array, radius: float) -> tuple[slice, slice] | None:
        """Rows and columns of the picture that a ball can be in."""
        rows, columns = self._shape
        right, up, back = (centre - self._camera.place) @ self._camera.axes
        if -back <= 1.05 * radius:
            return slice(0, rows), slice(0, columns)
        wide = self._scale * radius / np.sqrt(back * back - radius * radius) * 1.3 + 2.0
        column = 0.5 * columns - self._scale * right / back
        row = 0.5 * rows + self._scale * up / back
        window = (
            slice(max(0, int(row - wide)), min(rows, int(row + wide) + 1)),
            slice(max(0, int(column - wide)), min(columns, int(column + wide) + 1)),
        )
        empty = any(part.start >= part.stop for part in window)
        return None if empty else window


def hit(shapes: Shapes, g: int, origin: Array, way: Array) -> Hit:
    """Where rays meet a shape; normals in the world's axes."""
    turn, kinds = shapes.turn[g], mujoco().mjtGeom
    local = (origin - shapes.place[g]) @ turn
    rays = way @ turn
    kind = int(shapes.kind[g])
    if kind == int(kinds.mjGEOM_CAPSULE):
        t, normal = capsule(local, rays, shapes.size[g])
    elif kind == int(kinds.mjGEOM_CYLINDER):
        t, normal = cylinder(local, rays, shapes.size[g])
    elif kind == int(kinds.mjGEOM_BOX):
        t, normal = box(local, rays, shapes.size[g])
    else:
        t, normal = sphere(local, rays, float(shapes.size[g, 0]))
    return t, normal @ turn.T


def shaded(colour: Array, normal: Array, way: Array) -> Array:
    """Colours (k, 3) of a surface in the sun."""
    light = normal @ SUN
    facing = 0.5 + 0.5 * normal[:, 2]
    mirror = 2.0 * light[:, None] * normal - SUN
    gloss = np.maximum(-np.sum(mirror * way, axis=-1), 0.0) ** 24
    strength = 0.34 + 0.16 * facing + 0.56 * np.maximum(light, 0.0)
    shown = colour * strength[:, None] + 0.16 * gloss[:, None]
    return np.asarray(np.clip(shown, 0.0, 1.0))
