"""Drivetrain file -> :class:`DrivetrainRecord`: its schema, its sections, its names."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from geared_dynamics.description.drive_records import DrivetrainRecord
from geared_dynamics.description.gear_sections import harmonic, meshes, planetary, spins, wheel
from geared_dynamics.description.motor_sections import balancer, joint, motor, shaft_spring
from geared_dynamics.description.yaml_files import describe, join, read_data
from geared_dynamics.errors import (
    DescriptionError,
    GearedDynamicsError,
    UnknownNameError,
    jsonschema,
)
from geared_dynamics.files import Source, place_in

# -- Drivetrain file -> :class:`DrivetrainRecord` -------------------------------------------------


def read_drivetrain(
    source: Source | Mapping[str, Any] | None, *, alone: bool = True
) -> DrivetrainRecord:
    """Read a drivetrain file (``*.drivetrain.yaml``, version 1).

    Axes are normalised; ``transverse`` defaults to half of ``axial``, which is a
    flat disc. Names of links and joints are taken as they are: only the robot
    knows them. Meshes and sets are kept as they are written, unsolved.

    Args:
        source: A dict; YAML text as ``bytes`` or as a ``str`` that holds a line
            break or starts with ``{``; a path (any other ``str``, or a
            ``pathlib.Path``); or None for a robot without wheels.
        alone: Whether to check the names of wheels; where a URDF has drives too, only
            ``model.drive_sources`` can.

    Returns:
        The drivetrain, its entries in file order.

    Raises:
        DescriptionError: If the file cannot be read or says something impossible.
        UnknownNameError: For an unknown key, or a wheel that is not declared.
    """
    record = _parse(source)
    if alone:
        check_drivetrain(record)
    return record


def _parse(source: Source | Mapping[str, Any] | None) -> DrivetrainRecord:
    if source is None:
        return DrivetrainRecord()
    data, place = read_data(source)
    check_schema(data, place)
    entries = data.get("spins", [])
    return DrivetrainRecord(
        source=place,
        wheels=tuple(wheel(name, item, place) for name, item in _items(data, "wheels")),
        spins=spins(entries),
        meshes=meshes(entries, place),
        planetary=tuple(planetary(name, item, place) for name, item in _items(data, "planetary")),
        harmonic=tuple(harmonic(name, item, place) for name, item in _items(data, "harmonic")),
        motors=tuple(motor(name, item, place) for name, item in _items(data, "motors")),
        joints=tuple(joint(name, item, place) for name, item in _items(data, "joints")),
        springs=tuple(shaft_spring(name, item) for name, item in _items(data, "springs")),
        balancers=tuple(balancer(name, item, place) for name, item in _items(data, "balancers")),
    )


def _items(data: Mapping[str, Any], key: str) -> list[tuple[str, Any]]:
    return list(data.get(key, {}).items())


# -- What a drivetrain must say of its own names, whatever the robot ------------------------------


def check_drivetrain(record: DrivetrainRecord) -> None:
    """Refuse wheels that are not there, fixed twice or not at all, or turned by two motors.

    Where meshes or planetary sets tie wheels to each other, only their solution
    shows which wheels are left free.

    Raises:
        DescriptionError: If a wheel is fixed twice, not at all, or turned twice.
        UnknownNameError: If a spin or a motor names a wheel that is not there.
    """
    _check_spins(record)
    _check_motors(record)


def wheel_names(record: DrivetrainRecord) -> list[str]:
    """Return the names of the wheels, declared or expanded from sets."""
    names = [wheel.name for wheel in record.wheels]
    for item in record.planetary:
        named = {member for member, given in item.members if isinstance(given, str)}
        named |= {item.fixed} if item.joint is None else {item.fixed, item.output}
        names += [f"{item.name}.{m}" for m in ("sun", "ring", "carrier") if m not in named]
        names += [f"{item.name}.planet_{number + 1}" for number in range(item.planets)]
    return names + [drive.wave_generator.name for drive in record.harmonic]


def _check_spins(record: DrivetrainRecord) -> None:
    """Every wheel is declared and fixed by at most one spin."""
    names = wheel_names(record)
    fixed_by: dict[str, str] = {}
    for spin in record.spins:
        if spin.wheel not in names:
            raise UnknownNameError(
                place_in(record.source, f"{spin.place}.wheel"), "wheel", spin.wheel, names
            )
        if spin.wheel in fixed_by:
            raise DescriptionError(
                place_in(record.source, spin.place),
                f"wheel {spin.wheel!r} is determined twice, by {fixed_by[spin.wheel]} and "
                f"{spin.place}",
                "keep one of them; if several joints turn the wheel, give it 'coefficients'",
            )
        fixed_by[spin.wheel] = spin.place
    free = [wheel.name for wheel in record.wheels if wheel.name not in fixed_by]
    if free and not record.meshes and not record.planetary:
        kind = "wheel" if len(free) == 1 else "wheels"
        raise DescriptionError(
            place_in(record.source, "spins"),
            f"no entry determines the spin of {kind} {', '.join(repr(name) for name in free)}",
            f"add {{wheel: {free[0]}, joint: ..., ratio: ...}}",
        )


def _check_motors(record: DrivetrainRecord) -> None:
    """Every motor turns a wheel of its own."""
    names = wheel_names(record)
    turned_by: dict[str, str] = {}
    for entry in record.motors:
        place = place_in(record.source, f"motors.{entry.name}.wheel")
        if entry.wheel not in names:
            raise UnknownNameError(place, "wheel", entry.wheel, names)
        if entry.wheel in turned_by:
            raise DescriptionError(
                place,
                f"wheel {entry.wheel!r} is turned by two motors, {turned_by[entry.wheel]!r}"
                f" and {entry.name!r}",
                "give each motor a wheel of its own",
            )
        turned_by[entry.wheel] = entry.name


# -- The published JSON Schema of the drivetrain file, and its errors in our words ----------------


_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "number": "a number",
    "integer": "a whole number",
    "string": "a name",
    "boolean": "true or false",
}
# What is reported first of a wrong file: a misspelt key also misses the right one.
_ORDER = ("additionalProperties", "type", "const", "enum", "required", "oneOf")
# Keys that say nothing without another one.
_BELONGS = {
    "damping": "damping requires a stiffness, which is missing",
    "backlash": "backlash requires a stiffness, which is missing",
    "rest": "a rest position requires a stiffness, which is missing",
    "resistance": "the resistance is given without the torque constant, which it needs",
    "back_emf_constant": "the back-EMF constant is given without the torque constant",
    "inductance": "the inductance is given without the resistance",
}


def schema_file() -> Path:
    """Return the file of the JSON Schema (draft 2020-12) of ``*.drivetrain.yaml``."""
    return Path(__file__).with_name("drivetrain.schema.json")


@functools.cache
def drivetrain_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``*.drivetrain.yaml``."""
    schema: dict[str, Any] = json.loads(schema_file().read_text(encoding="utf-8"))
    return schema


@functools.cache
def _validator() -> Any:
    return jsonschema().Draft202012Validator(drivetrain_schema())


def check_schema(data: dict[str, Any], source: str) -> None:
    """Refuse data that the schema does not allow.

    Raises:
        UnknownNameError: For an unknown key.
        DescriptionError: For anything else, naming the key path.
    """
    errors = list(_validator().iter_errors(data))
    if errors:
        raise _translate(min(errors, key=_rank), source)


def _rank(error: Any) -> int:
    return _ORDER.index(error.validator) if error.validator in _ORDER else len(_ORDER)


def _key_path(keys: Iterable[object]) -> str:
    path = ""
    for key in keys:
        path = f"{path}[{key}]" if isinstance(key, int) else join(path, key)
    return path


def _translate(error: Any, source: str) -> GearedDynamicsError:
    path = _key_path(error.absolute_path)
    place = place_in(source, path)
    if error.validator == "additionalProperties":
        valid = list(error.schema.get("properties", {}))
        unknown = next(key for key in error.instance if key not in valid)
        return UnknownNameError(place, "key", unknown, valid)
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        where = "the file" if not path else path
        return DescriptionError(
            place_in(source, join(path, missing)), f"the key is missing in {where}", "add it"
        )
    if error.validator == "dependentRequired":
        key, missing = _lonely(error)
        return DescriptionError(place, _BELONGS[key], f"add '{missing}'")
    if error.validator == "oneOf":
        return DescriptionError(
            place, f"an entry with the keys {', '.join(error.instance)}", error.schema["$comment"]
        )
    return DescriptionError(place, *_finding_and_remedy(error))


def _lonely(error: Any) -> tuple[str, str]:
    """Return the key that stands alone, and the one that it needs."""
    return next(
        (key, needed)
        for key, needs in error.validator_value.items()
        for needed in needs
        if key in error.instance and needed not in error.instance
    )


def _finding_and_remedy(error: Any) -> tuple[str, str]:
    value, limit, found = error.instance, error.validator_value, describe(error.instance)
    if error.validator == "type":
        return f"expected {_TYPES[limit]}, found {found}", f"write {_TYPES[limit]}"
    if error.validator == "const":
        return f"expected {limit}, found {found}", f"write {limit}"
    if error.validator == "enum":
        choices = " or ".join(map(str, limit))
        return f"expected {choices}, found {found}", f"write {choices}"
    if error.validator in ("minItems", "maxItems"):
        what = _entries(error.schema)
        if "maxItems" not in error.schema:
            what = f"or more {what}"
        return f"expected {limit} {what}, found {len(value)}", f"write {limit} {what}"
    if error.validator == "uniqueItems":
        return "the same name twice", "write two different names"
    if error.validator == "minimum":
        return f"{value:g} is less than {limit}", f"write a number >= {limit}"
    if error.validator == "maximum":
        return f"{value:g} is more than {limit}", f"write a number <= {limit}"
    if error.validator == "exclusiveMinimum":
        return f"{value:g} is not above {limit}", f"write a number > {limit}"
    if error.validator == "not":
        return "is zero, which connects nothing", "write a number other than 0, or remove it"
    if error.validator == "minLength":
        return "the name is empty", "write a name"
    return "the mapping is empty", "write a key, or leave it out"


def _entries(schema: dict[str, Any]) -> str:
    """Return what a list of fixed length is a list of."""
    words = {
        "#/$defs/name": "names",
        "#/$defs/vector3": "vectors",
        "#/$defs/anchor": "anchors",
        "#/$defs/envelope_point": "points [speed, torque]",
    }
    return words.get(schema["items"].get("$ref"), "numbers")
