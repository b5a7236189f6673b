"""Third-party parsers that ship without types, imported on first use.

Behind these functions they are ``Any`` to the type checker whether or not stub
packages are installed, and importing the package does not pay for them.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any


@cache  # asked for at every element
def lxml_etree() -> Any:
    """Return ``lxml.etree``, the XML parser."""
    return importlib.import_module("lxml.etree")


def urdf_parser() -> Any:
    """Return ``urdf_parser_py.urdf``, the URDF object model."""
    return importlib.import_module("urdf_parser_py.urdf")


def pyyaml() -> Any:
    """Return ``yaml``."""
    return importlib.import_module("yaml")


def jsonschema() -> Any:
    """Return ``jsonschema``."""
    return importlib.import_module("jsonschema")
