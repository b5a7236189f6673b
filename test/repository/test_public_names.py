"""Every public name exists, is documented, and stands in the API page."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import geared_dynamics as gd
from geared_dynamics import analysis

# Every public function, those of the namespaces with their own.
THINGS = {name: getattr(gd, name) for name in gd.__all__}
THINGS |= {f"elastic.{name}": getattr(gd.elastic, name) for name in gd.elastic.__all__}
THINGS |= {f"contact.{name}": getattr(gd.contact, name) for name in gd.contact.__all__}
THINGS |= {f"observers.{name}": getattr(gd.observers, name) for name in gd.observers.__all__}
THINGS |= {f"analysis.{name}": getattr(analysis, name) for name in analysis.__all__}
THINGS |= {f"simulation.{name}": getattr(gd.simulation, name) for name in gd.simulation.__all__}
THINGS |= {f"control.{name}": getattr(gd.control, name) for name in gd.control.__all__}
SAFETY = gd.control.safety
THINGS |= {f"control.safety.{name}": getattr(SAFETY, name) for name in SAFETY.__all__}


def test_public_names_are_listed_once() -> None:
    assert gd.__all__
    assert len(gd.__all__) == len(set(gd.__all__))


@pytest.mark.parametrize("name", THINGS)
def test_public_name_has_a_docstring(name: str) -> None:
    thing = THINGS[name]
    if callable(thing) or inspect.ismodule(thing):
        assert (inspect.getdoc(thing) or "").strip(), f"{name} has no docstring"


@pytest.mark.parametrize("name", [name for name in THINGS if not name.startswith("_")])
def test_public_name_stands_in_the_api_page(name: str, root: Path) -> None:
    page = (root / "docs" / "api.md").read_text(encoding="utf-8")
    assert re.search(
        rf"`[^`\n]*\b{re.escape(name)}\b[^`\n]*`|^#+ .*\b{re.escape(name)}\b|"
        rf"^\s*(def|class)?\s*{re.escape(name)}\b",
        page,
        re.MULTILINE,
    ), f"docs/api.md does not name {name}"


@pytest.mark.parametrize("name", THINGS)
def test_documented_arguments_are_the_arguments(name: str) -> None:
    """The names under ``Args:`` are the signature's, none missing and none left over."""
    thing = THINGS[name]
    if not inspect.isroutine(thing):
        return
    section = re.search(r"^Args:\n(.*?)(?:^\S|\Z)", inspect.getdoc(thing) or "", re.M | re.S)
    names = [n.lstrip("*") for n in inspect.signature(thing).parameters]
    if section is None:
        assert len(names) <= 1 or "See" in (inspect.getdoc(thing) or ""), f"{name} has no Args:"
        return
    found = re.findall(
        r"^    \*{0,2}(\w+(?:, \*{0,2}\w+)*)(?: \([^)]*\))?:", section.group(1), re.M
    )
    documented = [one.strip().lstrip("*") for entry in found for one in entry.split(",")]
    assert sorted(documented) == sorted(names)
