"""Drivetrain file -> :class:`DrivetrainRecord`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from geared_dynamics.description.geometry import norm, unit
from geared_dynamics.description.records import (
    ZERO3,
    DrivetrainRecord,
    FrictionRecord,
    JointDriveRecord,
    MotorRecord,
    SpinRecord,
    Vector3,
    WheelRecord,
)
from geared_dynamics.description.schema import check_schema
from geared_dynamics.description.source import Source, at
from geared_dynamics.description.yaml_input import read_data
from geared_dynamics.errors import DescriptionError, UnknownNameError

# A file rounds axial/2 to as many digits as it prints.
_ROUNDING = 1e-9


def read_drivetrain(source: Source | Mapping[str, Any] | None) -> DrivetrainRecord:
    """Read a drivetrain file (``*.drivetrain.yaml``, version 1).

    Axes are normalised; ``transverse`` defaults to half of ``axial``, which is a
    flat disc. Names of links and joints are taken as they are: only the robot
    knows them.

    Args:
        source: A dict; YAML text as ``bytes`` or as a ``str`` that holds a line
            break or starts with ``{``; a path (any other ``str``, or a
            ``pathlib.Path``); or None for a robot without wheels.

    Returns:
        The checked drivetrain, everything in file order.

    Raises:
        DescriptionError: If the file cannot be read or says something impossible.
        UnknownNameError: For an unknown key, or a wheel that is not declared.
    """
    if source is None:
        return DrivetrainRecord()
    data, place = read_data(source)
    check_schema(data, place)
    record = DrivetrainRecord(
        source=place,
        wheels=tuple(_wheel(name, item, place) for name, item in _items(data, "wheels")),
        spins=tuple(_spin(item) for item in data.get("spins", [])),
        motors=tuple(MotorRecord(name, item["wheel"]) for name, item in _items(data, "motors")),
        joints=tuple(_joint(name, item) for name, item in _items(data, "joints")),
    )
    _check_spins(record)
    _check_motors(record)
    return record


def _items(data: Mapping[str, Any], key: str) -> list[tuple[str, Any]]:
    return list(data.get(key, {}).items())


def _wheel(name: str, item: Mapping[str, Any], source: str) -> WheelRecord:
    place = at(source, f"wheels.{name}")
    axis = _vector(item["axis"])
    if norm(axis) < 1e-9:
        raise DescriptionError(
            f"{place}.axis", "the axis is zero", "write the direction of the wheel's axis"
        )
    axial = float(item["inertia"]["axial"])
    transverse = float(item["inertia"].get("transverse", axial / 2.0))
    if transverse < axial / 2.0 * (1.0 - _ROUNDING):
        raise DescriptionError(
            f"{place}.inertia.transverse",
            f"{transverse:g} is less than half of axial ({axial:g} kg m^2)",
            f"no body is flatter than a disc; write at least {axial / 2.0:g} or leave it out",
        )
    return WheelRecord(
        name=name,
        carrier=item["carrier"],
        axis=unit(axis),
        position=_vector(item.get("position", ZERO3)),
        mass=float(item.get("mass", 0.0)),
        axial=axial,
        transverse=transverse,
        side=item.get("side", "motor"),
        included_in_link=item.get("included_in_link", False),
    )


def _vector(values: Any) -> Vector3:
    x, y, z = values
    return (float(x), float(y), float(z))


def _spin(item: Mapping[str, Any]) -> SpinRecord:
    pairs = item.get("coefficients") or {item.get("joint", ""): item.get("ratio", 0.0)}
    return SpinRecord(item["wheel"], tuple((joint, float(c)) for joint, c in pairs.items()))


def _joint(name: str, item: Mapping[str, Any]) -> JointDriveRecord:
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
    )


def _check_spins(record: DrivetrainRecord) -> None:
    """Every wheel is declared and fixed by exactly one spin."""
    names = [wheel.name for wheel in record.wheels]
    fixed_by: dict[str, str] = {}
    for index, spin in enumerate(record.spins):
        key = f"spins[{index}]"
        if spin.wheel not in names:
            raise UnknownNameError(at(record.source, f"{key}.wheel"), "wheel", spin.wheel, names)
        if spin.wheel in fixed_by:
            raise DescriptionError(
                at(record.source, key),
                f"wheel {spin.wheel!r} is fixed twice, by {fixed_by[spin.wheel]} and {key}",
                "keep one of them; a wheel that follows several joints takes 'coefficients'",
            )
        fixed_by[spin.wheel] = key
    free = [name for name in names if name not in fixed_by]
    if free:
        kind = "wheel" if len(free) == 1 else "wheels"
        raise DescriptionError(
            at(record.source, "spins"),
            f"no spin fixes {kind} {', '.join(repr(name) for name in free)}",
            f"add {{wheel: {free[0]}, joint: ..., ratio: ...}}",
        )


def _check_motors(record: DrivetrainRecord) -> None:
    """Every motor turns a wheel of its own."""
    names = [wheel.name for wheel in record.wheels]
    turned_by: dict[str, str] = {}
    for motor in record.motors:
        place = at(record.source, f"motors.{motor.name}.wheel")
        if motor.wheel not in names:
            raise UnknownNameError(place, "wheel", motor.wheel, names)
        if motor.wheel in turned_by:
            raise DescriptionError(
                place,
                f"wheel {motor.wheel!r} is turned by two motors, {turned_by[motor.wheel]!r}"
                f" and {motor.name!r}",
                "give each motor a wheel of its own",
            )
        turned_by[motor.wheel] = motor.name
