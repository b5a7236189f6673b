"""The API page names what is public in ``gd.trajectory``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from geared_dynamics import trajectory

ROOT = Path(__file__).resolve().parents[3]
API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", trajectory.__all__)
def test_public_names_stand_in_the_api_page(name: str) -> None:
    assert re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", API), f"docs/api.md does not name {name}"
    assert (getattr(trajectory, name).__doc__ or "").strip()
