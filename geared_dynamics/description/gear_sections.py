"""Sections of a drivetrain file to records: wheels, spins, meshes, planetary, harmonic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from geared_dynamics.description.drive_records import (
    HarmonicRecord,
    MeshRecord,
    PlanetaryRecord,
    SpinRecord,
    WheelRecord,
)
from geared_dynamics.description.geometry import ZERO3, Vector3, norm, unit
from geared_dynamics.errors import DescriptionError
from geared_dynamics.files import place_in

# -- Which planetary sets and harmonic drives there can be: their roles and their teeth -----------


MEMBERS = ("sun", "ring", "carrier")


def refuse_impossible_set(record: PlanetaryRecord, place: str) -> None:
    """Raise unless the roles are three, the teeth mesh, and the planets find room.

    Z_ring = Z_sun + 2 Z_planet closes the radii; see ``fits`` for the planets.

    Args:
        record: The planetary set.
        place: File and key path of it.
    """
    _refuse_wrong_roles(record, place)
    _refuse_no_teeth(dict(zip(("sun", "planet", "ring"), record.teeth, strict=True)), place)
    sun, planet, ring = record.teeth
    if ring != sun + 2 * planet:
        finding = f"ring {ring} is not sun {sun} + 2 planet {planet} = {sun + 2 * planet}"
        remedy = "correct the numbers; otherwise the planets do not fit between sun and ring"
        raise DescriptionError(f"{place}.teeth", finding, remedy)
    n = record.planets
    if n >= 1 and fits(n, sun, planet, ring):
        return
    if n < 1:
        finding = f"there are {n}"
    elif (sun + ring) % n:
        finding = (
            f"{n} planets cannot be equally spaced: sun + ring = {sun + ring} teeth is not"
            f" a multiple of {n}"
        )
    else:
        finding = f"{n} planets overlap each other"
    numbers = [k for k in range(1, sun + ring + 1) if fits(k, sun, planet, ring)]
    remedy = f"use {' or '.join(map(str, numbers))} with these teeth"
    raise DescriptionError(f"{place}.planets", finding, remedy)


def fits(n: int, sun: int, planet: int, ring: int) -> bool:
    """Whether n equally spaced planets can be put in.

    They can be if n divides Z_sun + Z_ring and their pitch circles stay apart:
    (Z_sun + Z_planet) sin(pi / n) > Z_planet.
    """
    apart = n == 1 or (sun + planet) * math.sin(math.pi / n) > planet
    return (sun + ring) % n == 0 and apart


def _refuse_wrong_roles(record: PlanetaryRecord, place: str) -> None:
    """One member each is fixed, input and output; none of a link's own is a wheel."""
    if sorted((record.fixed, record.input, record.output)) != sorted(MEMBERS):
        raise DescriptionError(
            place,
            f"the {record.fixed} is fixed, the {record.input} is the input and the"
            f" {record.output} the output",
            "use each of sun, ring and carrier exactly once",
        )
    links = {record.fixed: f"is fixed and a part of link {record.housing!r}"}
    if record.joint is not None:
        links[record.output] = f"is a part of the link that {record.joint!r} moves"
    for member, finding in links.items():
        if member in dict(record.members):
            raise DescriptionError(
                f"{place}.{member}",
                f"the {member} {finding}",
                "remove it here; the <inertial> of that link contains its mass",
            )


def refuse_impossible_drive(record: HarmonicRecord, place: str) -> None:
    """Raise unless the circular spline has more teeth than the flexspline.

    Args:
        record: The harmonic drive.
        place: File and key path of it.
    """
    inner, outer = record.flexspline, record.circular_spline
    _refuse_no_teeth({"flexspline": inner, "circular spline": outer}, place)
    if outer <= inner:
        finding = f"the circular spline has {outer} teeth, the flexspline inside it {inner}"
        remedy = "give the circular spline more teeth than the flexspline, usually two more"
        raise DescriptionError(f"{place}.teeth", finding, remedy)


def _refuse_no_teeth(teeth: dict[str, int], place: str) -> None:
    """Raise for numbers that count nothing."""
    if min(teeth.values()) < 1 or any(int(z) != z for z in teeth.values()):
        finding = ", ".join(f"{name} {z:g}" for name, z in teeth.items())
        raise DescriptionError(
            f"{place}.teeth", f"{finding}: a number of teeth is a positive integer", "correct it"
        )


# -- ``wheels:``, and the wheels of sets, whose carrier, axis and position follow later -----------


# A file rounds axial/2 to as many digits as it prints.
_ROUNDING = 1e-9
_Z: Vector3 = (0.0, 0.0, 1.0)


def wheel(name: str, item: Mapping[str, Any], source: str) -> WheelRecord:
    """Return the wheel of the entry ``wheels.<name>``."""
    key = f"wheels.{name}"
    axis = direction(item["axis"], place_in(source, f"{key}.axis"))
    position = vector(item.get("position", ZERO3))
    return _wheel(name, item, item["carrier"], axis, position, place_in(source, key))


def body(name: str, item: Mapping[str, Any], place: str) -> WheelRecord:
    """Return a wheel of a set: no carrier yet, its axis z, its centre the origin."""
    return _wheel(name, item, "", _Z, ZERO3, place)


def _wheel(
    name: str,
    item: Mapping[str, Any],
    carrier: str,
    axis: Vector3,
    position: Vector3,
    place: str,
) -> WheelRecord:
    axial, transverse = _moments(item["inertia"], place)
    return WheelRecord(
        name=name,
        carrier=carrier,
        axis=axis,
        position=position,
        mass=float(item.get("mass", 0.0)),
        axial=axial,
        transverse=transverse,
        side=item.get("side", "motor"),
        included_in_link=item.get("included_in_link", False),
    )


def _moments(item: Mapping[str, Any], place: str) -> tuple[float, float]:
    axial = float(item["axial"])
    transverse = float(item.get("transverse", axial / 2.0))
    if transverse < axial / 2.0 * (1.0 - _ROUNDING):
        raise DescriptionError(
            f"{place}.inertia.transverse",
            f"{transverse:g} is less than half of axial ({axial:g} kg m^2)",
            f"no body is flatter than a disc; write at least {axial / 2.0:g} or leave it out",
        )
    return axial, transverse


def vector(values: Any) -> Vector3:
    """Return three numbers as floats."""
    x, y, z = values
    return (float(x), float(y), float(z))


def direction(values: Any, place: str) -> Vector3:
    """Return the unit vector along three numbers; refuse zero."""
    axis = vector(values)
    if norm(axis) < 1e-9:
        raise DescriptionError(
            place, "the axis is zero", "write the direction of the wheel's axis"
        )
    return unit(axis)


def placement(item: Mapping[str, Any], place: str) -> tuple[Vector3 | None, Vector3 | None]:
    """Return a set's ``axis`` and ``position`` where they are given."""
    axis = direction(item["axis"], f"{place}.axis") if "axis" in item else None
    return axis, vector(item["position"]) if "position" in item else None


# -- ``spins:``: wheels that follow joints, and meshes that tie wheels to each other --------------


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
    word: Literal["carrier", "arm"] = "carrier" if "carrier" in item else "arm"
    size_a, size_b = item["teeth"] if "teeth" in item else item["radii"]
    axes = None
    if "axes" in item:
        first, second = (
            direction(axis, place_in(source, f"{key}.axes[{index}]"))
            for index, axis in enumerate(item["axes"])
        )
        axes = (first, second)
    return MeshRecord(
        members=(a, b),
        arm=item[word],
        sizes=(float(size_a), float(size_b)),
        kind=_KINDS[item["kind"]] if "kind" in item else None,  # type: ignore[arg-type]
        sign=int(item["sign"]) if "sign" in item else None,  # type: ignore[arg-type]
        axes=axes,
        place=key,
        radii="radii" in item,
        wraps=item.get("kind") in ("belt", "chain"),
        key=word,
    )


# -- ``planetary:``: planetary sets, their teeth checked to mesh ----------------------------------


def planetary(name: str, item: Mapping[str, Any], source: str) -> PlanetaryRecord:
    """Return the set of the entry ``planetary.<name>``."""
    place = place_in(source, f"planetary.{name}")
    fixed = item["layout"].removesuffix("_fixed")
    axis, position = placement(item, place)
    planet = body(f"{name}.planet", item["planet"], f"{place}.planet")
    if "radius" not in item and planet.mass > 0.0:
        raise DescriptionError(
            f"{place}.radius",
            "the planets have mass, and their distance from the axis is missing",
            "add radius, of the circle through their centres",
        )
    teeth = item["teeth"]
    record = PlanetaryRecord(
        name=name,
        housing=item["housing"],
        fixed=fixed,
        input=item["input"],
        output=item["output"],
        teeth=(int(teeth["sun"]), int(teeth["planet"]), int(teeth["ring"])),
        planets=int(item["planets"]),
        planet=planet,
        members=tuple(
            (member, _member(member, name, item, place)) for member in MEMBERS if member in item
        ),
        joint=item.get("joint"),
        radius=float(item.get("radius", 0.0)),
        phase=float(item.get("phase", 0.0)),
        axis=axis,
        position=position,
    )
    refuse_impossible_set(record, place)
    return record


def _member(member: str, name: str, item: Mapping[str, Any], place: str) -> WheelRecord | str:
    given = item[member]
    if isinstance(given, str):
        return given
    return body(f"{name}.{member}", given, f"{place}.{member}")


# -- ``harmonic:``: harmonic drives ---------------------------------------------------------------


def harmonic(name: str, item: Mapping[str, Any], source: str) -> HarmonicRecord:
    """Return the drive of the entry ``harmonic.<name>``."""
    place = place_in(source, f"harmonic.{name}")
    teeth = item["teeth"]
    axis, position = placement(item, place)
    key = "wave_generator"
    record = HarmonicRecord(
        name=name,
        housing=item["housing"],
        joint=item["joint"],
        fixed=item["fixed"],
        flexspline=int(teeth["flexspline"]),
        circular_spline=int(teeth["circular_spline"]),
        wave_generator=body(f"{name}.{key}", item[key], f"{place}.{key}"),
        axis=axis,
        position=position,
    )
    refuse_impossible_drive(record, place)
    return record
