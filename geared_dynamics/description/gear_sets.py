"""Which planetary sets and harmonic drives there can be: their roles and their teeth."""

from __future__ import annotations

import math

from geared_dynamics.description.records import HarmonicRecord, PlanetaryRecord
from geared_dynamics.errors import DescriptionError

MEMBERS = ("sun", "ring", "carrier")


def refuse_impossible_set(record: PlanetaryRecord, place: str) -> None:
    """Raise unless the roles are three, the teeth mesh, and the planets find room.

    Z_ring = Z_sun + 2 Z_planet closes the radii; see ``fits`` for the planets.

    Args:
        record: The planetary set.
        place: File and key path of it.
    """
    _refuse_wrong_roles(record, place)
    _refuse_no_teeth(dict(zip(("sun", "planet", "ring"), record.teeth, strict=True)), place)
    sun, planet, ring = record.teeth
    if ring != sun + 2 * planet:
        finding = f"ring {ring} is not sun {sun} + 2 planet {planet} = {sun + 2 * planet}"
        remedy = "correct the numbers; with others planets do not fit between sun and ring"
        raise DescriptionError(f"{place}.teeth", finding, remedy)
    n = record.planets
    if n >= 1 and fits(n, sun, planet, ring):
        return
    if n < 1:
        finding = f"there are {n}"
    elif (sun + ring) % n:
        finding = (
            f"{n} planets cannot be equally spaced: sun + ring = {sun + ring} teeth is no"
            f" multiple of {n}"
        )
    else:
        finding = f"{n} planets overlap each other"
    numbers = [k for k in range(1, sun + ring + 1) if fits(k, sun, planet, ring)]
    remedy = f"with these teeth possible are {', '.join(map(str, numbers))}"
    raise DescriptionError(f"{place}.planets", finding, remedy)


def fits(n: int, sun: int, planet: int, ring: int) -> bool:
    """Whether n equally spaced planets can be put in.

    They can be if n divides Z_sun + Z_ring and their pitch circles stay apart:
    (Z_sun + Z_planet) sin(pi / n) > Z_planet.
    """
    apart = n == 1 or (sun + planet) * math.sin(math.pi / n) > planet
    return (sun + ring) % n == 0 and apart


def _refuse_wrong_roles(record: PlanetaryRecord, place: str) -> None:
    """One member each is fixed, input and output; none of a link's own is a wheel."""
    if sorted((record.fixed, record.input, record.output)) != sorted(MEMBERS):
        raise DescriptionError(
            place,
            f"the {record.fixed} is fixed, the {record.input} is the input and the"
            f" {record.output} the output",
            "let sun, ring and carrier each be one of these",
        )
    links = {record.fixed: f"is fixed and a part of link {record.housing!r}"}
    if record.joint is not None:
        links[record.output] = f"is a part of the link that {record.joint!r} moves"
    for member, finding in links.items():
        if member in dict(record.members):
            raise DescriptionError(
                f"{place}.{member}",
                f"the {member} {finding}",
                "leave it out; that link's inertial contains it",
            )


def refuse_impossible_drive(record: HarmonicRecord, place: str) -> None:
    """Raise unless the circular spline has more teeth than the flexspline.

    Args:
        record: The harmonic drive.
        place: File and key path of it.
    """
    inner, outer = record.flexspline, record.circular_spline
    _refuse_no_teeth({"flexspline": inner, "circular spline": outer}, place)
    if outer <= inner:
        finding = f"the circular spline has {outer} teeth, the flexspline inside it {inner}"
        remedy = "the circular spline has the more teeth, mostly two more"
        raise DescriptionError(f"{place}.teeth", finding, remedy)


def _refuse_no_teeth(teeth: dict[str, int], place: str) -> None:
    """Raise for numbers that count nothing."""
    if min(teeth.values()) < 1 or any(int(z) != z for z in teeth.values()):
        finding = ", ".join(f"{name} {z:g}" for name, z in teeth.items())
        raise DescriptionError(
            f"{place}.teeth", f"{finding} are not teeth", "write positive integers"
        )
