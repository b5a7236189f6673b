"""How large links, wheels and planetary sets are drawn, on pages and in MuJoCo."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description.drive_records import PlanetaryRecord
from geared_dynamics.model import GearedModel
from geared_dynamics.scene.solids import ADDENDUM


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


# -- Planetary sets -------------------------------------------------------------------------------


class Gears(NamedTuple):
    """A planetary set to be drawn.

    Attributes:
        radius: Of the circle of the planets' axes [m], as in the file or made up.
        sun: Wheel, or None where it is a link.
        ring: Wheel or link.
        planets: Wheels.
        teeth: Of sun, planet and ring.
        phase: Angle of the first planet [rad].
        known: Whether the file says the radius.
    """

    radius: float
    sun: str | None
    ring: str
    planets: tuple[str, ...]
    teeth: tuple[int, int, int]
    phase: float
    known: bool

    def pitch(self, teeth: int) -> float:
        """Pitch radius of a gear of the set [m]."""
        return self.radius * teeth / (self.teeth[0] + self.teeth[1])

    @property
    def half(self) -> float:
        """Half the gears' thickness [m]."""
        return 0.13 * self.radius


WIDEST = 0.13  # of the arm's length, the ring of a set of which no radius is known


def gear_sets(model: GearedModel, size: float) -> list[Gears]:
    """The planetary sets of a model's files."""
    drives = model.records.drivetrain
    members: dict[str, dict[str, tuple[str, str]]] = {}
    for mesh in drives.meshes:
        if mesh.kind in ("external", "internal"):
            members.setdefault(mesh.place, {}).setdefault(mesh.kind, mesh.members)
    found = []
    for record in drives.planetary:
        pairs = members.get(f"planetary.{record.name}", {})
        if len(pairs) == 2:
            found.append(gears_of(record, pairs["external"][0], pairs["internal"][1], model, size))
    return found


def gears_of(
    record: PlanetaryRecord, sun: str, ring: str, model: GearedModel, size: float
) -> Gears:
    """One planetary set; of one without a radius the ring is as wide as fits the arm."""
    s, p, r = record.teeth
    planets = tuple(f"{record.name}.planet_{k + 1}" for k in range(record.planets))
    outside = (r + 2.0 * (ADDENDUM + 3.0)) / (s + p)
    radius = record.radius or WIDEST * size / outside
    own = sun if sun in model.wheel_names else None
    return Gears(radius, own, ring, planets, (s, p, r), record.phase, record.radius > 0.0)


def interlocked(gears: Gears, start: float = 0.0) -> tuple[list[float], float]:
    """Angles of a tooth of each planet and of the ring [rad], one of the sun's being ``start``.

    At the planet's angle alpha the sun's teeth are s of a pitch past it; the planet has a gap
    there, and the ring one where the planet has a tooth.
    """
    sun, planet, ring = gears.teeth
    count, turn = len(gears.planets), 2.0 * np.pi
    phases = []
    for k in range(count):
        alpha = gears.phase + turn * k / count
        past = (alpha - start) * sun / turn % 1.0
        phases.append(alpha + np.pi + (past - 0.5) * turn / planet)
    past = (gears.phase - phases[0]) * planet / turn % 1.0
    return phases, gears.phase - (past + 0.5) * turn / ring
