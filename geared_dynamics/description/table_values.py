"""Numbers from tables that a program passes: checked, as plain floats."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar
from unicodedata import category

from geared_dynamics.arrays import real, refuse_too_large
from geared_dynamics.description.drive_records import FrictionRecord
from geared_dynamics.description.geometry import ZERO3, Matrix3, Vector3, norm, unit
from geared_dynamics.description.robot_records import InertiaRecord, LimitRecord
from geared_dynamics.errors import DescriptionError, UnknownNameError, shown

Row = TypeVar("Row")

_ZERO_MATRIX: Matrix3 = (ZERO3, ZERO3, ZERO3)
_ASYMMETRY = 1e-9
# Control characters, halves of surrogate pairs, and code points that are no characters.
_NOT_IN_NAMES = ("Cc", "Cs", "Cn")
_TYPES = {"link": str, "joint": str, "limit": LimitRecord, "friction": FrictionRecord}


def as_rows(
    rows: Sequence[Row | Mapping[str, Any]], row_class: type[Row], keys: tuple[str, ...]
) -> list[Row]:
    """Return a table's rows as ``row_class``; a mapping is taken as its keywords.

    Raises:
        DescriptionError: If there are no rows, or a row is neither, or its names,
            limits or friction are of the wrong type.
        UnknownNameError: If a mapping holds a key that ``row_class`` does not.
    """
    try:
        given = list(rows)
    except TypeError:
        raise DescriptionError(
            "rows",
            f"expected a list of rows, found {type(rows).__name__}",
            f"write [{row_class.__name__}(...), ...]",
        ) from None
    result: list[Row] = []
    for index, row in enumerate(given):
        if isinstance(row, row_class):
            result.append(row)
        elif isinstance(row, Mapping):
            for key in row:
                if key not in keys:
                    raise UnknownNameError(f"rows[{index}]", "key", key, keys)
            try:
                result.append(row_class(**row))
            except TypeError as error:
                finding = str(error).replace(f"{row_class.__name__}.__init__()", "the row is")
                raise DescriptionError(f"rows[{index}]", finding, "add what is missing") from None
        else:
            raise DescriptionError(
                f"rows[{index}]",
                f"expected a {row_class.__name__} or a dict, found {type(row).__name__}",
                f"write {row_class.__name__}(...)",
            )
        _check_types(result[-1], f"rows[{index}]")
    if not result:
        raise DescriptionError("rows", "the table is empty", "give a row for each joint")
    return result


def _check_types(row: object, place: str) -> None:
    """Refuse names, limits and friction of another type than the row's class states."""
    for key, kind in _TYPES.items():
        value = getattr(row, key)
        if value is not None and not isinstance(value, kind):
            raise DescriptionError(
                f"{place}.{key}",
                f"expected a {kind.__name__} or None, found {type(value).__name__}",
                "write one, or leave it out",
            )
        if kind is str and value is not None:
            name_of(value, f"{place}.{key}")


def name_of(value: Any, place: str) -> str:
    """Return ``value``, which must be a name that a URDF can hold.

    Raises:
        DescriptionError: If it is no text, empty, has blanks around it, a character that
            XML cannot carry, or what reads as an expression of xacro.
    """
    if not isinstance(value, str):
        raise DescriptionError(
            place, f"expected text, found {type(value).__name__}", "write a name in quotes"
        )
    if not value.strip():
        raise DescriptionError(place, "the name is empty", "write a name, or leave it out")
    controls = any(category(letter) in _NOT_IN_NAMES for letter in value)
    if controls or value != value.strip() or "${" in value or "$(" in value:
        finding = f"{shown(value)} is not a name that a URDF can hold"
        remedy = "write it without control characters, '${' and spaces around it"
        raise DescriptionError(place, finding, remedy)
    return value


def finite(value: Any, place: str) -> float:
    """Return ``value`` as a finite float.

    Raises:
        DescriptionError: If it is not one, or larger than an arm can have.
    """
    try:
        number = real(value)
    except (TypeError, ValueError, OverflowError):
        raise DescriptionError(
            place, f"expected a number, found {shown(value)}", "write one"
        ) from None
    if not math.isfinite(number):
        raise DescriptionError(place, f"{number} is not a finite number", "write a finite number")
    refuse_too_large(number, place)
    return number


def vector3(value: Any, place: str) -> Vector3:
    """Return ``value`` (3,) as a tuple of finite floats.

    Raises:
        DescriptionError: If it is not three numbers.
    """
    try:
        x, y, z = value
    except (TypeError, ValueError):
        raise DescriptionError(
            place, f"expected three numbers, found {shown(value)}", "write (x, y, z)"
        ) from None
    return (finite(x, f"{place}[0]"), finite(y, f"{place}[1]"), finite(z, f"{place}[2]"))


def direction(value: Any, place: str) -> Vector3:
    """Return ``value`` (3,) divided by its length.

    Raises:
        DescriptionError: If it is not three numbers, or zero.
    """
    vector = vector3(value, place)
    if norm(vector) < 1e-9:
        raise DescriptionError(place, "the axis is zero", "write a vector of unit length")
    return unit(vector)


def inertia(mass: Any, com: Any, tensor: Any, place: str) -> InertiaRecord | None:
    """Return a link's inertia, or None where mass and tensor are zero.

    Args:
        mass: Mass [kg].
        com: Centre of mass (3,) [m].
        tensor: Inertia about the centre of mass (3, 3) [kg m^2]; None: zero.
        place: The row, for errors.

    Raises:
        DescriptionError: If a number is not finite, the mass or a moment is
            negative, or the tensor is not symmetric.
    """
    kilograms = finite(mass, f"{place}.mass")
    if kilograms < 0.0:
        raise DescriptionError(
            f"{place}.mass", f"the mass is negative ({kilograms:g} kg)", "write a mass >= 0"
        )
    centre = vector3(com, f"{place}.com")
    matrix = _ZERO_MATRIX if tensor is None else _tensor(tensor, f"{place}.tensor")
    if kilograms == 0.0 and matrix == _ZERO_MATRIX:
        return None
    return InertiaRecord(kilograms, centre, matrix)


def _tensor(value: Any, place: str) -> Matrix3:
    try:
        a, b, c = value
    except (TypeError, ValueError):
        raise DescriptionError(
            place, f"expected a 3 x 3 matrix, found {shown(value)}", "write three rows"
        ) from None
    rows = (vector3(a, f"{place}[0]"), vector3(b, f"{place}[1]"), vector3(c, f"{place}[2]"))
    size = max(abs(item) for row in rows for item in row)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if abs(rows[i][j] - rows[j][i]) > _ASYMMETRY * size:
            raise DescriptionError(
                f"{place}[{i}][{j}]",
                f"the tensor is not symmetric ({rows[i][j]:g} and {rows[j][i]:g})",
                "write the same value on both sides of the diagonal",
            )
    for i in range(3):
        if rows[i][i] < 0.0:
            raise DescriptionError(
                f"{place}[{i}][{i}]",
                f"a moment of inertia is negative ({rows[i][i]:g} kg m^2)",
                "write moments of inertia >= 0",
            )
    return rows
