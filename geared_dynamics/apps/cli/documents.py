"""``--json``: what a command found as one JSON document on standard output, and nothing else.

``documents.schema.json`` beside this file describes the document of each command. Numbers are in
SI units, as in Python; one that is not finite is ``null``, since JSON has no word for it.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from geared_dynamics import __version__
from geared_dynamics.model.model import GearedModel

SCHEMA = "documents.schema.json"


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Let a command print its document in place of its tables."""
    parser.add_argument(
        "--json",
        action="store_true",
        help=f"print one JSON document and nothing else (schema: {SCHEMA} in the package)",
    )


def print_document(command: str, body: Mapping[str, object]) -> None:
    """Write the document of a command."""
    head = {"command": command, "version": __version__}
    json.dump(plain({**head, **body}), sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def robot_part(model: GearedModel) -> dict[str, object]:
    """What every document says of the robot: its names, its files, and what is known of it."""
    return {
        "name": model.name,
        "urdf": model.source,
        "drivetrain": model.drivetrain_source,
        "joints": model.joint_names,
        "wheels": model.wheel_names,
        "motors": model.motor_names,
        "knowledge": model.knowledge._asdict(),
    }


def plain(value: object) -> Any:
    """A value as JSON has it: arrays as lists, paths as text, what is not finite as null."""
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value) if isinstance(value, Path) else value
