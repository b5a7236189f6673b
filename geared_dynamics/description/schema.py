"""The published JSON Schema of the drivetrain file, and its errors in our words."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from importlib import resources
from typing import Any

from geared_dynamics.description._untyped import jsonschema
from geared_dynamics.description.source import at
from geared_dynamics.description.yaml_input import describe, join
from geared_dynamics.errors import DescriptionError, GearedDynamicsError, UnknownNameError

_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "number": "a number",
    "integer": "a whole number",
    "string": "a name",
    "boolean": "true or false",
}
# What a wrong file is told first: a misspelt key also misses the right one.
_ORDER = ("additionalProperties", "type", "const", "enum", "required", "oneOf")
# Keys that say nothing without another one.
_BELONGS = {
    "damping": "damping belongs to a spring, and there is none",
    "backlash": "backlash is play in series with a spring, and there is none",
    "rest": "a rest position belongs to a spring, and there is none",
    "resistance": "the resistance is given without the torque constant, which tells the current",
    "back_emf_constant": "the back-EMF constant is given without the torque constant",
    "inductance": "the inductance is given without the resistance",
}


@functools.cache
def drivetrain_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of ``*.drivetrain.yaml``."""
    file = resources.files("geared_dynamics.description") / "drivetrain.schema.json"
    schema: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
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
    place = at(source, path)
    if error.validator == "additionalProperties":
        valid = list(error.schema.get("properties", {}))
        unknown = next(key for key in error.instance if key not in valid)
        return UnknownNameError(place, "key", unknown, valid)
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        where = "the file" if not path else path
        return DescriptionError(
            at(source, join(path, missing)), f"the key is missing in {where}", "add it"
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
        what = _items(error.schema)
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
        return "zero ties nothing", "write a number other than 0, or leave the entry out"
    if error.validator == "minLength":
        return "the name is empty", "write a name"
    return "the mapping is empty", "write a key, or leave it out"


def _items(schema: dict[str, Any]) -> str:
    """Return what a list of fixed length is a list of."""
    words = {
        "#/$defs/name": "names",
        "#/$defs/vector3": "vectors",
        "#/$defs/anchor": "anchors",
        "#/$defs/envelope_point": "points [speed, torque]",
    }
    return words.get(schema["items"].get("$ref"), "numbers")
