"""Cases of a test of which the usual run tries some, and `make validate` all."""

from __future__ import annotations

from typing import Any

import pytest


def cases(usual: list[Any], long: list[Any]) -> list[Any]:
    """Values for ``parametrize``: the second ones only in `make validate`."""
    return [*usual, *(pytest.param(value, marks=pytest.mark.validate) for value in long)]
