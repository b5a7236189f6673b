"""What the commands are tried on."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a narrow terminal."""
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def bag(tmp_path: Path) -> str:
    """A bag of the elbow arm."""
    from elbow_run import elbow_bag

    return elbow_bag(tmp_path)
