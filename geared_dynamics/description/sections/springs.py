"""``springs:``: springs inside drives, between two shafts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from geared_dynamics.description.records import ShaftSpringRecord


def shaft_spring(name: str, item: Mapping[str, Any]) -> ShaftSpringRecord:
    """Return what the entry ``springs.<name>`` says."""
    motor_side, link_side = item["between"]
    return ShaftSpringRecord(
        name=name,
        motor_side=motor_side,
        link_side=link_side,
        others=tuple(item.get("with", ())),
        stiffness=float(item["stiffness"]),
        damping=float(item.get("damping", 0.0)),
        backlash=float(item.get("backlash", 0.0)),
    )
