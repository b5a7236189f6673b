"""What the arm looks like: capsules along the links, cylinders for joints and wheels."""

from __future__ import annotations

from typing import Any

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.mujoco_parts import WheelBody, mujoco

LINK = (0.86, 0.87, 0.89, 1.0)
ACCENT = (0.95, 0.56, 0.16, 1.0)
JOINT = (0.24, 0.26, 0.30, 1.0)
WHEEL = (0.16, 0.45, 0.72, 1.0)
SPOKE = (0.96, 0.92, 0.72, 1.0)
STEEL = 7800.0  # [kg/m^3], of wheels whose shape the inertia does not say


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


def arm_size(model: GearedModel) -> float:
    """Length of the longest chain of origins and fixed links [m]."""
    reach = {-1: 0.0}
    for b in range(len(model.tree.names)):
        step = float(np.linalg.norm(model.tree.position[b]))
        reach[b] = reach[int(model.tree.parent[b])] + step
    ends = [
        reach[b] + max(float(np.linalg.norm(place)) for place in places)
        for b, places in link_points(model).items()
        if places
    ]
    return max(0.2, *ends, *reach.values())


def depth(model: GearedModel, b: int) -> int:
    """How many joints lie before a body."""
    count = 0
    while b >= 0:
        b, count = int(model.tree.parent[b]), count + 1
    return count


def link_points(model: GearedModel) -> dict[int, list[Array]]:
    """Points of each body that a capsule leads to: next joints and fixed links, or the mass."""
    points: dict[int, list[Array]] = {b: [] for b in range(-1, len(model.tree.names))}
    for b in range(len(model.tree.names)):
        points[int(model.tree.parent[b])].append(np.array(model.tree.position[b]))
    for name, frame in model.frames.items():
        if frame.wheel < 0 and name not in model.tree.names:
            points[frame.body].append(np.array(frame.position))
    for b, places in points.items():
        if b >= 0 and not any(np.linalg.norm(place) > 0.0 for place in places):
            parameters = model.tree.parameters[b]
            if parameters[0] > 0.0:
                places.append(1.6 * parameters[1:4] / parameters[0])
    return points


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
    radius, half = cylinder_of(wheel)
    radius = float(np.clip(radius, 0.02 * size, 0.11 * size))
    half = float(np.clip(half, 0.006 * size, 0.08 * size))
    body = find(bodies[-1], wheel.name)
    up = np.array([0.0, 0.0, 1.0])
    cylinder(body, np.zeros(3), up, radius, half, WHEEL)
    geom = decoration(body, mujoco().mjtGeom.mjGEOM_BOX, SPOKE)
    geom.size = [0.92 * radius, 0.14 * radius, 1.06 * half]


def find(root: Any, name: str) -> Any:
    """Return a body below another by name."""
    return next(body for body in root.find_all(mujoco().mjtObj.mjOBJ_BODY) if body.name == name)


def cylinder_of(wheel: WheelBody) -> tuple[float, float]:
    """Radius and half length [m] of a full cylinder with the wheel's moments.

    axial = m r^2 / 2, transverse = m (3 r^2 + l^2) / 12; of a wheel without a mass of its own
    a steel disc half as thick as its radius: axial = pi rho r^5 / 4.
    """
    if wheel.invented:
        radius = (4.0 * wheel.axial / (np.pi * STEEL)) ** 0.2
        return radius, 0.25 * radius
    square = 2.0 * wheel.axial / wheel.mass
    long = max(12.0 * wheel.transverse / wheel.mass - 3.0 * square, 0.0)
    return float(np.sqrt(square)), 0.5 * float(np.sqrt(long))
