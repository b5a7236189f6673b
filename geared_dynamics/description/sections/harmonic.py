"""``harmonic:``: harmonic drives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from geared_dynamics.description.records import HarmonicRecord
from geared_dynamics.description.sections.wheels import body, placement
from geared_dynamics.description.source import at
from geared_dynamics.errors import DescriptionError


def harmonic(name: str, item: Mapping[str, Any], source: str) -> HarmonicRecord:
    """Return the drive of the entry ``harmonic.<name>``."""
    place = at(source, f"harmonic.{name}")
    teeth = item["teeth"]
    flexspline, circular = int(teeth["flexspline"]), int(teeth["circular_spline"])
    if circular <= flexspline:
        raise DescriptionError(
            f"{place}.teeth",
            f"the circular spline has {circular} teeth, the flexspline inside it {flexspline}",
            "the circular spline has the more teeth, mostly two more",
        )
    axis, position = placement(item, place)
    key = "wave_generator"
    return HarmonicRecord(
        name=name,
        housing=item["housing"],
        joint=item["joint"],
        fixed=item["fixed"],
        flexspline=flexspline,
        circular_spline=circular,
        wave_generator=body(f"{name}.{key}", item[key], f"{place}.{key}"),
        axis=axis,
        position=position,
    )
