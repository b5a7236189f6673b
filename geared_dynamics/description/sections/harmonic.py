"""``harmonic:``: harmonic drives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from geared_dynamics.description.gear_sets import refuse_impossible_drive
from geared_dynamics.description.records import HarmonicRecord
from geared_dynamics.description.sections.wheels import body, placement
from geared_dynamics.description.source import at


def harmonic(name: str, item: Mapping[str, Any], source: str) -> HarmonicRecord:
    """Return the drive of the entry ``harmonic.<name>``."""
    place = at(source, f"harmonic.{name}")
    teeth = item["teeth"]
    axis, position = placement(item, place)
    key = "wave_generator"
    record = HarmonicRecord(
        name=name,
        housing=item["housing"],
        joint=item["joint"],
        fixed=item["fixed"],
        flexspline=int(teeth["flexspline"]),
        circular_spline=int(teeth["circular_spline"]),
        wave_generator=body(f"{name}.{key}", item[key], f"{place}.{key}"),
        axis=axis,
        position=position,
    )
    refuse_impossible_drive(record, place)
    return record
