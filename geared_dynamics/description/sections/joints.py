"""``joints:``: springs, friction and encoder zeros."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from geared_dynamics.description.records import JointDriveRecord
from geared_dynamics.description.sections.friction import friction
from geared_dynamics.description.source import at


def joint(name: str, item: Mapping[str, Any], source: str) -> JointDriveRecord:
    """Return what the entry ``joints.<name>`` says."""
    stiffness = float(item["stiffness"]) if "stiffness" in item else None
    place = at(source, f"joints.{name}.friction")
    return JointDriveRecord(
        name=name,
        stiffness=stiffness,
        damping=None if stiffness is None else float(item.get("damping", 0.0)),
        friction=friction(item["friction"], place) if "friction" in item else None,
        offset=float(item["offset"]) if "offset" in item else None,
    )
