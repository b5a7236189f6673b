"""Triangles of what arms are drawn with, without colours, and how large it is drawn.

Pages and MuJoCo's models draw links, wheels and planetary sets in the same sizes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.description.drive_records import PlanetaryRecord
from geared_dynamics.description.geometry import rotation_with_z
from geared_dynamics.model import GearedModel

ROUND = 24  # corners of a circle
ADDENDUM, DEDENDUM = 0.9, 1.15  # of a tooth, in modules
# Of a tooth's pitch: where its flanks begin and end, from its middle.
FOOT, TIP = 0.34, 0.14
RIM = 2.5  # of a ring outside its teeth, in modules


# -- Capsules, cylinders, boxes, gears ------------------------------------------------------------


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


# -- Sizes of links and wheels --------------------------------------------------------------------


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
