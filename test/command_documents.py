"""The schema of what commands print with ``--json``."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

from geared_dynamics.apps.cli import command_output

SCHEMA = json.loads(
    (Path(command_output.__file__).parent / command_output.SCHEMA).read_text("utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def validate(document: object) -> None:
    """Raise ``jsonschema.ValidationError`` where a document does not fit its schema."""
    VALIDATOR.validate(document)
