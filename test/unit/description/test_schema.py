"""The published schema: valid itself, closed, and explained for editors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from geared_dynamics.description.drivetrain_reader import drivetrain_schema


def objects(node: Any, path: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every subschema that describes a mapping."""
    if isinstance(node, dict):
        if node.get("type") == "object":
            yield path, node
        for key, value in node.items():
            yield from objects(value, f"{path}/{key}")


def test_it_is_a_schema_of_the_stated_draft() -> None:
    schema = drivetrain_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)


def test_no_mapping_accepts_unknown_keys() -> None:
    for path, node in objects(drivetrain_schema()):
        assert node["additionalProperties"] is False or "properties" not in node, path


def test_every_key_has_a_title() -> None:
    for path, node in objects(drivetrain_schema()):
        for key, value in node.get("properties", {}).items():
            assert value.get("title"), f"{path}/{key}"


def test_every_quantity_states_its_unit() -> None:
    for path, node in objects(drivetrain_schema()):
        for key, value in node.get("properties", {}).items():
            if value.get("type") == "number":
                assert value["title"].endswith("]"), f"{path}/{key}"


@pytest.mark.parametrize(
    "key",
    ["wheel", "spin", "mesh", "planetary", "harmonic", "motor", "joint", "balancer"],
)
def test_definitions_are_used(key: str) -> None:
    assert f"#/$defs/{key}" in str(drivetrain_schema()["properties"])
