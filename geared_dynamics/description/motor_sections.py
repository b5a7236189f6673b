"""Sections of a drivetrain file to records: motors, joints, springs, friction, balancers."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from geared_dynamics.description.drive_records import (
    EMF_PER_TORQUE,
    BalancerRecord,
    FrictionRecord,
    JointDriveRecord,
    LineElementRecord,
    MotorLimitRecord,
    MotorRecord,
    Point,
    RippleRecord,
    ShaftSpringRecord,
    ThermalRecord,
    TorsionSpringRecord,
)
from geared_dynamics.description.gear_sections import vector
from geared_dynamics.description.geometry import ZERO3
from geared_dynamics.errors import DescriptionError
from geared_dynamics.files import place_in

# -- ``friction:`` of a joint or a motor ----------------------------------------------------------


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
                "correct one of the two; breakaway friction is at least the sliding friction",
            )


# -- ``motors:``: what turns a wheel, its electrics, losses and limits ----------------------------


def motor(name: str, item: Mapping[str, Any], source: str) -> MotorRecord:
    """Return the motor of the entry ``motors.<name>``."""
    place = place_in(source, f"motors.{name}")
    kind = item.get("kind", "dc")
    if kind == "dc" and "pole_pairs" in item:
        raise DescriptionError(
            f"{place}.pole_pairs",
            "a DC motor has no pole pairs: they describe the d-axis voltage of a brushless motor",
            "leave it out, or write 'kind: brushless'",
        )
    refuse_blind_limits(item, place)
    torque_constant = optional_number(item, "torque_constant")
    back_emf_constant = optional_number(item, "back_emf_constant")
    if torque_constant is not None and back_emf_constant is None:
        back_emf_constant = EMF_PER_TORQUE[kind] * torque_constant
    driving, backdriving = efficiency(item.get("efficiency", {}))
    return MotorRecord(
        name=name,
        wheel=item["wheel"],
        kind=kind,
        resistance=optional_number(item, "resistance"),
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
                f"cannot be checked: the motor has no {' and no '.join(missing)}",
                f"add {' and '.join(map(repr, missing))}, or leave the limit out",
            )


def optional_number(item: Mapping[str, Any], key: str) -> float | None:
    """Return a number, or None where the key is left out."""
    return float(item[key]) if key in item else None


def efficiency(item: Mapping[str, Any]) -> tuple[float, float]:
    """Return the efficiencies while the motor and while the load drives.

    A gear that loses the share lambda of the transmitted torque both ways has
    1/driving - 1 = lambda = 1 - backdriving; where one is left out, it is that.
    """
    driving, backdriving = optional_number(item, "driving"), optional_number(item, "backdriving")
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
        finding = "every torque in it is 0, so the motor could never produce any"
        raise DescriptionError(f"{place}.envelope", finding, "give torques above 0 [N m]")
    thermal = item.get("thermal")
    return MotorLimitRecord(
        voltage=optional_number(item, "voltage"),
        current=optional_number(item, "current"),
        torque=optional_number(item, "torque"),
        speed=optional_number(item, "speed"),
        envelope=envelope,
        thermal=None
        if thermal is None
        else ThermalRecord(float(thermal["continuous_current"]), float(thermal["time_constant"])),
    )


# -- ``joints:``: springs, friction and encoder zeros ---------------------------------------------


def joint(name: str, item: Mapping[str, Any], source: str) -> JointDriveRecord:
    """Return what the entry ``joints.<name>`` says."""
    stiffness = float(item["stiffness"]) if "stiffness" in item else None
    place = place_in(source, f"joints.{name}.friction")
    if "rest" in item and not item.get("passive", False):
        finding = "only passive joints have a rest position; driven ones are relaxed at theta = q"
        remedy = "leave it out, or add 'passive: true'"
        raise DescriptionError(place_in(source, f"joints.{name}.rest"), finding, remedy)
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


# -- ``springs:``: springs inside drives, between two shafts --------------------------------------


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


# -- ``balancers:``: springs between two links, and springs on joints -----------------------------


def balancer(name: str, item: Mapping[str, Any], source: str) -> BalancerRecord:
    """Return the spring of the entry ``balancers.<name>``."""
    if "torsion" in item:
        torsion = item["torsion"]
        return TorsionSpringRecord(
            name=name,
            joint=item["joint"],
            stiffness=float(torsion["stiffness"]),
            rest=float(torsion.get("rest", 0.0)),
            preload=float(torsion.get("preload", 0.0)),
        )
    ends = anchors(item["anchors"], place_in(source, f"balancers.{name}.anchors"))
    if "gas" in item:
        return gas(name, item["gas"], ends)
    if "coil" in item:
        coil = item["coil"]
        return LineElementRecord(
            name=name,
            kind="coil",
            anchors=ends,
            length=float(coil["length"]),
            stiffness=float(coil["stiffness"]),
            preload=float(coil.get("preload", 0.0)),
        )
    return LineElementRecord(name, "constant", ends, preload=float(item["constant"]["force"]))


def gas(name: str, item: Mapping[str, Any], ends: tuple[Point, Point]) -> LineElementRecord:
    """Return a gas spring."""
    return LineElementRecord(
        name=name,
        kind="gas",
        anchors=ends,
        length=float(item["length"]),
        area=float(item["area"]),
        pressure=float(item["pressure"]),
        volume=float(item["volume"]),
        exponent=float(item.get("exponent", 1.0)),
        pull=item.get("action", "pull") == "pull",
    )


def anchors(items: Any, place: str) -> tuple[Point, Point]:
    """Return the two ends; refuse two on one link."""
    first, second = ((item["link"], vector(item.get("position", ZERO3))) for item in items)
    if first[0] == second[0]:
        raise DescriptionError(
            place,
            f"both ends are on link {first[0]!r}, so the spring moves nothing",
            "anchor it on two links that move against each other",
        )
    return first, second
