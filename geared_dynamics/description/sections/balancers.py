"""``balancers:``: springs between two links, and springs on joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from geared_dynamics.description.drive_records import (
    BalancerRecord,
    LineElementRecord,
    Point,
    TorsionSpringRecord,
)
from geared_dynamics.description.records import ZERO3
from geared_dynamics.description.sections.wheels import vector
from geared_dynamics.description.source import at
from geared_dynamics.errors import DescriptionError


def balancer(name: str, item: Mapping[str, Any], source: str) -> BalancerRecord:
    """Return the spring of the entry ``balancers.<name>``."""
    if "torsion" in item:
        torsion = item["torsion"]
        return TorsionSpringRecord(
            name=name,
            joint=item["joint"],
            stiffness=float(torsion["stiffness"]),
            rest=float(torsion.get("rest", 0.0)),
            preload=float(torsion.get("preload", 0.0)),
        )
    ends = anchors(item["anchors"], at(source, f"balancers.{name}.anchors"))
    if "gas" in item:
        return gas(name, item["gas"], ends)
    if "coil" in item:
        coil = item["coil"]
        return LineElementRecord(
            name=name,
            kind="coil",
            anchors=ends,
            length=float(coil["length"]),
            stiffness=float(coil["stiffness"]),
            preload=float(coil.get("preload", 0.0)),
        )
    return LineElementRecord(name, "constant", ends, preload=float(item["constant"]["force"]))


def gas(name: str, item: Mapping[str, Any], ends: tuple[Point, Point]) -> LineElementRecord:
    """Return a gas spring."""
    return LineElementRecord(
        name=name,
        kind="gas",
        anchors=ends,
        length=float(item["length"]),
        area=float(item["area"]),
        pressure=float(item["pressure"]),
        volume=float(item["volume"]),
        exponent=float(item.get("exponent", 1.0)),
        pull=item.get("action", "pull") == "pull",
    )


def anchors(items: Any, place: str) -> tuple[Point, Point]:
    """Return the two ends; refuse two on one link."""
    first, second = ((item["link"], vector(item.get("position", ZERO3))) for item in items)
    if first[0] == second[0]:
        raise DescriptionError(
            place,
            f"both ends are on link {first[0]!r}, so the spring moves nothing",
            "anchor it on two links that move against each other",
        )
    return first, second
