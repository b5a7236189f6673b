"""The plant node's table of parameters in the documentation."""

from __future__ import annotations

from pathlib import Path

from geared_dynamics.runtime.parameter_docs import replaced
from geared_dynamics.runtime.plant_node_settings import SCHEMA

PAGE = Path(__file__).resolve().parents[3] / "docs" / "demo.md"


def test_the_documentation_has_every_parameter() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == replaced(page, SCHEMA)
