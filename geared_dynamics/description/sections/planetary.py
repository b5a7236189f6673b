"""``planetary:``: planetary sets, their teeth checked to mesh."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from geared_dynamics.description.records import PlanetaryRecord, WheelRecord
from geared_dynamics.description.sections.wheels import body, placement
from geared_dynamics.description.source import at
from geared_dynamics.errors import DescriptionError

MEMBERS = ("sun", "ring", "carrier")


def planetary(name: str, item: Mapping[str, Any], source: str) -> PlanetaryRecord:
    """Return the set of the entry ``planetary.<name>``."""
    place = at(source, f"planetary.{name}")
    fixed = item["layout"].removesuffix("_fixed")
    _check_roles(fixed, item, place)
    axis, position = placement(item, place)
    planet = body(f"{name}.planet", item["planet"], f"{place}.planet")
    if "radius" not in item and planet.mass > 0.0:
        raise DescriptionError(
            f"{place}.radius",
            "the planets have mass, and their distance from the axis is missing",
            "add the radius of the circle that their centres stand on",
        )
    return PlanetaryRecord(
        name=name,
        housing=item["housing"],
        fixed=fixed,
        input=item["input"],
        output=item["output"],
        teeth=_teeth(item, place),
        planets=int(item["planets"]),
        planet=planet,
        members=tuple(
            (member, _member(member, name, item, place)) for member in MEMBERS if member in item
        ),
        joint=item.get("joint"),
        radius=float(item.get("radius", 0.0)),
        phase=float(item.get("phase", 0.0)),
        axis=axis,
        position=position,
    )


def _check_roles(fixed: str, item: Mapping[str, Any], place: str) -> None:
    """One member each is fixed, input and output; none of a link's own is a wheel."""
    if {fixed, item["input"], item["output"]} != set(MEMBERS):
        raise DescriptionError(
            place,
            f"the {fixed} is fixed, the {item['input']} is the input and the {item['output']}"
            " the output",
            "let sun, ring and carrier each be one of these",
        )
    links = {fixed: f"is fixed and a part of link {item['housing']!r}"}
    if "joint" in item:
        links[item["output"]] = f"is a part of the link that {item['joint']!r} moves"
    for member, finding in links.items():
        if member in item:
            raise DescriptionError(
                f"{place}.{member}",
                f"the {member} {finding}",
                "leave it out; that link's inertial contains it",
            )


def _teeth(item: Mapping[str, Any], place: str) -> tuple[int, int, int]:
    """Return the teeth of sun, planet and ring: they fit, and so do equal spacings."""
    teeth = item["teeth"]
    sun, planet, ring = int(teeth["sun"]), int(teeth["planet"]), int(teeth["ring"])
    if ring != sun + 2 * planet:
        raise DescriptionError(
            f"{place}.teeth",
            f"ring {ring} is not sun {sun} + 2 planet {planet} = {sun + 2 * planet}",
            "correct the numbers; with other teeth the planets do not fit between sun and ring",
        )
    planets = int(item["planets"])
    if (sun + ring) % planets:
        fitting = ", ".join(str(n) for n in range(1, 13) if (sun + ring) % n == 0)
        raise DescriptionError(
            f"{place}.planets",
            f"{planets} planets cannot be equally spaced: sun + ring = {sun + ring} teeth"
            f" is no multiple of {planets}",
            f"choose one of {fitting}",
        )
    return sun, planet, ring


def _member(member: str, name: str, item: Mapping[str, Any], place: str) -> WheelRecord | str:
    given = item[member]
    if isinstance(given, str):
        return given
    return body(f"{name}.{member}", given, f"{place}.{member}")
