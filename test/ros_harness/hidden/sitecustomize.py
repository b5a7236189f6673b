"""Hides packages from every Python that has this folder on its path, as if not installed.

``HIDDEN_PACKAGES`` in the environment lists them, with commas.
"""

from __future__ import annotations

import os
import sys
from typing import Any

NAMES = frozenset(filter(None, os.environ.get("HIDDEN_PACKAGES", "").split(",")))


class Hiding:
    """A finder that does not find these packages, and is the one that it wraps in all else."""

    def __init__(self, finder: Any) -> None:
        self._finder = finder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._finder, name)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.partition(".")[0] in NAMES:
            return None
        return self._finder.find_spec(name, path, target)


if NAMES:
    sys.meta_path[:] = [Hiding(finder) for finder in sys.meta_path]
