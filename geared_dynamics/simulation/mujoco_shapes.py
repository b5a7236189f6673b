"""What the arm looks like: capsules along the links, cylinders for joints and wheels."""

from __future__ import annotations

from typing import Any

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.model import GearedModel
from geared_dynamics.scene.sizes import arm_size, depth, disc_of, link_points
from geared_dynamics.simulation.mujoco_parts import WheelBody, mujoco

LINK = (0.86, 0.87, 0.89, 1.0)
ACCENT = (0.95, 0.56, 0.16, 1.0)
JOINT = (0.24, 0.26, 0.30, 1.0)
WHEEL = (0.16, 0.45, 0.72, 1.0)
SPOKE = (0.96, 0.92, 0.72, 1.0)


def add_shapes(model: GearedModel, wheels: tuple[WheelBody, ...], bodies: dict[int, Any]) -> None:
    """Add geoms without mass and contact."""
    size = arm_size(model)
    points = link_points(model)
    for b, places in points.items():
        thick = 0.05 * size * (0.9 ** depth(model, b))
        for k, place in enumerate(places):
            if np.linalg.norm(place) > 0.02 * size:
                capsule(bodies[b], np.zeros(3), place, thick, ACCENT if b % 2 else LINK, k)
        if b >= 0 and not model.tree.prismatic[b]:
            axis = model.tree.axis[b]
            cylinder(bodies[b], np.zeros(3), axis, 1.25 * thick, 1.35 * thick, JOINT)
    foot = 0.09 * size
    under = max([foot, *(0.06 * size - w.position[2] for w in wheels if w.carrier < 0)])
    drop = np.array([0.0, 0.0, -0.5 * under])
    cylinder(bodies[-1], drop, np.array([0.0, 0.0, 1.0]), 1.3 * foot, 0.5 * under, JOINT)
    for wheel in wheels:
        add_wheel_shape(bodies, wheel, size)


def capsule(
    body: Any, start: Array, end: Array, radius: float, colour: tuple[float, ...], k: int
) -> None:
    """Add a capsule between two points."""
    geom = decoration(body, mujoco().mjtGeom.mjGEOM_CAPSULE, colour)
    geom.fromto = np.concatenate([start, end])
    geom.size = [radius * (1.0 if k == 0 else 0.8), 0.0, 0.0]


def cylinder(
    body: Any, centre: Array, axis: Array, radius: float, half: float, colour: tuple[float, ...]
) -> None:
    """Add a cylinder about an axis."""
    geom = decoration(body, mujoco().mjtGeom.mjGEOM_CYLINDER, colour)
    geom.fromto = np.concatenate([centre - half * axis, centre + half * axis])
    geom.size = [radius, 0.0, 0.0]


def decoration(body: Any, kind: Any, colour: tuple[float, ...]) -> Any:
    """Add a geom that is to be seen and nothing else."""
    geom = body.add_geom(type=kind, rgba=colour, contype=0, conaffinity=0)
    geom.mass, geom.density = 0.0, 0.0
    return geom


def add_wheel_shape(bodies: dict[int, Any], wheel: WheelBody, size: float) -> None:
    """Add a cylinder of the wheel's own inertia, with a spoke that shows its turn."""
    mass = 0.0 if wheel.invented else wheel.mass
    radius, half = disc_of(mass, wheel.axial, wheel.transverse, size)
    body = find(bodies[-1], wheel.name)
    up = np.array([0.0, 0.0, 1.0])
    cylinder(body, np.zeros(3), up, radius, half, WHEEL)
    geom = decoration(body, mujoco().mjtGeom.mjGEOM_BOX, SPOKE)
    geom.size = [0.92 * radius, 0.14 * radius, 1.06 * half]


def find(root: Any, name: str) -> Any:
    """Return a body below another by name."""
    return next(body for body in root.find_all(mujoco().mjtObj.mjOBJ_BODY) if body.name == name)
