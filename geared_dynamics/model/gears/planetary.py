"""Planetary sets as wheels and meshes, from which Willis's relation follows (paper 003)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from geared_dynamics.description.gear_sets import MEMBERS
from geared_dynamics.description.records import (
    MeshRecord,
    PlanetaryRecord,
    WheelRecord,
)
from geared_dynamics.errors import ModelError
from geared_dynamics.model.gears.seat import Seat, installed
from geared_dynamics.model.gears.skeleton import Bodies


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
            finding = f"nothing is said of the {member}"
            role = "a joint, or " if member == record.output else ""
            remedy = f"add {role}{member}: mass and inertia, or the name of a wheel"
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
        remedy = "use three or more, or give them no mass"
        raise ModelError(f"{place}.planets", finding, remedy)
    if spinning and record.planet.included_in_link and not heavy:
        finding = "the planets orbit, and what mass of theirs the link contains is not given"
        raise ModelError(
            f"{place}.planet.mass", finding, "add mass, or leave included_in_link out"
        )
    if heavy and not record.radius > 0 and (spinning or not record.planet.included_in_link):
        finding = "the planets have mass, and their distance from the axis is not given"
        raise ModelError(f"{place}.radius", finding, "add radius: of the planets' axes [m]")
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
