"""``wheels:``, and the wheels of sets, whose carrier, axis and position follow later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from geared_dynamics.description.geometry import norm, unit
from geared_dynamics.description.records import ZERO3, Vector3, WheelRecord
from geared_dynamics.description.source import at
from geared_dynamics.errors import DescriptionError

# A file rounds axial/2 to as many digits as it prints.
_ROUNDING = 1e-9
_Z: Vector3 = (0.0, 0.0, 1.0)


def wheel(name: str, item: Mapping[str, Any], source: str) -> WheelRecord:
    """Return the wheel of the entry ``wheels.<name>``."""
    key = f"wheels.{name}"
    axis = direction(item["axis"], at(source, f"{key}.axis"))
    position = vector(item.get("position", ZERO3))
    return _wheel(name, item, item["carrier"], axis, position, at(source, key))


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
