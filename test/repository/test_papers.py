"""docs/papers.md: every numbered equation of the source papers, its function and its test."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXTS = {".py", ".md", ".rst", ".yaml", ".urdf", ".xacro", ".json", ".toml"}
NUMBERED = re.compile(r"[Pp]aper[\s#]+00\d\b")


class Entry(NamedTuple):
    """A row of the page."""

    equations: str
    function: str
    test: str
    remark: str


def lettered(number: str, last: str) -> list[str]:
    """8 and c: 8a, 8b, 8c."""
    return [f"{number}{chr(code)}" for code in range(ord("a"), ord(last) + 1)]


def equations_of(paper: str) -> list[str]:
    """All numbers that a paper prints."""
    counts = {"Sciavicco": 45, "Chen": 46, "Melhem": 33, "Fernini": 90, "Vukobratović": 111}
    letters = {
        "Chen": {"16": "b", "18": "d", "19": "e", "20": "c", "38": "c"},
        "Melhem": {"8": "b", "12": "d"},
    }.get(paper, {})
    numbers = []
    for number in map(str, range(1, counts[paper] + 1)):
        numbers += lettered(number, letters[number]) if number in letters else [number]
    if paper == "Vukobratović":
        return [f"20.{number}" for number in numbers]
    appendix = ["A1", *lettered("A2", "k"), *lettered("A3", "g")] if paper == "Chen" else []
    return numbers + appendix


def entries(text: str) -> dict[str, list[Entry]]:
    """The rows of each paper's table."""
    found = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        rows = [
            Entry(cells[0], cells[2].strip("`"), cells[3].strip("`"), cells[4])
            for line in section.splitlines()
            if len(cells := [cell.strip() for cell in line.split("|")[1:-1]]) == 5
        ]
        if rows and rows[0].equations == "Equation":
            found[re.split(r"\W", section)[0]] = rows[2:]
    return found


def expanded(equations: str, known: list[str]) -> list[str]:
    """5–8 is 5, 6, 7, 8, by the paper's own list."""
    first, _, last = equations.partition("–")
    return known[known.index(first) : known.index(last or first) + 1]


@cache
def functions_in(file: Path) -> set[str]:
    """Names of the functions that a file defines."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def opened(name: str) -> object:
    """What a dotted name stands for; AttributeError or ImportError if nothing does."""
    prefix, _, rest = name.partition(".")
    if prefix == "gd":
        thing: object = importlib.import_module("geared_dynamics")
        for part in rest.split("."):
            thing = getattr(thing, part)
        return thing
    module, _, last = name.rpartition(".")
    module = module if prefix == "naive" else f"geared_dynamics.{module}"
    return getattr(importlib.import_module(module), last)


def faults(text: str) -> list[str]:
    """What is wrong with the page, in words."""
    found = []
    for paper, rows in entries(text).items():
        known = equations_of(paper)
        listed = []
        for row in rows:
            place = f"{paper} ({row.equations})"
            try:
                listed += expanded(row.equations, known)
            except ValueError:
                found.append(f"{place}: the paper has no such equation")
            if row.function == "—":
                if row.test != "—" or not row.remark:
                    found.append(f"{place}: not used, and the reason is missing")
                continue
            found += [f"{place}: {finding}" for finding in unfounded(row)]
        if listed != known:
            found.append(f"{paper}: {sorted(set(known) ^ set(listed))} missing or out of order")
    return found


def unfounded(row: Entry) -> list[str]:
    """Function and test of a row that do not exist."""
    found = []
    try:
        assert callable(opened(row.function))
    except (ImportError, AttributeError, AssertionError):
        found.append(f"{row.function} is not a function")
    file, _, test = row.test.partition("::")
    path = ROOT / "test" / f"{file}.py"
    if not path.is_file() or test not in functions_in(path):
        found.append(f"{row.test} is not a test")
    return found


@pytest.fixture(scope="module")
def page() -> str:
    """docs/papers.md."""
    return (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def test_every_equation_has_function_and_test_or_a_reason(page: str) -> None:
    assert len(entries(page)) == 5
    assert faults(page) == []


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("| 14 | inertia matrix B(q) | `gd.mass_matrix`", "| 14 | | `gd.mass`", "not a function"),
        ("::test_mass_matrix` |", "::test_mass` |", "not a test"),
        (
            "golden/test_elbow_symbolic::test_mass_matrix",
            "golden/x::test_mass_matrix",
            "not a test",
        ),
        ("| 22 | velocities", "| 22a | velocities", "no such equation"),
        ("| 20.82 |", "| 20.81 |", "20.82"),
        ("as (25) |", " |", "the reason is missing"),
    ],
)
def test_a_fault_of_the_page_is_found(page: str, old: str, new: str, finding: str) -> None:
    assert old in page
    assert any(finding in fault for fault in faults(page.replace(old, new)))


def named_by_number(root: Path) -> list[str]:
    """Files that cite a paper by a bare number."""
    folders = ("geared_dynamics", "test", "docs", "examples", "benchmarks", "urdf", "launch")
    files = [*root.glob("*.md"), *(f for name in folders for f in (root / name).rglob("*"))]
    return [
        str(file.relative_to(root))
        for file in files
        if file.suffix in TEXTS
        and not {"_build", "_generated"} & set(file.parts)
        and NUMBERED.search(file.read_text(encoding="utf-8"))
    ]


def test_papers_are_cited_by_author_and_year(tmp_path: Path) -> None:
    assert named_by_number(ROOT) == []
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text("wrong (paper\n002, eq. 3)", encoding="utf-8")
    assert named_by_number(tmp_path) == ["docs/page.md"]
