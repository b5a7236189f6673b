"""Compiled code of these tests goes to a folder of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from geared_dynamics.trace import cache


@pytest.fixture(autouse=True, scope="module")
def code_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty folder for object code."""
    path = tmp_path_factory.mktemp("code")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "folder", lambda: path)
        yield path
