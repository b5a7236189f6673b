"""``joints:``: springs, friction and encoder zeros."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from geared_dynamics.description.records import JointDriveRecord
from geared_dynamics.description.sections.friction import friction
from geared_dynamics.description.source import at
from geared_dynamics.errors import DescriptionError


def joint(name: str, item: Mapping[str, Any], source: str) -> JointDriveRecord:
    """Return what the entry ``joints.<name>`` says."""
    stiffness = float(item["stiffness"]) if "stiffness" in item else None
    place = at(source, f"joints.{name}.friction")
    if "rest" in item and not item.get("passive", False):
        finding = "only a passive joint's spring has a rest position; a drive's is relaxed at"
        remedy = "leave it out, or add 'passive: true'"
        raise DescriptionError(at(source, f"joints.{name}.rest"), f"{finding} theta = q", remedy)
    return JointDriveRecord(
        name=name,
        stiffness=stiffness,
        damping=None if stiffness is None else float(item.get("damping", 0.0)),
        friction=friction(item["friction"], place) if "friction" in item else None,
        offset=float(item["offset"]) if "offset" in item else None,
        passive=item.get("passive", False),
        rest=float(item.get("rest", 0.0)),
        backlash=float(item.get("backlash", 0.0)),
    )
