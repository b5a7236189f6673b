"""``joints:``: springs, friction and encoder zeros."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from geared_dynamics.description.records import FrictionRecord, JointDriveRecord


def joint(name: str, item: Mapping[str, Any]) -> JointDriveRecord:
    """Return what the entry ``joints.<name>`` says."""
    stiffness = float(item["stiffness"]) if "stiffness" in item else None
    friction = item.get("friction")
    return JointDriveRecord(
        name=name,
        stiffness=stiffness,
        damping=None if stiffness is None else float(item.get("damping", 0.0)),
        friction=None
        if friction is None
        else FrictionRecord(
            float(friction.get("viscous", 0.0)), float(friction.get("coulomb", 0.0))
        ),
        offset=float(item["offset"]) if "offset" in item else None,
    )
