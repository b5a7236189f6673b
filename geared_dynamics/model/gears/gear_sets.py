"""Planetary and harmonic sets as wheels and meshes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description.drive_records import (
    HarmonicRecord,
    MeshRecord,
    PlanetaryRecord,
    WheelRecord,
)
from geared_dynamics.description.gear_sections import MEMBERS
from geared_dynamics.description.geometry import Vector3, rotation_with_z
from geared_dynamics.description.robot_records import RobotRecord
from geared_dynamics.errors import ModelError, UnknownNameError
from geared_dynamics.model.gears.mesh_equation import (
    AxisLine,
    Bodies,
    coaxial_within,
    misfit,
    upwards,
)

# -- Where a gear set sits: its axis, its housing and the link that it drives ---------------------


@dataclass(frozen=True, eq=False)
class Seat:
    """Where a gear set sits.

    Attributes:
        housing: Link that its fixed member is a part of.
        driven: Link that its output is a part of; None if that is a wheel.
        rotation: The set's axes in the housing's frame (3, 3): z is its axis, and x, from
            which planets' phases count, is y x axis (x for an axis along z).
        position: Its centre there (3,) [m].
        line: Its axis in the root frame.
        within: How far axes that lie on it may be away [m].
    """

    housing: str
    driven: str | None
    rotation: Array
    position: Array
    line: AxisLine
    within: float


def seat_of(
    record: PlanetaryRecord | HarmonicRecord,
    robot: RobotRecord,
    links: Bodies,
    frozen: frozenset[str],
    place: str,
) -> Seat:
    """Find where a gear set sits; axis and position default to the joint's.

    Args:
        record: The gear set.
        robot: The robot.
        links: Its links, placed.
        frozen: Joints that were frozen and are fixed in ``robot``.
        place: File and key path of the set.
    """
    if record.housing not in links:
        raise UnknownNameError(f"{place}.housing", "link", record.housing, links)
    axis, position, driven = record.axis, record.position, None
    if record.joint is not None:
        driven, origin, direction = joint_seat(record.joint, record, robot, links, frozen, place)
        axis = direction if axis is None else axis
        position = origin if position is None else position
    if axis is None:
        finding, remedy = "has neither joint nor axis", "add axis, in the housing's frame"
        raise ModelError(place, finding, remedy)
    length = float(np.linalg.norm(axis))
    if not length > 0:
        raise ModelError(f"{place}.axis", "is zero", "write the direction of the set's axis")
    rotation = rotation_with_z(np.array(axis) / length)
    centre, house = np.array(position or (0.0, 0.0, 0.0)), links[record.housing]
    line = AxisLine(house.rotation @ rotation[:, 2], house.position + house.rotation @ centre)
    seat = Seat(record.housing, driven, rotation, centre, line, coaxial_within(smallest(record)))
    if record.joint is not None:
        refuse_beside_joint(record.joint, robot, links, seat, place)
    return seat


def smallest(record: PlanetaryRecord | HarmonicRecord) -> float | None:
    """Pitch radius of the smaller one of sun and planets [m], None where it is not known."""
    if not isinstance(record, PlanetaryRecord) or not record.radius > 0:
        return None
    sun, planet, _ = record.teeth
    return record.radius * min(sun, planet) / (sun + planet)


def refuse_beside_joint(
    name: str, robot: RobotRecord, links: Bodies, seat: Seat, place: str
) -> None:
    """Raise where the stated axis or position is not the joint's."""
    child = next(joint.child for joint in robot.joints if joint.name == name)
    bearing = links[child].bearing
    gap = misfit(bearing, seat.line, seat.within) if bearing is not None else ""
    if gap:
        finding = f"compared with the axis of the set, joint {name!r} {gap}"
        raise ModelError(place, finding, "remove or correct the set's axis and position")


def joint_seat(
    name: str,
    record: PlanetaryRecord | HarmonicRecord,
    robot: RobotRecord,
    links: Bodies,
    frozen: frozenset[str],
    place: str,
) -> tuple[str, Vector3, Vector3]:
    """The link that a joint moves relative to the housing; position and axis of the joint."""
    turning = {j.name: j for j in robot.joints if j.kind != "fixed" or j.name in frozen}
    if name not in turning:
        raise UnknownNameError(f"{place}.joint", "movable joint", name, turning)
    joint = turning[name]
    if joint.kind == "prismatic":
        finding, remedy = f"joint {name!r} slides", "name a revolute joint"
        raise ModelError(f"{place}.joint", finding, remedy)
    child = links[joint.child]
    direction = child.rotation @ np.array(joint.axis)
    driven = joint.parent if joint.child in upwards(links, record.housing) else joint.child
    if record.housing == joint.parent:  # to the last digit
        return driven, joint.position, vector(np.array(joint.rotation) @ joint.axis)
    house = links[record.housing]
    centre = house.rotation.T @ (child.position - house.position)
    return driven, vector(centre), vector(house.rotation.T @ direction)


def installed(
    wheel: WheelRecord, name: str, link: str, seat: Seat, links: Bodies, shift: Array
) -> WheelRecord:
    """A wheel of the set, which is described in the set's frame, as carried by a link.

    Args:
        wheel: Its description; one that says by whom it is carried is taken as it is.
        name: Name that the expanded wheel gets.
        link: Link that carries it.
        seat: Where the set sits.
        links: Links, placed.
        shift: Added to its position in the set's frame (3,) [m].
    """
    if wheel.carrier:
        return replace(wheel, name=name)
    axis = seat.rotation @ np.array(wheel.axis)
    position = seat.position + seat.rotation @ (np.array(wheel.position) + shift)
    if link != seat.housing:
        house, own = links[seat.housing], links[link]
        turn = own.rotation.T @ house.rotation
        axis = turn @ axis
        position = own.rotation.T @ (house.position - own.position) + turn @ position
    return replace(wheel, name=name, carrier=link, axis=vector(axis), position=vector(position))


def vector(values: Array) -> Vector3:
    """Three plain numbers."""
    x, y, z = (float(value) for value in values)
    return (x, y, z)


# -- Planetary sets as wheels and meshes, from which Willis's relation follows (Fernini 2023) -----


def member_wheels(
    record: PlanetaryRecord, seat: Seat, links: Bodies, place: str
) -> tuple[dict[str, str], list[WheelRecord]]:
    """The body that each member is, and the wheels that members bring along.

    The fixed member is the housing, the output the driven link where there is one: their
    inertia belongs to those links. The others are wheels of their own or other wheels' names.
    """
    given = dict(record.members)
    bodies: dict[str, str] = {record.fixed: record.housing}
    wheels = []
    if seat.driven is not None:
        bodies[record.output] = seat.driven
    for member in MEMBERS:
        said = given.get(member)
        if member in bodies:
            continue
        if said is None:
            finding = f"the {member} is not described"
            role = "a joint, or " if member == record.output else ""
            remedy = f"add {role}{member}: with mass and inertia or the name of a wheel"
            raise ModelError(place, finding, remedy)
        elif isinstance(said, str):
            bodies[member] = said
        else:
            name = f"{record.name}.{member}"
            bodies[member] = name
            wheels.append(installed(said, name, record.housing, seat, links, np.zeros(3)))
    return bodies, wheels


def planet_wheels(
    record: PlanetaryRecord, seat: Seat, carrier: str, link: str, links: Bodies, place: str
) -> list[WheelRecord]:
    """The planets, on a link or riding on a wheel.

    Fewer than three make an exact model on a link; on a spinning carrier the locked inertia
    would depend on its angle.

    Args:
        record: The planetary set.
        seat: Where it sits.
        carrier: Link or wheel that carries the planets.
        link: That link, or the link in which that wheel sits.
        links: Links, placed.
        place: File and key path of the set.
    """
    spinning, heavy = carrier != link, record.planet.mass > 0
    if spinning and heavy and record.planets < 3:
        count = f"{record.planets} planet{'s' if record.planets > 1 else ''}"
        finding = f"{count} on a spinning carrier: its inertia depends on its angle"
        remedy = "use three or more planets, or leave out their mass"
        raise ModelError(f"{place}.planets", finding, remedy)
    if spinning and record.planet.included_in_link and not heavy:
        finding = "the planets orbit, and their share of the link's mass is unknown"
        raise ModelError(
            f"{place}.planet.mass", finding, "add their mass, or remove included_in_link"
        )
    if heavy and not record.radius > 0 and (spinning or not record.planet.included_in_link):
        finding = "the planets have mass, and their distance from the axis is not given"
        remedy = "add radius, the distance of the planets' axes from the axis of the set [m]"
        raise ModelError(f"{place}.radius", finding, remedy)
    template, wheels = replace(record.planet, carrier=""), []
    for k in range(record.planets):
        angle = record.phase + 2 * math.pi * k / record.planets
        shift = record.radius * np.array([math.cos(angle), math.sin(angle), 0.0])
        planet = installed(template, f"{record.name}.planet_{k + 1}", link, seat, links, shift)
        wheels.append(replace(planet, carrier=carrier))
    return wheels


def meshes_of(record: PlanetaryRecord, members: dict[str, str]) -> list[MeshRecord]:
    """Sun with planets, then planets with ring: 2 n gear pairs about the carrier.

    Sun's pairs and the first of the ring's fix the spins; the others repeat them.
    """
    sun, planet, ring = record.teeth
    planets = [f"{record.name}.planet_{k + 1}" for k in range(record.planets)]
    arm, place = members["carrier"], f"planetary.{record.name}"
    outer = [
        MeshRecord((members["sun"], name), arm, (sun, planet), "external", place=place)
        for name in planets
    ]
    inner = [
        MeshRecord((name, members["ring"]), arm, (planet, ring), "internal", place=place)
        for name in planets
    ]
    return [*outer, *inner]


# -- Harmonic drives: two splines and the wave generator that is the arm of their mesh ------------
#
# (f - w) Z_f = (c - w) Z_c with rates of flexspline f, circular spline c and wave generator w:
# c fixed gives w = -Z_f / (Z_c - Z_f) f, and f fixed gives w = Z_c / (Z_c - Z_f) c.


def wave_generator(record: HarmonicRecord, seat: Seat, links: Bodies) -> WheelRecord:
    """The wave generator, carried by the housing."""
    name = f"{record.name}.wave_generator"
    return installed(record.wave_generator, name, record.housing, seat, links, np.zeros(3))


def mesh_of(record: HarmonicRecord, seat: Seat) -> MeshRecord:
    """The two splines as an internal mesh about the wave generator."""
    driven = seat.driven or record.housing
    fixed_first = (record.housing, driven) if record.fixed == "flexspline" else None
    return MeshRecord(
        members=fixed_first or (driven, record.housing),
        arm=f"{record.name}.wave_generator",
        sizes=(record.flexspline, record.circular_spline),
        kind="internal",
        place=f"harmonic.{record.name}",
    )
