"""``planetary:``: planetary sets, their teeth checked to mesh."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from geared_dynamics.description.gear_sets import MEMBERS, refuse_impossible_set
from geared_dynamics.description.records import PlanetaryRecord, WheelRecord
from geared_dynamics.description.sections.wheels import body, placement
from geared_dynamics.description.source import at
from geared_dynamics.errors import DescriptionError


def planetary(name: str, item: Mapping[str, Any], source: str) -> PlanetaryRecord:
    """Return the set of the entry ``planetary.<name>``."""
    place = at(source, f"planetary.{name}")
    fixed = item["layout"].removesuffix("_fixed")
    axis, position = placement(item, place)
    planet = body(f"{name}.planet", item["planet"], f"{place}.planet")
    if "radius" not in item and planet.mass > 0.0:
        raise DescriptionError(
            f"{place}.radius",
            "the planets have mass, and their distance from the axis is missing",
            "add the radius of the circle that their centres stand on",
        )
    teeth = item["teeth"]
    record = PlanetaryRecord(
        name=name,
        housing=item["housing"],
        fixed=fixed,
        input=item["input"],
        output=item["output"],
        teeth=(int(teeth["sun"]), int(teeth["planet"]), int(teeth["ring"])),
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
    refuse_impossible_set(record, place)
    return record


def _member(member: str, name: str, item: Mapping[str, Any], place: str) -> WheelRecord | str:
    given = item[member]
    if isinstance(given, str):
        return given
    return body(f"{name}.{member}", given, f"{place}.{member}")
