"""Optional packages, imported where they are needed; their absence is an error with a remedy."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from geared_dynamics.errors import MissingPackageError


def extra(name: str, place: str) -> Any:
    """Import a module of the ``analysis`` extra.

    Args:
        name: Module, such as ``scipy.signal``.
        place: What needs it, for the error's text.

    Raises:
        MissingPackageError: If its package is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != package:
            raise
        raise MissingPackageError(place, package, "analysis") from None
