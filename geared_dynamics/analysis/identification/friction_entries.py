"""``friction:`` of a drivetrain file with new viscous and Coulomb friction, the rest kept."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NamedTuple

KEPT = ("load", "stribeck", "ripple")  # what no column stands for


class Entry(NamedTuple):
    """A new entry, which of its keys stay as the file says, and breakaway levels that moved.

    Attributes:
        friction: Data of the entry.
        kept: Names of terms that are not identified.
        static: Breakaway friction before and after, for positive rates.
    """

    friction: dict[str, Any]
    kept: tuple[str, ...]
    static: tuple[float, float] | None


def new_entry(
    old: Mapping[str, Any], viscous: float, coulomb: float, offset: float | None
) -> Entry:
    """Put new values into an entry.

    Coulomb friction keeps half the difference h of its two levels, (c + h, c - h), and so far
    as c is enough for it; the mean over directions of what is constant is offset + h.
    Breakaway keeps what it adds to Coulomb friction.

    Args:
        old: Data of the entry; empty if there is none.
        viscous: [N m s/rad or N s/m].
        coulomb: Mean of both directions [N m or N].
        offset: Identified constant with h in it [N m or N]; None: as in the file.
    """
    new: dict[str, Any] = deepcopy(dict(old))
    before = levels(old.get("coulomb", 0.0))
    half = 0.5 * (before[0] - before[1])
    constant = float(old.get("offset", 0.0)) + half if offset is None else offset
    half = min(max(half, -coulomb), coulomb)
    after = (coulomb + half, coulomb - half)
    new["viscous"] = viscous
    new["coulomb"] = list(after) if half else coulomb
    if offset is not None or constant - half or "offset" in old:
        new["offset"] = constant - half
    static = None
    if "stribeck" in old:
        levels_before = levels(old["stribeck"]["static"])
        more = [x - y for x, y in zip(levels_before, before, strict=True)]
        moved = [x + y for x, y in zip(after, more, strict=True)]
        new["stribeck"]["static"] = moved if moved[0] != moved[1] else moved[0]
        static = (levels_before[0], moved[0])
    return Entry(new, tuple(key for key in KEPT if key in old), static)


def levels(value: Any) -> tuple[float, float]:
    """Levels for positive and negative rates, from one number or two."""
    if isinstance(value, list):
        return float(value[0]), float(value[1])
    return float(value), float(value)
