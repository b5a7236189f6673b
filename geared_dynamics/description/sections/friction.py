"""``friction:`` of a joint or a motor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from geared_dynamics.description.drive_records import FrictionRecord, RippleRecord
from geared_dynamics.errors import DescriptionError

Level = tuple[float, float | None]


def friction(item: Mapping[str, Any], place: str) -> FrictionRecord:
    """Return the law of an entry ``friction`` at ``place``, the file and the key path."""
    coulomb, coulomb_negative = level(item.get("coulomb", 0.0))
    static: float | None = None
    static_negative: float | None = None
    speed = None
    if "stribeck" in item:
        stribeck = item["stribeck"]
        static, static_negative = level(stribeck["static"])
        speed = float(stribeck["speed"])
        refuse_below((coulomb, coulomb_negative), (static, static_negative), place)
    return FrictionRecord(
        viscous=float(item.get("viscous", 0.0)),
        coulomb=coulomb,
        coulomb_negative=coulomb_negative,
        static=static,
        static_negative=static_negative,
        stribeck_speed=speed,
        load=float(item.get("load", 0.0)),
        offset=float(item.get("offset", 0.0)),
        ripple=tuple(
            RippleRecord(
                float(wave["order"]), float(wave["amplitude"]), float(wave.get("phase", 0.0))
            )
            for wave in item.get("ripple", ())
        ),
        smoothing=float(item["smoothing"]) if "smoothing" in item else None,
    )


def level(value: Any) -> Level:
    """Return the levels for positive and negative rates; None: one number for both."""
    if isinstance(value, list):
        positive, negative = value
        return float(positive), float(negative)
    return float(value), None


def refuse_below(coulomb: Level, static: Level, place: str) -> None:
    """Raise where breakaway takes less than sliding."""
    for which, index in (("positive", 0), ("negative", 1)):
        sliding, breakaway = (
            pair[0] if pair[index] is None else pair[index] for pair in (coulomb, static)
        )
        if breakaway < sliding:  # type: ignore[operator]  # the first of a pair is a number
            raise DescriptionError(
                f"{place}.stribeck.static",
                f"{breakaway:g} is below the Coulomb friction {sliding:g} for {which} rates",
                "breakaway takes at least as much as sliding; correct one of the two",
            )
