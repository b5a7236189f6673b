"""``motors:``: what turns a wheel, its electrics, losses and limits."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from geared_dynamics.description.drive_records import (
    EMF_PER_TORQUE,
    FrictionRecord,
    MotorLimitRecord,
    MotorRecord,
    ThermalRecord,
)
from geared_dynamics.description.sections.friction import friction
from geared_dynamics.description.source import at
from geared_dynamics.errors import DescriptionError


def motor(name: str, item: Mapping[str, Any], source: str) -> MotorRecord:
    """Return the motor of the entry ``motors.<name>``."""
    place = at(source, f"motors.{name}")
    kind = item.get("kind", "dc")
    if kind == "dc" and "pole_pairs" in item:
        raise DescriptionError(
            f"{place}.pole_pairs",
            "a DC motor has no d-axis voltage that pole pairs would give",
            "leave it out, or write 'kind: brushless'",
        )
    refuse_blind_limits(item, place)
    torque_constant = given(item, "torque_constant")
    back_emf_constant = given(item, "back_emf_constant")
    if torque_constant is not None and back_emf_constant is None:
        back_emf_constant = EMF_PER_TORQUE[kind] * torque_constant
    driving, backdriving = efficiency(item.get("efficiency", {}))
    return MotorRecord(
        name=name,
        wheel=item["wheel"],
        kind=kind,
        resistance=given(item, "resistance"),
        inductance=float(item.get("inductance", 0.0)),
        torque_constant=torque_constant,
        back_emf_constant=back_emf_constant,
        pole_pairs=int(item.get("pole_pairs", 0)),
        friction=friction(item["friction"], f"{place}.friction")
        if "friction" in item
        else FrictionRecord(),
        driving=driving,
        backdriving=backdriving,
        limits=limits(item.get("limits", {}), f"{place}.limits"),
    )


# What it takes to know the quantity that a limit bounds.
_KNOWN_BY = {
    "voltage": ("resistance", "torque_constant"),
    "current": ("torque_constant",),
    "thermal": ("torque_constant",),
}


def refuse_blind_limits(item: Mapping[str, Any], place: str) -> None:
    """Refuse limits of quantities that cannot be computed: they would never bind."""
    for limit, needed in _KNOWN_BY.items():
        missing = [key for key in needed if key not in item]
        if limit in item.get("limits", {}) and missing:
            raise DescriptionError(
                f"{place}.limits.{limit}",
                f"cannot be watched: the motor has no {' and no '.join(missing)}",
                f"add {' and '.join(map(repr, missing))}, or leave the limit out",
            )


def given(item: Mapping[str, Any], key: str) -> float | None:
    """Return a number, or None where the key is left out."""
    return float(item[key]) if key in item else None


def efficiency(item: Mapping[str, Any]) -> tuple[float, float]:
    """Return the efficiencies while the motor and while the load drives.

    A gear that loses the share lambda of the transmitted torque both ways has
    1/driving - 1 = lambda = 1 - backdriving; where one is left out, it is that.
    """
    driving, backdriving = given(item, "driving"), given(item, "backdriving")
    if driving is None:
        driving = 1.0 if backdriving is None else 1.0 / (2.0 - backdriving)
    return driving, 2.0 - 1.0 / driving if backdriving is None else backdriving


def limits(item: Mapping[str, Any], place: str) -> MotorLimitRecord:
    """Return the limits of an entry ``limits`` at ``place``."""
    envelope = tuple((float(speed), float(torque)) for speed, torque in item.get("envelope", ()))
    for k, ((before, _), (speed, _)) in enumerate(pairwise(envelope), 1):
        if speed <= before:
            raise DescriptionError(
                f"{place}.envelope[{k}]",
                f"its speed {speed:g} is not above that of the point before, {before:g}",
                "list the points (speed, torque) with rising speed",
            )
    if envelope and not any(torque for _, torque in envelope):
        finding = "every torque in it is 0: the motor would never give any"
        raise DescriptionError(f"{place}.envelope", finding, "give torques above 0 [N m]")
    thermal = item.get("thermal")
    return MotorLimitRecord(
        voltage=given(item, "voltage"),
        current=given(item, "current"),
        torque=given(item, "torque"),
        speed=given(item, "speed"),
        envelope=envelope,
        thermal=None
        if thermal is None
        else ThermalRecord(float(thermal["continuous_current"]), float(thermal["time_constant"])),
    )
