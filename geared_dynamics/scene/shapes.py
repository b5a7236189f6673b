"""What to draw of an arm, where it is at (q, theta), and by which ratio each wheel turns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, Frozen, IntArray
from geared_dynamics.description.geometry import rotation_with_z
from geared_dynamics.dynamics.frames import pose
from geared_dynamics.model import GearedModel
from geared_dynamics.scene.solids import (
    Disc,
    Gears,
    Solid,
    arm_size,
    box,
    capsule,
    cylinder,
    depth,
    disc_of,
    gear,
    gear_sets,
    interlocked,
    link_points,
    ring_gear,
    together,
)

# -- Colours: one for each link; the wheels that a link carries have it as well -------------------


Colour = tuple[int, int, int]
PALETTE: tuple[Colour, ...] = (
    (88, 104, 124),
    (230, 120, 40),
    (40, 120, 190),
    (60, 150, 80),
    (170, 70, 150),
    (200, 160, 30),
    (30, 160, 170),
    (200, 70, 70),
    (110, 90, 190),
)
MARK: Colour = (255, 246, 214)  # of the stripe that shows a wheel's turn
GLASS, SOLID = 0.36, 1.0  # opacity of links and of wheels


def colour_of(body: int) -> Colour:
    """Colour of a body, -1 for the root, and of the wheels that it carries."""
    return PALETTE[0] if body < 0 else PALETTE[1 + body % (len(PALETTE) - 1)]


# -- What there is to see -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Part(Frozen):
    """A surface of one colour.

    Attributes:
        body: Body that it is fixed in, -1 for the root; of a wheel its carrier.
        wheel: Wheel with which it turns, -1: none.
        solid: Its triangles in the body's frame, or in the wheel's: z along its axis.
        colour: Red, green, blue, 0 to 255.
        opacity: 0 to 1.
        sharp: Whether its edges are sharp.
    """

    body: int
    wheel: int
    solid: Solid
    colour: Colour
    opacity: float = SOLID
    sharp: bool = False


@dataclass(frozen=True, eq=False)
class ArmShapes(Frozen):
    """An arm to be drawn.

    Attributes:
        model: Geared model.
        parts: Surfaces.
        carrier: Body in whose frame each wheel is drawn, -1 for the root (w,): its carrier, or
            where no file says its place, the body before the joint that it drives.
        rotation: Axes of each wheel at angle 0 in that body's frame, z the spin axis (w, 3, 3).
        position: Its centre there, as drawn (w, 3) [m]: planets stand side by side, where the
            file does not say how far from the axis, too.
        size: Length of the arm [m].
        unplaced: Wheels whose place no file says.
        left_out: Meshes that are not drawn, a line each.
    """

    model: GearedModel
    parts: tuple[Part, ...]
    carrier: IntArray
    rotation: Array
    position: Array
    size: float
    unplaced: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def body_poses(model: GearedModel, q: ArrayLike) -> Array:
    """Frames of root and bodies (..., nb + 1, 4, 4) in the root's frame, the root first."""
    lead = np.shape(q)[:-1]
    root = np.broadcast_to(np.eye(4), (*lead, 4, 4))
    return np.stack([root, *(pose(model, q, name) for name in model.tree.names)], axis=-3)


def wheel_angles(model: GearedModel, q: ArrayLike, theta: ArrayLike | None = None) -> Array:
    """Angle of each wheel relative to its carrier (..., w) [rad]: Gamma_q q + Gamma_theta theta.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        theta: Motor side of the springs (..., n_e); None: all springs at rest, Gamma q.
    """
    elastic, joints = model.elasticity, np.asarray(q, float)
    if theta is None:
        return joints @ model.Gamma.T
    return joints @ elastic.link_spin.T + np.asarray(theta, float) @ elastic.shaft_spin.T


def wheel_poses(shapes: ArmShapes, angles: ArrayLike) -> Array:
    """Frames of the wheels in their carriers' (..., w, 4, 4), turned and carried by each other.

    A wheel's angle counts from its link, also where another wheel carries it and takes it round.

    Args:
        shapes: The arm.
        angles: As of ``wheel_angles`` (..., w) [rad].
    """
    wheels, phi = shapes.model.wheels, np.asarray(angles, float)
    axes, holders = wheels.axis, wheels.alone.holder
    relative, moved = phi.copy(), dict[int, Array]()
    for r in np.flatnonzero(holders >= 0).tolist():
        relative[..., r] -= (axes[r] @ axes[holders[r]]) * phi[..., holders[r]]

    def orbit(r: int) -> Array:
        """How far the wheels that carry a wheel have moved it (..., 4, 4)."""
        holder = int(holders[r])
        if holder < 0:
            return np.broadcast_to(np.eye(4), (*phi.shape[:-1], 4, 4))
        if holder not in moved:
            turn = turned_about(axes[holder], shapes.position[holder], relative[..., holder])
            moved[holder] = orbit(holder) @ turn
        return moved[holder]

    frames = np.zeros((*phi.shape, 4, 4))
    for r in range(len(axes)):
        seat = np.eye(4)
        seat[:3, :3], seat[:3, 3] = shapes.rotation[r], shapes.position[r]
        spin = turned_about(np.array([0.0, 0.0, 1.0]), np.zeros(3), relative[..., r])
        frames[..., r, :, :] = orbit(r) @ seat @ spin
    return frames


def turned_about(axis: Array, point: Array, angle: Array) -> Array:
    """Rotation by angles (...) about a line through a point, homogeneous (..., 4, 4)."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    s, c = np.sin(angle)[..., None, None], np.cos(angle)[..., None, None]
    result = np.zeros((*np.shape(angle), 4, 4))
    result[..., :3, :3] = np.eye(3) + s * cross + (1.0 - c) * (cross @ cross)
    result[..., :3, 3] = point - result[..., :3, :3] @ point
    result[..., 3, 3] = 1.0
    return result


# -- The links: rods from joint to joint ----------------------------------------------------------


def link_parts(model: GearedModel, size: float, drawn: set[int]) -> list[Part]:
    """Rods and the joints' bearings; of bodies that have shapes of their own nothing.

    Where a planetary set sits its gears are the bearing.
    """
    parts = []
    geared = {record.joint for record in model.records.drivetrain.planetary}
    for b, places in link_points(model).items():
        if b in drawn:
            continue
        thick = 0.05 * size * (0.9 ** depth(model, b))
        long = [place for place in places if np.linalg.norm(place) > 0.02 * size]
        rods = [capsule(np.zeros(3), place, thick if k == 0 else 0.8 * thick)
                for k, place in enumerate(long)]  # fmt: skip
        if b >= 0 and not model.tree.prismatic[b] and model.tree.joints[b] not in geared:
            bearing = cylinder(1.25 * thick, 1.35 * thick)
            rods.append(bearing.placed(rotation_with_z(model.tree.axis[b]), np.zeros(3)))
        if rods:
            parts.append(Part(b, -1, together(*rods), colour_of(b), GLASS))
    return parts


# -- The wheels -----------------------------------------------------------------------------------


def wheel_disc(model: GearedModel, r: int, size: float) -> Disc:
    """Size of a wheel without teeth; see ``disc_of``."""
    own = model.wheels.alone
    return disc_of(float(own.mass[r]), float(own.inertia[r]), float(own.transverse[r]), size)


def disc_parts(body: int, r: int, disc: Disc, colour: Colour) -> list[Part]:
    """A wheel without teeth."""
    own = Part(body, r, cylinder(disc.radius, disc.half), colour)
    return [own, mark(body, r, disc)]


def mark(body: int, r: int, disc: Disc) -> Part:
    """A stripe from the axis outwards on both faces, which shows a wheel's turn."""
    stripe = box(np.array([0.9 * disc.radius, 0.16 * disc.radius, 2.06 * disc.half + 1e-4]))
    out = np.array([0.5 * disc.radius, 0.0, 0.0])
    return Part(body, r, stripe.placed(np.eye(3), out), MARK, sharp=True)


# -- Planetary sets: sun, planets side by side, ring ---------------------------------------------


def x_angle(axes: Array, other: Array) -> float:
    """Angle about z of one frame (3, 3) at which another's x axis is [rad]."""
    x, y, _ = axes.T @ other[:, 0]
    return float(np.arctan2(y, x))


def centred(
    model: GearedModel, gears: Gears, rotation: Array, position: Array
) -> tuple[Array, Gears]:
    """Centre of a set in its planets' frame, and the set with the first planet's angle there.

    Planets whose radius no file gives are moved side by side, in place.
    """
    planets = [model.wheel_names.index(name) for name in gears.planets]
    axes, count = rotation[planets[0]], len(planets)
    if gears.known and count > 1:  # wherever the set's own x axis points
        centre = position[planets].mean(axis=0)
        x, y, _ = axes.T @ (position[planets[0]] - centre)
        return centre, gears._replace(phase=float(np.arctan2(y, x)))
    angles = gears.phase + 2.0 * np.pi * np.arange(count) / count
    out = gears.radius * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=-1)
    out = out @ axes.T
    centre = position[planets[0]] - (out[0] if gears.known else 0.0)
    position[planets] = centre + out
    return centre, gears


def set_parts(
    model: GearedModel, gears: Gears, rotation: Array, position: Array, poses: Array
) -> tuple[list[Part], set[int]]:
    """Parts of a planetary set, and the wheels among them.

    Args:
        model: Geared model.
        gears: The set.
        rotation: Axes of the wheels in their carriers.
        position: Their centres; planets without a radius are moved side by side here.
        poses: Bodies at q = 0, the root first (nb + 1, 4, 4).
    """
    index = {name: r for r, name in enumerate(model.wheel_names)}
    planets = [index[name] for name in gears.planets]
    first, half = planets[0], gears.half
    body = int(model.wheels.carrier[first])
    axes = [poses[int(b) + 1, :3, :3] @ turn
            for b, turn in zip(model.wheels.carrier, rotation, strict=True)]  # fmt: skip
    zero = {name: x_angle(axes[first], axes[r]) for name, r in index.items()}
    centre, gears = centred(model, gears, rotation, position)
    phases, ring_phase = interlocked(gears, zero.get(gears.sun or "", 0.0))
    s, p, r = gears.teeth
    parts: list[Part] = []
    for k, planet in enumerate(planets):
        wide = gears.pitch(p)
        parts.append(
            Part(body, planet, gear(p, wide, half, phases[k]), colour_of(body), sharp=True)
        )
        parts.append(mark(body, planet, Disc(0.8 * wide, half)))
    made = set(planets)
    if gears.sun is not None:
        sun = index[gears.sun]
        carrier, wide = int(model.wheels.carrier[sun]), gears.pitch(s)
        parts.append(Part(carrier, sun, gear(s, wide, half), colour_of(carrier), sharp=True))
        parts.append(mark(carrier, sun, Disc(0.8 * wide, half)))
        made.add(sun)
    tube = ring_gear(r, gears.pitch(r), half, ring_phase - zero.get(gears.ring, 0.0))
    if gears.ring in index:
        ring = index[gears.ring]
        carrier = int(model.wheels.carrier[ring])
        parts.append(Part(carrier, ring, tube, colour_of(carrier), 0.75, sharp=True))
        made.add(ring)
    else:
        link = model.frame(gears.ring).body
        here = np.linalg.inv(poses[link + 1]) @ poses[body + 1]
        seat = tube.placed(here[:3, :3] @ rotation[first], here[:3, :3] @ centre + here[:3, 3])
        parts.append(Part(link, -1, seat, colour_of(link), 0.75, sharp=True))
    return parts, made


def shapes_of(
    model: GearedModel, visuals: tuple[Part, ...] = (), left_out: tuple[str, ...] = ()
) -> ArmShapes:
    """What to draw of an arm.

    Args:
        model: Geared model.
        visuals: Shapes of the URDF, which replace the rods of their links.
        left_out: Its meshes that are not drawn.
    """
    size, wheels = arm_size(model), model.wheels
    rotation, position = rotation_with_z(wheels.axis), wheels.alone.position.copy()
    parts = [*visuals, *link_parts(model, size, {part.body for part in visuals})]
    poses = body_poses(model, np.zeros(model.n))
    made: set[int] = set()
    for gears in gear_sets(model, size):
        own, wheels_of_set = set_parts(model, gears, rotation, position, poses)
        parts += own
        made |= wheels_of_set
    carrier, unplaced = wheels.carrier.copy(), unplaced_wheels(model)
    for r in unplaced:
        carrier[r], rotation[r], position[r] = seat_at_joint(model, r)
    for r, body in enumerate(carrier):
        if r not in made:
            colour = colour_of(int(wheels.carrier[r]))
            parts += disc_parts(int(body), r, wheel_disc(model, r, size), colour)
    names = tuple(model.wheel_names[r] for r in unplaced)
    return ArmShapes(model, tuple(parts), carrier, rotation, position, size, names, left_out)


def unplaced_wheels(model: GearedModel) -> list[int]:
    """Wheels that the URDF alone describes, without a place: they count as carried by the root."""
    wheels = model.records.drivetrain.wheels
    return [r for r, wheel in enumerate(wheels) if wheel.urdf_origin and model.Gamma[r].any()]


def seat_at_joint(model: GearedModel, r: int) -> tuple[int, Array, Array]:
    """Body, axes and place of a wheel at the joint that it turns most, before the joint."""
    body = int(model.own_bodies[int(np.argmax(np.abs(model.Gamma[r])))])
    tree = model.tree
    axis = tree.rotation[body] @ tree.axis[body]
    return int(tree.parent[body]), rotation_with_z(axis), tree.position[body]
