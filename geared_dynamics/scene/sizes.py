"""How large links and wheels are drawn, on pages and in MuJoCo."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.model import GearedModel


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
    """Points of each body that a rod leads to: next joints and fixed links, or the mass."""
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


STEEL = 7800.0  # [kg/m^3], of wheels whose shape the inertia does not say


class Disc(NamedTuple):
    """Size of a wheel [m]."""

    radius: float
    half: float


def disc_of(mass: float, axial: float, transverse: float, size: float) -> Disc:
    """A full cylinder with a wheel's moments, as far as one can see it on the arm.

    axial = m r^2 / 2, transverse = m (3 r^2 + l^2) / 12; of a wheel without a mass of its own
    a steel disc half as thick as its radius: axial = pi rho r^5 / 4.

    Args:
        mass: [kg], 0 where it is not known.
        axial: Moment of inertia about its axis [kg m^2].
        transverse: Across it [kg m^2].
        size: Length of the arm [m].
    """
    if mass > 0.0:
        square = 2.0 * axial / mass
        radius = np.sqrt(square)
        half = 0.5 * np.sqrt(max(12.0 * max(transverse, 0.5 * axial) / mass - 3.0 * square, 0.0))
    else:
        radius = (4.0 * axial / (np.pi * STEEL)) ** 0.2
        half = 0.25 * radius
    return Disc(
        float(np.clip(radius, 0.02 * size, 0.11 * size)),
        float(np.clip(half, 0.006 * size, 0.08 * size)),
    )
