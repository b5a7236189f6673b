"""``spins:``: wheels that follow joints, and meshes that tie wheels to each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from geared_dynamics.description.records import MeshRecord, SpinRecord
from geared_dynamics.description.sections.wheels import direction
from geared_dynamics.description.source import at

# A belt or a chain turns its two wheels the same way, like an internal gear pair.
_KINDS = {"external": "external", "internal": "internal", "belt": "internal", "chain": "internal"}


def spins(items: Sequence[Mapping[str, Any]]) -> tuple[SpinRecord, ...]:
    """Return the entries that tie one wheel to joints, each with its key path."""
    return tuple(
        SpinRecord(item["wheel"], _coefficients(item), f"spins[{index}]", _length(item))
        for index, item in enumerate(items)
        if "mesh" not in item
    )


def meshes(items: Sequence[Mapping[str, Any]], source: str) -> tuple[MeshRecord, ...]:
    """Return the entries that tie two members to each other, each with its key path."""
    return tuple(
        _mesh(item, f"spins[{index}]", source)
        for index, item in enumerate(items)
        if "mesh" in item
    )


def _coefficients(item: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """Return joint and spin per joint rate [1 or rad/m].

    A screw turns 2 pi on its lead; a pinion of radius r rolls r on a turn of one radian.
    """
    if "coefficients" in item:
        return tuple((joint, float(c)) for joint, c in item["coefficients"].items())
    if "ratio" in item:
        ratio = float(item["ratio"])
    elif "lead" in item:
        ratio = 2.0 * math.pi / float(item["lead"])
    else:
        ratio = 1.0 / float(item["pinion_radius"])
    return ((item["joint"], ratio * int(item.get("sign", 1))),)


def _length(item: Mapping[str, Any]) -> Literal["", "lead", "pinion_radius"]:
    """Return the key of the length that makes a joint's slide a turn, if there is one."""
    if "lead" in item:
        return "lead"
    return "pinion_radius" if "pinion_radius" in item else ""


def _mesh(item: Mapping[str, Any], key: str, source: str) -> MeshRecord:
    a, b = item["mesh"]
    size_a, size_b = item["teeth"] if "teeth" in item else item["radii"]
    axes = None
    if "axes" in item:
        first, second = (
            direction(axis, at(source, f"{key}.axes[{index}]"))
            for index, axis in enumerate(item["axes"])
        )
        axes = (first, second)
    return MeshRecord(
        members=(a, b),
        arm=item["arm"],
        sizes=(float(size_a), float(size_b)),
        kind=_KINDS[item["kind"]] if "kind" in item else None,  # type: ignore[arg-type]
        sign=int(item["sign"]) if "sign" in item else None,  # type: ignore[arg-type]
        axes=axes,
        place=key,
        radii="radii" in item,
        wraps=item.get("kind") in ("belt", "chain"),
    )
