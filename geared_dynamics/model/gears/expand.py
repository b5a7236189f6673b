"""Gear sets of a drivetrain as wheels and meshes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from geared_dynamics.description.gear_sets import (
    refuse_impossible_drive,
    refuse_impossible_set,
)
from geared_dynamics.description.records import (
    DrivetrainRecord,
    HarmonicRecord,
    MeshRecord,
    PlanetaryRecord,
    RobotRecord,
    WheelRecord,
)
from geared_dynamics.errors import ModelError, UnknownNameError
from geared_dynamics.model.gears import harmonic, planetary
from geared_dynamics.model.gears.circuit import Line, misfit
from geared_dynamics.model.gears.seat import Seat, seat_of
from geared_dynamics.model.gears.skeleton import Bodies, skeleton


@dataclass(frozen=True)
class Expansion:
    """What a gear set stands for.

    Attributes:
        wheels: Its wheels.
        meshes: All its gear pairs.
        needed: How many of these, from the first, fix the spins.
        coaxial: Bodies on the set's axis, by name.
        line: That axis.
        within: How far the bodies' own axes may be away from it [m].
        place: File and key path.
    """

    wheels: list[WheelRecord]
    meshes: list[MeshRecord]
    needed: int
    coaxial: list[str]
    line: Line
    within: float
    place: str


@dataclass(frozen=True)
class Started:
    """A planetary set without its planets: which body each member is, and their wheels."""

    record: PlanetaryRecord
    seat: Seat
    bodies: dict[str, str]
    wheels: list[WheelRecord]
    place: str


def expand(
    robot: RobotRecord, drivetrain: DrivetrainRecord, frozen: frozenset[str]
) -> list[Expansion]:
    """Expand planetary sets, then harmonic drives, in file order.

    The sets' members come before any planet, since planets may ride on a wheel of a set
    further down the file.
    """
    source = drivetrain.source
    links = skeleton(robot, (), frozen, source)

    def place_and_seat(record: PlanetaryRecord | HarmonicRecord, key: str) -> tuple[str, Seat]:
        place = f"{source}, {key}.{record.name}"
        return place, seat_of(record, robot, links, frozen, place)

    started, generators = [], []
    for record in drivetrain.planetary:
        refuse_impossible_set(record, f"{source}, planetary.{record.name}")
        place, seat = place_and_seat(record, "planetary")
        bodies, wheels = planetary.member_wheels(record, seat, links, place)
        started.append(Started(record, seat, bodies, wheels, place))
    for drive in drivetrain.harmonic:
        place, seat = place_and_seat(drive, "harmonic")
        refuse_impossible_drive(drive, place)
        wheel = harmonic.wave_generator(drive, seat, links)
        generators.append(
            Expansion(
                [wheel],
                [harmonic.mesh_of(drive, seat)],
                1,
                [wheel.name],
                seat.line,
                seat.within,
                place,
            )
        )
    known = {wheel.name: wheel for wheel in drivetrain.wheels}
    known |= {wheel.name: wheel for one in started for wheel in one.wheels}
    known |= {wheel.name: wheel for one in generators for wheel in one.wheels}
    planets = [
        f"{one.record.name}.planet_{k + 1}" for one in started for k in range(one.record.planets)
    ]
    for one in started:
        refuse_unknown_members(one, [*links, *known, *planets])
    expansions = []
    for one in started:
        carrier = one.bodies["carrier"]
        link = carrying_link(carrier, known)
        if link not in links:
            raise UnknownNameError(
                f"{one.place}.carrier", "link or wheel", carrier, [*links, *known]
            )
        own = planetary.planet_wheels(one.record, one.seat, carrier, link, links, one.place)
        meshes = planetary.meshes_of(one.record, one.bodies)
        wheels, needed, members = [*one.wheels, *own], len(own) + 1, [*one.bodies.values()]
        seat = one.seat
        expansions.append(
            Expansion(wheels, meshes, needed, members, seat.line, seat.within, one.place)
        )
    return [*expansions, *generators]


def refuse_unknown_members(one: Started, names: Sequence[str]) -> None:
    """Raise for a member that is said to be a body that does not exist."""
    for member, name in one.bodies.items():
        if name not in names:
            raise UnknownNameError(f"{one.place}.{member}", "link or wheel", name, names)


def carrying_link(name: str, wheels: Mapping[str, WheelRecord]) -> str:
    """What carries a body at last; the body itself if it is no wheel."""
    seen = set()
    while name in wheels and name not in seen:
        seen.add(name)
        name = wheels[name].carrier
    return name


def refuse_beside(expansion: Expansion, bodies: Bodies) -> None:
    """Raise for a wheel that is a member of a set and does not turn about the set's axis."""
    for name in expansion.coaxial:
        body = bodies.get(name)
        if body is None or body.link == name or body.bearing is None:
            continue  # names and links are judged with the meshes
        gap = misfit(body.bearing, expansion.line, expansion.within)
        if gap:
            finding = f"{body.bearing.words} {gap}"
            raise ModelError(expansion.place, finding, "put it on the set's axis, or correct that")
